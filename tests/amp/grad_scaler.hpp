// GradScaler's rules, on any context. The file that includes this names the context: using TestContext = ...
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <mezzo/amp/grad_scaler.hpp>
#include <mezzo/optim/adamw.hpp>
#include <mezzo/optim/clip.hpp>
#include <mezzo/optim/sgd.hpp>
#include <mezzo/tensor/parameter_list.hpp>

#include "../optim/backward.hpp"

namespace {

using mezzo::index_t;
using test::backward;
using test::values_of;
using Values = std::vector<float>;
constexpr float infinity = std::numeric_limits<float>::infinity(), not_a_number = std::numeric_limits<float>::quiet_NaN();

using Model = test::OneParameter<mezzo::AmpFp16, TestContext>;

TEST_CASE("the true gradient reaches the weight, unscaled inside the step or before it") {
  TestContext context;
  for (bool is_explicit : {false, true}) {
    Model model(context, 1, 1.0f);
    mezzo::Sgd optimizer(context, model.arena, {.learning_rate = 1.0f});
    mezzo::GradScaler scaler(context, mezzo::StaticLossScaler(1024));
    backward(model.weight, {0.5f * scaler.scale_view().resolve()});
    if (is_explicit) {
      scaler.unscale_(optimizer);
      CHECK(values_of(model.weight.gradient()) == Values{0.5f});
    }
    CHECK(scaler.step(optimizer).stepped());
    CHECK(values_of(model.weight.master()) == Values{0.5f});
    CHECK(values_of(model.weight.view()) == Values{0.5f});
  }
}

TEST_CASE("an overflow changes nothing but the scale and the report") {
  TestContext context;
  for (float bad : {infinity, -infinity, not_a_number}) {
    Model model(context, 2, 1.0f);
    mezzo::AdamW optimizer(context, model.arena, {.weight_decay = 0.1f});
    mezzo::GradScaler scaler(context);
    backward(model.weight, {1.0f, 2.0f});
    scaler.step(optimizer);
    scaler.update();
    const Values weights = values_of(model.weight.master()), copies = values_of(model.weight.view());
    const Values first = values_of(optimizer.moment(0)), second = values_of(optimizer.moment(1));
    backward(model.weight, {bad, 1.0f});
    const auto report = scaler.step(optimizer);
    CHECK(report.skipped());
    CHECK(report.step_count() == 1);
    CHECK(report.loss_scale() == 65536);
    CHECK(mezzo::is_nan(report.grad_norm()));
    scaler.update();
    CHECK(scaler.scale() == 32768);
    CHECK(values_of(model.weight.master()) == weights);
    CHECK(values_of(model.weight.view()) == copies);
    CHECK(values_of(optimizer.moment(0)) == first);
    CHECK(values_of(optimizer.moment(1)) == second);
    CHECK_FALSE(model.weight.has_gradient());
  }
}

TEST_CASE("a skipped step leaves no trace in Adam") {
  TestContext context;
  Model with_skip(context, 1, 1.0f), reference(context, 1, 1.0f);
  mezzo::Adam optimizer(context, with_skip.arena), reference_optimizer(context, reference.arena);
  mezzo::GradScaler scaler(context, mezzo::StaticLossScaler(8)), reference_scaler(context, mezzo::StaticLossScaler(8));
  for (float gradient : {2.0f, infinity, 3.0f}) {
    backward(with_skip.weight, {gradient});
    scaler.step(optimizer);
    scaler.update();
    if (gradient == infinity) continue;
    backward(reference.weight, {gradient});
    reference_scaler.step(reference_optimizer);
    reference_scaler.update();
  }
  CHECK(optimizer.step_count() == 2);
  CHECK(values_of(with_skip.weight.master()) == values_of(reference.weight.master()));
}

TEST_CASE("without any gradient there is nothing to do, and it counts neither way") {
  TestContext context;
  Model model(context, 1, 1.0f);
  mezzo::AdamW optimizer(context, model.arena, {.weight_decay = 0.1f});
  mezzo::GradScaler scaler(context, mezzo::DynamicLossScaler({.initial_scale = 8, .growth_window = 1}));
  CHECK(scaler.step(optimizer).outcome() == mezzo::StepOutcome::nothing_to_do);
  scaler.update();
  CHECK(scaler.scale() == 8);
  CHECK(values_of(model.weight.master()) == Values{1.0f});
  CHECK(optimizer.step_count() == 0);
}

TEST_CASE("the first write of a window overwrites, whatever lies there") {
  TestContext context;
  Model model(context, 3, 1.0f);
  std::memset(static_cast<void*>(model.arena.gradients().data()), 0xFF, sizeof(float) * 3);
  mezzo::Sgd optimizer(context, model.arena, {.learning_rate = 1.0f});
  mezzo::GradScaler scaler(context, mezzo::StaticLossScaler(1));
  for (int window = 0; window < 2; ++window) {
    backward(model.weight, {0.25f});
    CHECK(scaler.step(optimizer).stepped());
    scaler.update();
  }
  CHECK(values_of(model.weight.master()) == Values{0.5f, 0.5f, 0.5f});
}

TEST_CASE("a parameter that no backward touched stays, weight decay and moments included") {
  TestContext context;
  mezzo::ParameterArena<mezzo::Fp32, TestContext> arena(context);
  mezzo::Parameter<mezzo::Fp32, TestContext, 1> used(arena, "used", {2}), unused(arena, "unused", {2}), last(arena, "last", {2});
  arena.seal();
  for (const auto& parameter : {used, unused, last}) parameter.master()(0) = parameter.master()(1) = 1.0f;
  std::memset(static_cast<void*>(unused.gradient_sink().view.data()), 0xFF, 2 * sizeof(float));
  mezzo::AdamW optimizer(context, arena, {.weight_decay = 0.1f});
  mezzo::GradScaler scaler(context, mezzo::NoLossScaler());
  backward(used, {1.0f});
  backward(last, {1.0f});
  CHECK(scaler.step(optimizer).stepped());
  CHECK(values_of(unused.master()) == Values{1.0f, 1.0f});
  CHECK(values_of(used.master())[0] < 1.0f);
  CHECK(values_of(used.master()) == values_of(last.master()));
  CHECK(optimizer.moment(0)(32) == 0.0f);
}

TEST_CASE("calls out of order are refused with the cure") {
  TestContext context;
  Model model(context, 1, 1.0f);
  mezzo::Sgd optimizer(context, model.arena);
  mezzo::GradScaler scaler(context);
  CHECK_THROWS_WITH_AS(scaler.update(), doctest::Contains("without a step"), mezzo::state_error);
  backward(model.weight, {1.0f});
  scaler.unscale_(optimizer);
  CHECK_THROWS_WITH_AS(scaler.unscale_(optimizer), doctest::Contains("call step and update"), mezzo::state_error);
  scaler.step(optimizer);
  const Values weights = values_of(model.weight.master());
  CHECK_THROWS_WITH_AS(scaler.step(optimizer), doctest::Contains("call update after each step"), mezzo::state_error);
  CHECK_THROWS_WITH_AS(scaler.unscale_(optimizer), doctest::Contains("after step"), mezzo::state_error);
  CHECK_THROWS_AS(scaler.load(scaler.state()), mezzo::state_error);
  CHECK(values_of(model.weight.master()) == weights);
  scaler.update();
  backward(model.weight, {1.0f});
  for (float norm : {0.0f, -1.0f, infinity, not_a_number}) {
    CHECK_THROWS_WITH_AS(scaler.step(optimizer, {.max_grad_norm = norm}), doctest::Contains("max_grad_norm"), mezzo::option_error);
  }
  CHECK(scaler.step(optimizer).stepped());
}

TEST_CASE("two optimizers, one update: the scale moves once") {
  TestContext context;
  Model first(context, 1, 1.0f), second(context, 1, 1.0f);
  mezzo::Sgd first_optimizer(context, first.arena), second_optimizer(context, second.arena);
  mezzo::GradScaler scaler(context, mezzo::DynamicLossScaler({.initial_scale = 1024, .growth_window = 2}));
  const auto iteration = [&](float first_gradient, float second_gradient) {
    backward(first.weight, {first_gradient});
    backward(second.weight, {second_gradient});
    scaler.step(first_optimizer);
    scaler.step(second_optimizer);
    scaler.update();
    return scaler.scale();
  };
  CHECK(iteration(infinity, infinity) == 512);
  CHECK(iteration(1.0f, 1.0f) == 512);
  CHECK(iteration(1.0f, 1.0f) == 1024);
  CHECK(iteration(1.0f, not_a_number) == 512);
  CHECK(first_optimizer.step_count() == 3);
  CHECK(second_optimizer.step_count() == 2);
}

TEST_CASE("gradients are clipped to the norm of the true gradients, inside the step or before it") {
  TestContext context;
  for (bool is_explicit : {false, true}) {
    Model model(context, 2, 0.0f);
    mezzo::Sgd optimizer(context, model.arena, {.learning_rate = 1.0f});
    mezzo::GradScaler scaler(context);
    backward(model.weight, {3.0f * 65536, 4.0f * 65536});
    if (is_explicit) {
      scaler.unscale_(optimizer);
      CHECK(mezzo::clip_grad_norm_(context, model.arena, 1.0f) == 5.0);
      CHECK(values_of(model.weight.gradient()) == Values{0.6f, 0.8f});
      CHECK(scaler.step(optimizer).stepped());
    } else {
      const auto report = scaler.step(optimizer, {.max_grad_norm = 1.0f});
      CHECK(report.grad_norm() == 5.0);
      CHECK(report.clip_factor() == 0.2);
    }
    CHECK(values_of(model.weight.master())[0] == doctest::Approx(-0.6).epsilon(1e-7));
    CHECK(values_of(model.weight.master())[1] == doctest::Approx(-0.8).epsilon(1e-7));
  }
}

TEST_CASE("16-bit gradients that were unscaled are clipped where they now lie") {
  TestContext context;
  test::OneParameter<mezzo::AmpFp16, TestContext, mezzo::half> model(context, 2, 0.0f);
  mezzo::Sgd optimizer(context, model.arena, {.learning_rate = 1.0f});
  mezzo::GradScaler scaler(context, mezzo::StaticLossScaler(1024));
  backward(model.weight, {3.0f * 1024, 4.0f * 1024});
  CHECK(mezzo::clip_grad_norm_(optimizer, 1e6f) == 5.0 * 1024);
  scaler.unscale_(optimizer);
  CHECK(mezzo::clip_grad_norm_(optimizer, 1.0f) == 5.0);
  scaler.step(optimizer);
  CHECK(values_of(model.weight.master()) == Values{-0.6f, -0.8f});
}

TEST_CASE("an infinite norm leaves the gradients alone") {
  TestContext context;
  Model model(context, 2, 0.0f);
  backward(model.weight, {infinity, 1.0f});
  CHECK(mezzo::clip_grad_norm_(context, model.arena, 1.0f) == infinity);
  CHECK(values_of(model.weight.gradient()) == Values{infinity, 1.0f});
}

TEST_CASE("16-bit gradients are rounded once, folded into the step or unscaled into fp32") {
  TestContext context;
  const float smallest = 0x1p-24f;  // the smallest half: unscaling it in 16 bits would give zero
  for (bool is_explicit : {false, true}) {
    test::OneParameter<mezzo::AmpFp16, TestContext, mezzo::half> model(context, 1, 0.0f);
    mezzo::Sgd optimizer(context, model.arena, {.learning_rate = 1.0f});
    mezzo::GradScaler scaler(context);
    backward(model.weight, {smallest});
    if (is_explicit) scaler.unscale_(optimizer);
    CHECK(scaler.step(optimizer).stepped());
    CHECK(values_of(model.weight.master()) == Values{-0x1p-40f});
    scaler.update();
    backward(model.weight, {1.0f});
    CHECK_THROWS_WITH_AS(backward(model.weight, {1.0f}), doctest::Contains("accumulated in 16 bits"), mezzo::state_error);
    scaler.step(optimizer);
    CHECK(values_of(model.weight.master())[0] == doctest::Approx(-0x1p-16 - 0x1p-40).epsilon(1e-7));
  }
}

TEST_CASE("a large scale, a large divisor and a small clip factor do not underflow together") {
  TestContext context;
  Model model(context, 1, 0.0f);
  mezzo::Sgd optimizer(context, model.arena, {.learning_rate = 1.0f});
  mezzo::GradScaler scaler(context, mezzo::StaticLossScaler(0x1p126f));
  mezzo::AccumulationWindow window({.length = 1});
  window.add(1 << 20);
  backward(model.weight, {0x1p126f});
  const auto report = scaler.step(optimizer, {.max_grad_norm = 0x1p-30f, .window = &window});
  CHECK(report.grad_norm() == 0x1p-20);
  CHECK(values_of(model.weight.master()) == Values{-0x1p-30f});
}

TEST_CASE("the largest scale unscales to the true gradient, also where subnormal numbers are flushed to zero") {
  TestContext context({.threads = 1});
  Model model(context, 20, 0.0f);
  mezzo::Sgd optimizer(context, model.arena, {.learning_rate = 1.0f});
  mezzo::GradScaler scaler(context, mezzo::DynamicLossScaler({.initial_scale = 0x1p126f}));
  backward(model.weight, {0x1p126f});
#if defined(__x86_64__)
  const unsigned control = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(control | 0x8040u);
#endif
  scaler.step(optimizer);
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr(control);
#endif
  CHECK(values_of(model.weight.master()) == Values(20, -1.0f));
}

TEST_CASE("a schedule advances with the steps taken, not with those skipped") {
  TestContext context;
  Model model(context, 1, 0.0f);
  mezzo::Sgd optimizer(context, model.arena, {.learning_rate = 1.0f});
  struct Falling {
    float operator()(std::int64_t step) const { return 8.0f - static_cast<float>(step); }
  };
  optimizer.set_schedule(Falling());
  mezzo::GradScaler scaler(context);
  for (float gradient : {1.0f, infinity, 1.0f}) {
    backward(model.weight, {gradient * scaler.scale()});
    scaler.step(optimizer);
    scaler.update();
  }
  CHECK(optimizer.learning_rate() == 6.0f);
  CHECK(values_of(model.weight.master()) == Values{-15.0f});
}

TEST_CASE("a window with an overflow is dropped whole and the next starts clean") {
  TestContext context;
  Model model(context, 1, 0.0f);
  mezzo::Sgd optimizer(context, model.arena, {.learning_rate = 1.0f});
  mezzo::GradScaler scaler(context, mezzo::DynamicLossScaler({.initial_scale = 4}));
  mezzo::AccumulationWindow window({.length = 4});
  std::vector<mezzo::StepOutcome> outcomes;
  for (int i = 0; i < 8; ++i) {
    backward(model.weight, {i == 1 ? infinity : 1.0f * scaler.scale()});
    window.add();
    outcomes.push_back(scaler.step(optimizer, {.window = &window}).outcome());
    scaler.update();
  }
  using enum mezzo::StepOutcome;
  CHECK(outcomes == std::vector{accumulating, accumulating, accumulating, skipped, accumulating, accumulating, accumulating, stepped});
  CHECK(scaler.scale() == 2);
  CHECK(values_of(model.weight.master()) == Values{-1.0f});
}

TEST_CASE("windows of 4 and 2 are each divided by their own count") {
  TestContext context;
  Model model(context, 1, 0.0f);
  mezzo::Sgd optimizer(context, model.arena, {.learning_rate = 1.0f});
  mezzo::GradScaler scaler(context);
  mezzo::AccumulationWindow window({.length = 4, .micro_batches = 6});
  std::vector<float> updates;
  for (int i = 0; i < 12; ++i) {
    backward(model.weight, {static_cast<float>(i % 6 + 1) * scaler.scale()});
    window.add();
    const float before = model.weight.master()(0);
    if (scaler.step(optimizer, {.window = &window}).stepped()) updates.push_back(before - model.weight.master()(0));
    scaler.update();
  }
  CHECK(updates == Values{2.5f, 5.5f, 2.5f, 5.5f});
}

TEST_CASE("a window is weighted by tokens, not by micro-batches") {
  TestContext context;
  for (bool is_explicit : {false, true}) {
    Model model(context, 1, 0.0f);
    mezzo::Sgd optimizer(context, model.arena, {.learning_rate = 1.0f});
    mezzo::GradScaler scaler(context, mezzo::StaticLossScaler(16));
    mezzo::AccumulationWindow window({.length = 2});
    for (auto [sum, tokens] : {std::pair{8.0f, 2}, std::pair{6.0f, 6}}) {
      backward(model.weight, {sum * scaler.scale()});
      window.add(tokens);
      if (is_explicit && window.is_full()) scaler.unscale_(optimizer, &window);
      scaler.step(optimizer, {.window = &window});
      scaler.update();
    }
    CHECK(values_of(model.weight.master()) == Values{-1.75f});
  }
}

TEST_CASE("a window given to step alone divides there") {
  TestContext context;
  Model model(context, 1, 0.0f);
  mezzo::Sgd optimizer(context, model.arena, {.learning_rate = 1.0f});
  mezzo::GradScaler scaler(context, mezzo::StaticLossScaler(16));
  mezzo::AccumulationWindow window({.length = 1});
  window.add(4);
  backward(model.weight, {8.0f * scaler.scale()});
  scaler.unscale_(optimizer);
  CHECK(values_of(model.weight.gradient()) == Values{8.0f});
  const auto report = scaler.step(optimizer, {.max_grad_norm = 1.0f, .window = &window});
  CHECK(report.grad_norm() == 2.0);
  CHECK(values_of(model.weight.master()) == Values{-1.0f});
}

TEST_CASE("unscaling nothing counts neither way, and a window that was unscaled but not stepped ends with update") {
  TestContext context;
  Model model(context, 1, 0.0f);
  mezzo::Sgd optimizer(context, model.arena);
  mezzo::GradScaler scaler(context, mezzo::DynamicLossScaler({.initial_scale = 8, .growth_window = 1}));
  scaler.unscale_(optimizer);
  scaler.update();
  CHECK(scaler.scale() == 8);
  mezzo::AccumulationWindow window({.length = 1});
  window.add();
  backward(model.weight, {infinity});
  scaler.unscale_(optimizer, &window);
  scaler.update();
  CHECK(scaler.scale() == 4);
  CHECK(window.size() == 0);
  CHECK_FALSE(model.weight.has_gradient());
}

TEST_CASE("300 micro-batches of ones make 300") {
  TestContext context;
  test::OneParameter<mezzo::AmpBf16, TestContext> model(context, 1, 0.0f);
  mezzo::Sgd optimizer(context, model.arena, {.learning_rate = 1.0f});
  for (int i = 0; i < 300; ++i) backward(model.weight, {1.0f});
  optimizer.step();
  CHECK(values_of(model.weight.master()) == Values{-300.0f});
}

TEST_CASE("bfloat16 weights move because their masters do") {
  TestContext context;
  test::OneParameter<mezzo::AmpBf16, TestContext> model(context, 1, 1.0f);
  test::OneParameter<mezzo::Pure<mezzo::bfloat16>, TestContext> without_master(context, 1, 1.0f);
  mezzo::Sgd optimizer(context, model.arena, {.learning_rate = 1.0f});
  mezzo::Sgd other_optimizer(context, without_master.arena, {.learning_rate = 1.0f});
  for (int i = 0; i < 100; ++i) {
    backward(model.weight, {6e-4f});
    optimizer.step();
    backward(without_master.weight, {6e-4f});
    other_optimizer.step();
  }
  CHECK(model.weight.master()(0) == doctest::Approx(0.94).epsilon(1e-5));
  CHECK(static_cast<float>(model.weight.view()(0)) == 0.94140625f);
  CHECK(static_cast<float>(without_master.weight.view()(0)) == 1.0f);
}

TEST_CASE("the report is right where comparing scales is wrong") {
  TestContext context;
  Model model(context, 1, 0.0f);
  mezzo::Sgd optimizer(context, model.arena);
  SUBCASE("at the floor") {
    mezzo::GradScaler scaler(context, mezzo::DynamicLossScaler({.initial_scale = 2, .minimum_scale = 1}));
    for (bool at_minimum : {false, true, true}) {
      backward(model.weight, {infinity});
      const auto report = scaler.step(optimizer);
      CHECK(report.skipped());
      CHECK(report.at_minimum_scale() == at_minimum);
      scaler.update();
    }
    CHECK(scaler.scale() == 1);
  }
  SUBCASE("under hysteresis") {
    mezzo::GradScaler scaler(context, mezzo::DynamicLossScaler({.hysteresis = 2}));
    backward(model.weight, {infinity});
    const float before = scaler.scale();
    CHECK(scaler.step(optimizer).skipped());
    scaler.update();
    CHECK(scaler.scale() == before);
  }
  SUBCASE("on growth") {
    mezzo::GradScaler scaler(context, mezzo::DynamicLossScaler({.initial_scale = 2, .growth_window = 1}));
    backward(model.weight, {1.0f});
    CHECK(scaler.step(optimizer).stepped());
    scaler.update();
    CHECK(scaler.scale() == 4);
  }
}

TEST_CASE("overflow at the smallest scale is an error on request") {
  TestContext context;
  Model model(context, 1, 0.0f);
  mezzo::Sgd optimizer(context, model.arena);
  mezzo::GradScaler scaler(context, mezzo::DynamicLossScaler({.initial_scale = 2, .minimum_scale = 1}),
                           {.at_minimum = mezzo::AtMinimum::fail});
  for (bool fails : {false, true, true}) {
    backward(model.weight, {infinity});
    scaler.step(optimizer);
    if (fails) {
      CHECK_THROWS_WITH_AS(scaler.update(), doctest::Contains("smallest loss scale, 1"), mezzo::state_error);
    } else {
      scaler.update();
    }
    CHECK_FALSE(model.weight.has_gradient());
  }
}

TEST_CASE("bfloat16 and fp32 are not scaled, and still checked unless told otherwise") {
  TestContext context;
  test::OneParameter<mezzo::AmpBf16, TestContext> model(context, 1, 0.0f);
  mezzo::Sgd optimizer(context, model.arena);
  mezzo::GradScaler scaler(context, mezzo::default_loss_scaler<mezzo::AmpBf16>());
  CHECK(scaler.scale() == 1);
  backward(model.weight, {infinity});
  CHECK(scaler.step(optimizer).skipped());
  scaler.update();
  mezzo::GradScaler trusting(context, mezzo::NoLossScaler(), {.nonfinite = mezzo::Nonfinite::ignore});
  backward(model.weight, {infinity});
  CHECK(trusting.step(optimizer).stepped());
  CHECK_THROWS_AS(mezzo::GradScaler(context, mezzo::DynamicLossScaler(), {.nonfinite = mezzo::Nonfinite::ignore}), mezzo::option_error);
}

TEST_CASE("a diagnosis names the first element that is not finite") {
  TestContext context;
  mezzo::ParameterArena<mezzo::AmpFp16, TestContext> arena(context);
  mezzo::Parameter<mezzo::AmpFp16, TestContext, 1> first(arena, "fc1.weight", {40}), second(arena, "fc1.bias", {5});
  arena.seal();
  mezzo::Sgd optimizer(context, arena);
  mezzo::GradScaler scaler(context);
  backward(first, {1.0f});
  backward(second, {1.0f, 2.0f, 3.0f, not_a_number, infinity});
  CHECK(scaler.step(optimizer).skipped());
  const auto found = optimizer.find_nonfinite();
  REQUIRE(found.has_value());
  CHECK(found->parameter == "fc1.bias");
  CHECK(found->index == 3);
  CHECK(mezzo::is_nan(found->value));
  scaler.update();
  CHECK_FALSE(optimizer.find_nonfinite().has_value());
}

TEST_CASE("gradients of the user's own are unscaled and checked, and update hears of it") {
  TestContext context;
  mezzo::GradScaler scaler(context, mezzo::DynamicLossScaler({.initial_scale = 8}));
  float weights[] = {8, 16}, bias[] = {24};
  mezzo::TensorList gradients(mezzo::HostView<float, 1>(weights, {2}), mezzo::HostView<float, 1>(bias, {1}));
  CHECK(scaler.unscale_(gradients));
  CHECK(Values{weights[0], weights[1], bias[0]} == Values{1, 2, 3});
  scaler.update();
  CHECK(scaler.scale() == 8);
  bias[0] = infinity;
  CHECK_FALSE(scaler.unscale_(gradients));
  scaler.update();
  CHECK(scaler.scale() == 4);
  mezzo::half low[] = {mezzo::half(0x1p-24f)};
  float wide[1];
  const mezzo::TensorList from(mezzo::HostView<mezzo::half, 1>(low, {1}));
  const mezzo::TensorList to(mezzo::HostView<float, 1>(wide, {1}));
  CHECK(scaler.unscale_(to, from));
  CHECK(wide[0] == 0x1p-26f);
  CHECK_THROWS_AS(scaler.unscale_(to, gradients), mezzo::shape_error);
}

TEST_CASE("parameters in the user's own memory step like those of an arena") {
  TestContext context;
  float weight[3] = {1, 2, 3}, gradient[3] = {0.5f, 1, -1};
  Model model(context, 3, 0.0f);
  for (int i = 0; i < 3; ++i) model.weight.master()(i) = weight[i];
  mezzo::ParameterList<TestContext> list;
  list.add("weight", mezzo::HostView<float, 1>(weight, {3}), mezzo::HostView<float, 1>(gradient, {3}));
  mezzo::AdamW list_optimizer(context, list);
  mezzo::AdamW arena_optimizer(context, model.arena);
  mezzo::GradScaler scaler(context, mezzo::NoLossScaler());
  backward(model.weight, {0.5f, 1, -1});
  CHECK(scaler.step(list_optimizer, {.max_grad_norm = 1.0f}).stepped());
  CHECK(scaler.step(arena_optimizer, {.max_grad_norm = 1.0f}).stepped());
  scaler.update();
  CHECK(Values(weight, weight + 3) == values_of(model.weight.master()));
}

TEST_CASE("a step has the same bits for any number of threads") {
  constexpr index_t size = 70001;
  Values reference;
  for (int threads : {1, 2, 3}) {
    TestContext context({.threads = threads});
    Model model(context, size, 1.0f);
    mezzo::AdamW optimizer(context, model.arena);
    mezzo::GradScaler scaler(context);
    Values gradient(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = 1000.0f * static_cast<float>(i % 97) - 40000.0f;
    for (int step = 0; step < 2; ++step) {
      backward(model.weight, gradient);
      scaler.step(optimizer, {.max_grad_norm = 0.5f});
      scaler.update();
    }
    if (reference.empty()) reference = values_of(model.weight.master());
    CHECK(values_of(model.weight.master()) == reference);
  }
}

TEST_CASE("the scale is saved and loaded") {
  TestContext context;
  mezzo::GradScaler first(context, mezzo::DynamicLossScaler({.initial_scale = 64})), second(context);
  second.load(first.state());
  CHECK(second.scale() == 64);
  CHECK(second.scale_view().resolve() == 64);
}

}  // namespace
