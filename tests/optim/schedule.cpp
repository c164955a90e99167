#include <doctest/doctest.h>

#include <mezzo/optim/schedule.hpp>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

using namespace mezzo;

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

// One rounding to float of a value computed in fp64: half a unit in the last place, and some fp64 roundings.
void check_factor(float factor, double expected) {
  CAPTURE(factor);
  CAPTURE(expected);
  CHECK(std::abs(factor - expected) <= 0x1.01p-24 * std::abs(expected));
}

/// PyTorch's cosine annealing from `start` to `end`, as its documentation writes it.
double annealed(double start, double end, double share) { return end + (start - end) / 2 * (std::cos(std::numbers::pi * share) + 1); }

std::vector<float> observe(ReduceOnPlateau plateau, const std::vector<float>& values) {
  std::vector<float> factors;
  for (float value : values) {
    plateau.observe(value);
    factors.push_back(plateau(0));
  }
  return factors;
}

}  // namespace

static_assert(LearningRateSchedule<ConstantSchedule> && LearningRateSchedule<StepSchedule> && LearningRateSchedule<CosineSchedule>);
static_assert(LearningRateSchedule<LinearWarmup<OneCycleSchedule>> && LearningRateSchedule<ReduceOnPlateau>);
static_assert(CosineSchedule({.steps = 10})(5) == 0.5f);
static_assert(LinearWarmup({.steps = 4}, StepSchedule({.every = 3, .factor = 0.5f}))(7) == 0.5f);

TEST_CASE("constant schedule") {
  for (index_t step : {0, 1, 1000000}) CHECK(ConstantSchedule()(step) == 1.0f);
}

TEST_CASE("step schedule: the values in PyTorch's documentation of StepLR") {
  const StepSchedule schedule({.every = 30, .factor = 0.1f});
  for (index_t step : {0, 29}) CHECK(0.05 * schedule(step) == doctest::Approx(0.05).epsilon(1e-6));
  for (index_t step : {30, 59}) CHECK(0.05 * schedule(step) == doctest::Approx(0.005).epsilon(1e-6));
  for (index_t step : {60, 89}) CHECK(0.05 * schedule(step) == doctest::Approx(0.0005).epsilon(1e-6));
  CHECK(schedule(-1) == 1.0f);
}

TEST_CASE("step schedule: a closed form in fp64") {
  for (float factor : {0.5f, 0.97f, 1.0f}) {
    const StepSchedule schedule({.every = 7, .factor = factor});
    for (index_t step : {0, 6, 7, 13, 14, 100, 700}) check_factor(schedule(step), std::pow(static_cast<double>(factor), step / 7));
  }
  CHECK(StepSchedule({.every = 1})(index_t{1} << 60) == 0.0f);
}

TEST_CASE("cosine schedule: a closed form in fp64, relative accuracy to the last step") {
  for (float last : {0.0f, 0.1f, 1.0f}) {
    for (index_t steps : {index_t{1}, index_t{2}, index_t{1000}, index_t{1} << 40}) {
      const CosineSchedule schedule({.steps = steps, .final_factor = last});
      for (index_t step : {index_t{0}, steps / 3, steps / 2, steps - 1}) {
        CAPTURE(steps);
        CAPTURE(step);
        const double half = std::sin(std::numbers::pi / 2 * static_cast<double>(steps - step) / static_cast<double>(steps));
        check_factor(schedule(step), last + (1.0 - last) * half * half);
      }
      for (index_t step : {steps, steps + 1, index_t{1} << 60}) CHECK(schedule(step) == last);
      CHECK(schedule(-1) == 1.0f);
    }
  }
}

TEST_CASE("cosine schedule: PyTorch's closed form of CosineAnnealingLR") {
  const double base = 0.05, minimum = 0.001;
  const CosineSchedule schedule({.steps = 10, .final_factor = 0.02f});
  for (int step = 0; step <= 10; ++step)
    CHECK(base * schedule(step) == doctest::Approx(annealed(base, minimum, step / 10.0)).epsilon(1e-6));
}

