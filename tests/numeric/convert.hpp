// What convert promises, in every floating-point environment. Results are compared as bits, so that the cases hold under -Ofast too.
#pragma once

#include <doctest/doctest.h>

#include <mezzo/numeric/convert.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "reference.hpp"

namespace {

using mezzo::bfloat16;
using mezzo::convert;
using mezzo::convert_stochastic;
using mezzo::fp8_e4m3;
using mezzo::fp8_e5m2;
using mezzo::half;
using mezzo::Overflow;

/// Numbers travel as bits, and through memory: nothing may assume that they are finite.
constexpr float f32(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }
constexpr double f64(std::uint64_t bits) { return __builtin_bit_cast(double, bits); }
constexpr std::uint32_t bits_of(const float& x) { return __builtin_bit_cast(std::uint32_t, x); }
constexpr std::uint64_t bits_of(const double& x) { return __builtin_bit_cast(std::uint64_t, x); }
template <class T>
requires mezzo::StorageFloat<T>
constexpr unsigned code_of(T x) { return x.bits(); }
constexpr bool is_nan_bits(std::uint32_t bits) { return (bits & 0x7FFFFFFFu) > 0x7F800000u; }

template <class T>
const test::Format& format_of() {
  static const test::Format format = std::is_same_v<T, half>       ? test::Format(5, 10, true)
                                     : std::is_same_v<T, bfloat16> ? test::Format(8, 7, true)
                                     : std::is_same_v<T, fp8_e5m2> ? test::Format(5, 2, true)
                                                                   : test::Format(4, 3, false);
  return format;
}

/// convert<T>(x) for a finite x by the reference, infinities on overflow.
template <class T>
unsigned expected_code(double x, bool is_negative) {
  return format_of<T>().nearest(std::fabs(x)) | (is_negative ? format_of<T>().sign() : 0u);
}

const std::uint32_t tricky_mantissas[] = {0,        1,        0x1000,   0x0FFF,   0x1001,   0x2000,   0x3000,   0x7FFF,   0x8000,
                                          0x8001,   0x18000,  0x7FFFF,  0x80000,  0x80001,  0xFFFFF,  0x100000, 0x100001, 0x17FFFF,
                                          0x180000, 0x180001, 0x1FFFFF, 0x200000, 0x3FFFFF, 0x400000, 0x600000, 0x6FFFFF, 0x700000,
                                          0x700001, 0x7FC000, 0x7FDFFF, 0x7FE000, 0x7FEFFF, 0x7FF000, 0x7F7FFF, 0x7F8000, 0x7FFFFF};

static_assert(convert<half>(f32(0x33000001)).bits() == 0x0001);
static_assert(convert<half>(1 + 0x1p-11 + 0x1p-40).bits() == 0x3C01);
static_assert(convert<half>(65520.0f, Overflow::saturate).bits() == 0x7BFF);
static_assert(convert<bfloat16>(259).bits() == 0x4382);
static_assert(convert<fp8_e4m3>(464.0f).bits() == 0x7E);
static_assert(convert<fp8_e5m2>(1.0f).bits() == 0x3C);
static_assert(bits_of(convert<float>(half::from_bits(0x0001))) == 0x33800000);
static_assert(convert<int>(half(2.5f)) == 2);
static_assert(convert<bool>(half(0.25f)));
static_assert(convert_stochastic<half>(1.0f, 0xFFFFFFFFu).bits() == 0x3C00);
static_assert(convert<float>(1.0) == 1.0f && convert<double>(1.0f) == 1.0);

}  // namespace

TEST_CASE("float to half: ties to even, subnormals, overflow") {
  struct Row {
    std::uint32_t from;
    unsigned to, saturated;
  };
  const Row rows[] = {
      {0x33000000, 0x0000, 0x0000}, {0x33000001, 0x0001, 0x0001}, {0x33C00000, 0x0002, 0x0002}, {0x387FC000, 0x03FF, 0x03FF},
      {0x387FDFFF, 0x03FF, 0x03FF}, {0x387FE000, 0x0400, 0x0400}, {0x3F801000, 0x3C00, 0x3C00}, {0x3F801001, 0x3C01, 0x3C01},
      {0x3F803000, 0x3C02, 0x3C02}, {0x477FEFFF, 0x7BFF, 0x7BFF}, {0x477FF000, 0x7C00, 0x7BFF}, {0x7F7FFFFF, 0x7C00, 0x7BFF},
      {0x7F800000, 0x7C00, 0x7BFF}, {0xFF800000, 0xFC00, 0xFBFF}, {0x80000000, 0x8000, 0x8000}, {0x00000001, 0x0000, 0x0000},
      {0x80000001, 0x8000, 0x8000}, {0xC77FF000, 0xFC00, 0xFBFF},
  };
  test::in_each_float_environment([&](const std::string& environment) {
    CAPTURE(environment);
    for (const Row& row : rows) {
      CAPTURE(row.from);
      CHECK(convert<half>(f32(row.from)).bits() == row.to);
      CHECK(half(f32(row.from)).bits() == row.to);
      CHECK(convert<half>(f32(row.from), Overflow::saturate).bits() == row.saturated);
    }
  });
}

