// What the compiler is. The only header with macros; none may change a body, and the one that says what a program links is the
// name of a namespace.
#pragma once

// Three different facts: MEZZO_HAS_CUDA (the component mezzo::cuda: the toolkit is linked), MEZZO_CUDACC (nvcc compiles this file), and
// __CUDA_ARCH__ (it compiles for the device; inside function bodies alone).
#if defined(__CUDACC__)
#define MEZZO_CUDACC
#define MEZZO_HOST_DEVICE __host__ __device__
#else
#define MEZZO_HOST_DEVICE
#endif

// Loops over blocks are written for the compiler's vectoriser; g++ at -O2 needs to be asked for it, clang++ would warn where it then
// cannot. MEZZO_VECTORIZE stands before a loop whose iterations are independent.
#if defined(__clang__)
#define MEZZO_OPTIMIZED
#define MEZZO_VECTORIZE
#elif defined(__GNUC__)
#define MEZZO_OPTIMIZED [[gnu::optimize("O3")]]
#define MEZZO_VECTORIZE _Pragma("GCC ivdep")
#else
#define MEZZO_OPTIMIZED
#define MEZZO_VECTORIZE
#endif

// What multiplies matrices on the CPU is part of the names of all functions that do: translation units that differ in it may be
// linked into one program. The CMake component mezzo::cpu defines MEZZO_WITH_ONEDNN or MEZZO_WITH_CBLAS.
#if defined(MEZZO_WITH_ONEDNN)
#define MEZZO_GEMM_NAMESPACE gemm_onednn
#elif defined(MEZZO_WITH_CBLAS)
#define MEZZO_GEMM_NAMESPACE gemm_cblas
#else
#define MEZZO_GEMM_NAMESPACE gemm_own
#endif
