// Mixed precision in four calls: scale the loss, go backward, step, update. GradScaler keeps the order of the calls, unscales inside
// the optimizer's own pass, skips steps whose gradients overflowed, and says what it did.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <mezzo/amp/accumulation_window.hpp>
#include <mezzo/amp/loss_scaler.hpp>
#include <mezzo/amp/step_report.hpp>
#include <mezzo/core/scalar.hpp>
#include <mezzo/kernels/finite_check.hpp>
#include <mezzo/numeric/policy.hpp>
#include <mezzo/optim/optimizer.hpp>

namespace mezzo {

/// The loss scaler that a policy needs: PyTorch's for half, none for bfloat16 and fp32.
template <PrecisionPolicy Policy>
constexpr auto default_loss_scaler() {
  if constexpr (wants_loss_scaling<Policy>) {
    return pytorch_loss_scaler();
  } else {
    return NoLossScaler();
  }
}

/// What an overflow at the smallest scale is: a skip like any other, or an error thrown by update().
enum class AtMinimum { skip, fail };

/// Whether gradients are searched for infinities and NaNs. `ignore` saves a pass for training in fp32 or bfloat16 without clipping;
/// with clipping the pass is made anyway.
enum class Nonfinite { skip_step, ignore };

struct GradScalerOptions {
  AtMinimum at_minimum = AtMinimum::skip;
  Nonfinite nonfinite = Nonfinite::skip_step;
};

struct StepOptions {
  std::optional<float> max_grad_norm = {};  ///< clip the true gradients to this global norm
  AccumulationWindow* window = nullptr;     ///< step once it is full
};

/// Scales losses, unscales gradients, takes or skips steps. One update() ends the window of every optimizer stepped since the last
/// one: their gradients count as empty, the scale moves once. Does not move; scale_view() points into it.
template <Context C, class LossScaler = DynamicLossScaler>
class GradScaler {
 public:
  explicit GradScaler(C& context, const LossScaler& scaler = pytorch_loss_scaler(), const GradScalerOptions& options = {})
      : m_context(context), m_options(options), m_scaler(scaler), m_scale(scaler.scale()) {
    if constexpr (std::is_same_v<LossScaler, DynamicLossScaler>) {
      expects<option_error>(options.nonfinite == Nonfinite::skip_step,
                            "GradScaler: a dynamic loss scale needs the check for infinities; use Nonfinite::skip_step");
    }
  }
  GradScaler(const GradScaler&) = delete;
  GradScaler& operator=(const GradScaler&) = delete;

  /// The scale on the host.
  float scale() const { return m_scaler.scale(); }
  /// The scale where the context computes: what a backward pass is seeded with.
  Scalar<float, C::memory_space> scale_view() const { return TensorView<const float, 0, C::memory_space>(&m_scale, Extents<0>()); }
  /// The scaled loss, for a backward pass of the user's own.
  float scale(float loss) const { return m_scaler.scale(loss); }

  /// Turns the optimizer's gradients into the true ones, for a look at them or a change before step(). With accumulation, once the
  /// window is full; give the window to both calls. Throws state_error when called twice, after step(), or in the middle of a window.
  template <class Optimizer>
  requires requires(Optimizer& optimizer) { optimizer.scaler_slot(); }
  void unscale_(Optimizer& optimizer, AccumulationWindow* window = nullptr) {
    ScalerSlot& slot = optimizer.scaler_slot();
    expects<state_error>(slot.phase != StepPhase::unscaled,
                         "GradScaler: unscale_ was called twice on one optimizer; call step and update before the next one");
    expects<state_error>(slot.phase != StepPhase::stepped,
                         "GradScaler: unscale_ was called after step; call it before, and update at the end");
    expects<state_error>(window == nullptr || window->is_full(), "GradScaler: unscale_ was called in the middle of an accumulation window");
    GradientCheck check = optimizer.unscale_(1.0f / m_scale);
    slot.is_divided = window != nullptr && window->divisor() > 0;
    if (slot.is_divided) check = optimizer.unscale_(static_cast<float>(1.0 / static_cast<double>(window->divisor())));
    slot.check = optimizer.agree(check);
    slot.phase = StepPhase::unscaled;
    enlist(optimizer, window);
    if (optimizer.has_gradients()) note(slot.check.has_nonfinite);
  }

