#include "mse_loss.hpp"

using mezzo::CpuContext;

TEST_CASE_TEMPLATE("losses and gradients keep their bounds", T, float, mezzo::half, mezzo::bfloat16) {
  CpuContext context({.threads = 2});
  test::squared_errors<T>(context);
}

TEST_CASE("gradients agree with differences") {
  CpuContext context;
  test::mse_gradients(context);
  test::mse_ends_of_the_range(context);
}
