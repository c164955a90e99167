// Layer normalisation along the last dimension, forward and backward. Statistics are summed in two passes, in fp32 and
// fp64 where that matters, the rest is
// computed in fp32 whatever the dtypes (in fp64 for double).
#pragma once

#include <mezzo/kernels/functors.hpp>
#include <mezzo/kernels/transform.hpp>
#include <mezzo/numeric/is_finite.hpp>
#include <mezzo/numeric/math.hpp>
#include <mezzo/ops/detail/checks.hpp>
#include <mezzo/tensor/gradient_sink.hpp>
#include <mezzo/tensor/parameter.hpp>

namespace mezzo {

/// V is what the operation computes in: float, or double for double.
template <class V = float, MemorySpace Space = MemorySpace::host>
struct LayerNormOptions {
  float epsilon = 1e-5f;                       ///< added to the variance; above 0
  TensorView<V, 1, Space> mean = {};           ///< if given, receives the mean of each row, [rows]; the backward pass wants it
  TensorView<V, 1, Space> inverse_sigma = {};  ///< if given, receives 1 / sqrt(variance + epsilon) of each row
};

namespace detail {

template <class V>
struct SquaredDeviation {
  using value_type = double;
  using partial_type = double;
  double mean;
  MEZZO_HOST_DEVICE static constexpr double identity() { return 0.0; }
  MEZZO_HOST_DEVICE constexpr double map(V x) const {
    const double d = static_cast<double>(x) - mean;
    return d * d;
  }
  MEZZO_HOST_DEVICE static constexpr double combine(double a, double b) { return a + b; }
};

struct RowMoments {
  double mean, variance;
};

/// In fp32, shifted by a first mean, and fp64 where squares do not fit fp32, or nothing is left to take the root of.
template <class V, class Row>
RowMoments row_moments(Isa isa, index_t width, const Row& row) {
  const auto count = static_cast<double>(width);
  if constexpr (std::is_same_v<V, float>) {
    const auto shift = static_cast<float>(deviations(isa, 0.0f, width, row.data, 0).sum / count);
    const Deviations sums = deviations(isa, shift, width, row.data, width);  // the next row
    if (squares_fit_fp32(sums.sum_of_squares)) {
      const double rest = sums.sum / count;
      return {static_cast<double>(shift) + rest, sums.sum_of_squares / count - rest * rest};
    }
  }
  const double mean = reduce_range(isa, Sum<double>{}, width, row) / count;
  return {mean, reduce_range(isa, SquaredDeviation<V>{mean}, width, row) / count};
}

/// (x - mean) * inverse_sigma * gamma + beta, with either of the last two left out.
template <class V>
struct Normalize {
  V mean, inverse_sigma;
  template <class Y, class X>
  MEZZO_HOST_DEVICE constexpr void operator()(Y& y, X x) const {
    y = static_cast<Y>(of(x));
  }
  template <class X>
  MEZZO_HOST_DEVICE constexpr V of(X x) const {
    return (static_cast<V>(x) - mean) * inverse_sigma;
  }
};
template <class V>
struct NormalizeScale {
  Normalize<V> normalize;
  template <class Y, class X, class G>
  MEZZO_HOST_DEVICE constexpr void operator()(Y& y, X x, G gamma) const {
    y = static_cast<Y>(normalize.of(x) * static_cast<V>(gamma));
  }
};
template <class V>
struct NormalizeShift {
  Normalize<V> normalize;
  template <class Y, class X, class B>
  MEZZO_HOST_DEVICE constexpr void operator()(Y& y, X x, B beta) const {
    y = static_cast<Y>(normalize.of(x) + static_cast<V>(beta));
  }
};
template <class V>
struct NormalizeScaleShift {
  Normalize<V> normalize;
  template <class Y, class X, class G, class B>
  MEZZO_HOST_DEVICE constexpr void operator()(Y& y, X x, G gamma, B beta) const {
    y = static_cast<Y>(normalize.of(x) * static_cast<V>(gamma) + static_cast<V>(beta));
  }
};

/// The sum of grad * gamma, and of grad * gamma * normalised x.
template <class V>
struct ScaledGradientSum {
  using value_type = V;
  using partial_type = double;
  MEZZO_HOST_DEVICE static constexpr V identity() { return V{0}; }
  template <class G>
  MEZZO_HOST_DEVICE static constexpr V map(G grad, V gamma) {
    return static_cast<V>(grad) * gamma;
  }
  MEZZO_HOST_DEVICE static constexpr V combine(V a, V b) { return a + b; }
};
template <class V>
struct ScaledGradientProduct {
  using value_type = V;
  using partial_type = double;
  Normalize<V> normalize;
  MEZZO_HOST_DEVICE static constexpr V identity() { return V{0}; }
  template <class G, class X>
  MEZZO_HOST_DEVICE constexpr V map(G grad, V gamma, X x) const {
    return static_cast<V>(grad) * gamma * normalize.of(x);
  }
  MEZZO_HOST_DEVICE static constexpr V combine(V a, V b) { return a + b; }
};

template <class V>
struct LayerNormBackward {
  Normalize<V> normalize;
  V mean_gradient, mean_product;
  template <class GX, class GY, class X>
  MEZZO_HOST_DEVICE constexpr void operator()(GX& grad_in, GY grad_out, V gamma, X x) const {
    const V centred = static_cast<V>(grad_out) * gamma - mean_gradient;
    grad_in = static_cast<GX>(normalize.inverse_sigma * (centred - normalize.of(x) * mean_product));
  }
};

/// Adds a row's part to the gradients of gamma and beta.
template <class V>
struct AddAffineGradients {
  Normalize<V> normalize;
  template <class GY, class X>
  MEZZO_HOST_DEVICE constexpr void operator()(V& grad_gamma, V& grad_beta, GY grad_out, X x) const {
    grad_gamma = grad_gamma + static_cast<V>(grad_out) * normalize.of(x);
    grad_beta = grad_beta + static_cast<V>(grad_out);
  }
};

template <class T>
inline constexpr bool is_none = std::is_same_v<std::remove_cvref_t<T>, None>;

/// A vector of one element per column, in V and side by side.
template <class V, class View>
void load_columns(V* to, index_t width, const View& view) {
  for (index_t i = 0; i < width; ++i) to[i] = static_cast<V>(view(i));
}

template <class View>
void expects_width(const View& view, index_t width, message_at message) {
  static_assert(View::rank == 1, "mezzo: gamma, beta and their gradients have rank 1");
  require_floating_point<View>();
  expects<shape_error>(view.extent(0) == width, message, view.extents(), width);
}

template <class C, class Weight>
auto column_view(const Weight& weight, index_t width, message_at message) {
  if constexpr (is_none<Weight>) {
    return none;
  } else {
    const auto view = input_view<C>(weight);
    expects_width(view, width, message);
    return master_view(weight);
  }
}

template <class V, class OutView, class InView, class Gamma, class Beta>
void layer_norm_rows(CpuContext& context, const OutView& out, const InView& in, const Gamma& gamma, const Beta& beta,
                     const LayerNormOptions<V>& options) {
  const index_t width = in.extent(InView::rank - 1);
  const Isa isa = context.isa();
  auto columns = context.template scratch<V>(2 * width);
  V* const gammas = columns.data();
  V* const betas = gammas + width;
  if constexpr (!is_none<Gamma>) load_columns(gammas, width, gamma);
  if constexpr (!is_none<Beta>) load_columns(betas, width, beta);
  const bool passes_caches = exceeds_caches(out, in);
  for_each_row(
      context, rows_per_task(in),
      [&](index_t, index_t row, auto row_out, auto from) {
        const RowMoments moments = row_moments<V>(isa, width, from);
        const double inverse_sigma = 1.0 / math::sqrt(moments.variance + static_cast<double>(options.epsilon));
        const Normalize<V> normalize{static_cast<V>(moments.mean), static_cast<V>(inverse_sigma)};
        const auto to = streamed(row_out, passes_caches);
        if (options.mean.data() != nullptr) options.mean(row) = normalize.mean;
        if (options.inverse_sigma.data() != nullptr) options.inverse_sigma(row) = normalize.inverse_sigma;
        if constexpr (!is_none<Gamma> && !is_none<Beta>) {
          transform_range(isa, NormalizeScaleShift<V>{normalize}, width, to, from, read(gammas), read(betas));
        } else if constexpr (!is_none<Gamma>) {
          transform_range(isa, NormalizeScale<V>{normalize}, width, to, from, read(gammas));
        } else if constexpr (!is_none<Beta>) {
          transform_range(isa, NormalizeShift<V>{normalize}, width, to, from, read(betas));
        } else {
          transform_range(isa, normalize, width, to, from);
        }
      },
      write(out), read(in));
}

template <class V, class GXView, class GYView, class InView, class Gamma>
void layer_norm_backward_input(CpuContext& context, const GXView& grad_in, const GYView& grad_out, const InView& in, const Gamma& gamma,
                               const TensorView<const V, 1>& mean, const TensorView<const V, 1>& inverse_sigma) {
  const index_t width = in.extent(InView::rank - 1);
  const Isa isa = context.isa();
  auto columns = context.template scratch<V>(width);
  V* const gammas = columns.data();
  if constexpr (is_none<Gamma>) {
    for (index_t i = 0; i < width; ++i) gammas[i] = V{1};
  } else {
    load_columns(gammas, width, gamma);
  }
  for_each_row(
      context, rows_per_task(in),
      [&](index_t, index_t row, auto gx, auto gy, auto x) {
        const Normalize<V> normalize{mean(row), inverse_sigma(row)};
        const V mean_gradient = reduce_range(isa, ScaledGradientSum<V>{}, width, gy, read(gammas)) / static_cast<V>(width);
        const V mean_product = reduce_range(isa, ScaledGradientProduct<V>{normalize}, width, gy, read(gammas), x) / static_cast<V>(width);
        transform_range(isa, LayerNormBackward<V>{normalize, mean_gradient, mean_product}, width, gx, gy, read(gammas), x);
      },
      write(grad_in), read(grad_out), read(in));
}

/// Adds the parts of all groups of rows, in their order, and hands the gradient to its sink.
template <class V, class Sink>
void finish_columns(CpuContext& context, const Sink& sink, const V* partials, index_t groups, index_t group_stride, index_t width) {
  using T = typename decltype(sink.view)::value_type;
  constexpr index_t piece = 256;
  context.parallel_for(ceil_divide(width, piece), [&](index_t task) {
    const index_t begin = task * piece, count = smaller(piece, width - begin);
    double sums[piece] = {};
    for (index_t group = 0; group < groups; ++group) {
      for (index_t i = 0; i < count; ++i) sums[i] += static_cast<double>(partials[group * group_stride + begin + i]);
    }
    for (index_t i = 0; i < count; ++i) {
      T& to = sink.view(begin + i);
      const double before = sink.accumulates ? static_cast<double>(to) : 0.0;
      to = convert<T>(before + sums[i]);
    }
  });
}

template <class V, class GYView, class InView, class GammaSink, class BetaSink>
void layer_norm_backward_columns(CpuContext& context, const GammaSink& gamma_sink, const BetaSink& beta_sink, const GYView& grad_out,
                                 const InView& in, const TensorView<const V, 1>& mean, const TensorView<const V, 1>& inverse_sigma) {
  const index_t width = in.extent(InView::rank - 1), rows = row_count(in);
  const index_t least = 16, most = 64;  // rows of a group; groups
  const index_t group_size = least > ceil_divide(rows, most) ? least : ceil_divide(rows, most);
  const index_t groups = ceil_divide(rows, group_size);
  const Isa isa = context.isa();
  auto partials = context.template scratch<V>(2 * width * groups);
  for (index_t i = 0; i < 2 * width * groups; ++i) partials[i] = V{0};
  for_each_row(
      context, group_size,
      [&](index_t group, index_t row, auto gy, auto x) {
        V* const to = partials.data() + 2 * width * group;
        transform_range(isa, AddAffineGradients<V>{{mean(row), inverse_sigma(row)}}, width, update(to), update(to + width), gy, x);
      },
      read(grad_out), read(in));
  if constexpr (!is_none<GammaSink>) finish_columns(context, gamma_sink, partials.data(), groups, 2 * width, width);
  if constexpr (!is_none<BetaSink>) finish_columns(context, beta_sink, partials.data() + width, groups, 2 * width, width);
}

template <class C, class Target>
auto column_sink(Target& target, index_t width, message_at message) {
  if constexpr (is_none<Target>) {
    return none;
  } else {
    const auto sink = gradient_sink(target);
    const auto view = output_view<C>(sink.view);
    expects_width(view, width, message);
    return sink;
  }
}

}  // namespace detail

/// out = (in - mean) / sqrt(variance + epsilon) * gamma + beta along the last dimension, with the biased variance. `gamma` and `beta`
/// are vectors of its length, parameters (their masters are read) or `none`; `in` and `out` have one shape, any strides and any
/// floating-point dtypes; `out` may be `in`. Throws shape_error, option_error for an epsilon that is not positive.
template <Context C, class Out, class In, class Gamma, class Beta>
void layer_norm(C& context, Out&& out, const In& in, const Gamma& gamma, const Beta& beta,
                const LayerNormOptions<compute_type_t<value_type_t<const In>>, C::memory_space>& options = {}) {
  const auto y = detail::output_view<C>(out);
  const auto x = detail::input_view<C>(in);
  detail::require_floating_point<decltype(y), decltype(x)>();
  detail::require_rows<decltype(x)>();
  detail::expects_same_shape(y, x, "layer_norm: shapes {} and {} differ");
  const index_t width = x.extent(decltype(x)::rank - 1), rows = detail::row_count(x);
  const auto gammas = detail::column_view<C>(gamma, width, "layer_norm: gamma of shape {} does not fit rows of {}");
  const auto betas = detail::column_view<C>(beta, width, "layer_norm: beta of shape {} does not fit rows of {}");
  expects<option_error>(is_finite(options.epsilon) && options.epsilon > 0, "layer_norm: epsilon must be positive, is {}", options.epsilon);
  for (const auto* statistic : {&options.mean, &options.inverse_sigma}) {
    expects<shape_error>(statistic->data() == nullptr || statistic->extent(0) == rows,
                         "layer_norm: statistics of shape {} do not fit {} rows", statistic->extents(), rows);
  }
  detail::layer_norm_rows(context, y, x, gammas, betas, options);
}
/// The same, with the dtype of `out` as the policy wants it: float under mixed precision.
template <PrecisionPolicy Policy, Context C, class Out, class In, class Gamma, class Beta>
void layer_norm(C& context, Out&& out, const In& in, const Gamma& gamma, const Beta& beta,
                const LayerNormOptions<compute_type_t<value_type_t<const In>>, C::memory_space>& options = {}) {
  detail::require_policy_dtype<Policy, op::layer_norm, Out, In>();
  layer_norm(context, out, in, gamma, beta, options);
}

/// From the forward pass's input and statistics: the gradient of the input; of gamma, sum over rows of grad_out * normalised in; of
/// beta, sum over rows of grad_out. Each of the three gradients may be `none`. Those of gamma and beta go through their sinks, so that
/// parameters accumulate; they are summed in fp32 within groups of rows and in fp64 over the groups. `grad_in` may be `grad_out` or
/// `in`. Throws shape_error.
template <Context C, class GradIn, class GradGamma, class GradBeta, class GradOut, class In, class Gamma, class Mean, class InverseSigma>
void layer_norm_backward(C& context, GradIn&& grad_in, GradGamma&& grad_gamma, GradBeta&& grad_beta, const GradOut& grad_out, const In& in,
                         const Gamma& gamma, const Mean& mean, const InverseSigma& inverse_sigma) {
  using V = compute_type_t<value_type_t<const In>>;
  const auto gy = detail::input_view<C>(grad_out);
  const auto x = detail::input_view<C>(in);
  const TensorView<const V, 1, C::memory_space> means = detail::input_view<C>(mean), inverse_sigmas = detail::input_view<C>(inverse_sigma);
  detail::require_floating_point<decltype(gy), decltype(x)>();
  detail::require_rows<decltype(x)>();
  detail::expects_same_shape(gy, x, "layer_norm_backward: the output's gradient {} and the input {} differ in shape");
  const index_t width = x.extent(decltype(x)::rank - 1), rows = detail::row_count(x);
  const auto gammas = detail::column_view<C>(gamma, width, "layer_norm_backward: gamma of shape {} does not fit rows of {}");
  for (const auto* statistic : {&means, &inverse_sigmas}) {
    expects<shape_error>(statistic->extent(0) == rows, "layer_norm_backward: statistics of shape {} do not fit {} rows",
                         statistic->extents(), rows);
  }
  const auto gamma_sink = detail::column_sink<C>(grad_gamma, width, "layer_norm_backward: gamma's gradient {} does not fit rows of {}");
  const auto beta_sink = detail::column_sink<C>(grad_beta, width, "layer_norm_backward: beta's gradient {} does not fit rows of {}");
  if constexpr (!detail::is_none<GradIn>) {
    const auto gx = detail::output_view<C>(grad_in);
    detail::require_floating_point<decltype(gx)>();
    detail::expects_same_shape(gx, x, "layer_norm_backward: the input's gradient {} and the input {} differ in shape");
  }
  if constexpr (!detail::is_none<GradGamma> || !detail::is_none<GradBeta>) {  // first, since grad_in may replace grad_out or in
    detail::layer_norm_backward_columns<V>(context, gamma_sink, beta_sink, gy, x, means, inverse_sigmas);
    if constexpr (!detail::is_none<GradGamma>) gradient_written(grad_gamma);
    if constexpr (!detail::is_none<GradBeta>) gradient_written(grad_beta);
  }
  if constexpr (!detail::is_none<GradIn>) {
    detail::layer_norm_backward_input<V>(context, detail::output_view<C>(grad_in), gy, x, gammas, means, inverse_sigmas);
  }
}

}  // namespace mezzo
