// Learning-rate schedules as values: pure functions of the optimizer's step count. So they run inside a kernel on the device's own
// count, and a skipped step cannot advance them. They compute in fp64 and round once: one value per step costs nothing.
#pragma once

#include <concepts>
#include <type_traits>

#include <mezzo/core/config.hpp>
#include <mezzo/core/error.hpp>
#include <mezzo/core/extents.hpp>
#include <mezzo/numeric/is_finite.hpp>

namespace mezzo {

/// Maps the number of optimizer steps taken so far to a factor on the base learning rate. Fit to be a kernel argument.
template <class S>
concept LearningRateSchedule = std::is_trivially_copyable_v<S> && requires(const S& schedule, index_t step) {
  { schedule(step) } -> std::same_as<float>;
};

namespace detail {

/// sin^2(pi/2 t) = (1 - cos(pi t)) / 2 for t in [0, 1]; as a square it keeps its relative accuracy near 0.
MEZZO_HOST_DEVICE constexpr double half_cosine(double t) {
  const double x = t * 0x1.921fb54442d18p+0;
  double series = 1;
  for (int k = 16; k > 0; k -= 2) series = 1 - series * (x * x) / (k * (k + 1));
  return (x * series) * (x * series);
}

constexpr void expects_steps(index_t steps, message_at message) { expects<option_error>(steps > 0, message, steps); }

constexpr void expects_option(const float& value, bool in_range, message_at message) {
  expects<option_error>(is_finite(value) && in_range, message, value);
}

}  // namespace detail

/// The base learning rate throughout.
class ConstantSchedule {
 public:
  MEZZO_HOST_DEVICE constexpr float operator()(index_t) const { return 1; }
};

/// How a StepSchedule falls.
struct StepScheduleOptions {
  index_t every = 0;  ///< optimizer steps between two changes; has no default
  float factor = 0.1f;
};

/// factor^floor(step / every), as PyTorch's StepLR.
class StepSchedule {
 public:
  /// Throws option_error, naming the option, unless every > 0 and factor lies in (0, 1].
  constexpr explicit StepSchedule(const StepScheduleOptions& options) : m_options(options) {
    detail::expects_steps(options.every, "StepSchedule: every must be positive, is {}");
    detail::expects_option(options.factor, options.factor > 0 && options.factor <= 1, "StepSchedule: factor must lie in (0, 1], is {}");
  }

  MEZZO_HOST_DEVICE constexpr float operator()(index_t step) const {
    double result = 1, power = m_options.factor;
    for (index_t times = step / m_options.every; times > 0; times /= 2) {
      if (times % 2 == 1) result *= power;
      power *= power;
    }
    return static_cast<float>(result);
  }

 private:
  StepScheduleOptions m_options;
};

/// How a CosineSchedule falls.
struct CosineScheduleOptions {
  index_t steps = 0;  ///< optimizer steps until the end; has no default
  float final_factor = 0;
};

/// final_factor + (1 - final_factor) (1 + cos(pi step / steps)) / 2, and final_factor from `steps` on. Loshchilov and Hutter, "SGDR:
/// Stochastic Gradient Descent with Warm Restarts", without the restarts.
class CosineSchedule {
 public:
  /// Throws option_error, naming the option, unless steps > 0 and final_factor lies in [0, 1].
  constexpr explicit CosineSchedule(const CosineScheduleOptions& options) : m_options(options) {
    detail::expects_steps(options.steps, "CosineSchedule: steps must be positive, is {}");
    detail::expects_option(options.final_factor, options.final_factor >= 0 && options.final_factor <= 1,
                           "CosineSchedule: final_factor must lie in [0, 1], is {}");
  }

  MEZZO_HOST_DEVICE constexpr float operator()(index_t step) const {
    const auto& [steps, final_factor] = m_options;
    if (step >= steps) return final_factor;
    const double remaining = step > 0 ? static_cast<double>(steps - step) / static_cast<double>(steps) : 1.0;
    return static_cast<float>(final_factor + (1.0 - final_factor) * detail::half_cosine(remaining));
  }

