#include "storage_float.hpp"

#include <mezzo/numeric/bfloat16.hpp>
#include <mezzo/numeric/half.hpp>

using mezzo::bfloat16;
using mezzo::half;

static_assert(test::is_plain_storage<bfloat16> && test::converts_as_documented<bfloat16> && test::mixes_as_documented<bfloat16>);
static_assert(test::literals_work<bfloat16>());
static_assert(std::is_same_v<decltype(bfloat16() * half()), float>);
static_assert(bfloat16(half(1.5f)).bits() == 0x3FC0 && half(bfloat16(1.5f)).bits() == 0x3E00);

TEST_CASE("numeric_limits of bfloat16") {
  test::check_all_limits<bfloat16>({.has_infinity = true,
                                    .digits = 8,
                                    .digits10 = 2,
                                    .max_digits10 = 4,
                                    .min_exponent = -125,
                                    .min_exponent10 = -37,
                                    .max_exponent = 128,
                                    .max_exponent10 = 38,
                                    .min = 0x0080,
                                    .max = 0x7F7F,
                                    .lowest = 0xFF7F,
                                    .epsilon = 0x3C00,
                                    .round_error = 0x3F00,
                                    .denorm_min = 0x0001,
                                    .infinity = 0x7F80,
                                    .quiet_nan = 0x7FC0,
                                    .signaling_nan = 0x7F81});
}

TEST_CASE("bfloat16 computes in float and rounds") {
  test::check_arithmetic<bfloat16>(test::Format(8, 7, true));
  CHECK((bfloat16(256) + bfloat16(1)).bits() == bfloat16(256).bits());
}
