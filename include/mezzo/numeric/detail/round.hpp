// Conversions between formats as integer arithmetic on bit patterns: the same results on host and device, in every rounding mode,
// with subnormals flushed or not. The few floating-point operations are exact and meet no subnormal number.
#pragma once

#include <cstdint>

#include <mezzo/numeric/detail/bits.hpp>

namespace mezzo::detail {

/// value / 2^count, rounded to nearest, ties to even.
struct ToNearestEven {
  template <class Bits>
  MEZZO_HOST_DEVICE constexpr Bits shift_right(Bits value, int count) const {
    constexpr int most = static_cast<int>(sizeof(Bits)) * 8 - 1;  // leaves nothing of a significand, not even a half
    if (count > most) count = most;
    return (value + ((Bits{1} << (count - 1)) - 1) + ((value >> count) & 1)) >> count;
  }
};

/// floor(value / 2^count + random / 2^32): away from zero with a probability equal to the part cut off.
struct Stochastic {
  std::uint32_t random;

  MEZZO_HOST_DEVICE constexpr std::uint32_t shift_right(std::uint32_t value, int count) const {
    if (count > 31) {
      value = count > 62 ? 0 : value >> (count - 31);
      count = 31;
    }
    return (value + (random >> (32 - count))) >> count;
  }
};

/// The number `bits` of the format From in the smaller format To. NaNs become quiet and keep the payload that fits.
template <class To, class From, class Rounding = ToNearestEven>
MEZZO_HOST_DEVICE constexpr bits_t<To> narrow(bits_t<From> bits, Overflow overflow, Rounding rounding = {}) {
  using F = Layout<From>;
  using T = Layout<To>;
  using Bits = bits_t<From>;
  constexpr int shift = F::mantissa_bits - T::mantissa_bits;
  constexpr int bias_change = F::bias - T::bias;

  const Bits magnitude = bits & F::magnitude;
  Bits code = rounding.shift_right(magnitude, shift) - (static_cast<Bits>(bias_change) << T::mantissa_bits);
  if constexpr (bias_change > 0) {
    constexpr Bits smallest_normal = static_cast<Bits>(bias_change + 1) << F::mantissa_bits;
    const Bits limited = magnitude < smallest_normal ? magnitude : smallest_normal;
    const int count = shift + bias_change + 1 - static_cast<int>(limited >> F::mantissa_bits);
    const Bits subnormal = rounding.shift_right((limited & F::mantissa) | F::hidden, count);
    code = magnitude < smallest_normal ? subnormal : code;
  }
  const Bits beyond = overflow == Overflow::saturate ? T::largest : T::infinity;
  code = code > T::largest ? beyond : code;
  const Bits nan = T::nan | ((magnitude >> shift) & T::mantissa);
  code = magnitude > F::infinity ? nan : code;
  return static_cast<bits_t<To>>(code | ((bits >> (F::sign_position - T::sign_position)) & T::sign));
}

/// The number `bits` of the format From in float or double, which hold it exactly.
template <class To, class From>
MEZZO_HOST_DEVICE constexpr bits_t<To> widen(bits_t<From> bits) {
  using F = Layout<From>;
  using T = Layout<To>;
  using Bits = bits_t<To>;
  constexpr int shift = T::mantissa_bits - F::mantissa_bits;
  constexpr Bits bias_change = static_cast<Bits>(T::bias - F::bias) << T::mantissa_bits;

  const Bits magnitude = bits & F::magnitude;
  Bits result = (magnitude << shift) + bias_change;
  if constexpr (bias_change > 0) {
    constexpr Bits smallest = static_cast<Bits>(T::bias - F::bias + 1 - F::mantissa_bits) << T::mantissa_bits;
    const To subnormal = static_cast<To>(static_cast<std::int32_t>(magnitude)) * from_bits<To>(smallest);
    const Bits special = F::has_infinity ? result + bias_change : T::nan;
    result = magnitude < F::hidden ? bits_of(subnormal) : result;
    result = magnitude > F::largest ? special : result;
  }
  return result | (static_cast<Bits>(bits & F::sign) << (T::sign_position - F::sign_position));
}

/// The number sign * magnitude, rounded once to the format To.
template <class To>
MEZZO_HOST_DEVICE constexpr bits_t<To> from_integer(std::uint64_t magnitude, bool is_negative, Overflow overflow) {
  constexpr std::uint64_t exact = std::uint64_t{1} << 53;  // all integers up to here are doubles
  int scale = 0;
  if (magnitude > exact) {  // what is cut off stays visible in the last bit, beyond the last bit of To
    scale = sizeof(To) < sizeof(double) ? 11 : magnitude >> 63 != 0 ? 1 : 0;
    const std::uint64_t rest = magnitude & ((std::uint64_t{1} << scale) - 1);
    magnitude = (magnitude >> scale) | (rest != 0 ? 1u : 0u);
  }
  if constexpr (sizeof(To) == sizeof(double)) {
    int excess = 0;
    while (magnitude >> excess > exact) ++excess;
    if (excess > 0) magnitude = ToNearestEven().shift_right(magnitude, excess);
    scale += excess;
  }
  const double value = static_cast<double>(static_cast<std::int64_t>(magnitude)) * static_cast<double>(1 << scale);
  const std::uint64_t bits = bits_of(value) | (is_negative ? Layout<double>::sign : 0u);
  if constexpr (sizeof(To) == sizeof(double)) {
    return bits;
  } else {
    return narrow<To, double>(bits, overflow);
  }
}

template <class To, class Integer>
MEZZO_HOST_DEVICE constexpr bits_t<To> from_integer(Integer x, Overflow overflow) {
  const bool is_negative = x < Integer{0};
  const auto value = static_cast<std::uint64_t>(x);
  return from_integer<To>(is_negative ? 0u - value : value, is_negative, overflow);
}

/// sign * magnitude, or the end of Integer's range where it lies beyond.
template <class Integer>
MEZZO_HOST_DEVICE constexpr Integer clamp_integer(std::uint64_t magnitude, bool is_negative) {
  constexpr bool is_signed = static_cast<Integer>(-1) < Integer{0};
  constexpr std::uint64_t largest = (~std::uint64_t{0} >> (64 - 8 * sizeof(Integer))) >> (is_signed ? 1 : 0);
  const std::uint64_t limit = !is_negative ? largest : is_signed ? largest + 1 : 0;
  const std::uint64_t clamped = magnitude < limit ? magnitude : limit;
  return static_cast<Integer>(is_negative ? 0u - clamped : clamped);
}

/// The double `bits` to the nearest integer, ties to even; clamped to Integer's range, 0 for NaN.
template <class Integer>
MEZZO_HOST_DEVICE constexpr Integer to_integer(std::uint64_t bits) {
  using F = Layout<double>;
  const std::uint64_t magnitude = bits & F::magnitude;
  if (magnitude > F::infinity) return Integer{0};
  const std::uint64_t significand = (magnitude & F::mantissa) | F::hidden;
  const int scale = static_cast<int>(magnitude >> F::mantissa_bits) - F::bias - F::mantissa_bits;
  std::uint64_t whole = ~std::uint64_t{0};
  if (scale < 0) {
    whole = ToNearestEven().shift_right(significand, -scale);
  } else if (scale <= 11) {
    whole = significand << scale;
  }
  return clamp_integer<Integer>(whole, (bits & F::sign) != 0);
}

}  // namespace mezzo::detail
