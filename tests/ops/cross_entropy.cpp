#include "cross_entropy.hpp"

using mezzo::CpuContext;

TEST_CASE_TEMPLATE("losses and gradients keep their bounds", T, float, mezzo::half, mezzo::bfloat16) {
  CpuContext context({.threads = 2});
  test::losses_keep_their_bounds<T>(context);
  test::cross_entropy_backward_in<T>(context);
}

TEST_CASE("gradients agree with differences") {
  CpuContext context;
  test::cross_entropy_gradients(context);
}

TEST_CASE("the ends of the range, and misuse") {
  CpuContext context;
  test::cross_entropy_ends_of_the_range(context);
  test::cross_entropy_misuse(context);
}

TEST_CASE("any number of threads gives the same bits") { test::cross_entropy_ignores_threads<CpuContext>(); }