TEST_CASE("linear warm-up: the values in PyTorch's documentation of LinearLR") {
  const LinearWarmup schedule({.steps = 4, .start_factor = 0.5f});
  const double rates[] = {0.025, 0.03125, 0.0375, 0.04375, 0.05, 0.05};
  for (int step = 0; step < 6; ++step) CHECK(0.05 * schedule(step) == doctest::Approx(rates[step]).epsilon(1e-6));
}

TEST_CASE("linear warm-up in front of another schedule") {
  const CosineSchedule cosine({.steps = 20, .final_factor = 0.25f});
  const LinearWarmup schedule({.steps = 10}, cosine);
  CHECK(schedule(-5) == 0.0f);
  for (int step = 0; step < 10; ++step) check_factor(schedule(step), step / 10.0);
  for (int step : {10, 11, 20, 29, 30, 1000}) CHECK(schedule(step) == cosine(step - 10));
  const OneCycleSchedule cycle({.steps = 10});
  CHECK(LinearWarmup({.steps = 2}, cycle)(1) == doctest::Approx(0.02));  // rises to the first factor, not to 1
  CHECK(LinearWarmup({.steps = 2}, cycle)(2) == cycle(0));
}

TEST_CASE("one-cycle schedule: the values of PyTorch's own test of OneCycleLR") {
  const OneCycleSchedule schedule({.steps = 10, .final_div_factor = 2});
  const double rates[] = {1,
                          13,
                          25,
                          annealed(25, 0.5, 1 / 7.0),
                          annealed(25, 0.5, 2 / 7.0),
                          annealed(25, 0.5, 3 / 7.0),
                          annealed(25, 0.5, 4 / 7.0),
                          annealed(25, 0.5, 5 / 7.0),
                          annealed(25, 0.5, 6 / 7.0),
                          0.5};
  for (int step = 0; step < 10; ++step) {
    CAPTURE(step);
    CHECK(25 * static_cast<double>(schedule(step)) == doctest::Approx(rates[step]).epsilon(1e-6));
  }
  CHECK(schedule(10) == schedule(9));
  CHECK(schedule(1000) == schedule(9));
}

TEST_CASE("one-cycle schedule: degenerate cycles") {
  CHECK(OneCycleSchedule({.steps = 1})(0) == doctest::Approx(1 / 25.0 / 1e4));
  CHECK(OneCycleSchedule({.steps = 10, .pct_start = 0})(0) == 1.0f);
}

TEST_CASE("reduce on plateau: patience, then the factor") {
  const ReduceOnPlateau plateau({.factor = 0.5f, .patience = 2});
  CHECK(observe(plateau, {1, 1, 1, 1, 1, 1, 1}) == std::vector<float>{1, 1, 1, 0.5f, 0.5f, 0.5f, 0.25f});
  CHECK(observe(plateau, {1, 1, 1, 0.9f, 1, 1, 1}) == std::vector<float>{1, 1, 1, 1, 1, 1, 0.5f});
}

TEST_CASE("reduce on plateau: cooldown, minimum, threshold and mode") {
  CHECK(observe(ReduceOnPlateau({.factor = 0.5f, .patience = 0, .cooldown = 2}), {1, 1, 1, 1, 1}) ==
        std::vector<float>{1, 0.5f, 0.5f, 0.5f, 0.25f});
  CHECK(observe(ReduceOnPlateau({.factor = 0.5f, .patience = 0, .minimum_factor = 0.4f}), {1, 1, 1}) == std::vector<float>{1, 0.5f, 0.4f});
  CHECK(observe(ReduceOnPlateau({.factor = 0.5f, .patience = 0, .threshold = 0.1f}), {10, 9.5f, 8.5f}) ==
        std::vector<float>{1, 0.5f, 0.5f});
  CHECK(observe(ReduceOnPlateau({.mode = PlateauMode::max, .factor = 0.5f, .patience = 0}), {0.5f, 0.6f, 0.55f}) ==
        std::vector<float>{1, 1, 0.5f});
  // Below zero the threshold is one of magnitude: the same value is no improvement.
  CHECK(observe(ReduceOnPlateau({.factor = 0.5f, .patience = 0, .threshold = 0.1f}), {-10, -10, -12}) == std::vector<float>{1, 0.5f, 0.5f});
}