  /// Unscales gradients of the user's own, in place, and says whether they are all finite; update() hears of it. For optimizers
  /// that are not mezzo's: take the step if the answer is true.
  template <class T, MemorySpace Space>
  bool unscale_(const TensorList<T, Space>& gradients) {
    static_assert(Space == C::memory_space, "mezzo: these gradients lie in another memory space than the context computes in");
    static_assert(sizeof(T) == sizeof(float),
                  "mezzo: unscaling 16-bit gradients in place would round them twice; give unscale_ an fp32 list to write");
    return unscale_(gradients, gradients);
  }
  /// The same from 16-bit gradients into an fp32 list of the same sizes.
  template <class T, class Out, MemorySpace Space>
  bool unscale_(const TensorList<Out, Space>& unscaled, const TensorList<T, Space>& gradients) {
    expects<shape_error>(unscaled.size() == gradients.size(), "GradScaler::unscale_: {} tensors to write, {} to read", unscaled.size(),
                         gradients.size());
    for (std::size_t i = 0; i < gradients.runs().size(); ++i) {
      expects<shape_error>(unscaled.runs()[i].size == gradients.runs()[i].size,
                           "GradScaler::unscale_: tensor {} has {} elements to write, {} to read", i, unscaled.runs()[i].size,
                           gradients.runs()[i].size);
    }
    const GradientCheck check = scale_and_check(m_context, 1.0f / m_scale, unscaled.runs(), gradients.runs());
    note(check.has_nonfinite);
    return !check.has_nonfinite;
  }

  /// One optimizer step on the true gradients: they are checked, agreed upon, and unscaled and clipped inside the optimizer's own
  /// pass. After an explicit unscale_ they are taken as they are now. On a skip nothing changes but the report. Throws state_error
  /// when called twice without update(), option_error unless max_grad_norm is positive.
  template <class Optimizer>
  StepReport step(Optimizer& optimizer, const StepOptions& options = {}) {
    ScalerSlot& slot = optimizer.scaler_slot();
    expects<state_error>(slot.phase != StepPhase::stepped,
                         "GradScaler: step was called twice on one optimizer; call update after each step");
    if (options.max_grad_norm) {
      expects<option_error>(is_finite(*options.max_grad_norm) && *options.max_grad_norm > 0,
                            "GradScaler::step: max_grad_norm must be positive, is {}", *options.max_grad_norm);
    }
    if (options.window != nullptr && !options.window->is_full()) {
      m_is_accumulating = true;
      return report(optimizer, StepOutcome::accumulating, not_computed, 1.0);
    }
    enlist(optimizer, options.window);
    if (!optimizer.has_gradients() || (options.window != nullptr && options.window->divisor() == 0)) {
      slot.phase = StepPhase::stepped;
      return report(optimizer, StepOutcome::nothing_to_do, not_computed, 1.0);
    }
    const bool is_checked = m_options.nonfinite == Nonfinite::skip_step || options.max_grad_norm;
    const bool is_ready = slot.phase == StepPhase::ready;
    // After unscale_ the user may have changed the gradients: what is clipped is measured again.
    if (is_ready ? is_checked : options.max_grad_norm && !slot.check.has_nonfinite) slot.check = optimizer.agree(optimizer.check());
    double factor = is_ready ? 1.0 / static_cast<double>(m_scale) : 1.0;
    if (options.window != nullptr && !slot.is_divided) factor /= static_cast<double>(options.window->divisor());
    slot.phase = StepPhase::stepped;
    note(is_checked && slot.check.has_nonfinite);
    if (is_checked && slot.check.has_nonfinite) return report(optimizer, StepOutcome::skipped, not_computed, 1.0);
    const double norm = __builtin_sqrt(slot.check.sum_of_squares) * factor;
    double clip = 1.0;
    if (options.max_grad_norm && norm > static_cast<double>(*options.max_grad_norm))
      clip = static_cast<double>(*options.max_grad_norm) / norm;
    optimizer.apply(factor * clip);
    return report(optimizer, StepOutcome::stepped, is_checked ? norm : not_computed, clip);
  }

