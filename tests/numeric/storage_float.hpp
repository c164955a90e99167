// What half, bfloat16 and the fp8 types have in common; each type's own file states its facts.
#pragma once

#include <doctest/doctest.h>

#include <mezzo/numeric/float_traits.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

#include "reference.hpp"

namespace test {

/// The members of std::numeric_limits that differ between the types; values as codes.
struct Limits {
  bool has_infinity;
  int digits, digits10, max_digits10;
  int min_exponent, min_exponent10, max_exponent, max_exponent10;
  unsigned min, max, lowest, epsilon, round_error, denorm_min, infinity, quiet_nan, signaling_nan;
};

template <class T>
void check_limits(const Limits& expected) {
  using limits = std::numeric_limits<T>;
  CHECK(limits::is_specialized);
  CHECK(limits::is_signed);
  CHECK_FALSE(limits::is_integer);
  CHECK_FALSE(limits::is_exact);
  CHECK(limits::has_infinity == expected.has_infinity);
  CHECK(limits::has_quiet_NaN);
  CHECK(limits::has_signaling_NaN == expected.has_infinity);
  CHECK(limits::has_denorm == std::denorm_present);
  CHECK_FALSE(limits::has_denorm_loss);
  CHECK(limits::round_style == std::round_to_nearest);
  CHECK(limits::is_iec559 == expected.has_infinity);
  CHECK(limits::is_bounded);
  CHECK_FALSE(limits::is_modulo);
  CHECK(limits::digits == expected.digits);
  CHECK(limits::digits10 == expected.digits10);
  CHECK(limits::max_digits10 == expected.max_digits10);
  CHECK(limits::radix == 2);
  CHECK(limits::min_exponent == expected.min_exponent);
  CHECK(limits::min_exponent10 == expected.min_exponent10);
  CHECK(limits::max_exponent == expected.max_exponent);
  CHECK(limits::max_exponent10 == expected.max_exponent10);
  CHECK_FALSE(limits::traps);
  CHECK_FALSE(limits::tinyness_before);
  CHECK(limits::min().bits() == expected.min);
  CHECK(limits::max().bits() == expected.max);
  CHECK(limits::lowest().bits() == expected.lowest);
  CHECK(limits::epsilon().bits() == expected.epsilon);
  CHECK(limits::round_error().bits() == expected.round_error);
  CHECK(limits::denorm_min().bits() == expected.denorm_min);
  CHECK(limits::infinity().bits() == expected.infinity);
  CHECK(limits::quiet_NaN().bits() == expected.quiet_nan);
  CHECK(limits::signaling_NaN().bits() == expected.signaling_nan);
}

/// Both for T and for its cv-qualified versions.
template <class T>
void check_all_limits(const Limits& expected) {
  check_limits<T>(expected);
  check_limits<const T>(expected);
  check_limits<volatile T>(expected);
  check_limits<const volatile T>(expected);
}

template <class T>
constexpr bool is_plain_storage = std::is_trivially_copyable_v<T>&& std::is_trivially_default_constructible_v<T>&&
                                      std::is_standard_layout_v<T>&& std::has_unique_object_representations_v<T> &&
                                  sizeof(T) == sizeof(typename mezzo::float_traits<T>::storage_type) && alignof(T) == sizeof(T);

template <class T>
constexpr bool converts_as_documented =
    std::is_convertible_v<T, float> && !std::is_convertible_v<float, T> && !std::is_convertible_v<double, T> &&
    !std::is_convertible_v<int, T> && std::is_constructible_v<T, float> && std::is_constructible_v<T, double> &&
    std::is_constructible_v<T, int> && std::is_constructible_v<T, unsigned long long> && std::is_constructible_v<T, bool>;

template <class T>
constexpr bool mixes_as_documented = std::is_same_v<decltype(T() + T()), T>&& std::is_same_v<decltype(T() - T()), T>&&
    std::is_same_v<decltype(T() * T()), T>&& std::is_same_v<decltype(T() / T()), T>&& std::is_same_v<decltype(-T()), T>&&
        std::is_same_v<decltype(+T()), T>&& std::is_same_v<decltype(T() + 1.0f), float>&& std::is_same_v<decltype(1.0f * T()), float>&&
            std::is_same_v<decltype(T() * 2), float>&& std::is_same_v<decltype(2 - T()), float>&&
                std::is_same_v<decltype(T() / 2.0), double>&& std::is_same_v<decltype(T() < T()), bool>;

/// Literals of every kind, all at compile time.
template <class T>
constexpr bool literals_work() {
  T x(1);
  x += T(2);
  x *= 2.0f;
  x -= T(1.0);
  x /= T(5.0f);
  return x == T(1) && x.bits() == T(1.0).bits() && x.bits() == T(1.0f).bits() && -x < T(0) && x != T(2) && x <= x && x >= x && x > -x &&
         +x == 1 && x < 1.5f && T(x).bits() == T::from_bits(x.bits()).bits() && static_cast<float>(x) == 1.0f && T{}.bits() == 0 &&
         T(true) == x;
}

/// T(float(a) op float(b)) for pairs of random codes, rounded by the reference.
template <class T>
void check_arithmetic(const Format& format) {
  constexpr std::uint64_t seed = 22;
  CAPTURE(seed);
  Random random(seed);
  const auto draw = [&] {
    auto code = static_cast<unsigned>(random() % (2 * format.sign()));
    while ((code & (format.sign() - 1)) > format.largest()) code = static_cast<unsigned>(random() % (2 * format.sign()));
    return T::from_bits(static_cast<typename T::bits_type>(code));
  };
  const auto expect = [&](T result, float exact) {
    const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, exact);
    if ((bits & 0x7F800000u) == 0x7F800000u) return;  // beyond float
    unsigned code = format.nearest(std::fabs(static_cast<double>(exact)));
    if (code > format.largest() && mezzo::float_traits<T>::overflow == mezzo::Overflow::saturate) code = format.largest();
    REQUIRE(result.bits() == (code | (bits >> 31 != 0 ? format.sign() : 0u)));
  };
  for (int i = 0; i < 20000; ++i) {
    const T a = draw(), b = draw();
    const float x = a, y = b;
    CAPTURE(x);
    CAPTURE(y);
    expect(a + b, x + y);
    expect(a - b, x - y);
    expect(a * b, x * y);
    expect(a / b, x / y);
    T sum = a;
    sum += b;
    REQUIRE(sum.bits() == (a + b).bits());
    REQUIRE((-a).bits() == (a.bits() ^ format.sign()));
    REQUIRE((a == b) == (x == y));
    REQUIRE((a < b) == (x < y));
    REQUIRE((a >= b) == (x >= y));
  }
}

}  // namespace test
