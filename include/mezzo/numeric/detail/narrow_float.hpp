// What half, bfloat16 and the fp8 types have in common, which is everything but their format: they store, and compute as float.
#pragma once

#include <concepts>
#include <limits>

#include <mezzo/core/config.hpp>
#include <mezzo/numeric/detail/round.hpp>

namespace mezzo::detail {

/// Base of a storage float. Two of the same type compute in float and round to that type; one with any other number follows the
/// language's rules for float, so that half * 2 and half * bfloat16 are float, and half * 2.0 is double.
template <class Derived>
class NarrowFloat {
 public:
  using bits_type = typename float_traits<Derived>::storage_type;

  NarrowFloat() = default;

  /// Rounds to nearest, ties to even; see convert() for overflow and NaN.
  MEZZO_HOST_DEVICE constexpr explicit NarrowFloat(const float& x)
      : m_bits(narrow<Derived, float>(bits_of(x), float_traits<Derived>::overflow)) {}
  MEZZO_HOST_DEVICE constexpr explicit NarrowFloat(const double& x)
      : m_bits(narrow<Derived, double>(bits_of(x), float_traits<Derived>::overflow)) {}
  template <std::integral Integer>
  MEZZO_HOST_DEVICE constexpr explicit NarrowFloat(Integer x) : m_bits(from_integer<Derived>(x, float_traits<Derived>::overflow)) {}

  MEZZO_HOST_DEVICE static constexpr Derived from_bits(bits_type bits) {
    Derived result{};
    result.m_bits = bits;
    return result;
  }

  MEZZO_HOST_DEVICE constexpr bits_type bits() const { return m_bits; }
  MEZZO_HOST_DEVICE constexpr operator float() const { return detail::from_bits<float>(widen<float, Derived>(m_bits)); }

  MEZZO_HOST_DEVICE constexpr Derived& operator+=(float other) { return assign(*this + other); }
  MEZZO_HOST_DEVICE constexpr Derived& operator-=(float other) { return assign(*this - other); }
  MEZZO_HOST_DEVICE constexpr Derived& operator*=(float other) { return assign(*this * other); }
  MEZZO_HOST_DEVICE constexpr Derived& operator/=(float other) { return assign(*this / other); }

  MEZZO_HOST_DEVICE friend constexpr Derived operator+(Derived a) { return a; }
  MEZZO_HOST_DEVICE friend constexpr Derived operator-(Derived a) {
    return from_bits(static_cast<bits_type>(a.bits() ^ Layout<Derived>::sign));
  }
  MEZZO_HOST_DEVICE friend constexpr Derived operator+(Derived a, Derived b) { return Derived(to_float(a) + to_float(b)); }
  MEZZO_HOST_DEVICE friend constexpr Derived operator-(Derived a, Derived b) { return Derived(to_float(a) - to_float(b)); }
  MEZZO_HOST_DEVICE friend constexpr Derived operator*(Derived a, Derived b) { return Derived(to_float(a) * to_float(b)); }
  MEZZO_HOST_DEVICE friend constexpr Derived operator/(Derived a, Derived b) { return Derived(to_float(a) / to_float(b)); }

  MEZZO_HOST_DEVICE friend constexpr bool operator==(Derived a, Derived b) { return to_float(a) == to_float(b); }
  MEZZO_HOST_DEVICE friend constexpr bool operator<(Derived a, Derived b) { return to_float(a) < to_float(b); }
  MEZZO_HOST_DEVICE friend constexpr bool operator>(Derived a, Derived b) { return to_float(a) > to_float(b); }
  MEZZO_HOST_DEVICE friend constexpr bool operator<=(Derived a, Derived b) { return to_float(a) <= to_float(b); }
  MEZZO_HOST_DEVICE friend constexpr bool operator>=(Derived a, Derived b) { return to_float(a) >= to_float(b); }

 private:
  MEZZO_HOST_DEVICE static constexpr float to_float(Derived x) { return x; }
  MEZZO_HOST_DEVICE constexpr Derived& assign(float x) { return static_cast<Derived&>(*this) = Derived(x); }

  bits_type m_bits;
};

/// std::numeric_limits of a storage float. Where fp8_e4m3 has no infinity or signaling NaN, it gives its NaN.
template <class T>
class NarrowLimits {
  using layout = Layout<T>;
  using bits = typename layout::bits;
  static constexpr int floor_log10_of_2_to(int n) { return n * 643 / 2136; }

 public:
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool has_infinity = layout::has_infinity;
  static constexpr bool has_quiet_NaN = true;
  static constexpr bool has_signaling_NaN = layout::has_infinity;
  static constexpr std::float_denorm_style has_denorm = std::denorm_present;
  static constexpr bool has_denorm_loss = false;
  static constexpr std::float_round_style round_style = std::round_to_nearest;
  static constexpr bool is_iec559 = layout::has_infinity;
  static constexpr bool is_bounded = true;
  static constexpr bool is_modulo = false;
  static constexpr int digits = layout::mantissa_bits + 1;
  static constexpr int digits10 = floor_log10_of_2_to(layout::mantissa_bits);
  static constexpr int max_digits10 = 2 + floor_log10_of_2_to(digits);
  static constexpr int radix = 2;
  static constexpr int min_exponent = 2 - layout::bias;
  static constexpr int min_exponent10 = -floor_log10_of_2_to(layout::bias - 1);
  static constexpr int max_exponent = layout::bias + (layout::has_infinity ? 1 : 2);
  static constexpr int max_exponent10 = floor_log10_of_2_to(max_exponent);
  static constexpr bool traps = false;
  static constexpr bool tinyness_before = false;

  MEZZO_HOST_DEVICE static constexpr T min() noexcept { return T::from_bits(layout::hidden); }
  MEZZO_HOST_DEVICE static constexpr T max() noexcept { return T::from_bits(layout::largest); }
  MEZZO_HOST_DEVICE static constexpr T lowest() noexcept { return T::from_bits(static_cast<bits>(layout::sign | layout::largest)); }
  MEZZO_HOST_DEVICE static constexpr T epsilon() noexcept {
    return T::from_bits(static_cast<bits>((layout::bias - layout::mantissa_bits) << layout::mantissa_bits));
  }
  MEZZO_HOST_DEVICE static constexpr T round_error() noexcept {
    return T::from_bits(static_cast<bits>((layout::bias - 1) << layout::mantissa_bits));
  }
  MEZZO_HOST_DEVICE static constexpr T infinity() noexcept { return T::from_bits(layout::infinity); }
  MEZZO_HOST_DEVICE static constexpr T quiet_NaN() noexcept { return T::from_bits(layout::nan); }
  MEZZO_HOST_DEVICE static constexpr T signaling_NaN() noexcept {
    return T::from_bits(static_cast<bits>(layout::has_infinity ? layout::infinity + 1 : layout::nan));
  }
  MEZZO_HOST_DEVICE static constexpr T denorm_min() noexcept { return T::from_bits(1); }
};

}  // namespace mezzo::detail
