// Floating-point numbers as bit patterns. Looking at a number's bits where they lie in memory is the only test that -ffast-math
// cannot delete.
#pragma once

#include <cstring>

#include <mezzo/core/config.hpp>
#include <mezzo/numeric/float_traits.hpp>

namespace mezzo::detail {

template <FloatingPoint T>
using bits_t = typename float_traits<T>::storage_type;

/// Bit patterns of the format T, without sign: patterns of non-negative numbers are ordered as their values.
template <FloatingPoint T>
struct Layout : float_traits<T> {
  using bits = bits_t<T>;
  static constexpr int sign_position = Layout::exponent_bits + Layout::mantissa_bits;
  static constexpr bits sign = static_cast<bits>(bits{1} << sign_position);
  static constexpr bits magnitude = static_cast<bits>(sign - 1);
  static constexpr bits hidden = static_cast<bits>(bits{1} << Layout::mantissa_bits);  ///< also the smallest normal number
  static constexpr bits mantissa = static_cast<bits>(hidden - 1);
  static constexpr bits exponent = static_cast<bits>(magnitude - mantissa);
  static constexpr bits largest = static_cast<bits>(Layout::has_infinity ? exponent - 1 : magnitude - 1);
  static constexpr bits nan = static_cast<bits>(Layout::has_infinity ? exponent | (hidden >> 1) : magnitude);
  static constexpr bits infinity = Layout::has_infinity ? exponent : nan;
};

template <FloatingPoint T>
MEZZO_HOST_DEVICE constexpr bits_t<T> bits_of(const T& x) {
  if (__builtin_is_constant_evaluated()) return __builtin_bit_cast(bits_t<T>, x);
  bits_t<T> bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

template <FloatingPoint T>
MEZZO_HOST_DEVICE constexpr T from_bits(bits_t<T> bits) {
  return __builtin_bit_cast(T, bits);
}

}  // namespace mezzo::detail