TEST_CASE("float to bfloat16: ties to even, subnormals, overflow") {
  struct Row {
    std::uint32_t from;
    unsigned to, saturated;
  };
  const Row rows[] = {
      {0x3F808000, 0x3F80, 0x3F80}, {0x3F818000, 0x3F82, 0x3F82}, {0x3F808001, 0x3F81, 0x3F81}, {0x7F7F7FFF, 0x7F7F, 0x7F7F},
      {0x7F7F8000, 0x7F80, 0x7F7F}, {0x7F800000, 0x7F80, 0x7F7F}, {0xFF7FFFFF, 0xFF80, 0xFF7F}, {0x00008000, 0x0000, 0x0000},
      {0x00008001, 0x0001, 0x0001}, {0x007FFFFF, 0x0080, 0x0080}, {0x80018000, 0x8002, 0x8002}, {0x80000000, 0x8000, 0x8000},
  };
  test::in_each_float_environment([&](const std::string& environment) {
    CAPTURE(environment);
    for (const Row& row : rows) {
      CAPTURE(row.from);
      CHECK(convert<bfloat16>(f32(row.from)).bits() == row.to);
      CHECK(bfloat16(f32(row.from)).bits() == row.to);
      CHECK(convert<bfloat16>(f32(row.from), Overflow::saturate).bits() == row.saturated);
    }
  });
}

TEST_CASE("float to fp8: e4m3 saturates unless told otherwise, e5m2 overflows to infinity") {
  struct Row {
    float from;
    unsigned to, with_infinity;
  };
  const Row rows[] = {{448.0f, 0x7E, 0x7E}, {464.0f, 0x7E, 0x7E},  {465.0f, 0x7E, 0x7F},   {-465.0f, 0xFE, 0xFF},   {1e30f, 0x7E, 0x7F},
                      {256.0f, 0x78, 0x78}, {0x1p-9f, 0x01, 0x01}, {0x1p-10f, 0x00, 0x00}, {0x1.8p-9f, 0x02, 0x02}, {-0.0f, 0x80, 0x80}};
  test::in_each_float_environment([&](const std::string& environment) {
    CAPTURE(environment);
    for (const Row& row : rows) {
      CAPTURE(row.from);
      CHECK(convert<fp8_e4m3>(row.from).bits() == row.to);
      CHECK(fp8_e4m3(row.from).bits() == row.to);
      CHECK(convert<fp8_e4m3>(row.from, Overflow::infinity).bits() == row.with_infinity);
    }
    CHECK(convert<fp8_e4m3>(f32(0x7F800000)).bits() == 0x7E);
    CHECK(convert<fp8_e4m3>(f32(0xFF800000), Overflow::infinity).bits() == 0xFF);
    CHECK(convert<fp8_e5m2>(57344.0f).bits() == 0x7B);
    CHECK(convert<fp8_e5m2>(f32(0x476FFFFF)).bits() == 0x7B);
    CHECK(convert<fp8_e5m2>(61440.0f).bits() == 0x7C);
    CHECK(convert<fp8_e5m2>(61440.0f, Overflow::saturate).bits() == 0x7B);
    CHECK(convert<fp8_e5m2>(f32(0xFF800000)).bits() == 0xFC);
    CHECK(convert<fp8_e5m2>(f32(0xFF800000), Overflow::saturate).bits() == 0xFB);
    CHECK(convert<fp8_e4m3>(convert<fp8_e5m2>(61440.0f)).bits() == 0x7E);
  });
}

