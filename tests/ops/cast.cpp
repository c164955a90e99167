#include "cast.hpp"

using mezzo::CpuContext;

TEST_CASE_TEMPLATE("a cast is convert<> for each element", T, float, double, mezzo::half, mezzo::bfloat16, mezzo::fp8_e5m2, std::int32_t,
                   std::uint8_t, bool) {
  CpuContext context({.threads = 2});
  test::to_all<T>(context);
}

TEST_CASE("no number is rounded twice") {
  CpuContext context;
  test::rounds_once(context);
  test::cast_shapes(context);
}

TEST_CASE("16-bit weights follow their masters") {
  CpuContext context;
  test::weights_follow_masters<mezzo::AmpFp16>(context);
  test::weights_follow_masters<mezzo::AmpBf16>(context);
  test::weights_follow_masters<mezzo::Fp32>(context);
}

TEST_CASE("beyond the caches") {
  CpuContext context({.threads = 2});
  test::beyond_the_caches<mezzo::half, float>(context);
  test::beyond_the_caches<float, mezzo::bfloat16>(context);
  test::beyond_the_caches<mezzo::fp8_e5m2, mezzo::half>(context);
}
