#include "elementwise.hpp"

using mezzo::CpuContext;

TEST_CASE_TEMPLATE("arithmetic rounds once", T, float, double, mezzo::half, mezzo::bfloat16) {
  CpuContext context({.threads = 2});
  test::arithmetic<T>(context);
  test::scaled_sum<T>(context);
}

TEST_CASE("any views, in place or not") {
  CpuContext context;
  test::views_and_places(context);
  test::shapes(context);
}

TEST_CASE("a policy says what a mixture gives") {
  CpuContext context;
  test::mixtures(context);
}
