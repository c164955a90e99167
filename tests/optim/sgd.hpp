// Stochastic gradient descent against its formula in fp64, on any context.
#include <doctest/doctest.h>

#include <cmath>
#include <utility>
#include <vector>

#include <mezzo/optim/sgd.hpp>

#include "backward.hpp"

namespace {

using test::backward;
using test::values_of;

TEST_CASE("momentum, Nesterov and weight decay follow PyTorch's formulas") {
  TestContext context;
  using Case = std::pair<float, mezzo::Momentum>;
  for (const Case& item :
       {Case{0.0f, mezzo::Momentum::classical}, Case{0.9f, mezzo::Momentum::classical}, Case{0.9f, mezzo::Momentum::nesterov}}) {
    const float momentum = item.first;
    const mezzo::Momentum kind = item.second;
    CAPTURE(momentum);
    test::OneParameter<mezzo::AmpFp16, TestContext> model(context, 21, 1.0f);
    mezzo::Sgd optimizer(context, model.arena, {.learning_rate = 0.05f, .momentum = momentum, .momentum_kind = kind, .weight_decay = 0.1f});
    CHECK(optimizer.moment_count() == (momentum == 0.0f ? 0 : 1));
    double p = 1, b = 0;
    for (int step = 0; step < 30; ++step) {
      const float gradient = static_cast<float>(std::cos(step));
      backward(model.weight, {gradient});
      optimizer.step();
      const double g = static_cast<double>(gradient) + 0.1 * p;
      b = static_cast<double>(momentum) * b + g;
      p -= 0.05 * (kind == mezzo::Momentum::nesterov ? g + static_cast<double>(momentum) * b : b);
    }
    for (float weight : values_of(model.weight.master())) CHECK(static_cast<double>(weight) == doctest::Approx(p).epsilon(1e-5));
    for (float weight : values_of(model.weight.view())) CHECK(static_cast<double>(weight) == doctest::Approx(p).epsilon(1e-3));
  }
}

TEST_CASE("options outside their range are refused by name") {
  TestContext context;
  test::OneParameter<mezzo::Fp32, TestContext> model(context, 1, 0.0f);
  CHECK_THROWS_WITH_AS(mezzo::Sgd(context, model.arena, {.learning_rate = -1.0f}), doctest::Contains("learning_rate"), mezzo::option_error);
  CHECK_THROWS_WITH_AS(mezzo::Sgd(context, model.arena, {.momentum = 1.0f}), doctest::Contains("momentum"), mezzo::option_error);
  CHECK_THROWS_WITH_AS(mezzo::Sgd(context, model.arena, {.momentum_kind = mezzo::Momentum::nesterov}), doctest::Contains("Nesterov"),
                       mezzo::option_error);
  CHECK_THROWS_WITH_AS(mezzo::Sgd(context, model.arena, {.weight_decay = __builtin_nanf("")}), doctest::Contains("weight_decay"),
                       mezzo::option_error);
}

}  // namespace
