// Stochastic gradient descent.
#pragma once

#include <mezzo/core/config.hpp>
#include <mezzo/optim/optimizer.hpp>

namespace mezzo {

enum class Momentum { classical, nesterov };

struct SgdOptions {
  float learning_rate = 1e-2f;
  float momentum = 0.0f;
  Momentum momentum_kind = Momentum::classical;
  float weight_decay = 0.0f;  ///< added to the gradient
  std::vector<GroupOptions> groups = {};
};

/// g = factor * gradient + weight_decay * p; b = momentum * b + g; p -= learning_rate * (b, or g + momentum * b under Nesterov).
struct SgdRule {
  SgdOptions options;

  /// The update of one element. Functors write the 16-bit weight where there is one.
  template <bool has_copies>
  struct functor_type {
    float learning_rate, momentum, weight_decay, factor;
    bool is_nesterov;

    MEZZO_HOST_DEVICE float step(float p, float& b, float g) const {
      g = g * factor + weight_decay * p;
      b = momentum * b + g;
      return p - learning_rate * (is_nesterov ? g + momentum * b : b);
    }
    MEZZO_HOST_DEVICE void operator()(float g, float& p, float& w, float& b) const { w = p = step(p, b, g); }
    MEZZO_HOST_DEVICE void operator()(float g, float& p, float& b) const { p = step(p, b, g); }

    template <class... Ranges>
    void run(Isa isa, index_t count, float* const* moments, Ranges... ranges) const {
      if (moments[0] != nullptr) {
        detail::transform_range(isa, *this, count, ranges..., update(moments[0]));
      } else {
        detail::transform_range(isa, without_momentum{*this}, count, ranges...);
      }
    }

    struct without_momentum {
      functor_type rule;
      MEZZO_HOST_DEVICE float step(float p, float g) const { return p - rule.learning_rate * (g * rule.factor + rule.weight_decay * p); }
      MEZZO_HOST_DEVICE void operator()(float g, float& p, float& w) const { w = p = step(p, g); }
      MEZZO_HOST_DEVICE void operator()(float g, float& p) const { p = step(p, g); }
    };
  };

  template <bool has_copies>
  functor_type<has_copies> functor(std::int64_t, float learning_rate, const std::optional<float>& weight_decay, float factor) const {
    return {learning_rate, options.momentum, weight_decay.value_or(options.weight_decay), factor,
            options.momentum_kind == Momentum::nesterov};
  }

  int moment_count() const { return options.momentum != 0 ? 1 : 0; }

  static void validate_weight_decay(const float& weight_decay) {
    expects<option_error>(is_finite(weight_decay) && weight_decay >= 0, "Sgd: weight_decay must not be negative, is {}", weight_decay);
  }
  static SgdRule checked(const SgdOptions& o) {
    expects<option_error>(is_finite(o.learning_rate) && o.learning_rate >= 0, "Sgd: learning_rate must not be negative, is {}",
                          o.learning_rate);
    expects<option_error>(is_finite(o.momentum) && o.momentum >= 0 && o.momentum < 1, "Sgd: momentum must lie in [0, 1), is {}",
                          o.momentum);
    expects<option_error>(o.momentum_kind == Momentum::classical || o.momentum > 0, "Sgd: Nesterov's momentum must be above 0, is {}",
                          o.momentum);
    validate_weight_decay(o.weight_decay);
    return {o};
  }
};

/// Stochastic gradient descent with momentum and weight decay. Sutskever et al., "On the importance of initialization and momentum".
template <class Source>
class Sgd : public Optimizer<Source, SgdRule> {
 public:
  /// Throws option_error, naming the option.
  Sgd(typename Source::context_type& context, Source& parameters, const SgdOptions& options = {})
      : Optimizer<Source, SgdRule>(context, parameters, SgdRule::checked(options), options.learning_rate, options.groups) {}
};

template <class C, class Source>
Sgd(C&, Source&) -> Sgd<Source>;
template <class C, class Source>
Sgd(C&, Source&, const SgdOptions&) -> Sgd<Source>;

}  // namespace mezzo
