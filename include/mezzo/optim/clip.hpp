// The norm of all gradients together, and keeping it below a bound, for loops without a GradScaler.
#pragma once

#include <mezzo/kernels/finite_check.hpp>
#include <mezzo/numeric/is_finite.hpp>
#include <mezzo/tensor/tensor_list.hpp>

namespace mezzo {

namespace detail {

template <class Source>
auto gradient_runs(Source& source) {
  if constexpr (requires { source.runs(); }) {
    return source.runs();
  } else {
    std::vector<TensorRun<typename Source::gradient_type>> runs;
    source.for_each_segment([&](const auto& segment) { runs.push_back({segment.gradient, segment.size}); });
    return runs;
  }
}

}  // namespace detail

/// The L2 norm of all gradients of a TensorList, ParameterArena or ParameterList; infinity where one is not finite. Right for every
/// finite input; the same bits for any number of threads.
template <class C, class Source>
double global_norm(C& context, Source& gradients) {
  const GradientCheck check = check_finite(context, detail::gradient_runs(gradients));
  return check.has_nonfinite ? __builtin_inf() : __builtin_sqrt(check.sum_of_squares);
}

namespace detail {

template <class C, class T>
double clip_runs(C& context, const std::vector<TensorRun<T>>& runs, float max_norm) {
  expects<option_error>(is_finite(max_norm) && max_norm > 0, "clip_grad_norm_: max_norm must be positive, is {}", max_norm);
  const GradientCheck check = check_finite(context, runs);
  if (check.has_nonfinite) return __builtin_inf();
  const double norm = __builtin_sqrt(check.sum_of_squares);
  if (norm <= static_cast<double>(max_norm)) return norm;
  double factor = static_cast<double>(max_norm) / norm;
  // A factor below the normal numbers would be flushed to zero on some machines.
  for (; factor < 0x1p-126; factor *= 0x1p64) scale_and_check(context, 0x1p-64f, runs, runs);
  scale_and_check(context, static_cast<float>(factor), runs, runs);
  return norm;
}

}  // namespace detail

/// Scales the gradients so that their global norm is at most `max_norm` and returns the norm that they had. Gradients whose norm is
/// infinite are left as they are. Throws option_error unless max_norm is positive.
template <class C, class Source>
double clip_grad_norm_(C& context, Source& gradients, float max_norm) {
  return detail::clip_runs(context, detail::gradient_runs(gradients), max_norm);
}

/// The same for what an optimizer's next step reads, frozen groups apart: after GradScaler::unscale_, the true gradients.
template <class Optimizer>
requires requires(Optimizer& optimizer) { optimizer.scaler_slot(); }
double clip_grad_norm_(Optimizer& optimizer, float max_norm) {
  return optimizer.with_gradients([&](const auto& runs) { return detail::clip_runs(optimizer.context(), runs, max_norm); });
}

}  // namespace mezzo
