// Adam and AdamW against their papers' formulas in fp64, on any context.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include <mezzo/optim/adamw.hpp>

#include "backward.hpp"

namespace {

using mezzo::index_t;
using test::backward;
using test::values_of;
using Values = std::vector<float>;

/// AdamW or Adam of one weight, in fp64.
struct Reference {
  double learning_rate, beta1, beta2, epsilon, weight_decay;
  bool is_decoupled;
  double p = 1, m = 0, v = 0;
  int steps = 0;

  void step(double g) {
    ++steps;
    if (!is_decoupled) g += weight_decay * p;
    m = beta1 * m + (1 - beta1) * g;
    v = beta2 * v + (1 - beta2) * g * g;
    if (is_decoupled) p -= learning_rate * weight_decay * p;
    p -= learning_rate * m / (1 - std::pow(beta1, steps)) / (std::sqrt(v / (1 - std::pow(beta2, steps))) + epsilon);
  }
};

double gradient_at(int step) { return std::sin(0.7 * step) * std::exp2(step % 9 - 4); }

TEST_CASE("Adam and AdamW follow their formulas") {
  TestContext context;
  for (bool is_decoupled : {false, true}) {
    CAPTURE(is_decoupled);
    // 19 elements: a whole block and a rest.
    test::OneParameter<mezzo::Fp32, TestContext> model(context, 19, 1.0f);
    Reference reference{1e-2, 0.8, 0.95, 1e-6, 0.05, is_decoupled};
    const auto train = [&](auto& optimizer) {
      for (int step = 0; step < 50; ++step) {
        backward(model.weight, {static_cast<float>(gradient_at(step))});
        optimizer.step();
        reference.step(static_cast<double>(static_cast<float>(gradient_at(step))));
      }
    };
    if (is_decoupled) {
      mezzo::AdamW optimizer(context, model.arena,
                             {.learning_rate = 1e-2f, .beta1 = 0.8f, .beta2 = 0.95f, .epsilon = 1e-6f, .weight_decay = 0.05f});
      train(optimizer);
    } else {
      mezzo::Adam optimizer(context, model.arena,
                            {.learning_rate = 1e-2f, .beta1 = 0.8f, .beta2 = 0.95f, .epsilon = 1e-6f, .weight_decay = 0.05f});
      train(optimizer);
    }
    // 50 steps of at most 0.02, each with a few roundings of 2^-24.
    for (float weight : values_of(model.weight.master())) CHECK(static_cast<double>(weight) == doctest::Approx(reference.p).epsilon(1e-5));
  }
}

TEST_CASE("weight decay alone shrinks a weight as computed by hand") {
  TestContext context;
  test::OneParameter<mezzo::Fp32, TestContext> model(context, 1, 1.0f);
  mezzo::AdamW optimizer(context, model.arena, {.learning_rate = 1e-3f, .weight_decay = 0.01f});
  for (int step = 0; step < 1000; ++step) {
    backward(model.weight, {0.0f});
    optimizer.step();
  }
  CHECK(static_cast<double>(model.weight.master()(0)) == doctest::Approx(std::pow(1 - 1e-5, 1000)).epsilon(2e-5));
}

TEST_CASE("zero gradients in half give an update of exactly zero") {
  TestContext context;
  test::OneParameter<mezzo::AmpFp16, TestContext, mezzo::half> model(context, 33, 1.0f);
  mezzo::Adam optimizer(context, model.arena);
  backward(model.weight, {0.0f});
  optimizer.step();
  CHECK(values_of(model.weight.master()) == Values(33, 1.0f));
}

TEST_CASE("groups have their own decay and rate, or are frozen") {
  TestContext context;
  mezzo::ParameterArena<mezzo::AmpBf16, TestContext> arena(context);
  using Weight = mezzo::Parameter<mezzo::AmpBf16, TestContext, 1>;
  const Weight plain(arena, "plain", {3}), norm(arena, "norm", {3}, {.group = "no_decay"}), slow(arena, "slow", {3}, {.group = "slow"}),
      frozen(arena, "frozen", {3}, {.group = "frozen"});
  arena.seal();
  mezzo::AdamW optimizer(context, arena,
                         {.learning_rate = 0.5f,
                          .weight_decay = 0.5f,
                          .groups = {{.group = "no_decay", .weight_decay = 0.0f},
                                     {.group = "slow", .learning_rate_factor = 0.5f},
                                     {.group = "frozen", .is_frozen = true}}});
  for (const auto& weight : {plain, norm, slow, frozen}) {
    for (index_t i = 0; i < 3; ++i) weight.master()(i) = 1.0f;
    backward(weight, {0.0f});
  }
  backward(frozen, {__builtin_inff()});
  CHECK_FALSE(optimizer.check().has_nonfinite);
  optimizer.step();
  CHECK(values_of(plain.master()) == Values(3, 0.75f));
  CHECK(values_of(norm.master()) == Values(3, 1.0f));
  CHECK(values_of(slow.master()) == Values(3, 0.875f));
  CHECK(values_of(slow.view()) == Values(3, 0.875f));
  CHECK(values_of(frozen.master()) == Values(3, 1.0f));
  CHECK_THROWS_WITH_AS(mezzo::AdamW(context, arena, {.groups = {{.group = "norms"}}}), doctest::Contains("the group 'norms'"),
                       mezzo::option_error);
}

TEST_CASE("a learning-rate schedule advances with the steps taken") {
  TestContext context;
  test::OneParameter<mezzo::Fp32, TestContext> model(context, 1, 0.0f);
  mezzo::Adam optimizer(context, model.arena, {.learning_rate = 0.5f});
  struct Halving {
    float operator()(std::int64_t step) const { return 1.0f / static_cast<float>(std::int64_t{1} << step); }
  };
  optimizer.set_schedule(Halving());
  CHECK(optimizer.learning_rate() == 0.5f);
  backward(model.weight, {1.0f});
  optimizer.step();
  CHECK(optimizer.learning_rate() == 0.25f);
  optimizer.set_learning_rate(1.0f);
  CHECK(optimizer.learning_rate() == 0.5f);
  CHECK_THROWS_AS(optimizer.set_learning_rate(-1.0f), mezzo::option_error);
}

TEST_CASE("options outside their range are refused by name") {
  TestContext context;
  test::OneParameter<mezzo::Fp32, TestContext> model(context, 1, 0.0f);
  const float not_a_number = __builtin_nanf("");
  for (float bad : {-1.0f, not_a_number, __builtin_inff()}) {
    CHECK_THROWS_WITH_AS(mezzo::AdamW(context, model.arena, {.learning_rate = bad}), doctest::Contains("learning_rate"),
                         mezzo::option_error);
    CHECK_THROWS_WITH_AS(mezzo::AdamW(context, model.arena, {.beta1 = bad}), doctest::Contains("beta1"), mezzo::option_error);
    CHECK_THROWS_WITH_AS(mezzo::Adam(context, model.arena, {.beta2 = bad}), doctest::Contains("beta2"), mezzo::option_error);
    CHECK_THROWS_WITH_AS(mezzo::Adam(context, model.arena, {.epsilon = bad}), doctest::Contains("epsilon"), mezzo::option_error);
    CHECK_THROWS_WITH_AS(mezzo::Adam(context, model.arena, {.weight_decay = bad}), doctest::Contains("weight_decay"), mezzo::option_error);
  }
  CHECK_THROWS_AS(mezzo::Adam(context, model.arena, {.epsilon = 0.0f}), mezzo::option_error);
  mezzo::ParameterArena<mezzo::Fp32, TestContext> unsealed(context);
  CHECK_THROWS_WITH_AS(mezzo::AdamW(context, unsealed), doctest::Contains("seal()"), mezzo::state_error);
}

}  // namespace
