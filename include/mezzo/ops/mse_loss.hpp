// Mean squared error, the loss of regression.
#pragma once

#include <mezzo/core/scalar.hpp>
#include <mezzo/kernels/reduce.hpp>
#include <mezzo/kernels/transform.hpp>
#include <mezzo/ops/detail/checks.hpp>
#include <mezzo/ops/reduction.hpp>

namespace mezzo {

struct MseLossOptions {
  Reduction reduction = Reduction::mean;  ///< mean: divided by the number of elements
};

namespace detail {

/// The sum of squared differences, in fp64, so that no difference of fp32 numbers overflows.
struct SquaredDifference {
  using value_type = double;
  using partial_type = double;
  MEZZO_HOST_DEVICE static constexpr double identity() { return 0.0; }
  MEZZO_HOST_DEVICE static constexpr double map(double a, double b) { return (a - b) * (a - b); }
  MEZZO_HOST_DEVICE static constexpr double combine(double a, double b) { return a + b; }
};

template <class V>
struct MseBackward {
  V factor;
  template <class G, class P, class T>
  MEZZO_HOST_DEVICE constexpr void operator()(G& grad, P prediction, T target) const {
    grad = static_cast<G>((static_cast<V>(prediction) - static_cast<V>(target)) * factor);
  }
};

}  // namespace detail

/// loss = sum (prediction - target)^2, divided by the number of elements for Reduction::mean (NaN without elements, as in PyTorch).
/// Views of one shape and any floating-point dtypes; `loss` is a scalar of float or double. Throws shape_error.
template <Context C, class Loss, class Prediction, class Target>
void mse_loss(C& context, Loss&& loss, const Prediction& prediction, const Target& target, const MseLossOptions& options = {}) {
  const auto result = detail::output_view<C>(loss);
  const auto p = detail::input_view<C>(prediction);
  const auto t = detail::input_view<C>(target);
  detail::require_wide_scalar<decltype(result)>();
  detail::require_floating_point<decltype(p), decltype(t)>();
  detail::expects_same_shape(p, t, "mse_loss: predictions {} and targets {} differ in shape");
  const double squares = reduce(context, detail::SquaredDifference{}, read(p), read(t));
  const double divisor = options.reduction == Reduction::mean ? static_cast<double>(p.size()) : 1.0;
  *result.data() = static_cast<value_type_t<Loss>>(squares / divisor);
}
/// The same, with the dtype of `loss` as the policy wants it, at least float.
template <PrecisionPolicy Policy, Context C, class Loss, class Prediction, class Target>
void mse_loss(C& context, Loss&& loss, const Prediction& prediction, const Target& target, const MseLossOptions& options = {}) {
  detail::require_policy_loss<Policy, op::mse_loss, Loss, Prediction, Target>();
  mse_loss(context, loss, prediction, target, options);
}

/// grad = scale * d loss / d prediction = 2 scale (prediction - target), divided as the loss was. `grad` has the predictions' dtype
/// and may be the predictions; `scale`, the loss scale, is multiplied in before the one rounding.
template <Context C, class Grad, class Prediction, class Target>
void mse_loss_backward(C& context, Grad&& grad, const Prediction& prediction, const Target& target,
                       const std::type_identity_t<Scalar<float, C::memory_space>>& scale = 1.0f, const MseLossOptions& options = {}) {
  const auto g = detail::output_view<C>(grad);
  const auto p = detail::input_view<C>(prediction);
  const auto t = detail::input_view<C>(target);
  detail::require_same_dtype<decltype(g), decltype(p)>();
  detail::require_floating_point<decltype(p), decltype(t)>();
  detail::expects_same_shape(g, p, "mse_loss_backward: the gradient {} and the predictions {} differ in shape");
  detail::expects_same_shape(p, t, "mse_loss_backward: predictions {} and targets {} differ in shape");
  using V = detail::joint_compute_t<typename decltype(p)::value_type, typename decltype(t)::value_type>;
  const double divisor = options.reduction == Reduction::mean ? static_cast<double>(p.size()) : 1.0;
  const auto factor = static_cast<V>(2.0 * static_cast<double>(scale.resolve()) / divisor);
  transform(context, detail::MseBackward<V>{factor}, write(g), read(p), read(t));
}

}  // namespace mezzo
