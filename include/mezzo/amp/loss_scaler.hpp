// Loss scaling as a value. A loss scaler is a scale and one pure transition; it owns no memory and knows no device, so
// it runs on the host by itself and inside a kernel as part of GradScaler's device state.
#pragma once

#include <mezzo/core/config.hpp>
#include <mezzo/core/error.hpp>
#include <mezzo/numeric/is_finite.hpp>

namespace mezzo {

/// When overflows that hysteresis has forgiven are forgotten.
enum class HysteresisReset { on_growth, on_clean_step };

/// How a DynamicLossScaler moves. The scale is a factor without unit; windows and hysteresis count optimizer steps.
struct DynamicLossScalerOptions {
  float initial_scale = 0x1p32f;
  float growth_factor = 2.0f;
  float backoff_factor = 0.5f;
  int growth_window = 1000;  ///< clean steps before growth
  int hysteresis = 1;        ///< the overflow that backs off; earlier ones are forgiven
  HysteresisReset hysteresis_reset = HysteresisReset::on_growth;
  float minimum_scale = 0x1p-24f;
  float maximum_scale = 0x1p126f;  ///< the largest power of two whose inverse is a normal float
};

/// A DynamicLossScaler's place in its course, to be saved beside the model.
struct DynamicLossScalerState {
  float scale;
  int clean_steps;
  int overflows;
};

/// Grows the scale by `growth_factor` after `growth_window` steps without overflow and shrinks it by `backoff_factor` on
/// overflow, within [minimum_scale, maximum_scale]. Micikevicius et al., "Mixed Precision Training", section 3.2.
class DynamicLossScaler {
 public:
  /// Throws option_error, naming the option, for a scaler that could reach zero or infinity, or never move.
  constexpr explicit DynamicLossScaler(const DynamicLossScalerOptions& options = {}) : m_options(options), m_scale(options.initial_scale) {
    validate(options);
  }

  MEZZO_HOST_DEVICE constexpr float scale() const { return m_scale; }
  MEZZO_HOST_DEVICE constexpr float scale(float loss) const { return loss * m_scale; }

  /// Overflow has driven the scale to its minimum: smaller gradients will not help.
  MEZZO_HOST_DEVICE constexpr bool at_minimum() const { return m_scale <= m_options.minimum_scale; }

  /// Moves on by one optimizer step; `found_inf` says that its gradients held an infinity or a NaN.
  MEZZO_HOST_DEVICE constexpr void update(bool found_inf) {
    if (found_inf) {
      m_clean_steps = 0;
      if (m_overflows < m_options.hysteresis) ++m_overflows;
      if (m_overflows >= m_options.hysteresis) m_scale = larger(m_scale * m_options.backoff_factor, m_options.minimum_scale);
      return;
    }
    if (m_options.hysteresis_reset == HysteresisReset::on_clean_step) m_overflows = 0;
    if (++m_clean_steps < m_options.growth_window) return;
    m_clean_steps = 0;
    m_overflows = 0;
    m_scale = smaller(m_scale * m_options.growth_factor, m_options.maximum_scale);
  }

  constexpr const DynamicLossScalerOptions& options() const { return m_options; }
  constexpr DynamicLossScalerState state() const { return {m_scale, m_clean_steps, m_overflows}; }

  /// Goes on from `state`. Throws option_error, naming the value, for one that this scaler cannot have reached.
  constexpr void load(const DynamicLossScalerState& state) {
    require(state.scale, state.scale >= m_options.minimum_scale && state.scale <= m_options.maximum_scale,
            "DynamicLossScaler: a loaded scale must lie between minimum_scale and maximum_scale, is {}");
    expects<option_error>(state.clean_steps >= 0, "DynamicLossScaler: loaded clean_steps must not be negative, is {}", state.clean_steps);
    expects<option_error>(state.overflows >= 0, "DynamicLossScaler: loaded overflows must not be negative, is {}", state.overflows);
    m_scale = state.scale;
    m_clean_steps = state.clean_steps;
    m_overflows = state.overflows;
  }

