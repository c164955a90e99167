#include "activation.hpp"

using mezzo::CpuContext;

TEST_CASE_TEMPLATE("activations", T, float, double, mezzo::half, mezzo::bfloat16) {
  CpuContext context({.threads = 2});
  test::relu_is_exact<T>(context);
  test::gelu_keeps_its_bounds<T>(context);
}

TEST_CASE("gradients agree with differences") {
  CpuContext context;
  test::activation_gradients(context);
  test::activation_shapes(context);
}
