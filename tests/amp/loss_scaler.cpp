#include <doctest/doctest.h>

#include <mezzo/amp/loss_scaler.hpp>

#include <limits>
#include <string>
#include <vector>

using mezzo::DynamicLossScaler;
using mezzo::StaticLossScaler;

namespace {

/// The scale after each step of a trace such as "FFO": F a finite step, O an overflow.
std::vector<float> scales(DynamicLossScaler scaler, const std::string& trace) {
  std::vector<float> result;
  for (char step : trace) {
    scaler.update(step == 'O');
    result.push_back(scaler.scale());
  }
  return result;
}

/// `preset` started at 1024 with a window of 4, so that a short trace shows its rules.
std::vector<float> scales_of_preset(DynamicLossScaler preset, const std::string& trace) {
  const auto options = preset.options();
  return scales(DynamicLossScaler({.initial_scale = 1024,
                                   .growth_factor = options.growth_factor,
                                   .backoff_factor = options.backoff_factor,
                                   .growth_window = 4,
                                   .hysteresis = options.hysteresis,
                                   .hysteresis_reset = options.hysteresis_reset,
                                   .minimum_scale = options.minimum_scale,
                                   .maximum_scale = options.maximum_scale}),
                trace);
}

const std::string trace = "FFOFFFFOOOFFFFFOFOFFFF";
const std::vector<float> pytorch_scales{1024, 1024, 512, 512, 512, 512, 1024, 512, 256, 128, 128,
                                        128,  128,  256, 256, 128, 128, 64,   64,  64,  64,  128};
const std::vector<float> megatron_scales{1024, 1024, 1024, 1024, 1024, 1024, 2048, 2048, 1024, 512, 512,
                                         512,  512,  1024, 1024, 1024, 1024, 512,  512,  512,  512, 1024};

}  // namespace

TEST_CASE("a scale grows after a clean window and backs off on overflow") {
  CHECK(scales(DynamicLossScaler({.initial_scale = 1024, .growth_window = 4}), trace) == pytorch_scales);
}

TEST_CASE("hysteresis forgives overflows until the scale grows") {
  CHECK(scales(DynamicLossScaler({.initial_scale = 1024, .growth_window = 4, .hysteresis = 2}), trace) == megatron_scales);
}

TEST_CASE("hysteresis that a clean step resets forgives the first overflow of every run") {
  const DynamicLossScaler scaler(
      {.initial_scale = 1024, .growth_window = 100, .hysteresis = 2, .hysteresis_reset = mezzo::HysteresisReset::on_clean_step});
  CHECK(scales(scaler, "OFOFOOFO") == std::vector<float>{1024, 1024, 1024, 1024, 1024, 512, 512, 512});
}

TEST_CASE("presets follow the rules of the toolkits that they are named for") {
  CHECK(scales_of_preset(mezzo::pytorch_loss_scaler(), trace) == pytorch_scales);
  CHECK(scales_of_preset(mezzo::apex_loss_scaler(), trace) == pytorch_scales);
  CHECK(scales_of_preset(mezzo::megatron_loss_scaler(), trace) == megatron_scales);
  CHECK(scales_of_preset(mezzo::deepspeed_loss_scaler(), trace) == megatron_scales);
  CHECK(mezzo::pytorch_loss_scaler().scale() == 65536);
  CHECK(mezzo::pytorch_loss_scaler().options().growth_window == 2000);
  CHECK(mezzo::apex_loss_scaler().options().maximum_scale == 0x1p24f);
  CHECK(mezzo::megatron_loss_scaler().scale() == 0x1p32f);
  CHECK(scales(mezzo::megatron_loss_scaler(), std::string(60, 'O')).back() == 1);
}

TEST_CASE("the scale reaches neither zero nor infinity") {
  CHECK(scales(DynamicLossScaler({.initial_scale = 65536}), std::string(200, 'O')).back() == 0x1p-24f);
  CHECK(scales(DynamicLossScaler({.initial_scale = 65536, .growth_window = 1}), std::string(200, 'F')).back() == 0x1p126f);
  CHECK(scales(DynamicLossScaler({.initial_scale = 1, .minimum_scale = 0x1p-10f}), std::string(20, 'O')).back() == 0x1p-10f);
  CHECK(scales(DynamicLossScaler({.initial_scale = 0x1p126f, .growth_window = 1}), "FO") == std::vector<float>{0x1p126f, 0x1p125f});
}