  /// Moves the scale and ends the window. Nothing happens while a window accumulates. Throws state_error when no step came before,
  /// and under AtMinimum::fail when gradients overflowed at the smallest scale; the window has ended all the same.
  void update() {
    if (m_entries.empty() && !m_has_news) {
      expects<state_error>(m_is_accumulating, "GradScaler: update was called without a step or unscale_ before it");
      m_is_accumulating = false;
      return;
    }
    const bool fails = m_options.at_minimum == AtMinimum::fail && m_found_inf && m_scaler.at_minimum();
    if (m_has_news) m_scaler.update(m_found_inf);
    m_scale = m_scaler.scale();
    for (const Entry& entry : m_entries) entry.finish(entry);
    m_entries.clear();
    m_has_news = m_found_inf = m_is_accumulating = false;
    expects<state_error>(!fails, "GradScaler: gradients overflow at the smallest loss scale, {}; look for the cause with find_nonfinite",
                         m_scale);
  }

  const LossScaler& loss_scaler() const { return m_scaler; }

  /// The loss scaler's state; saved and loaded between update() and the next step.
  auto state() const { return m_scaler.state(); }
  template <class State>
  void load(const State& state) {
    expects<state_error>(m_entries.empty() && !m_has_news, "GradScaler: load between update and the next step");
    m_scaler.load(state);
    m_scale = m_scaler.scale();
  }

 private:
  struct Entry {
    void* optimizer;
    AccumulationWindow* window;
    void (*finish)(const Entry&);
  };

  static constexpr double not_computed = __builtin_nan("");

  template <class Optimizer>
  void enlist(Optimizer& optimizer, AccumulationWindow* window) {
    for (Entry& entry : m_entries) {
      if (entry.optimizer != &optimizer) continue;
      entry.window = window;
      return;
    }
    m_entries.push_back({&optimizer, window, [](const Entry& entry) {
                           auto& stepped = *static_cast<Optimizer*>(entry.optimizer);
                           stepped.scaler_slot() = {};
                           stepped.zero_grad();
                           if (entry.window != nullptr) entry.window->restart();
                         }});
  }

  void note(bool found_inf) {
    m_has_news = true;
    m_found_inf = m_found_inf || found_inf;
  }

  template <class Optimizer>
  StepReport report(const Optimizer& optimizer, StepOutcome outcome, double norm, double clip) const {
    return StepReport({outcome, m_scale, m_scaler.at_minimum(), norm, clip, optimizer.step_count()});
  }

  C& m_context;
  GradScalerOptions m_options;
  LossScaler m_scaler;
  float m_scale;
  std::vector<Entry> m_entries;  // optimizers that have unscaled or stepped since the last update
  bool m_has_news = false;       // gradients were looked at since the last update
  bool m_found_inf = false;
  bool m_is_accumulating = false;
};

template <Context C>
GradScaler(C&) -> GradScaler<C, DynamicLossScaler>;
template <Context C, class LossScaler>
GradScaler(C&, const LossScaler&) -> GradScaler<C, LossScaler>;
template <Context C, class LossScaler>
GradScaler(C&, const LossScaler&, const GradScalerOptions&) -> GradScaler<C, LossScaler>;

}  // namespace mezzo