TEST_CASE_TEMPLATE("NaN stays NaN, with its sign, under either overflow", T, half, bfloat16, fp8_e4m3, fp8_e5m2) {
  test::in_each_float_environment([&](const std::string& environment) {
    CAPTURE(environment);
    for (std::uint32_t bits : {0x7F800001u, 0x7FFF8C22u, 0xFFFFFFFFu, 0x7FC00000u, 0xFF800001u}) {
      CAPTURE(bits);
      for (Overflow overflow : {Overflow::infinity, Overflow::saturate}) {
        const unsigned code = convert<T>(f32(bits), overflow).bits();
        CHECK(format_of<T>().is_nan(code));
        CHECK(((code & format_of<T>().sign()) != 0) == ((bits >> 31) != 0));
        CHECK(format_of<T>().is_nan(convert_stochastic<T>(f32(bits), 0xFFFFFFFFu, overflow).bits()));
      }
    }
    for (std::uint64_t bits : {0x7FF0000000000001u, 0xFFFFFFFFFFFFFFFFu, 0x7FF8000000000000u}) {
      CHECK(format_of<T>().is_nan(convert<T>(f64(bits)).bits()));
      CHECK(is_nan_bits(bits_of(convert<float>(f64(bits)))));
    }
  });
}

TEST_CASE_TEMPLATE("every code converts to float and double and back", T, half, bfloat16, fp8_e4m3, fp8_e5m2) {
  const auto& format = format_of<T>();
  test::in_each_float_environment([&](const std::string& environment) {
    CAPTURE(environment);
    int wrong = 0, first_wrong = -1;
    const auto expect = [&](unsigned code, bool is_right) {
      if (!is_right && ++wrong == 1) first_wrong = static_cast<int>(code);
    };
    for (unsigned code = 0; code < 2 * format.sign(); ++code) {
      const T x = T::from_bits(static_cast<typename T::bits_type>(code));
      const unsigned magnitude = code & (format.sign() - 1);
      const std::uint32_t single = bits_of(convert<float>(x));
      const std::uint64_t wide = bits_of(convert<double>(x));
      expect(code, single == bits_of(static_cast<float>(x)));
      if (format.is_nan(code)) {
        expect(code, is_nan_bits(single) && (wide & 0x7FFFFFFFFFFFFFFFu) > 0x7FF0000000000000u);
        expect(code, format.is_nan(convert<T>(f32(single)).bits()) && format.is_nan(convert<T>(f64(wide)).bits()));
        continue;
      }
      if (magnitude > format.largest()) {
        expect(code, (single & 0x7FFFFFFFu) == 0x7F800000u && (wide & 0x7FFFFFFFFFFFFFFFu) == 0x7FF0000000000000u);
        expect(code, code_of(convert<T>(x, Overflow::saturate)) == code - 1);
        expect(code, bits_of(convert<float>(x, Overflow::saturate)) == ((single & 0x80000000u) | 0x7F7FFFFFu));
      } else {
        expect(code, (wide & 0x7FFFFFFFFFFFFFFFu) == bits_of(format.value(magnitude)));
      }
      expect(code, (single >> 31) == (code >= format.sign() ? 1u : 0u) && (wide >> 63) == (single >> 31));
      expect(code, bits_of(convert<double>(f32(single))) == wide && bits_of(convert<float>(f64(wide))) == single);
      expect(code,
             code_of(convert<T>(f32(single), Overflow::infinity)) == code && code_of(convert<T>(f64(wide), Overflow::infinity)) == code);
      expect(code, code_of(convert<T>(x)) == code);
    }
    CAPTURE(first_wrong);
    CHECK(wrong == 0);
  });
}

TEST_CASE("selected half codes as floats") {
  CHECK(bits_of(convert<float>(half::from_bits(0x0001))) == 0x33800000);
  CHECK(bits_of(convert<float>(half::from_bits(0x0200))) == 0x38000000);
  CHECK(bits_of(convert<float>(half::from_bits(0x03FF))) == 0x387FC000);
}

TEST_CASE_TEMPLATE("floats of every exponent round to the nearest code", T, half, bfloat16, fp8_e4m3, fp8_e5m2) {
  test::in_each_float_environment([&](const std::string& environment) {
    CAPTURE(environment);
    int wrong = 0;
    std::uint32_t first_wrong = 0;
    for (std::uint32_t exponent = 0; exponent < 255; ++exponent) {
      for (std::uint32_t mantissa : tricky_mantissas) {
        for (std::uint32_t sign : {0u, 0x80000000u}) {
          const std::uint32_t bits = sign | (exponent << 23) | mantissa;
          const double value = std::ldexp(mantissa + (exponent == 0 ? 0.0 : 0x1p23), static_cast<int>(exponent == 0 ? 1 : exponent) - 150);
          if (convert<T>(f32(bits), Overflow::infinity).bits() != expected_code<T>(value, sign != 0) && ++wrong == 1) first_wrong = bits;
        }
      }
    }
    CAPTURE(first_wrong);
    CHECK(wrong == 0);
  });
}

