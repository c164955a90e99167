#include "convert.hpp"

// Compilers that have _Float16 on every processor of their target.
#if defined(__FLT16_MANT_DIG__) && !(defined(__clang__) && __clang_major__ < 15)
TEST_CASE("half agrees with the compiler's _Float16") {
  int wrong = 0;
  for (unsigned code = 0; code < 0x10000; ++code) {
    if (format_of<half>().is_nan(code)) continue;
    const auto theirs = static_cast<float>(__builtin_bit_cast(_Float16, static_cast<std::uint16_t>(code)));
    wrong += bits_of(convert<float>(half::from_bits(static_cast<std::uint16_t>(code)))) == bits_of(theirs) ? 0 : 1;
  }
  for (std::uint64_t bits = 0; bits < 0x100000000u; bits += 4099) {
    const float x = f32(static_cast<std::uint32_t>(bits));
    if (is_nan_bits(static_cast<std::uint32_t>(bits))) continue;
    wrong += convert<half>(x).bits() == __builtin_bit_cast(std::uint16_t, static_cast<_Float16>(x)) ? 0 : 1;
  }
  CHECK(wrong == 0);
}
#endif

TEST_CASE("conversions between wide types agree with the processor's") {
  constexpr std::uint64_t seed = 21;
  CAPTURE(seed);
  test::Random random(seed);
  for (int i = 0; i < 200000; ++i) {
    const std::uint64_t bits = random();
    // Exponents around float's range; every third number a tie or next to one.
    const std::uint64_t exponent = 1023 - 160 + random() % 300;
    const std::uint64_t mantissa = i % 3 != 0 ? bits >> 12 : ((bits >> 12) & 0xFFFFFFFFE0000000u) + 0x10000000u + random() % 3 - 1;
    const double x = f64((bits & 0x8000000000000000u) | (exponent << 52) | (mantissa & 0xFFFFFFFFFFFFFu));
    CAPTURE(bits_of(x));
    REQUIRE(bits_of(convert<float>(x)) == bits_of(static_cast<float>(x)));

    const std::uint64_t whole = bits >> (random() % 64);
    CAPTURE(whole);
    const auto negative = static_cast<std::int64_t>(0 - (whole >> 1));
    REQUIRE(bits_of(convert<double>(whole)) == bits_of(static_cast<double>(whole)));
    REQUIRE(bits_of(convert<float>(whole)) == bits_of(static_cast<float>(whole)));
    REQUIRE(bits_of(convert<double>(negative)) == bits_of(static_cast<double>(negative)));
    REQUIRE(bits_of(convert<float>(negative)) == bits_of(static_cast<float>(negative)));

    const double y = std::ldexp(static_cast<double>(static_cast<std::int64_t>(bits)), -static_cast<int>(random() % 66) - 1);
    CAPTURE(y);
    REQUIRE(convert<std::int64_t>(y) == std::llrint(y));
  }
}
