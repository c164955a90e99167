// Compiles the loops once per instruction set, each in a namespace of its own with every function marked for that set. The
// attribute must stand on each function: g++ ignores the pragma on templates.
#pragma once

#include <cstdint>

#include <mezzo/context/isa.hpp>
#include <mezzo/core/config.hpp>
#include <mezzo/kernels/access.hpp>
#include <mezzo/numeric/bfloat16.hpp>
#include <mezzo/numeric/convert.hpp>
#include <mezzo/numeric/float_traits.hpp>
#include <mezzo/numeric/half.hpp>

namespace mezzo::detail {

/// What one pass over gradients finds out.
struct FiniteCheck {
  std::uint32_t largest;  ///< the bits of the largest magnitude; at least 0x7F800000 where an infinity or a NaN is among them
  float sum_of_squares;   ///< in fp32: worthless if `largest` squared overflows or underflows
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

namespace mezzo::detail {

// The one place where the instruction set is chosen.
#if defined(__x86_64__)
#define MEZZO_DISPATCH(isa, call) \
  switch (isa) { \
    case Isa::avx512: return avx512::call; \
    case Isa::avx2: return avx2::call; \
    default: return baseline::call; \
  }
#else
#define MEZZO_DISPATCH(isa, call) return baseline::call;
#endif

template <class Functor, class... Ranges>
void transform_range(Isa isa, const Functor& functor, index_t count, Ranges... ranges) {
  MEZZO_DISPATCH(isa, transform_range(functor, count, ranges...))
}

template <class Functor, class... Ranges>
typename Functor::value_type reduce_range(Isa isa, const Functor& functor, index_t count, Ranges... ranges) {
  MEZZO_DISPATCH(isa, reduce_range(functor, count, ranges...))
}

template <class T>
FiniteCheck check_range(Isa isa, index_t count, const T* from) {
  MEZZO_DISPATCH(isa, check_range(count, from))
}

template <class Out, class In>
FiniteCheck scale_check_range(Isa isa, float factor, index_t count, Out* to, const In* from) {
  MEZZO_DISPATCH(isa, scale_check_range(factor, count, to, from))
}

#undef MEZZO_DISPATCH

}  // namespace mezzo::detail