 private:
  CosineScheduleOptions m_options;
};

/// How a LinearWarmup rises.
struct LinearWarmupOptions {
  index_t steps = 0;  ///< optimizer steps until the following schedule begins; has no default
  float start_factor = 0;
};

/// Rises in a straight line from start_factor to the first factor of another schedule, which follows and counts its steps from there:
/// `LinearWarmup({.steps = 100}, CosineSchedule({.steps = 900}))`.
template <LearningRateSchedule After = ConstantSchedule>
class LinearWarmup {
 public:
  /// Throws option_error, naming the option, unless steps > 0 and start_factor lies in [0, 1].
  constexpr explicit LinearWarmup(const LinearWarmupOptions& options, const After& after = After()) : m_options(options), m_after(after) {
    detail::expects_steps(options.steps, "LinearWarmup: steps must be positive, is {}");
    detail::expects_option(options.start_factor, options.start_factor >= 0 && options.start_factor <= 1,
                           "LinearWarmup: start_factor must lie in [0, 1], is {}");
  }

  MEZZO_HOST_DEVICE constexpr float operator()(index_t step) const {
    const auto& [steps, start_factor] = m_options;
    if (step >= steps) return m_after(step - steps);
    const double done = step > 0 ? static_cast<double>(step) / static_cast<double>(steps) : 0.0;
    return static_cast<float>(start_factor + (static_cast<double>(m_after(0)) - start_factor) * done);
  }

 private:
  LinearWarmupOptions m_options;
  After m_after;
};

/// How a OneCycleSchedule rises and falls. The names are PyTorch's.
struct OneCycleScheduleOptions {
  index_t steps = 0;              ///< optimizer steps of the whole cycle; has no default
  float pct_start = 0.3f;         ///< share of the cycle that rises
  float div_factor = 25;          ///< the first factor is 1 / div_factor
  float final_div_factor = 1e4f;  ///< the last one is the first one / final_div_factor
};

/// Rises along half a cosine to 1, which is reached at step pct_start * steps - 1, and falls along another until step steps - 1; so the
/// base learning rate is the maximum. Smith and Topin, "Super-Convergence"; the values of PyTorch's OneCycleLR.
class OneCycleSchedule {
 public:
  /// Throws option_error, naming the option, unless steps > 0, pct_start lies in [0, 1) and both divisors are at least 1.
  constexpr explicit OneCycleSchedule(const OneCycleScheduleOptions& options) : m_options(options) {
    detail::expects_steps(options.steps, "OneCycleSchedule: steps must be positive, is {}");
    detail::expects_option(options.pct_start, options.pct_start >= 0 && options.pct_start < 1,
                           "OneCycleSchedule: pct_start must lie in [0, 1), is {}");
    detail::expects_option(options.div_factor, options.div_factor >= 1, "OneCycleSchedule: div_factor must be at least 1, is {}");
    detail::expects_option(options.final_div_factor, options.final_div_factor >= 1,
                           "OneCycleSchedule: final_div_factor must be at least 1, is {}");
  }

  MEZZO_HOST_DEVICE constexpr float operator()(index_t step) const {
    const double first = 1.0 / m_options.div_factor, last = first / m_options.final_div_factor;
    const double rise = static_cast<double>(m_options.pct_start) * static_cast<double>(m_options.steps) - 1;
    const double peak = rise > 0 ? rise : 0, end = static_cast<double>(m_options.steps - 1);
    const double at = step > 0 ? static_cast<double>(step) : 0.0;
    if (at < peak) return static_cast<float>(first + (1 - first) * detail::half_cosine(at / peak));
    if (at >= end) return static_cast<float>(last);
    return static_cast<float>(last + (1 - last) * detail::half_cosine((end - at) / (end - peak)));
  }

