// is_finite and is_nan in every format; numbers travel as bits, so that the cases hold under -Ofast.
#pragma once

#include <doctest/doctest.h>

#include <mezzo/numeric/bfloat16.hpp>
#include <mezzo/numeric/fp8.hpp>
#include <mezzo/numeric/half.hpp>
#include <mezzo/numeric/is_finite.hpp>

#include <cstdint>
#include <cstring>

#include "reference.hpp"

namespace {

static_assert(mezzo::is_finite(1.0f) && mezzo::is_finite(mezzo::half(1)) && !mezzo::is_nan(1.0));
static_assert(!mezzo::is_finite(mezzo::fp8_e4m3::from_bits(0xFF)) && mezzo::is_nan(mezzo::fp8_e4m3::from_bits(0x7F)));

/// As a buffer that came from elsewhere: the compiler knows nothing of it.
template <class T, class Bits>
[[gnu::noinline]] T load(Bits bits) {
  static_assert(sizeof(T) == sizeof(Bits));
  T x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

template <class T>
void check_every_code(const test::Format& format) {
  for (unsigned code = 0; code < 2 * format.sign(); ++code) {
    const T x = T::from_bits(static_cast<typename T::bits_type>(code));
    CAPTURE(code);
    REQUIRE(mezzo::is_nan(x) == format.is_nan(code));
    REQUIRE(mezzo::is_finite(x) == ((code & (format.sign() - 1)) <= format.largest()));
  }
}

}  // namespace

TEST_CASE("float: finite, infinite, NaN") {
  test::in_each_float_environment([](const std::string& environment) {
    CAPTURE(environment);
    for (std::uint32_t sign : {0u, 0x80000000u}) {
      for (std::uint32_t finite : {0u, 1u, 0x007FFFFFu, 0x3F800000u, 0x7F7FFFFFu}) {
        CHECK(mezzo::is_finite(load<float>(sign | finite)));
        CHECK_FALSE(mezzo::is_nan(load<float>(sign | finite)));
      }
      CHECK_FALSE(mezzo::is_finite(load<float>(sign | 0x7F800000u)));
      CHECK_FALSE(mezzo::is_nan(load<float>(sign | 0x7F800000u)));
      for (std::uint32_t nan : {0x7F800001u, 0x7FC00000u, 0x7FFFFFFFu}) {
        CHECK_FALSE(mezzo::is_finite(load<float>(sign | nan)));
        CHECK(mezzo::is_nan(load<float>(sign | nan)));
      }
    }
  });
}

TEST_CASE("double: finite, infinite, NaN") {
  test::in_each_float_environment([](const std::string& environment) {
    CAPTURE(environment);
    for (std::uint64_t finite : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0xFFEFFFFFFFFFFFFF}}) {
      CHECK(mezzo::is_finite(load<double>(finite)));
      CHECK_FALSE(mezzo::is_nan(load<double>(finite)));
    }
    CHECK_FALSE(mezzo::is_finite(load<double>(std::uint64_t{0xFFF0000000000000})));
    CHECK_FALSE(mezzo::is_nan(load<double>(std::uint64_t{0x7FF0000000000000})));
    CHECK_FALSE(mezzo::is_finite(load<double>(std::uint64_t{0x7FF0000000000001})));
    CHECK(mezzo::is_nan(load<double>(std::uint64_t{0x7FF0000000000001})));
    CHECK(mezzo::is_nan(load<double>(std::uint64_t{0xFFFFFFFFFFFFFFFF})));
  });
}

TEST_CASE("every code of the storage floats") {
  check_every_code<mezzo::half>(test::Format(5, 10, true));
  check_every_code<mezzo::bfloat16>(test::Format(8, 7, true));
  check_every_code<mezzo::fp8_e4m3>(test::Format(4, 3, false));
  check_every_code<mezzo::fp8_e5m2>(test::Format(5, 2, true));
}