 private:
  static constexpr void validate(const DynamicLossScalerOptions& o) {
    constexpr float smallest = 0x1p-126f, largest = 0x1p126f;
    require(o.minimum_scale, o.minimum_scale >= smallest, "DynamicLossScaler: minimum_scale must be at least 2^-126, is {}");
    require(o.maximum_scale, o.maximum_scale <= largest, "DynamicLossScaler: maximum_scale must be at most 2^126, is {}");
    require(o.initial_scale, o.initial_scale >= o.minimum_scale && o.initial_scale <= o.maximum_scale,
            "DynamicLossScaler: initial_scale must lie between minimum_scale and maximum_scale, is {}");
    require(o.growth_factor, o.growth_factor > 1, "DynamicLossScaler: growth_factor must be above 1, is {}");
    require(o.backoff_factor, o.backoff_factor > 0 && o.backoff_factor < 1, "DynamicLossScaler: backoff_factor must lie in (0, 1), is {}");
    expects<option_error>(o.growth_window > 0, "DynamicLossScaler: growth_window must be positive, is {}", o.growth_window);
    expects<option_error>(o.hysteresis > 0, "DynamicLossScaler: hysteresis must be positive, is {}", o.hysteresis);
  }

  static constexpr void require(const float& value, bool in_range, message_at message) {
    expects<option_error>(is_finite(value) && in_range, message, value);
  }

  MEZZO_HOST_DEVICE static constexpr float larger(float a, float b) { return a < b ? b : a; }
  MEZZO_HOST_DEVICE static constexpr float smaller(float a, float b) { return a < b ? a : b; }

  DynamicLossScalerOptions m_options;
  float m_scale;
  int m_clean_steps = 0;
  int m_overflows = 0;
};

/// A scale that never moves; an overflow still skips its step.
class StaticLossScaler {
 public:
  /// Throws option_error for a scale outside [2^-126, 2^126].
  constexpr explicit StaticLossScaler(float scale) : m_scale(checked(scale)) {}

  MEZZO_HOST_DEVICE constexpr float scale() const { return m_scale; }
  MEZZO_HOST_DEVICE constexpr float scale(float loss) const { return loss * m_scale; }
  MEZZO_HOST_DEVICE constexpr bool at_minimum() const { return false; }
  MEZZO_HOST_DEVICE constexpr void update(bool) {}

  constexpr float state() const { return m_scale; }
  constexpr void load(float scale) { m_scale = checked(scale); }

 private:
  static constexpr float checked(const float& scale) {
    expects<option_error>(is_finite(scale) && scale >= 0x1p-126f && scale <= 0x1p126f,
                          "StaticLossScaler: scale must lie in [2^-126, 2^126], is {}", scale);
    return scale;
  }

  float m_scale;
};

/// No scaling: for fp32 and bfloat16, whose range gradients do not leave.
class NoLossScaler {
 public:
  /// There is nothing to save.
  struct State {};

  MEZZO_HOST_DEVICE constexpr float scale() const { return 1.0f; }
  MEZZO_HOST_DEVICE constexpr float scale(float loss) const { return loss; }
  MEZZO_HOST_DEVICE constexpr bool at_minimum() const { return false; }
  MEZZO_HOST_DEVICE constexpr void update(bool) {}

  constexpr State state() const { return {}; }
  constexpr void load(State) {}
};

// What other toolkits do, step for step. Their scales have no ceiling, or one below ours; ours is the largest safe one.

/// torch.amp.GradScaler.
constexpr DynamicLossScaler pytorch_loss_scaler() { return DynamicLossScaler({.initial_scale = 0x1p16f, .growth_window = 2000}); }

/// apex.amp, loss_scale="dynamic".
constexpr DynamicLossScaler apex_loss_scaler() {
  return DynamicLossScaler({.initial_scale = 0x1p16f, .growth_window = 2000, .maximum_scale = 0x1p24f});
}

/// DeepSpeed's fp16 section with its defaults. It stops at the minimum; GradScalerOptions::at_minimum does the same.
constexpr DynamicLossScaler deepspeed_loss_scaler() {
  return DynamicLossScaler({.initial_scale = 0x1p16f, .growth_window = 1000, .hysteresis = 2, .minimum_scale = 1.0f});
}

/// Megatron-LM's DynamicGradScaler with its defaults.
constexpr DynamicLossScaler megatron_loss_scaler() {
  return DynamicLossScaler({.initial_scale = 0x1p32f, .growth_window = 1000, .hysteresis = 2, .minimum_scale = 1.0f});
}

}  // namespace mezzo
