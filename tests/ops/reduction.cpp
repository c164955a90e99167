#include "reduction.hpp"

using mezzo::CpuContext;

TEST_CASE_TEMPLATE("sums round once", T, float, double, mezzo::half, mezzo::bfloat16) {
  CpuContext context({.threads = 2});
  test::reductions_are_accurate<T>(context);
}

TEST_CASE("no sum, count or square overflows on the way") {
  CpuContext context;
  test::cases_of_sums(context);
  test::reductions_of_nothing(context);
}

TEST_CASE("the first of the largest") {
  CpuContext context;
  test::largest_of_rows<float, std::int64_t>(context);
  test::largest_of_rows<mezzo::half, std::int32_t>(context);
  test::largest_of_rows<double, std::uint8_t>(context);
}
