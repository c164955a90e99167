// What the compiler is. The only header with macros; none of them says what a program links, and none may change a body.
#pragma once

#if defined(__CUDACC__)
#define MEZZO_HOST_DEVICE __host__ __device__
#else
#define MEZZO_HOST_DEVICE
#endif

// Loops over blocks are written for the compiler's vectoriser; g++ at -O2 needs to be asked for it. MEZZO_VECTORIZE stands before
// a loop whose iterations are independent.
#if defined(__clang__)
#define MEZZO_OPTIMIZED
#define MEZZO_VECTORIZE _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define MEZZO_OPTIMIZED [[gnu::optimize("O3")]]
#define MEZZO_VECTORIZE _Pragma("GCC ivdep")
#else
#define MEZZO_OPTIMIZED
#define MEZZO_VECTORIZE
#endif
