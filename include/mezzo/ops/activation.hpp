// The non-linear functions between layers, forward and backward. A backward pass takes the input of the forward pass.
#pragma once

#include <mezzo/kernels/functors.hpp>
#include <mezzo/kernels/transform.hpp>
#include <mezzo/numeric/math.hpp>
#include <mezzo/ops/detail/checks.hpp>

namespace mezzo {

/// `exact`: as defined, with erf. `tanh`: 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
enum class Approximation { exact, tanh };

struct GeluOptions {
  Approximation approximation = Approximation::exact;
};

namespace detail {

struct Relu {
  template <class V>
  MEZZO_HOST_DEVICE constexpr void operator()(V& y, V x) const {
    y = choose((x > V{0}) | has_nan_bits(x), x, V{0});
  }
};

struct ReluBackward {
  template <class V>
  MEZZO_HOST_DEVICE constexpr void operator()(V& grad_in, V grad_out, V x) const {
    grad_in = choose((x > V{0}) | has_nan_bits(x), grad_out, V{0});
  }
};

struct Gelu {
  template <class V>
  MEZZO_HOST_DEVICE void operator()(V& y, V x) const {
    y = V(0.5) * x * (V{1} + math::erf(x * V(0.70710678118654752440)));
  }
};

struct GeluBackward {
  template <class V>
  MEZZO_HOST_DEVICE void operator()(V& grad_in, V grad_out, V x) const {
    const V cdf = V(0.5) * (V{1} + math::erf(x * V(0.70710678118654752440)));
    const V density = V(0.39894228040143267794) * math::exp(V(-0.5) * x * x);
    grad_in = grad_out * (cdf + x * density);
  }
};

struct GeluTanh {
  template <class V>
  MEZZO_HOST_DEVICE void operator()(V& y, V x) const {
    y = V(0.5) * x * (V{1} + math::tanh(V(0.79788456080286535588) * (x + V(0.044715) * x * x * x)));
  }
};

struct GeluTanhBackward {
  template <class V>
  MEZZO_HOST_DEVICE void operator()(V& grad_in, V grad_out, V x) const {
    const V t = math::tanh(V(0.79788456080286535588) * (x + V(0.044715) * x * x * x));
    const V slope = V(0.79788456080286535588) * (V{1} + V(3 * 0.044715) * x * x);
    grad_in = grad_out * V(0.5) * (V{1} + t + x * (V{1} - t * t) * slope);
  }
};

template <class C, class Functor, class Out, class In>
void run_activation(C& context, const Functor& functor, Out& out, const In& in, message_at message) {
  const auto y = output_view<C>(out);
  const auto x = input_view<C>(in);
  require_same_dtype<decltype(y), decltype(x)>();
  require_floating_point<decltype(y)>();
  expects_same_shape(y, x, message);
  transform(context, functor, write(y), read(x));
}

template <class C, class Functor, class GradIn, class GradOut, class In>
void run_activation_backward(C& context, const Functor& functor, GradIn& grad_in, const GradOut& grad_out, const In& in,
                             message_at message) {
  const auto gx = output_view<C>(grad_in);
  const auto gy = input_view<C>(grad_out);
  const auto x = input_view<C>(in);
  require_same_dtype<decltype(gx), decltype(gy)>();
  require_same_dtype<decltype(gx), decltype(x)>();
  require_floating_point<decltype(gx)>();
  expects_same_shape(gx, gy, message);
  expects_same_shape(gx, x, message);
  transform(context, functor, write(gx), read(gy), read(x));
}

}  // namespace detail

/// out = max(in, 0); NaN stays NaN. One shape and dtype; in place if `out` is `in`. Throws shape_error, as all operations here.
template <Context C, class Out, class In>
void relu(C& context, Out&& out, const In& in) {
  detail::run_activation(context, detail::Relu{}, out, in, "relu: shapes {} and {} differ");
}
/// The same, with the dtype of `out` as the policy wants it.
template <PrecisionPolicy Policy, Context C, class Out, class In>
void relu(C& context, Out&& out, const In& in) {
  detail::require_policy_dtype<Policy, op::relu, Out, In>();
  relu(context, out, in);
}

/// grad_in = grad_out where in > 0, else 0, at 0 too; where `in` is NaN the gradient passes. `grad_in` may be `grad_out` or `in`, and
/// `in` may be the output of the forward pass instead.
template <Context C, class GradIn, class GradOut, class In>
void relu_backward(C& context, GradIn&& grad_in, const GradOut& grad_out, const In& in) {
  detail::run_activation_backward(context, detail::ReluBackward{}, grad_in, grad_out, in, "relu_backward: shapes {} and {} differ");
}
template <PrecisionPolicy Policy, Context C, class GradIn, class GradOut, class In>
void relu_backward(C& context, GradIn&& grad_in, const GradOut& grad_out, const In& in) {
  detail::require_policy_dtype<Policy, op::relu, GradIn, GradOut, In>();
  relu_backward(context, grad_in, grad_out, in);
}

/// out = in * P(N(0, 1) < in) = 0.5 in (1 + erf(in / sqrt(2))), or its approximation. For fp32 within |in| * 2^-22 (erf is close to
/// -1 for negative numbers, and cancels).
template <Context C, class Out, class In>
void gelu(C& context, Out&& out, const In& in, const GeluOptions& options = {}) {
  constexpr const char* message = "gelu: shapes {} and {} differ";
  if (options.approximation == Approximation::tanh) {
    detail::run_activation(context, detail::GeluTanh{}, out, in, message);
  } else {
    detail::run_activation(context, detail::Gelu{}, out, in, message);
  }
}
template <PrecisionPolicy Policy, Context C, class Out, class In>
void gelu(C& context, Out&& out, const In& in, const GeluOptions& options = {}) {
  detail::require_policy_dtype<Policy, op::gelu, Out, In>();
  gelu(context, out, in, options);
}

/// grad_in = grad_out * gelu'(in), of the function that `options` choose. `grad_in` may be `grad_out` or `in`.
template <Context C, class GradIn, class GradOut, class In>
void gelu_backward(C& context, GradIn&& grad_in, const GradOut& grad_out, const In& in, const GeluOptions& options = {}) {
  constexpr const char* message = "gelu_backward: shapes {} and {} differ";
  if (options.approximation == Approximation::tanh) {
    detail::run_activation_backward(context, detail::GeluTanhBackward{}, grad_in, grad_out, in, message);
  } else {
    detail::run_activation_backward(context, detail::GeluBackward{}, grad_in, grad_out, in, message);
  }
}
template <PrecisionPolicy Policy, Context C, class GradIn, class GradOut, class In>
void gelu_backward(C& context, GradIn&& grad_in, const GradOut& grad_out, const In& in, const GeluOptions& options = {}) {
  detail::require_policy_dtype<Policy, op::gelu, GradIn, GradOut, In>();
  gelu_backward(context, grad_in, grad_out, in, options);
}

}  // namespace mezzo