TEST_CASE_TEMPLATE("double rounds once, not through float", T, half, bfloat16, fp8_e4m3, fp8_e5m2) {
  const auto& format = format_of<T>();
  test::in_each_float_environment([&](const std::string& environment) {
    CAPTURE(environment);
    int wrong = 0;
    unsigned first_wrong = 0;
    for (unsigned code = 0; code <= format.largest(); ++code) {  // halfway to the next code, and the doubles beside
      const std::uint64_t tie = bits_of(format.bound(code));
      const bool is_right = convert<T>(f64(tie - 1), Overflow::infinity).bits() == code &&
                            convert<T>(f64(tie), Overflow::infinity).bits() == code + (code & 1u) &&
                            convert<T>(f64(tie + 1), Overflow::infinity).bits() == code + 1;
      if (!is_right && ++wrong == 1) first_wrong = code;
    }
    CAPTURE(first_wrong);
    CHECK(wrong == 0);
    CHECK(code_of(convert<T>(f64(0x7FEFFFFFFFFFFFFFu), Overflow::infinity)) == format.after_largest());
    CHECK(code_of(convert<T>(f64(0x7FEFFFFFFFFFFFFFu), Overflow::saturate)) == format.largest());
    CHECK(code_of(convert<T>(f64(0x8000000000000001u))) == format.sign());
  });
  CHECK(convert<half>(f64(bits_of(1 + 0x1p-11 + 0x1p-40))).bits() == 0x3C01);
  CHECK(half(f64(bits_of(1 + 0x1p-11 + 0x1p-40))).bits() == 0x3C01);
}

TEST_CASE("double to float: ties to even, subnormals, overflow") {
  struct Row {
    std::uint64_t from;
    std::uint32_t to, saturated;
  };
  const Row rows[] = {
      {0x3FF0000010000000, 0x3F800000, 0x3F800000}, {0x3FF0000010000001, 0x3F800001, 0x3F800001},
      {0x3FF0000030000000, 0x3F800002, 0x3F800002}, {0x36A0000000000000, 0x00000001, 0x00000001},
      {0x3690000000000000, 0x00000000, 0x00000000}, {0x3690000000000001, 0x00000001, 0x00000001},
      {0x380FFFFFE0000000, 0x00800000, 0x00800000}, {0x380FFFFFC0000000, 0x007FFFFF, 0x007FFFFF},
      {0x47EFFFFFEFFFFFFF, 0x7F7FFFFF, 0x7F7FFFFF}, {0x47EFFFFFF0000000, 0x7F800000, 0x7F7FFFFF},
      {0xFFF0000000000000, 0xFF800000, 0xFF7FFFFF}, {0x8000000000000001, 0x80000000, 0x80000000},
  };
  test::in_each_float_environment([&](const std::string& environment) {
    CAPTURE(environment);
    for (const Row& row : rows) {
      CAPTURE(row.from);
      CHECK(bits_of(convert<float>(f64(row.from))) == row.to);
      CHECK(bits_of(convert<float>(f64(row.from), Overflow::saturate)) == row.saturated);
    }
    CHECK(bits_of(convert<double>(f32(0x00000001))) == 0x36A0000000000000);  // a subnormal float is a normal double
    CHECK(bits_of(convert<double>(f32(0x807FFFFF))) == 0xB80FFFFFC0000000);
  });
}

