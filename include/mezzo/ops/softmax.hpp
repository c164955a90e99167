// Softmax and its logarithm along the last dimension, forward and backward. Computed in fp32 whatever the dtypes (fp64 where double
// takes part), with the row's maximum taken off, so that logits near the largest half are as good as any.
#pragma once

#include <mezzo/kernels/functors.hpp>
#include <mezzo/kernels/transform.hpp>
#include <mezzo/numeric/math.hpp>
#include <mezzo/ops/detail/checks.hpp>

namespace mezzo {

namespace detail {

/// e * factor, where e is exp(x - shift) already.
template <class V>
struct Softmax {
  V factor;
  template <class Y>
  MEZZO_HOST_DEVICE constexpr void operator()(Y& y, V e) const {
    y = static_cast<Y>(e * factor);
  }
};

template <class V>
struct LogSoftmax {
  V shift, log_sum;
  template <class Y, class X>
  MEZZO_HOST_DEVICE void operator()(Y& y, X x) const {
    y = static_cast<Y>((static_cast<V>(x) - shift) - log_sum);
  }
};

template <class V>
struct Product {
  using value_type = V;
  using partial_type = double;
  MEZZO_HOST_DEVICE static constexpr V identity() { return V{0}; }
  template <class A, class B>
  MEZZO_HOST_DEVICE static constexpr V map(A a, B b) {
    return static_cast<V>(a) * static_cast<V>(b);
  }
  MEZZO_HOST_DEVICE static constexpr V combine(V a, V b) { return a + b; }
};

template <class V>
struct SoftmaxBackward {
  V mean;
  template <class GX, class GY, class Y>
  MEZZO_HOST_DEVICE void operator()(GX& grad_in, GY grad_out, Y y) const {
    grad_in = static_cast<GX>((static_cast<V>(grad_out) - mean) * static_cast<V>(y));
  }
};

template <class V>
struct LogSoftmaxBackward {
  V sum;
  template <class GX, class GY, class Y>
  MEZZO_HOST_DEVICE void operator()(GX& grad_in, GY grad_out, Y y) const {
    grad_in = static_cast<GX>(static_cast<V>(grad_out) - math::exp(static_cast<V>(y)) * sum);
  }
};

/// The maximum of a row, and the sum of exp(x - maximum).
template <class V>
struct RowShift {
  V shift, sum;
};

/// Leaves exp(x - maximum) in `exps`.
template <class V, class Row>
RowShift<V> row_shift(Isa isa, index_t width, const Range<V, AccessMode::update>& exps, const Row& row) {
  const V shift = maximum_range<V>(isa, width, row.data);  // where a row has NaNs, its sum is NaN
  return {shift, exp_range(isa, shift, width, exps.data, row.data)};
}

template <class OutView, class InView>
void softmax_rows(CpuContext& context, const OutView& out, const InView& in) {
  using V = compute_type_t<typename InView::value_type>;
  const index_t width = in.extent(InView::rank - 1);
  const Isa isa = context.isa();
  const bool passes_caches = exceeds_caches(out, in);
  for_each_row(
      context, rows_per_task(in),
      [&](index_t, index_t, auto to, auto from, auto exps) {
        const auto row = row_shift(isa, width, exps, from);
        transform_range(isa, Softmax<V>{V{1} / row.sum}, width, streamed(to, passes_caches), read(exps.data));
      },
      write(out), read(in), RowScratch<V>{width});
}

template <class OutView, class InView>
void log_softmax_rows(CpuContext& context, const OutView& out, const InView& in) {
  using V = compute_type_t<typename InView::value_type>;
  const index_t width = in.extent(InView::rank - 1);
  const Isa isa = context.isa();
  for_each_row(
      context, rows_per_task(in),
      [&](index_t, index_t, auto to, auto from, auto exps) {
        const auto row = row_shift(isa, width, exps, from);
        transform_range(isa, LogSoftmax<V>{row.shift, math::log(row.sum)}, width, to, from);
      },
      write(out), read(in), RowScratch<V>{width});
}

template <class GXView, class GYView, class YView>
void softmax_backward_rows(CpuContext& context, const GXView& grad_in, const GYView& grad_out, const YView& out) {
  using V = joint_compute_t<typename GYView::value_type, typename YView::value_type>;
  const index_t width = out.extent(YView::rank - 1);
  const Isa isa = context.isa();
  for_each_row(
      context, rows_per_task(out),
      [&](index_t, index_t, auto gx, auto gy, auto y) {
        transform_range(isa, SoftmaxBackward<V>{reduce_range(isa, Product<V>{}, width, gy, y)}, width, gx, gy, y);
      },
      write(grad_in), read(grad_out), read(out));
}

template <class GXView, class GYView, class YView>
void log_softmax_backward_rows(CpuContext& context, const GXView& grad_in, const GYView& grad_out, const YView& out) {
  using V = joint_compute_t<typename GYView::value_type, typename YView::value_type>;
  const index_t width = out.extent(YView::rank - 1);
  const Isa isa = context.isa();
  for_each_row(
      context, rows_per_task(out),
      [&](index_t, index_t, auto gx, auto gy, auto y) {
        transform_range(isa, LogSoftmaxBackward<V>{reduce_range(isa, Sum<V>{}, width, gy)}, width, gx, gy, y);
      },
      write(grad_in), read(grad_out), read(out));
}

}  // namespace detail

/// out_j = exp(in_j) / sum_k exp(in_k) along the last dimension. Views of one shape, any strides and any floating-point dtypes; in
/// place if `out` is `in`. A row that is -infinity throughout, or holds NaN or +infinity, gives NaN, as in PyTorch. Throws
/// shape_error, as all operations here.
template <Context C, class Out, class In>
void softmax(C& context, Out&& out, const In& in) {
  const auto y = detail::output_view<C>(out);
  const auto x = detail::input_view<C>(in);
  detail::require_floating_point<decltype(y), decltype(x)>();
  detail::require_rows<decltype(x)>();
  detail::expects_same_shape(y, x, "softmax: shapes {} and {} differ");
  detail::softmax_rows(context, y, x);
}
/// The same, with the dtype of `out` as the policy wants it: float under mixed precision.
template <PrecisionPolicy Policy, Context C, class Out, class In>
void softmax(C& context, Out&& out, const In& in) {
  detail::require_policy_dtype<Policy, op::softmax, Out, In>();
  softmax(context, out, in);
}

/// grad_in_j = out_j (grad_out_j - sum_k grad_out_k out_k), from the output of the forward pass. `grad_in` may be `grad_out` or `out`.
template <Context C, class GradIn, class GradOut, class Out>
void softmax_backward(C& context, GradIn&& grad_in, const GradOut& grad_out, const Out& out) {
  const auto gx = detail::output_view<C>(grad_in);
  const auto gy = detail::input_view<C>(grad_out);
  const auto y = detail::input_view<C>(out);
  detail::require_floating_point<decltype(gx), decltype(gy), decltype(y)>();
  detail::require_rows<decltype(y)>();
  detail::expects_same_shape(gx, gy, "softmax_backward: shapes {} and {} differ");
  detail::expects_same_shape(gx, y, "softmax_backward: shapes {} and {} differ");
  detail::softmax_backward_rows(context, gx, gy, y);
}

/// out_j = in_j - log(sum_k exp(in_k)) along the last dimension; as softmax, but -infinity where softmax would underflow to 0 only
/// for inputs of -infinity.
template <Context C, class Out, class In>
void log_softmax(C& context, Out&& out, const In& in) {
  const auto y = detail::output_view<C>(out);
  const auto x = detail::input_view<C>(in);
  detail::require_floating_point<decltype(y), decltype(x)>();
  detail::require_rows<decltype(x)>();
  detail::expects_same_shape(y, x, "log_softmax: shapes {} and {} differ");
  detail::log_softmax_rows(context, y, x);
}
template <PrecisionPolicy Policy, Context C, class Out, class In>
void log_softmax(C& context, Out&& out, const In& in) {
  detail::require_policy_dtype<Policy, op::log_softmax, Out, In>();
  log_softmax(context, out, in);
}

/// grad_in_j = grad_out_j - exp(out_j) sum_k grad_out_k, from the output of the forward pass. `grad_in` may be `grad_out` or `out`.
template <Context C, class GradIn, class GradOut, class Out>
void log_softmax_backward(C& context, GradIn&& grad_in, const GradOut& grad_out, const Out& out) {
  const auto gx = detail::output_view<C>(grad_in);
  const auto gy = detail::input_view<C>(grad_out);
  const auto y = detail::input_view<C>(out);
  detail::require_floating_point<decltype(gx), decltype(gy), decltype(y)>();
  detail::require_rows<decltype(y)>();
  detail::expects_same_shape(gx, gy, "log_softmax_backward: shapes {} and {} differ");
  detail::expects_same_shape(gx, y, "log_softmax_backward: shapes {} and {} differ");
  detail::log_softmax_backward_rows(context, gx, gy, y);
}

}  // namespace mezzo
