// What a step did. Nobody has to compare loss scales to find out.
#pragma once

#include <cstdint>

namespace mezzo {

/// `stepped`: parameters were updated. `skipped`: a gradient was not finite, nothing was touched. `accumulating`: the window is not
/// full yet. `nothing_to_do`: no parameter had a gradient.
enum class StepOutcome { stepped, skipped, accumulating, nothing_to_do };

constexpr const char* describe(StepOutcome outcome) {
  switch (outcome) {
    case StepOutcome::stepped:
      return "stepped";
    case StepOutcome::skipped:
      return "skipped";
    case StepOutcome::accumulating:
      return "accumulating";
    default:
      return "nothing to do";
  }
}

/// A snapshot of one GradScaler::step. On a CPU it is complete when step returns.
class StepReport {
 public:
  struct Values {
    StepOutcome outcome;
    float loss_scale;
    bool at_minimum_scale;
    double grad_norm;
    double clip_factor;
    std::int64_t step_count;
  };

  explicit StepReport(const Values& values) : m_values(values) {}

  StepOutcome outcome() const { return m_values.outcome; }
  bool stepped() const { return outcome() == StepOutcome::stepped; }
  bool skipped() const { return outcome() == StepOutcome::skipped; }

  /// The scale that this step's loss was multiplied by.
  float loss_scale() const { return m_values.loss_scale; }
  /// The scale could not have been smaller: an overflow here is not cured by waiting.
  bool at_minimum_scale() const { return m_values.at_minimum_scale; }
  /// Global norm of the true gradients before clipping; NaN where it was not computed or a gradient is not finite.
  double grad_norm() const { return m_values.grad_norm; }
  /// What the gradients were multiplied by to keep their norm; 1 without clipping.
  double clip_factor() const { return m_values.clip_factor; }
  /// Steps that the optimizer has taken, this one included.
  std::int64_t step_count() const { return m_values.step_count; }

 private:
  Values m_values;
};

}  // namespace mezzo
