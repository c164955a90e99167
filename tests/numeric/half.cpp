#include "storage_float.hpp"

#include <mezzo/numeric/half.hpp>

using mezzo::half;

static_assert(test::is_plain_storage<half> && test::converts_as_documented<half> && test::mixes_as_documented<half>);
static_assert(test::literals_work<half>());

TEST_CASE("numeric_limits of half") {
  test::check_all_limits<half>({.has_infinity = true,
                                .digits = 11,
                                .digits10 = 3,
                                .max_digits10 = 5,
                                .min_exponent = -13,
                                .min_exponent10 = -4,
                                .max_exponent = 16,
                                .max_exponent10 = 4,
                                .min = 0x0400,
                                .max = 0x7BFF,
                                .lowest = 0xFBFF,
                                .epsilon = 0x1400,
                                .round_error = 0x3800,
                                .denorm_min = 0x0001,
                                .infinity = 0x7C00,
                                .quiet_nan = 0x7E00,
                                .signaling_nan = 0x7C01});
  CHECK(static_cast<float>(std::numeric_limits<half>::max()) == 65504.0f);
  CHECK(static_cast<float>(std::numeric_limits<half>::min()) == 0x1p-14f);
}

TEST_CASE("half computes in float and rounds") {
  test::check_arithmetic<half>(test::Format(5, 10, true));
  CHECK((half(2048) + half(1)).bits() == half(2048).bits());
  CHECK((half(65504) + half(65504)).bits() == 0x7C00);
}
