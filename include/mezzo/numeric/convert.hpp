// The one conversion between numbers of any two types. Results depend on nothing but the arguments: not on the rounding mode, not on
// flush-to-zero, not on -ffast-math, not on host or device.
#pragma once

#include <concepts>
#include <cstdint>

#include <mezzo/core/config.hpp>
#include <mezzo/numeric/bfloat16.hpp>
#include <mezzo/numeric/detail/round.hpp>
#include <mezzo/numeric/float_traits.hpp>
#include <mezzo/numeric/fp8.hpp>
#include <mezzo/numeric/half.hpp>

namespace mezzo {

/// `x` as To, rounded once, to nearest with ties to even. Subnormals are kept; NaN stays NaN.
template <FloatingPoint To, class From>
requires FloatingPoint<From> || std::integral<From> MEZZO_HOST_DEVICE constexpr To convert(const From& x,
                                                                                           Overflow overflow = float_traits<To>::overflow) {
  using layout = detail::Layout<To>;
  if constexpr (std::integral<From>) {
    return detail::from_bits<To>(detail::from_integer<To>(x, overflow));
  } else if constexpr (sizeof(From) >= sizeof(float) && sizeof(To) < sizeof(From)) {
    return detail::from_bits<To>(detail::narrow<To, From>(detail::bits_of(x), overflow));
  } else if constexpr (sizeof(To) < sizeof(float) && !std::same_as<To, From>) {
    return detail::from_bits<To>(detail::narrow<To, float>(detail::widen<float, From>(detail::bits_of(x)), overflow));
  } else {
    auto bits = detail::bits_of(x);
    using bits_type = detail::bits_t<To>;
    bits_type result;
    if constexpr (std::same_as<To, From>) {
      result = bits;
    } else {
      result = detail::widen<To, From>(bits);
    }
    const bool is_infinite = layout::has_infinity && (result & layout::magnitude) == layout::infinity;
    return detail::from_bits<To>(static_cast<bits_type>(overflow == Overflow::saturate && is_infinite ? result - 1 : result));
  }
}

/// `x` as an integer: rounded to nearest with ties to even, clamped to To's range, 0 for NaN.
template <std::integral To, class From>
requires(!std::same_as<To, bool> && (FloatingPoint<From> || std::integral<From>)) MEZZO_HOST_DEVICE constexpr To convert(const From& x) {
  if constexpr (std::integral<From>) {
    const bool is_negative = x < From{0};
    const auto value = static_cast<std::uint64_t>(x);
    return detail::clamp_integer<To>(is_negative ? 0u - value : value, is_negative);
  } else if constexpr (std::same_as<From, double>) {
    return detail::to_integer<To>(detail::bits_of(x));
  } else {
    return detail::to_integer<To>(detail::widen<double, From>(detail::bits_of(x)));
  }
}

/// Whether `x` is not zero; NaN is not.
template <std::same_as<bool> To, class From>
requires FloatingPoint<From> || std::integral<From> MEZZO_HOST_DEVICE constexpr bool convert(const From& x) {
  if constexpr (std::integral<From>) {
    return x != From{0};
  } else {
    return (detail::bits_of(x) & detail::Layout<From>::magnitude) != 0;
  }
}

/// `x` as To, rounded to one of its two neighbours so that the mean over `random_bits` is x: to the one farther from zero where
/// |x| / ulp + random_bits / 2^32 reaches it. Numbers of To stay what they are; steps below 2^-31 ulp are lost.
template <StorageFloat To>
MEZZO_HOST_DEVICE constexpr To convert_stochastic(const float& x, std::uint32_t random_bits,
                                                  Overflow overflow = float_traits<To>::overflow) {
  return To::from_bits(detail::narrow<To, float>(detail::bits_of(x), overflow, detail::Stochastic{random_bits}));
}

}  // namespace mezzo
