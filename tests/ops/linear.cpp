#include "linear.hpp"

#include <memory>

using mezzo::CpuContext;

TEST_CASE_TEMPLATE("linear is in weight^T + bias", Policy, mezzo::Fp32, mezzo::AmpFp16, mezzo::AmpBf16, mezzo::Pure<double>) {
  CpuContext context({.threads = 1});
  test::linear_layers<Policy>(context);
}

TEST_CASE_TEMPLATE("gradients overwrite first and add later", Policy, mezzo::Fp32, mezzo::AmpFp16, mezzo::AmpBf16) {
  CpuContext context({.threads = 1});
  test::linear_gradients<Policy>(context);
}

TEST_CASE("gradients are what numerical differentiation finds") {
  CpuContext context({.threads = 1});
  test::linear_gradients_numerically(context);
}

TEST_CASE("views take the place of parameters") {
  CpuContext context({.threads = 1});
  test::linear_on_views(context);
}

TEST_CASE("the gradients' bits do not depend on the number of threads") {
  test::linear_gradients_ignore_threads(
      [](int threads) { return std::make_unique<CpuContext>(mezzo::CpuContextOptions{.threads = threads}); });
}

TEST_CASE("shapes that do not fit are refused, and nothing is written") {
  CpuContext context({.threads = 1});
  test::linear_shapes_that_do_not_fit(context);
}