TEST_CASE("integers round, never truncate, and round once") {
  test::in_each_float_environment([&](const std::string& environment) {
    CAPTURE(environment);
    CHECK(convert<bfloat16>(259).bits() == 0x4382);
    CHECK(convert<bfloat16>(511).bits() == 0x4400);
    CHECK(bfloat16(259).bits() == 0x4382);
    CHECK(convert<half>(65519).bits() == 0x7BFF);
    CHECK(convert<half>(65520).bits() == 0x7C00);
    CHECK(convert<half>(-65520, Overflow::saturate).bits() == 0xFBFF);
    CHECK(convert<half>(true).bits() == 0x3C00);
    CHECK(convert<fp8_e4m3>(465).bits() == 0x7E);
    // Just above a tie: through float or double the bit that decides would be lost.
    CHECK(convert<bfloat16>((std::int64_t{257} << 54) + 1).bits() == 0x5E81);
    CHECK(convert<bfloat16>(-(std::int64_t{257} << 54) - 1).bits() == 0xDE81);
    CHECK(convert<bfloat16>(std::int64_t{257} << 54).bits() == 0x5E80);
    CHECK(convert<half>((std::int64_t{2049} << 4) + 1).bits() == 0x7801);
    CHECK(bits_of(convert<float>((std::int64_t{0x1000001} << 38) + 1)) == 0x5E800001);
    CHECK(bits_of(convert<float>(std::int64_t{0x1000001} << 38)) == 0x5E800000);
    CHECK(bits_of(convert<double>((std::uint64_t{1} << 63) + (1u << 10))) == 0x43E0000000000000);
    CHECK(bits_of(convert<double>((std::uint64_t{1} << 63) + (1u << 10) + 1)) == 0x43E0000000000001);
    CHECK(bits_of(convert<double>((std::uint64_t{1} << 63) + (3u << 10))) == 0x43E0000000000002);
    CHECK(bits_of(convert<double>(std::numeric_limits<std::uint64_t>::max())) == 0x43F0000000000000);
    CHECK(bits_of(convert<double>(std::numeric_limits<std::int64_t>::min())) == 0xC3E0000000000000);
    CHECK(bits_of(convert<double>(0)) == 0);
  });
}

TEST_CASE_TEMPLATE("integers of every size round to the nearest code", T, half, bfloat16, fp8_e4m3, fp8_e5m2) {
  constexpr std::uint64_t seed = 20;
  CAPTURE(seed);
  test::Random random(seed);
  for (int i = 0; i < 2000; ++i) {
    std::uint64_t x = random() >> (random() % 64);
    if (i % 2 == 0) x &= ~std::uint64_t{0} << (random() % 64);  // a run of zeros below: ties
    const auto negative = static_cast<std::int64_t>(0 - (x >> 1));
    CAPTURE(x);
    REQUIRE(code_of(convert<T>(x, Overflow::infinity)) == format_of<T>().nearest(x));
    if (x >> 1 != 0) REQUIRE(code_of(convert<T>(negative, Overflow::infinity)) == (format_of<T>().nearest(x >> 1) | format_of<T>().sign()));
  }
}

TEST_CASE("to integers: ties to even, clamped to the range, NaN gives 0") {
  test::in_each_float_environment([&](const std::string& environment) {
    CAPTURE(environment);
    CHECK(convert<int>(0.5f) == 0);
    CHECK(convert<int>(1.5f) == 2);
    CHECK(convert<int>(2.5) == 2);
    CHECK(convert<int>(-2.5) == -2);
    CHECK(convert<int>(-3.5f) == -4);
    CHECK(convert<int>(half(2.5f)) == 2);
    CHECK(convert<int>(f64(0x3FDFFFFFFFFFFFFF)) == 0);  // the last double below a half
    CHECK(convert<int>(f32(0x00000001)) == 0);
    CHECK(convert<int>(1e10f) == std::numeric_limits<int>::max());
    CHECK(convert<int>(-1e10f) == std::numeric_limits<int>::min());
    CHECK(convert<int>(2147483647.5) == std::numeric_limits<int>::max());
    CHECK(convert<std::uint8_t>(255.5f) == 255);
    CHECK(convert<std::uint8_t>(-1.0f) == 0);
    CHECK(convert<std::int8_t>(-128.5) == -128);
    CHECK(convert<std::int64_t>(0x1p62) == std::int64_t{1} << 62);
    CHECK(convert<std::int64_t>(0x1p63) == std::numeric_limits<std::int64_t>::max());
    CHECK(convert<std::int64_t>(-0x1p63) == std::numeric_limits<std::int64_t>::min());
    CHECK(convert<std::uint64_t>(0x1.fffffffffffffp63) == 0xFFFFFFFFFFFFF800u);
    CHECK(convert<std::uint64_t>(0x1p64) == std::numeric_limits<std::uint64_t>::max());
    CHECK(convert<std::int64_t>(0x1.0000000000001p52) == (std::int64_t{1} << 52) + 1);
    CHECK(convert<int>(f32(0x7F800000)) == std::numeric_limits<int>::max());
    CHECK(convert<int>(f32(0xFF800000)) == std::numeric_limits<int>::min());
    CHECK(convert<int>(f32(0x7FC00000)) == 0);
    CHECK(convert<int>(fp8_e4m3::from_bits(0xFF)) == 0);
    CHECK(convert<int>(f64(0xFFF0000000000001)) == 0);
    CHECK(convert<std::int8_t>(300) == 127);
    CHECK(convert<std::uint16_t>(-5) == 0);
    CHECK(convert<std::int32_t>(std::numeric_limits<std::uint64_t>::max()) == std::numeric_limits<std::int32_t>::max());
    CHECK(convert<std::int64_t>(std::numeric_limits<std::int64_t>::min()) == std::numeric_limits<std::int64_t>::min());
    CHECK(convert<bool>(0.25f));
    CHECK(convert<bool>(f32(0x00000001)));
    CHECK_FALSE(convert<bool>(f32(0x80000000)));
    CHECK(convert<bool>(f32(0x7FC00000)));
    CHECK(convert<bool>(-7));
  });
}

