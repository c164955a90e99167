// Sums, norms and extrema of all elements, and the index of the largest along the last dimension. Added up in fp64, in an order that
// the shape alone fixes, so that neither a long tensor nor 16 bits cost accuracy.
#pragma once

#include <mezzo/kernels/functors.hpp>
#include <mezzo/kernels/reduce.hpp>
#include <mezzo/numeric/math.hpp>
#include <mezzo/ops/detail/checks.hpp>

namespace mezzo {

/// How a loss makes one number of many.
enum class Reduction { mean, sum };

namespace detail {

template <class C, class Out, class In>
void check_reduction() {
  require_wide_scalar<view_type_t<Out>>();
  require_floating_point<view_type_t<const In>>();
}

template <class LabelView, class View>
void argmax_rows(CpuContext& context, const LabelView& labels, const View& in) {
  using Label = typename LabelView::value_type;
  const index_t width = in.extent(View::rank - 1);
  const TensorView<Label, LabelView::rank + 1> columns = [&] {
    index_t lengths[View::rank] = {}, strides[View::rank] = {};
    for (int i = 0; i < LabelView::rank; ++i) {
      lengths[i] = labels.extent(i);
      strides[i] = labels.stride(i);
    }
    lengths[View::rank - 1] = 1;
    return TensorView<Label, View::rank>(labels.data(), Extents<View::rank>(lengths), strides);
  }();
  for_each_row(
      context, rows_per_task(in),
      [&](index_t, index_t row, auto from) {
        using V = compute_type_t<typename View::value_type>;
        V best = static_cast<V>(from.data[0]);
        index_t at = 0;
        for (index_t i = 1; i < width && !has_nan_bits(best); ++i) {
          const V x = static_cast<V>(from.data[i]);
          if (x > best || has_nan_bits(x)) {
            best = x;
            at = i;
          }
        }
        columns.data()[row_offset(columns, row)] = static_cast<Label>(at);
      },
      read(in));
}

}  // namespace detail

/// out = the sum of all elements; 0 of none. `out` is a scalar of float or double.
template <Context C, class Out, class In>
void sum(C& context, Out&& out, const In& in) {
  const auto result = detail::output_view<C>(out);
  detail::check_reduction<C, Out, In>();
  *result.data() = static_cast<value_type_t<Out>>(reduce(context, Sum<double>{}, read(detail::input_view<C>(in))));
}

/// out = the mean of all elements. Throws shape_error for an empty view.
template <Context C, class Out, class In>
void mean(C& context, Out&& out, const In& in) {
  const auto result = detail::output_view<C>(out);
  const auto x = detail::input_view<C>(in);
  detail::check_reduction<C, Out, In>();
  expects<shape_error>(!x.is_empty(), "mean: a view of shape {} has no elements, and so no mean", x.extents());
  *result.data() = static_cast<value_type_t<Out>>(reduce(context, Sum<double>{}, read(x)) / static_cast<double>(x.size()));
}

/// out = the largest element, NaN if one is NaN. Throws shape_error for an empty view.
template <Context C, class Out, class In>
void maximum(C& context, Out&& out, const In& in) {
  const auto result = detail::output_view<C>(out);
  const auto x = detail::input_view<C>(in);
  detail::check_reduction<C, Out, In>();
  expects<shape_error>(!x.is_empty(), "maximum: a view of shape {} has no elements, and so no largest one", x.extents());
  *result.data() = static_cast<value_type_t<Out>>(reduce(context, Maximum<compute_type_t<value_type_t<const In>>>{}, read(x)));
}

/// out = sqrt(sum of squares); 0 of no elements. Right for every finite input of at most 32 bits whose norm `out` can hold; squares
/// of doubles must stay in range.
template <Context C, class Out, class In>
void l2_norm(C& context, Out&& out, const In& in) {
  const auto result = detail::output_view<C>(out);
  detail::check_reduction<C, Out, In>();
  const double squares = reduce(context, SumOfSquares{}, read(detail::input_view<C>(in)));
  *result.data() = static_cast<value_type_t<Out>>(math::sqrt(squares));
}

/// labels[...] = the index of the first largest element along the last dimension of `in`; a NaN counts as largest. `labels` lacks that
/// dimension and holds any integers. Throws shape_error when the other dimensions differ or the last one is empty.
template <Context C, class Labels, class In>
void argmax(C& context, Labels&& labels, const In& in) {
  const auto out = detail::output_view<C>(labels);
  const auto x = detail::input_view<C>(in);
  using LabelView = decltype(out);
  using View = decltype(x);
  constexpr int last = View::rank - 1;
  detail::require_floating_point<View>();
  static_assert(std::is_integral_v<value_type_t<Labels>>, "mezzo: labels are integers");
  static_assert(LabelView::rank == last, "mezzo: the labels of argmax have one dimension less than the input");
  bool is_same = true;
  for (int i = 0; i < last; ++i) is_same = is_same && out.extent(i) == x.extent(i);
  expects<shape_error>(is_same, "argmax: labels of shape {} do not fit {} without its last dimension", out.extents(), x.extents());
  expects<shape_error>(out.is_empty() || x.extent(last) > 0, "argmax: the last dimension of {} is empty", x.extents());
  if (!out.is_empty()) detail::argmax_rows(context, out, x);
}

}  // namespace mezzo
