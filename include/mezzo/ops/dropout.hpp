// Dropout without a stored mask: the backward pass makes the mask of the forward pass again, from the random state at which that
// began.
#pragma once

#include <cstdint>

#include <mezzo/numeric/is_finite.hpp>
#include <mezzo/ops/detail/checks.hpp>
#include <mezzo/ops/detail/random_transform.hpp>

namespace mezzo {

struct DropoutOptions {
  float probability = 0.5f;  ///< of an element to be dropped, in [0, 1]
};

namespace detail {

struct Dropout {
  std::uint32_t threshold;  ///< smaller random bits drop an element
  double factor;

  template <class V>
  MEZZO_HOST_DEVICE constexpr void operator()(V& y, V x, std::uint32_t bits) const {
    const V kept = bits >= threshold ? x : V{0};
    y = kept * static_cast<V>(factor);
  }
};

struct DropoutNone {
  template <class V>
  MEZZO_HOST_DEVICE constexpr void operator()(V& y, V x) const {
    y = x;
  }
};

struct DropoutAll {
  template <class V>
  MEZZO_HOST_DEVICE constexpr void operator()(V& y) const {
    y = V{0};
  }
};

constexpr void validate(const DropoutOptions& options, message_at message) {
  const float& probability = options.probability;
  expects<option_error>(is_finite(probability) && probability >= 0.0f && probability <= 1.0f, message, probability);
}

template <class C, class Y, class X>
void run_dropout(C& context, const RandomState& state, const Y& y, const X& x, const DropoutOptions& options) {
  const double probability = static_cast<double>(options.probability);
  if (probability == 0.0) {
    transform(context, DropoutNone{}, write(y), read(x));
  } else if (probability == 1.0) {
    transform(context, DropoutAll{}, write(y));
  } else {
    const auto threshold = static_cast<std::uint32_t>(probability * 0x1p32 + 0.5);
    random_transform<RandomBits>(context, state, Dropout{threshold, 1.0 / (1.0 - probability)}, write(y), read(x));
  }
}

}  // namespace detail

/// out = in / (1 - probability) where an element is kept, else 0, even of an infinity or a NaN. Returns the state that
/// dropout_backward needs. Which elements are kept depends on that state and on the shape alone, not on dtype or strides; the
/// generator moves on by as much for every probability. One shape and dtype; in place if `out` is `in`. Throws shape_error, and
/// option_error for a probability outside [0, 1]; then the generator stays where it is. Srivastava et al., "Dropout: A Simple Way to
/// Prevent Neural Networks from Overfitting", JMLR 15.
template <Context C, class Out, class In>
RandomState dropout(C& context, RandomGenerator& generator, Out&& out, const In& in, const DropoutOptions& options = {}) {
  const auto y = detail::output_view<C>(out);
  const auto x = detail::input_view<C>(in);
  detail::require_same_dtype<decltype(y), decltype(x)>();
  detail::require_floating_point<decltype(y)>();
  detail::expects_same_shape(y, x, "dropout: shapes {} and {} differ");
  detail::validate(options, "dropout: probability must lie in [0, 1], is {}");
  const RandomState state = generator.reserve(y.size());
  detail::run_dropout(context, state, y, x, options);
  return state;
}
/// The same, with the dtype of `out` as the policy wants it.
template <PrecisionPolicy Policy, Context C, class Out, class In>
RandomState dropout(C& context, RandomGenerator& generator, Out&& out, const In& in, const DropoutOptions& options = {}) {
  detail::require_policy_dtype<Policy, op::dropout, Out, In>();
  return dropout(context, generator, out, in, options);
}

/// grad_in = grad_out / (1 - probability) where the dropout that returned `state` kept an element, else 0. `options` as they were
/// there. `grad_in` may be `grad_out`.
template <Context C, class GradIn, class GradOut>
void dropout_backward(C& context, const RandomState& state, GradIn&& grad_in, const GradOut& grad_out, const DropoutOptions& options = {}) {
  const auto gx = detail::output_view<C>(grad_in);
  const auto gy = detail::input_view<C>(grad_out);
  detail::require_same_dtype<decltype(gx), decltype(gy)>();
  detail::require_floating_point<decltype(gx)>();
  detail::expects_same_shape(gx, gy, "dropout_backward: shapes {} and {} differ");
  detail::validate(options, "dropout_backward: probability must lie in [0, 1], is {}");
  detail::run_dropout(context, state, gx, gy, options);
}
template <PrecisionPolicy Policy, Context C, class GradIn, class GradOut>
void dropout_backward(C& context, const RandomState& state, GradIn&& grad_in, const GradOut& grad_out, const DropoutOptions& options = {}) {
  detail::require_policy_dtype<Policy, op::dropout, GradIn, GradOut>();
  dropout_backward(context, state, grad_in, grad_out, options);
}

}  // namespace mezzo
