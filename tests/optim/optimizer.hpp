// What every optimizer shares, on any context.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include <mezzo/optim/adamw.hpp>
#include <mezzo/optim/sgd.hpp>
#include <mezzo/tensor/parameter_list.hpp>

#include "backward.hpp"

namespace {

using mezzo::index_t;
using test::backward;
using test::values_of;
using Values = std::vector<float>;
using Model = test::OneParameter<mezzo::AmpBf16, TestContext>;

template <class Optimizer>
void train(Model& model, Optimizer& optimizer, int first, int last) {
  for (int step = first; step < last; ++step) {
    backward(model.weight, {std::sin(static_cast<float>(step)), std::cos(static_cast<float>(step))});
    optimizer.step();
  }
}

void copy_values(auto to, auto from) {
  for (index_t i = 0; i < to.size(); ++i) to(i) = from(i);
}

TEST_CASE("training goes on from saved moments, masters and step count with the same bits") {
  TestContext context;
  Model whole(context, 37, 1.0f), before(context, 37, 1.0f), after(context, 37, 0.0f);
  mezzo::AdamW whole_optimizer(context, whole.arena), before_optimizer(context, before.arena), after_optimizer(context, after.arena);
  train(whole, whole_optimizer, 0, 7);
  train(before, before_optimizer, 0, 3);
  copy_values(after.arena.masters(), before.arena.masters());
  for (int i = 0; i < before_optimizer.moment_count(); ++i) copy_values(after_optimizer.moment(i), before_optimizer.moment(i));
  after_optimizer.set_step_count(before_optimizer.step_count());
  train(after, after_optimizer, 3, 7);
  CHECK(values_of(after.weight.master()) == values_of(whole.weight.master()));
  CHECK(values_of(after.weight.view()) == values_of(whole.weight.view()));
  CHECK_THROWS_WITH_AS(after_optimizer.set_step_count(-1), doctest::Contains("step count"), mezzo::option_error);
}

TEST_CASE("the 16-bit weights are the masters rounded to nearest even") {
  TestContext context;
  Model model(context, 100, 1.0f);
  mezzo::AdamW optimizer(context, model.arena, {.learning_rate = 0.1f});
  train(model, optimizer, 0, 5);
  for (index_t i = 0; i < 100; ++i) CHECK(model.weight.view()(i).bits() == mezzo::bfloat16(model.weight.master()(i)).bits());
}

TEST_CASE("gradients are empty after a step, and on request") {
  TestContext context;
  Model model(context, 3, 1.0f);
  mezzo::Sgd optimizer(context, model.arena);
  CHECK_FALSE(optimizer.has_gradients());
  backward(model.weight, {1.0f});
  CHECK(optimizer.has_gradients());
  optimizer.step();
  CHECK_FALSE(optimizer.has_gradients());
  backward(model.weight, {1.0f});
  optimizer.zero_grad();
  CHECK_FALSE(optimizer.has_gradients());
}

TEST_CASE("a step without gradients is none, and parameters added too late are refused") {
  TestContext context;
  float weight[2] = {1, 2}, gradient[2] = {1, 1};
  mezzo::ParameterList<TestContext> list;
  list.add("first", mezzo::HostView<float, 1>(weight, {1}), mezzo::HostView<float, 1>(nullptr, {1}));
  mezzo::Sgd optimizer(context, list);
  optimizer.step();
  CHECK(optimizer.step_count() == 0);
  list.add("second", mezzo::HostView<float, 1>(weight + 1, {1}), mezzo::HostView<float, 1>(gradient + 1, {1}));
  CHECK_THROWS_WITH_AS(optimizer.step(), doctest::Contains("made for 1 elements, now there are 2"), mezzo::state_error);
  CHECK(weight[1] == 2);
}

TEST_CASE("many small tensors step like one") {
  TestContext context({.threads = 2});
  constexpr int count = 300;
  constexpr index_t size = 129;
  mezzo::ParameterArena<mezzo::Fp32, TestContext> arena(context);
  std::vector<mezzo::Parameter<mezzo::Fp32, TestContext, 1>> weights;
  for (int i = 0; i < count; ++i) weights.emplace_back(arena, "w" + std::to_string(i), mezzo::Extents(size));
  arena.seal();
  test::OneParameter<mezzo::Fp32, TestContext> flat(context, size, 0.0f);
  mezzo::Adam optimizer(context, arena), flat_optimizer(context, flat.arena);
  for (int step = 0; step < 3; ++step) {
    for (int i = 0; i < count; i += 2) backward(weights[static_cast<std::size_t>(i)], {1.0f, -2.0f, 0.5f});
    optimizer.step();
    backward(flat.weight, {1.0f, -2.0f, 0.5f});
    flat_optimizer.step();
  }
  for (int i = 0; i < count; ++i) {
    CHECK(values_of(weights[static_cast<std::size_t>(i)].master()) == (i % 2 == 0 ? values_of(flat.weight.master()) : Values(size, 0.0f)));
  }
}

}  // namespace
