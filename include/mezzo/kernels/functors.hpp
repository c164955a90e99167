// The reductions that several operations share. Each says in what type elements are combined (value_type) and in what type the
// results of tasks are (partial_type).
#pragma once

#include <cstdint>

#include <mezzo/core/config.hpp>

namespace mezzo {

namespace detail {

/// NaN by its bits, which -ffast-math cannot assume away.
MEZZO_HOST_DEVICE constexpr bool has_nan_bits(float x) { return (__builtin_bit_cast(std::uint32_t, x) & 0x7FFFFFFFu) > 0x7F800000u; }
MEZZO_HOST_DEVICE constexpr bool has_nan_bits(double x) {
  return (__builtin_bit_cast(std::uint64_t, x) & 0x7FFFFFFFFFFFFFFFu) > 0x7FF0000000000000u;
}

/// condition ? a : b on the bits, since compilers make branches of conditions on floating-point numbers, which do not vectorise.
MEZZO_HOST_DEVICE constexpr float choose(bool condition, float a, float b) {
  const std::uint32_t mask = 0u - static_cast<std::uint32_t>(condition);
  return __builtin_bit_cast(float, (__builtin_bit_cast(std::uint32_t, a) & mask) | (__builtin_bit_cast(std::uint32_t, b) & ~mask));
}
MEZZO_HOST_DEVICE constexpr double choose(bool condition, double a, double b) {
  const std::uint64_t mask = std::uint64_t{0} - static_cast<std::uint64_t>(condition);
  return __builtin_bit_cast(double, (__builtin_bit_cast(std::uint64_t, a) & mask) | (__builtin_bit_cast(std::uint64_t, b) & ~mask));
}

}  // namespace detail

/// In V = double the sum of fp32 numbers neither overflows nor loses bits that matter.
template <class V = float>
struct Sum {
  using value_type = V;
  using partial_type = double;
  MEZZO_HOST_DEVICE static constexpr V identity() { return V{0}; }
  template <class X>
  MEZZO_HOST_DEVICE static constexpr V map(X x) {
    return static_cast<V>(x);
  }
  template <class X>
  MEZZO_HOST_DEVICE static constexpr X combine(X a, X b) {
    return a + b;
  }
};

/// In fp64, so that the squares of fp32 numbers stay in range.
struct SumOfSquares {
  using value_type = double;
  using partial_type = double;
  MEZZO_HOST_DEVICE static constexpr double identity() { return 0.0; }
  MEZZO_HOST_DEVICE static constexpr double map(double x) { return x * x; }
  MEZZO_HOST_DEVICE static constexpr double combine(double a, double b) { return a + b; }
};

/// NaN if any element is NaN; -infinity of nothing.
template <class V = float>
struct Maximum {
  using value_type = V;
  using partial_type = V;
  MEZZO_HOST_DEVICE static constexpr V identity() { return -static_cast<V>(__builtin_inf()); }
  MEZZO_HOST_DEVICE static constexpr V map(V x) { return x; }
  MEZZO_HOST_DEVICE static constexpr V combine(V a, V b) { return ((b > a) | detail::has_nan_bits(b)) ? b : a; }
};

}  // namespace mezzo