TEST_CASE("stochastic rounding goes up exactly where the random bits reach the part cut off") {
  test::in_each_float_environment([&](const std::string& environment) {
    CAPTURE(environment);
    const float quarter_above_one = 1 + 0x1p-12f;
    CHECK(convert_stochastic<half>(quarter_above_one, 0xBFFFFFFFu).bits() == 0x3C00);
    CHECK(convert_stochastic<half>(quarter_above_one, 0xC0000000u).bits() == 0x3C01);
    CHECK(convert_stochastic<half>(-quarter_above_one, 0xC0000000u).bits() == 0xBC01);
    CHECK(convert_stochastic<bfloat16>(f32(0x3F804000), 0xBFFFFFFFu).bits() == 0x3F80);
    CHECK(convert_stochastic<bfloat16>(f32(0x3F804000), 0xC0000000u).bits() == 0x3F81);
    CHECK(convert_stochastic<bfloat16>(f32(0x00004000), 0xC0000000u).bits() == 0x0001);
    CHECK(convert_stochastic<half>(0x1p-25f, 0x7FFFFFFFu).bits() == 0x0000);
    CHECK(convert_stochastic<half>(0x1p-25f, 0x80000000u).bits() == 0x0001);
    CHECK(convert_stochastic<half>(0x1p-40f, 0xFFFEFFFFu).bits() == 0x0000);
    CHECK(convert_stochastic<half>(0x1p-40f, 0xFFFF0000u).bits() == 0x0001);
    CHECK(convert_stochastic<half>(0x1p-55f, 0xFFFFFFFFu).bits() == 0x0001);
    CHECK(convert_stochastic<half>(0x1p-56f, 0xFFFFFFFFu).bits() == 0x0000);
    CHECK(convert_stochastic<half>(f32(0x00000001), 0xFFFFFFFFu).bits() == 0x0000);
    CHECK(convert_stochastic<half>(65520.0f, 0x7FFFFFFFu).bits() == 0x7BFF);
    CHECK(convert_stochastic<half>(65520.0f, 0x80000000u).bits() == 0x7C00);
    CHECK(convert_stochastic<half>(65520.0f, 0x80000000u, Overflow::saturate).bits() == 0x7BFF);
    CHECK(convert_stochastic<half>(f32(0x7F800000), 0).bits() == 0x7C00);
    CHECK(convert_stochastic<fp8_e4m3>(464.0f, 0xFFFFFFFFu).bits() == 0x7E);
  });
}

TEST_CASE_TEMPLATE("stochastic rounding leaves the numbers of the target alone and is right on average", T, half, bfloat16, fp8_e4m3,
                   fp8_e5m2) {
  const auto& format = format_of<T>();
  for (unsigned code = 0; code <= format.largest(); ++code) {
    const T x = T::from_bits(static_cast<typename T::bits_type>(code));
    REQUIRE(code_of(convert_stochastic<T>(static_cast<float>(x), 0xFFFFFFFFu)) == code);
  }
  constexpr int draws = 1024;
  for (double above : {0.0625, 0.3, 0.5, 0.875}) {
    for (unsigned code : {0u, 1u, format.largest() / 2}) {
      const double below = format.value(code), ulp = format.value(code + 1) - below;
      const auto x = convert<float>(below + above * ulp);
      int ups = 0;
      for (std::uint32_t i = 0; i < draws; ++i) {
        const unsigned result = code_of(convert_stochastic<T>(x, i << 22));
        REQUIRE((result == code || result == code + 1));
        ups += result == code ? 0 : 1;
      }
      CAPTURE(code);
      CHECK(std::fabs(ups - above * draws) <= 1);  // equidistant random bits: one draw of error, and x itself is rounded to float
    }
  }
}
