#include "storage_float.hpp"

#include <mezzo/numeric/fp8.hpp>

using mezzo::fp8_e4m3;
using mezzo::fp8_e5m2;

static_assert(test::is_plain_storage<fp8_e4m3> && test::converts_as_documented<fp8_e4m3> && test::mixes_as_documented<fp8_e4m3>);
static_assert(test::is_plain_storage<fp8_e5m2> && test::converts_as_documented<fp8_e5m2> && test::mixes_as_documented<fp8_e5m2>);
static_assert(test::literals_work<fp8_e4m3>() && test::literals_work<fp8_e5m2>());

TEST_CASE("numeric_limits of fp8_e4m3") {
  test::check_all_limits<fp8_e4m3>({.has_infinity = false,
                                    .digits = 4,
                                    .digits10 = 0,
                                    .max_digits10 = 3,
                                    .min_exponent = -5,
                                    .min_exponent10 = -1,
                                    .max_exponent = 9,
                                    .max_exponent10 = 2,
                                    .min = 0x08,
                                    .max = 0x7E,
                                    .lowest = 0xFE,
                                    .epsilon = 0x20,
                                    .round_error = 0x30,
                                    .denorm_min = 0x01,
                                    .infinity = 0x7F,
                                    .quiet_nan = 0x7F,
                                    .signaling_nan = 0x7F});
  CHECK(static_cast<float>(std::numeric_limits<fp8_e4m3>::max()) == 448.0f);
  CHECK(static_cast<float>(std::numeric_limits<fp8_e4m3>::epsilon()) == 0.125f);
}

TEST_CASE("numeric_limits of fp8_e5m2") {
  test::check_all_limits<fp8_e5m2>({.has_infinity = true,
                                    .digits = 3,
                                    .digits10 = 0,
                                    .max_digits10 = 2,
                                    .min_exponent = -13,
                                    .min_exponent10 = -4,
                                    .max_exponent = 16,
                                    .max_exponent10 = 4,
                                    .min = 0x04,
                                    .max = 0x7B,
                                    .lowest = 0xFB,
                                    .epsilon = 0x34,
                                    .round_error = 0x38,
                                    .denorm_min = 0x01,
                                    .infinity = 0x7C,
                                    .quiet_nan = 0x7E,
                                    .signaling_nan = 0x7D});
  CHECK(static_cast<float>(std::numeric_limits<fp8_e5m2>::max()) == 57344.0f);
  CHECK(static_cast<float>(std::numeric_limits<fp8_e5m2>::epsilon()) == 0.25f);
}

TEST_CASE("fp8 computes in float and rounds") {
  test::check_arithmetic<fp8_e4m3>(test::Format(4, 3, false));
  test::check_arithmetic<fp8_e5m2>(test::Format(5, 2, true));
  CHECK((fp8_e4m3(448) + fp8_e4m3(448)).bits() == 0x7E);
  CHECK((fp8_e5m2(57344) + fp8_e5m2(57344)).bits() == 0x7C);
}
