// Compiles the loops once per instruction set, each in a namespace of its own with every function marked for that set. The
// attribute must stand on each function: g++ ignores the pragma on templates.
#pragma once

#include <cstdint>
#include <utility>

#include <mezzo/context/isa.hpp>
#include <mezzo/core/config.hpp>
#include <mezzo/kernels/access.hpp>
#include <mezzo/numeric/bfloat16.hpp>
#include <mezzo/numeric/convert.hpp>
#include <mezzo/numeric/float_traits.hpp>
#include <mezzo/numeric/half.hpp>
#include <mezzo/numeric/math.hpp>

namespace mezzo::detail {

/// Elements that a loop has in registers at a time, for every instruction set.
inline constexpr int block_size = 16;

/// A piece of one run among several: what one call of a loop goes over.
struct Chunk {
  index_t run;
  index_t begin;
  index_t size;
};

}  // namespace mezzo::detail

#define MEZZO_ISA baseline
#define MEZZO_VECTOR_BYTES 16
#define MEZZO_HAS_F16C 0
#define MEZZO_TARGET
#include <mezzo/kernels/detail/cpu/loops.inl>
#undef MEZZO_ISA
#undef MEZZO_VECTOR_BYTES
#undef MEZZO_HAS_F16C
#undef MEZZO_TARGET

#if defined(__x86_64__)
#define MEZZO_ISA avx2
#define MEZZO_VECTOR_BYTES 32
#define MEZZO_HAS_F16C 1
#define MEZZO_TARGET [[gnu::target("avx2,fma,f16c")]]
#include <mezzo/kernels/detail/cpu/loops.inl>
#undef MEZZO_ISA
#undef MEZZO_VECTOR_BYTES
#undef MEZZO_HAS_F16C
#undef MEZZO_TARGET

#define MEZZO_ISA avx512
#define MEZZO_VECTOR_BYTES 64
#define MEZZO_HAS_F16C 1
#define MEZZO_TARGET [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]]
#include <mezzo/kernels/detail/cpu/loops.inl>
#undef MEZZO_ISA
#undef MEZZO_VECTOR_BYTES
#undef MEZZO_HAS_F16C
#undef MEZZO_TARGET
#endif
