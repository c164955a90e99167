// The layer that most models are made of: a product with the weight's transpose and a bias, forward and backward.
#pragma once

#include <type_traits>

#include <mezzo/numeric/policy.hpp>
#include <mezzo/ops/gemm.hpp>
#include <mezzo/tensor/parameter.hpp>

namespace mezzo {

namespace detail {

template <class T, class View>
constexpr void require_linear_dtype() {
  static_assert(std::is_same_v<typename View::value_type, T>,
                "mezzo: linear<Policy> computes in another dtype than this argument's; cast() it");
}

template <class C, class Bias>
auto bias_view(const Bias& bias) {
  if constexpr (std::is_same_v<Bias, None>) {
    return none;
  } else {
    return input_view<C>(master_view(bias));
  }
}

inline namespace MEZZO_GEMM_NAMESPACE {

/// sums = the sum of the rows of matrix + beta sums, in fp32: a product with a row of ones, which take the place of one.
template <class Sums, class Matrix>
void sum_rows(CpuContext& context, const Sums& sums, const Matrix& matrix, float beta) {
  using T = typename Matrix::value_type;
  const T one = convert<T>(1.0f);
  const HostView<const T, 2> ones(&one, {1, matrix.extent(0)}, {0, 0});
  const HostView<typename Sums::value_type, 2> row(sums.data(), {1, sums.extent(0)}, {0, sums.stride(0)});
  gemm(context, row, ones, matrix, {.beta = beta});
}

}  // namespace MEZZO_GEMM_NAMESPACE

}  // namespace detail

inline namespace MEZZO_GEMM_NAMESPACE {

/// out = in weight^T + bias, for in [batch, inputs], weight [outputs, inputs], out [batch, outputs] and bias [outputs] or `none`. in
/// and out have the dtype in which Policy computes op::linear; of a parameter the copy of that dtype is read, of a bias the master.
/// Rounded once. Throws shape_error.
template <PrecisionPolicy Policy, Context C, class Out, class In, class Weight, class Bias>
void linear(C& context, Out&& out, const In& in, const Weight& weight, const Bias& bias) {
  const auto in_view = detail::input_view<C>(in);
  const auto out_view = detail::output_view<C>(out);
  using T = compute_t<Policy, op::linear, typename decltype(in_view)::value_type>;
  detail::require_linear_dtype<T, std::remove_const_t<decltype(in_view)>>();
  detail::require_linear_dtype<T, std::remove_const_t<decltype(out_view)>>();
  const auto weights = detail::input_view<C>(detail::weight_view<T>(weight));
  static_assert(decltype(in_view)::rank == 2 && decltype(out_view)::rank == 2 && decltype(weights)::rank == 2,
                "mezzo: linear takes matrices; reshape() other ranks");

  expects<shape_error>(in_view.extent(1) == weights.extent(1), "linear: in is {}, but weight is {}", in_view.extents(), weights.extents());
  expects<shape_error>(out_view.extents() == Extents<2>(in_view.extent(0), weights.extent(0)),
                       "linear: out is {}, but in is {} and weight is {}", out_view.extents(), in_view.extents(), weights.extents());
  if constexpr (!std::is_same_v<Bias, None>) {
    const auto bias_extents = detail::bias_view<C>(bias).extents();
    expects<shape_error>(bias_extents == Extents<1>(weights.extent(0)), "linear: bias is {}, but weight is {}", bias_extents,
                         weights.extents());
  }
  gemm(context, out_view, in_view, weights.transpose(), detail::bias_view<C>(bias));
}

/// The gradients of linear: grad_weight = grad_out^T in, grad_bias = column sums of grad_out, grad_in = grad_out weight. The first two
/// go through their targets' sinks: they overwrite or add, summed in fp32, in an order that does not depend on threads. `grad_in` and
/// `grad_bias` may be `none`. `weight` may be the target itself, when that is a parameter. Throws shape_error before anything is
/// written.
template <PrecisionPolicy Policy, Context C, class GradIn, class GradWeight, class GradBias, class GradOut, class In, class Weight>
void linear_backward(C& context, GradIn&& grad_in, GradWeight&& grad_weight, GradBias&& grad_bias, const GradOut& grad_out, const In& in,
                     const Weight& weight) {
  constexpr bool has_grad_in = !std::is_same_v<std::remove_cvref_t<GradIn>, None>,
                 has_grad_bias = !std::is_same_v<std::remove_cvref_t<GradBias>, None>;
  const auto in_view = detail::input_view<C>(in);
  const auto grad_out_view = detail::input_view<C>(grad_out);
  using T = compute_t<Policy, op::linear, typename decltype(in_view)::value_type>;
  detail::require_linear_dtype<T, std::remove_const_t<decltype(in_view)>>();
  detail::require_linear_dtype<T, std::remove_const_t<decltype(grad_out_view)>>();
  static_assert(decltype(in_view)::rank == 2 && decltype(grad_out_view)::rank == 2, "mezzo: linear takes matrices; reshape() other ranks");

  const auto weight_sink = gradient_sink(grad_weight);
  expects<shape_error>(in_view.extent(0) == grad_out_view.extent(0), "linear_backward: in is {}, but grad_out is {}", in_view.extents(),
                       grad_out_view.extents());
  const Extents<2> weight_extents(grad_out_view.extent(1), in_view.extent(1));
  expects<shape_error>(weight_sink.view.extents() == weight_extents,
                       "linear_backward: the weight's gradient is {}, but grad_out is {} and in is {}", weight_sink.view.extents(),
                       grad_out_view.extents(), in_view.extents());
  if constexpr (has_grad_bias) {
    const auto bias_sink = gradient_sink(grad_bias);
    static_assert(decltype(bias_sink.view)::rank == 1, "mezzo: a bias has rank 1");
    expects<shape_error>(bias_sink.view.extent(0) == weight_extents[0], "linear_backward: the bias's gradient is {}, but grad_out is {}",
                         bias_sink.view.extents(), grad_out_view.extents());
  }
  if constexpr (has_grad_in) {
    const auto grad_in_view = detail::output_view<C>(grad_in);
    detail::require_linear_dtype<T, std::remove_const_t<decltype(grad_in_view)>>();
    const auto weights = detail::input_view<C>(detail::weight_view<T>(weight));
    expects<shape_error>(weights.extents() == weight_extents, "linear_backward: weight is {}, but grad_out is {} and in is {}",
                         weights.extents(), grad_out_view.extents(), in_view.extents());
    expects<shape_error>(grad_in_view.extents() == in_view.extents(), "linear_backward: grad_in is {}, but in is {}",
                         grad_in_view.extents(), in_view.extents());
    gemm(context, grad_in_view, grad_out_view, weights);
  }
  gemm(context, weight_sink.view, grad_out_view.transpose(), in_view, {.beta = weight_sink.beta()});
  gradient_written(grad_weight);
  if constexpr (has_grad_bias) {
    const auto bias_sink = gradient_sink(grad_bias);
    detail::sum_rows(context, bias_sink.view, grad_out_view, bias_sink.beta());
    gradient_written(grad_bias);
  }
}

/// As above, for a weight that is a parameter, or without grad_in.
template <PrecisionPolicy Policy, Context C, class GradIn, class Weight, class GradBias, class GradOut, class In>
void linear_backward(C& context, GradIn&& grad_in, Weight&& weight, GradBias&& grad_bias, const GradOut& grad_out, const In& in) {
  static_assert(
      std::is_same_v<std::remove_cvref_t<GradIn>, None> || requires { weight.gradient_sink(); },
      "mezzo: this gradient does not know its weight; pass the weight as the last argument");
  linear_backward<Policy>(context, grad_in, weight, grad_bias, grad_out, in, weight);
}

}  // namespace MEZZO_GEMM_NAMESPACE

}  // namespace mezzo
