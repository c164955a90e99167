// Cross-entropy of logits and integer labels, the loss of classification: log_softmax and the choice of a class in one operation,
// finite for every finite logit.
#pragma once

#include <concepts>
#include <optional>

#include <mezzo/core/scalar.hpp>
#include <mezzo/numeric/is_finite.hpp>
#include <mezzo/ops/elementwise.hpp>
#include <mezzo/ops/reduction.hpp>
#include <mezzo/ops/softmax.hpp>

namespace mezzo {

template <MemorySpace Space = MemorySpace::host>
struct CrossEntropyOptions {
  Reduction reduction = Reduction::mean;       ///< mean: divided by the number of rows counted
  std::optional<index_t> ignore_index = {};    ///< rows with this label count for nothing
  float label_smoothing = 0.0f;                ///< in [0, 1]: this share of the target is spread over all classes
  TensorView<index_t, 0, Space> counted = {};  ///< if given, receives the number of rows that are not ignored
};

namespace detail {

/// Checks options and labels, and counts the rows that are not ignored.
template <class LabelView>
index_t count_labels(CpuContext&, const LabelView& labels, index_t classes, const CrossEntropyOptions<>& options) {
  expects<option_error>(is_finite(options.label_smoothing) && options.label_smoothing >= 0 && options.label_smoothing <= 1,
                        "cross_entropy: label_smoothing must lie in [0, 1], is {}", options.label_smoothing);
  index_t counted = 0;
  for (index_t row = 0; row < labels.extent(0); ++row) {
    const auto label = static_cast<index_t>(labels(row));
    if (options.ignore_index && label == *options.ignore_index) continue;
    expects<option_error>(label >= 0 && label < classes, "cross_entropy: the label of row {} is {}, but there are {} classes", row, label,
                          classes);
    ++counted;
  }
  return counted;
}

template <class LabelView>
bool is_ignored(const LabelView& labels, index_t row, const std::optional<index_t>& ignore_index) {
  return ignore_index && static_cast<index_t>(labels(row)) == *ignore_index;
}

/// The sum of x - shift.
template <class V>
struct ShiftedSum {
  using value_type = V;
  using partial_type = double;
  V shift;
  MEZZO_HOST_DEVICE static constexpr V identity() { return V{0}; }
  MEZZO_HOST_DEVICE constexpr V map(V x) const { return x - shift; }
  MEZZO_HOST_DEVICE static constexpr V combine(V a, V b) { return a + b; }
};

/// The sum of the losses of all rows that are not ignored.
template <class LogitView, class LabelView>
double cross_entropy_rows(CpuContext& context, const LogitView& logits, const LabelView& labels, const CrossEntropyOptions<>& options) {
  using V = compute_type_t<typename LogitView::value_type>;
  const index_t classes = logits.extent(1);
  const Isa isa = context.isa();
  auto losses = context.template scratch<double>(logits.extent(0));
  for_each_row(
      context, rows_per_task(logits),
      [&](index_t, index_t row, auto from, auto exps) {
        losses[row] = 0.0;
        if (is_ignored(labels, row, options.ignore_index)) return;
        const auto [shift, sum] = row_shift(isa, classes, exps, from);
        const V chosen = static_cast<V>(from.data[static_cast<index_t>(labels(row))]) - shift;
        const auto smoothing = static_cast<double>(options.label_smoothing);
        double loss = static_cast<double>(math::log(sum)) - (1.0 - smoothing) * static_cast<double>(chosen);
        if (smoothing > 0) {
          loss -= smoothing / static_cast<double>(classes) * static_cast<double>(reduce_range(isa, ShiftedSum<V>{shift}, classes, from));
        }
        losses[row] = loss;
      },
      read(logits), RowScratch<V>{classes});
  double result = 0.0;
  for (index_t row = 0; row < row_count(logits); ++row) result += losses[row];
  return result;
}

/// (softmax - spread) * factor: the gradient of every class but the labelled one. e is exp(x - shift).
template <class V>
struct CrossEntropyBackward {
  V inverse_sum, spread, factor;
  template <class G>
  MEZZO_HOST_DEVICE constexpr void operator()(G& grad, V e) const {
    grad = static_cast<G>(of(e));
  }
  MEZZO_HOST_DEVICE constexpr V of(V e) const { return (e * inverse_sum - spread) * factor; }
};

template <class GradView, class LogitView, class LabelView>
void cross_entropy_backward_rows(CpuContext& context, const GradView& grad, const LogitView& logits, const LabelView& labels, double factor,
                                 const CrossEntropyOptions<>& options) {
  using T = typename GradView::value_type;
  using V = compute_type_t<T>;
  const index_t classes = logits.extent(1);
  const Isa isa = context.isa();
  const V smoothing = static_cast<V>(options.label_smoothing), spread = smoothing / static_cast<V>(classes);
  const bool passes_caches = exceeds_caches(grad, logits);
  for_each_row(
      context, rows_per_task(logits),
      [&](index_t, index_t row, auto to, auto from, auto exps) {
        if (is_ignored(labels, row, options.ignore_index)) {
          transform_range(isa, Fill<V>{V{0}}, classes, to);
          return;
        }
        const V inverse_sum = V{1} / row_shift(isa, classes, exps, from).sum;
        const auto label = static_cast<index_t>(labels(row));
        transform_range(isa, CrossEntropyBackward<V>{inverse_sum, spread, static_cast<V>(factor)}, classes, streamed(to, passes_caches),
                        read(exps.data));
        const CrossEntropyBackward<V> labelled{inverse_sum, spread + (V{1} - smoothing), static_cast<V>(factor)};
        to.data[label] = convert<T>(labelled.of(exps.data[label]));
      },
      write(grad), read(logits), RowScratch<V>{classes});
}

template <class LogitView, class LabelView>
void check_cross_entropy(const LogitView& logits, const LabelView& labels, message_at message) {
  static_assert(LogitView::rank == 2, "mezzo: logits are [batch, classes]; reshape() them");
  static_assert(LabelView::rank == 1 && std::is_integral_v<typename LabelView::value_type>, "mezzo: labels are integers of shape [batch]");
  require_floating_point<LogitView>();
  expects<shape_error>(logits.extent(0) == labels.extent(0), message, logits.extents(), labels.extents());
}

}  // namespace detail

/// loss = the sum over rows of log(sum_k exp(logits_k)) - logits_label, divided by the number of rows counted for Reduction::mean (NaN
/// if there are none, as in PyTorch). Logits [batch, classes] of any floating-point dtype, computed in fp32 or wider; labels [batch] of
/// any integers. `loss` is a scalar of float or double. Throws shape_error, and option_error for a label out of range, naming its row,
/// or a label_smoothing out of range; nothing is written then.
template <Context C, class Loss, class Logits, class Labels>
void cross_entropy(C& context, Loss&& loss, const Logits& logits, const Labels& labels,
                   const CrossEntropyOptions<C::memory_space>& options = {}) {
  const auto result = detail::output_view<C>(loss);
  const auto x = detail::input_view<C>(logits);
  const auto t = detail::input_view<C>(labels);
  detail::require_wide_scalar<decltype(result)>();
  detail::check_cross_entropy(x, t, "cross_entropy: logits {} and labels {} differ in their batch");
  const index_t counted = detail::count_labels(context, t, x.extent(1), options);
  const double sum = detail::cross_entropy_rows(context, x, t, options);
  const double divisor = options.reduction == Reduction::mean ? static_cast<double>(counted) : 1.0;
  *result.data() = static_cast<value_type_t<Loss>>(sum / divisor);
  if (options.counted.data() != nullptr) *options.counted.data() = counted;
}
/// The same, with the dtype of `loss` as the policy wants it, at least float.
template <PrecisionPolicy Policy, Context C, class Loss, class Logits, class Labels>
void cross_entropy(C& context, Loss&& loss, const Logits& logits, const Labels& labels,
                   const CrossEntropyOptions<C::memory_space>& options = {}) {
  detail::require_policy_loss<Policy, op::cross_entropy, Loss, Logits>();
  cross_entropy(context, loss, logits, labels, options);
}

/// grad = scale * d loss / d logits = scale (softmax(logits) - target), divided as the loss was; 0 in ignored rows. `grad` has the
/// logits' dtype and may be the logits; `scale`, the loss scale, is multiplied in before the one rounding. Throws as cross_entropy.
template <Context C, class Grad, class Logits, class Labels>
void cross_entropy_backward(C& context, Grad&& grad, const Logits& logits, const Labels& labels,
                            const std::type_identity_t<Scalar<float, C::memory_space>>& scale = 1.0f,
                            const CrossEntropyOptions<C::memory_space>& options = {}) {
  const auto g = detail::output_view<C>(grad);
  const auto x = detail::input_view<C>(logits);
  const auto t = detail::input_view<C>(labels);
  detail::require_same_dtype<decltype(g), decltype(x)>();
  detail::check_cross_entropy(x, t, "cross_entropy_backward: logits {} and labels {} differ in their batch");
  detail::expects_same_shape(g, x, "cross_entropy_backward: the gradient {} and the logits {} differ in shape");
  const index_t counted = detail::count_labels(context, t, x.extent(1), options);
  const double divisor = options.reduction == Reduction::mean ? static_cast<double>(counted) : 1.0;
  detail::cross_entropy_backward_rows(context, g, x, t, static_cast<double>(scale.resolve()) / divisor, options);
  if (options.counted.data() != nullptr) *options.counted.data() = counted;
}

}  // namespace mezzo
