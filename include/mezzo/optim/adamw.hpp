// Adam, and AdamW with its weight decay apart from the gradient.
#pragma once

#include <mezzo/core/config.hpp>
#include <mezzo/optim/optimizer.hpp>

namespace mezzo {

struct AdamOptions {
  float learning_rate = 1e-3f;
  float beta1 = 0.9f;    ///< decay of the first moment, per step
  float beta2 = 0.999f;  ///< decay of the second moment, per step
  float epsilon = 1e-8f;
  float weight_decay = 0.0f;  ///< Adam: added to the gradient; AdamW: times the learning rate, off the weight
  std::vector<GroupOptions> groups = {};
};

struct AdamWOptions {
  float learning_rate = 1e-3f;
  float beta1 = 0.9f;
  float beta2 = 0.999f;
  float epsilon = 1e-8f;
  float weight_decay = 0.01f;
  std::vector<GroupOptions> groups = {};
};

/// m += (1 - beta1)(g - m); v += (1 - beta2)(g^2 - v); p -= learning_rate * (m / c1) / (sqrt(v / c2) + epsilon), where c1 and c2
/// correct the bias of the first steps.
template <bool is_decoupled>
struct AdamRule {
  AdamOptions options;

  /// The update of one element. Functors write the 16-bit weight where there is one.
  template <bool has_copies>
  struct functor_type {
    float factor, rest1, rest2;  // 1 - beta1, 1 - beta2
    float rate;                  // learning_rate / c1
    float root_factor;           // 1 / sqrt(c2)
    float root_addend;           // epsilon
    float decay;                 // off the weight, or added to the gradient

    /// Updates the moments, and asks for 1 / (sqrt(v / c2) + epsilon).
    MEZZO_HOST_DEVICE float radicand(float g, float p, float& m, float& v) const {
      g = is_decoupled ? g * factor : g * factor + decay * p;
      m = m + rest1 * (g - m);
      v = v + rest2 * (g * g - v);
      return v;
    }
    MEZZO_HOST_DEVICE float radicand(float g, float p, float, float& m, float& v) const { return radicand(g, p, m, v); }

    MEZZO_HOST_DEVICE void operator()(float inverse, float, float& p, float& m, float&) const {
      if constexpr (is_decoupled) p = p - decay * p;
      p = p - rate * m * inverse;
    }
    MEZZO_HOST_DEVICE void operator()(float inverse, float g, float& p, float& w, float& m, float& v) const {
      operator()(inverse, g, p, m, v);
      w = p;
    }

    template <class... Ranges>
    void run(Isa isa, index_t count, float* const* moments, Ranges... ranges) const {
      detail::transform_range(isa, *this, count, ranges..., update(moments[0]), update(moments[1]));
    }
  };

  template <bool has_copies>
  functor_type<has_copies> functor(std::int64_t step, float learning_rate, const std::optional<float>& group_decay, float factor) const {
    const double c1 = 1 - __builtin_pow(static_cast<double>(options.beta1), static_cast<double>(step));
    const double c2 = 1 - __builtin_pow(static_cast<double>(options.beta2), static_cast<double>(step));
    const float weight_decay = group_decay.value_or(options.weight_decay);
    return {factor,
            1 - options.beta1,
            1 - options.beta2,
            static_cast<float>(static_cast<double>(learning_rate) / c1),
            static_cast<float>(1 / __builtin_sqrt(c2)),
            options.epsilon,
            is_decoupled ? learning_rate * weight_decay : weight_decay};
  }

  int moment_count() const { return 2; }

  static void validate_weight_decay(const float& weight_decay) {
    expects<option_error>(is_finite(weight_decay) && weight_decay >= 0, "Adam: weight_decay must not be negative, is {}", weight_decay);
  }
  static AdamRule checked(const AdamOptions& o) {
    expects<option_error>(is_finite(o.learning_rate) && o.learning_rate >= 0, "Adam: learning_rate must not be negative, is {}",
                          o.learning_rate);
    expects<option_error>(is_finite(o.beta1) && o.beta1 >= 0 && o.beta1 < 1, "Adam: beta1 must lie in [0, 1), is {}", o.beta1);
    expects<option_error>(is_finite(o.beta2) && o.beta2 >= 0 && o.beta2 < 1, "Adam: beta2 must lie in [0, 1), is {}", o.beta2);
    // With flush-to-zero a subnormal epsilon would be 0, and a zero gradient would divide 0 by 0.
    expects<option_error>(is_finite(o.epsilon) && o.epsilon >= 0x1p-126f, "Adam: epsilon must be at least 2^-126, is {}", o.epsilon);
    validate_weight_decay(o.weight_decay);
    return {o};
  }
};

/// Kingma and Ba, "Adam: A Method for Stochastic Optimization".
template <class Source>
class Adam : public Optimizer<Source, AdamRule<false>> {
 public:
  /// Throws option_error, naming the option.
  Adam(typename Source::context_type& context, Source& parameters, const AdamOptions& options = {})
      : Optimizer<Source, AdamRule<false>>(context, parameters, AdamRule<false>::checked(options), options.learning_rate, options.groups) {}
};

/// Loshchilov and Hutter, "Decoupled Weight Decay Regularization".
template <class Source>
class AdamW : public Optimizer<Source, AdamRule<true>> {
 public:
  /// Throws option_error, naming the option.
  AdamW(typename Source::context_type& context, Source& parameters, const AdamWOptions& o = {})
      : Optimizer<Source, AdamRule<true>>(context, parameters,
                                          AdamRule<true>::checked({o.learning_rate, o.beta1, o.beta2, o.epsilon, o.weight_decay, {}}),
                                          o.learning_rate, o.groups) {}
};

template <class C, class Source>
Adam(C&, Source&) -> Adam<Source>;
template <class C, class Source>
Adam(C&, Source&, const AdamOptions&) -> Adam<Source>;
template <class C, class Source>
AdamW(C&, Source&) -> AdamW<Source>;
template <class C, class Source>
AdamW(C&, Source&, const AdamWOptions&) -> AdamW<Source>;

}  // namespace mezzo