 private:
  OneCycleScheduleOptions m_options;
};

/// Whether a validation value should fall (a loss) or rise (an accuracy).
enum class PlateauMode { min, max };

/// When a ReduceOnPlateau reduces. Patience and cooldown count observations.
struct ReduceOnPlateauOptions {
  PlateauMode mode = PlateauMode::min;
  float factor = 0.1f;
  index_t patience = 10;    ///< observations in a row without improvement that are forgiven
  float threshold = 1e-4f;  ///< what counts as improvement, relative to the magnitude of the best value
  index_t cooldown = 0;     ///< observations after a reduction that do not count as bad
  float minimum_factor = 0;
};

/// What a ReduceOnPlateau has learnt, to be saved and loaded.
struct ReduceOnPlateauState {
  float factor = 1;
  float best = 0;  ///< means nothing until has_best
  bool has_best = false;
  index_t bad_observations = 0;
  index_t cooldown = 0;  ///< observations still to come that do not count as bad

  friend constexpr bool operator==(const ReduceOnPlateauState&, const ReduceOnPlateauState&) = default;
};

/// Multiplies the learning rate by `factor` when a validation value has stopped improving. The one schedule with a memory, fed by the
/// host: the optimizer has to be given the new value after an observation. The rules of PyTorch's ReduceLROnPlateau.
class ReduceOnPlateau {
 public:
  /// Throws option_error, naming the option, unless factor lies in (0, 1), threshold and minimum_factor in [0, 1], and the counts are
  /// not negative.
  constexpr explicit ReduceOnPlateau(const ReduceOnPlateauOptions& options = {}) : m_options(options) {
    detail::expects_option(options.factor, options.factor > 0 && options.factor < 1, "ReduceOnPlateau: factor must lie in (0, 1), is {}");
    detail::expects_option(options.threshold, options.threshold >= 0 && options.threshold <= 1,
                           "ReduceOnPlateau: threshold must lie in [0, 1], is {}");
    detail::expects_option(options.minimum_factor, options.minimum_factor >= 0 && options.minimum_factor <= 1,
                           "ReduceOnPlateau: minimum_factor must lie in [0, 1], is {}");
    expects<option_error>(options.patience >= 0, "ReduceOnPlateau: patience must not be negative, is {}", options.patience);
    expects<option_error>(options.cooldown >= 0, "ReduceOnPlateau: cooldown must not be negative, is {}", options.cooldown);
  }

  MEZZO_HOST_DEVICE constexpr float operator()(index_t) const { return m_state.factor; }

  /// Takes the next validation value; one that is not finite is no improvement. True if the factor fell.
  constexpr bool observe(float value) {
    if (is_improvement(value)) {
      m_state.best = value;
      m_state.has_best = true;
      m_state.bad_observations = 0;
    } else {
      ++m_state.bad_observations;
    }
    if (m_state.cooldown > 0) {
      --m_state.cooldown;
      m_state.bad_observations = 0;
    }
    if (m_state.bad_observations <= m_options.patience) return false;
    m_state.bad_observations = 0;
    m_state.cooldown = m_options.cooldown;
    const float before = m_state.factor, reduced = before * m_options.factor;
    m_state.factor = reduced < m_options.minimum_factor ? m_options.minimum_factor : reduced;
    return m_state.factor < before;
  }

  constexpr const ReduceOnPlateauState& state() const { return m_state; }

  /// Throws option_error for a state that no observations lead to.
  constexpr void load(const ReduceOnPlateauState& state) {
    detail::expects_option(state.factor, state.factor >= m_options.minimum_factor && state.factor <= 1,
                           "ReduceOnPlateau: a factor to load must lie in [minimum_factor, 1], is {}");
    detail::expects_option(state.best, true, "ReduceOnPlateau: the best value to load must be finite, is {}");
    expects<option_error>(state.bad_observations >= 0 && state.cooldown >= 0,
                          "ReduceOnPlateau: counts to load must not be negative, are {} and {}", state.bad_observations, state.cooldown);
    m_state = state;
  }

 private:
  constexpr bool is_improvement(const float& value) const {
    if (!is_finite(value)) return false;
    if (!m_state.has_best) return true;
    const double best = m_state.best, margin = m_options.threshold * (best < 0 ? -best : best);
    return m_options.mode == PlateauMode::min ? value < best - margin : value > best + margin;
  }

  ReduceOnPlateauOptions m_options;
  ReduceOnPlateauState m_state;
};

}  // namespace mezzo