TEST_CASE("reduce on plateau: a value that is not finite is no improvement") {
  const float infinity = std::numeric_limits<float>::infinity();
  const ReduceOnPlateau plateau({.factor = 0.5f, .patience = 0});
  CHECK(observe(plateau, {not_a_number, 2, 1}) == std::vector<float>{0.5f, 0.5f, 0.5f});
  CHECK(observe(plateau, {1, -infinity, 0.5f}) == std::vector<float>{1, 0.5f, 0.5f});
}

TEST_CASE("reduce on plateau: saved and loaded") {
  ReduceOnPlateau one({.factor = 0.5f, .patience = 1, .cooldown = 1}), other = one;
  bool has_fallen = false;
  for (float value : {3.0f, 2.0f, 2.0f, 2.0f, 2.0f}) has_fallen = one.observe(value) || has_fallen;
  CHECK(has_fallen);
  other.load(one.state());
  CHECK(other.state() == one.state());
  for (float value : {2.0f, 2.0f, 1.0f, 1.0f}) CHECK(other.observe(value) == one.observe(value));
  CHECK(other.state() == one.state());

  const ReduceOnPlateauState before = one.state();
  CHECK_THROWS_WITH_AS(one.load({.factor = 2}), doctest::Contains("is 2"), option_error);
  CHECK_THROWS_AS(one.load({.factor = not_a_number}), option_error);
  CHECK_THROWS_AS(one.load({.best = not_a_number}), option_error);
  CHECK_THROWS_AS(one.load({.bad_observations = -1}), option_error);
  CHECK(one.state() == before);
}

TEST_CASE("an option that makes no sense is refused by name") {
  CHECK_THROWS_WITH_AS(StepSchedule({}), "StepSchedule: every must be positive, is 0", option_error);
  for (float factor : {0.0f, -1.0f, 1.5f, not_a_number})
    CHECK_THROWS_WITH_AS(StepSchedule({.every = 1, .factor = factor}), doctest::Contains("factor"), option_error);
  CHECK_THROWS_WITH_AS(CosineSchedule({.steps = -3}), "CosineSchedule: steps must be positive, is -3", option_error);
  CHECK_THROWS_WITH_AS(CosineSchedule({.steps = 1, .final_factor = 2}), doctest::Contains("final_factor must lie in [0, 1], is 2"),
                       option_error);
  CHECK_THROWS_WITH_AS(LinearWarmup({}), doctest::Contains("LinearWarmup: steps"), option_error);
  CHECK_THROWS_WITH_AS(LinearWarmup({.steps = 1, .start_factor = not_a_number}), doctest::Contains("start_factor"), option_error);
  CHECK_THROWS_WITH_AS(OneCycleSchedule({}), doctest::Contains("OneCycleSchedule: steps"), option_error);
  CHECK_THROWS_WITH_AS(OneCycleSchedule({.steps = 1, .pct_start = 1}), doctest::Contains("pct_start"), option_error);
  CHECK_THROWS_WITH_AS(OneCycleSchedule({.steps = 1, .div_factor = 0}), doctest::Contains(": div_factor"), option_error);
  CHECK_THROWS_WITH_AS(OneCycleSchedule({.steps = 1, .final_div_factor = 0.5f}), doctest::Contains("final_div_factor"), option_error);
  CHECK_THROWS_WITH_AS(ReduceOnPlateau({.factor = 1}), doctest::Contains(": factor"), option_error);
  CHECK_THROWS_WITH_AS(ReduceOnPlateau({.patience = -1}), doctest::Contains("patience"), option_error);
  CHECK_THROWS_WITH_AS(ReduceOnPlateau({.threshold = not_a_number}), doctest::Contains("threshold"), option_error);
  CHECK_THROWS_WITH_AS(ReduceOnPlateau({.cooldown = -1}), doctest::Contains("cooldown"), option_error);
  CHECK_THROWS_WITH_AS(ReduceOnPlateau({.minimum_factor = 2}), doctest::Contains("minimum_factor"), option_error);
}