TEST_CASE("at the minimum the scaler says so") {
  DynamicLossScaler scaler({.initial_scale = 2, .minimum_scale = 1});
  CHECK_FALSE(scaler.at_minimum());
  scaler.update(true);
  CHECK(scaler.at_minimum());
}

TEST_CASE("an option that could break the scale is refused by name") {
  const float not_a_number = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  for (float bad : {0.0f, -1.0f, not_a_number, infinity}) {
    CHECK_THROWS_WITH_AS(DynamicLossScaler({.initial_scale = bad}), doctest::Contains("initial_scale"), mezzo::option_error);
    CHECK_THROWS_WITH_AS(DynamicLossScaler({.minimum_scale = bad}), doctest::Contains("minimum_scale"), mezzo::option_error);
    CHECK_THROWS_WITH_AS(StaticLossScaler{bad}, doctest::Contains("scale must lie"), mezzo::option_error);
  }
  CHECK_THROWS_WITH_AS(DynamicLossScaler({.growth_factor = 1}), doctest::Contains("growth_factor must be above 1"), mezzo::option_error);
  CHECK_THROWS_WITH_AS(DynamicLossScaler({.backoff_factor = 1}), doctest::Contains("backoff_factor"), mezzo::option_error);
  CHECK_THROWS_WITH_AS(DynamicLossScaler({.growth_window = 0}), "DynamicLossScaler: growth_window must be positive, is 0",
                       mezzo::option_error);
  CHECK_THROWS_WITH_AS(DynamicLossScaler({.initial_scale = 1, .minimum_scale = 2}), doctest::Contains("initial_scale"),
                       mezzo::option_error);
  CHECK_THROWS_WITH_AS(DynamicLossScaler({.maximum_scale = 0x1p127f}), doctest::Contains("maximum_scale"), mezzo::option_error);
  CHECK_THROWS_WITH_AS(DynamicLossScaler({.hysteresis = 0}), doctest::Contains("hysteresis"), mezzo::option_error);
}

TEST_CASE("a scaler goes on from its saved state") {
  DynamicLossScaler first({.initial_scale = 1024, .growth_window = 4, .hysteresis = 2}),
      second({.initial_scale = 8, .growth_window = 4, .hysteresis = 2});
  for (char step : trace) {
    second.load(first.state());
    first.update(step == 'O');
    second.update(step == 'O');
    CHECK(first.scale() == second.scale());
  }
}

TEST_CASE("a counter beyond the window grows at the next clean step") {
  DynamicLossScaler scaler({.initial_scale = 1024, .growth_window = 1000});
  scaler.load({1024, 1500, 0});
  scaler.update(false);
  CHECK(scaler.scale() == 2048);
}

TEST_CASE("a bad state is refused and changes nothing") {
  DynamicLossScaler scaler({.initial_scale = 1024});
  CHECK_THROWS_WITH_AS(scaler.load({0.0f, 0, 0}), doctest::Contains("loaded scale"), mezzo::option_error);
  CHECK_THROWS_WITH_AS(scaler.load({std::numeric_limits<float>::quiet_NaN(), 0, 0}), doctest::Contains("loaded scale"),
                       mezzo::option_error);
  CHECK_THROWS_WITH_AS(scaler.load({8, -1, 0}), doctest::Contains("clean_steps"), mezzo::option_error);
  CHECK(scaler.scale() == 1024);
}

TEST_CASE("an error carries the line at fault") {
  try {
    DynamicLossScaler({.hysteresis = 0});
    FAIL("accepted");
  } catch (const mezzo::error& error) {
    CHECK(std::string(error.where().file).find("loss_scaler.hpp") != std::string::npos);
  }
}

TEST_CASE("static scales and no scale stay") {
  StaticLossScaler fixed(128);
  fixed.update(true);
  CHECK(fixed.scale(0.5f) == 64);
  mezzo::NoLossScaler off;
  off.update(true);
  CHECK(off.scale(0.5f) == 0.5f);
}

static_assert(DynamicLossScaler().scale(0.5f) == 0x1p31f);
