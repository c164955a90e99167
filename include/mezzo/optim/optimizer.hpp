// What every optimizer shares: the segments it goes over, moments, groups, the learning rate, and the three stages of a fused step
// that GradScaler drives (check, agree, write). An update rule is a functor; see sgd.hpp and adamw.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <mezzo/kernels/finite_check.hpp>
#include <mezzo/numeric/is_finite.hpp>
#include <mezzo/optim/stored_schedule.hpp>
#include <mezzo/tensor/parameter_arena.hpp>

namespace mezzo {

/// Options of one parameter group, where they differ from the optimizer's.
struct GroupOptions {
  std::string group;  ///< as given to ParameterOptions::group
  float learning_rate_factor = 1.0f;
  std::optional<float> weight_decay = {};
  bool is_frozen = false;  ///< neither updated nor looked at: its gradients may be anything
};

/// What has happened to an optimizer's gradients since the last GradScaler::update.
enum class StepPhase { ready, unscaled, stepped };

/// GradScaler's notes, kept by the optimizer that they are about.
struct ScalerSlot {
  StepPhase phase = StepPhase::ready;
  bool is_divided = false;  ///< unscale_ has divided by the window's divisor as well
  GradientCheck check;      ///< of the gradients as they lie; set from phase unscaled on
};

/// Parameters from Source (a ParameterArena, or a ParameterList of the user's own memory), updated by Rule. Gradients of parameters
/// without one are not looked at, and those parameters, their moments and their weight decay are left alone. Does not move.
template <class Source, class Rule>
class Optimizer {
 public:
  using source_type = Source;
  using context_type = typename Source::context_type;
  using gradient_type = typename Source::gradient_type;
  using master_type = typename Source::master_type;
  using weight_type = typename Source::weight_type;
  static_assert(!std::is_same_v<master_type, double> && !std::is_same_v<gradient_type, double>,
                "mezzo: optimizers update weights of at most 32 bits");

  /// Throws option_error for a group that no parameter belongs to, state_error for an arena that is not sealed.
  [[gnu::cold]] Optimizer(context_type& context, Source& source, const Rule& rule, float learning_rate,
                          const std::vector<GroupOptions>& groups)
      : m_context(context), m_source(source), m_flat_size(source.flat_size()), m_rule(rule), m_learning_rate(learning_rate) {
    expects<state_error>(source.is_sealed(), "Optimizer: seal() the parameters before making an optimizer of them");
    m_groups.resize(static_cast<std::size_t>(source.group_count()));
    for (const GroupOptions& options : groups) {
      const int number = source.find_group(options.group);
      expects<option_error>(number >= 0, "Optimizer: no parameter belongs to the group '{}'", options.group);
      const float factor = options.learning_rate_factor;
      expects<option_error>(is_finite(factor) && factor >= 0, "Optimizer: learning_rate_factor of group '{}' must not be negative, is {}",
                            options.group, factor);
      if (options.weight_decay) Rule::validate_weight_decay(*options.weight_decay);
      m_groups[static_cast<std::size_t>(number)] = options;
    }
    for (int i = 0; i < m_rule.moment_count(); ++i) {
      m_moments[i] = make_tensor<float>(context, {source.flat_size()});
      context.fill_zero(m_moments[i].data(), static_cast<std::size_t>(source.flat_size()) * sizeof(float));
    }
  }
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// One update from the gradients as they are, without loss scaling or a check; then zero_grad(). Without gradients nothing happens.
  /// With a GradScaler call its step.
  void step() {
    if (has_gradients()) apply(1.0);
    zero_grad();
  }

  /// Marks all gradients as empty: the next backward pass overwrites them.
  void zero_grad() {
    m_source.zero_grad();
    m_reads_unscaled = false;
  }

  /// Steps taken; skipped ones do not count.
  std::int64_t step_count() const { return m_steps; }
  void set_step_count(std::int64_t steps) {
    expects<option_error>(steps >= 0, "Optimizer: a step count is not negative, is {}", steps);
    m_steps = steps;
  }

  /// The base learning rate, times the schedule at the next step.
  float learning_rate() const { return m_learning_rate * m_schedule(m_steps); }
  /// Sets the base learning rate. Throws option_error unless it is finite and not negative.
  void set_learning_rate(float learning_rate) {
    expects<option_error>(is_finite(learning_rate) && learning_rate >= 0, "Optimizer: learning_rate must not be negative, is {}",
                          learning_rate);
    m_learning_rate = learning_rate;
  }
  /// Multiplies the base learning rate by schedule(step_count()) from now on. A skipped step does not advance it.
  template <class Schedule>
  void set_schedule(const Schedule& schedule) {
    m_schedule = StoredSchedule(schedule);
  }

  context_type& context() const { return m_context; }
  Source& parameters() const { return m_source; }

  /// The rule's running averages, flat and in fp32, in the order of its paper; for checkpoints.
  int moment_count() const { return m_rule.moment_count(); }
  TensorView<float, 1, context_type::memory_space> moment(int i) { return m_moments[i].view(); }

  ScalerSlot& scaler_slot() { return m_slot; }

  /// Whether any parameter has a gradient.
  bool has_gradients() const {
    bool result = false;
    for_each_segment([&](const auto&) { result = true; });
    return result;
  }

  /// f(runs) of the gradients that the next step reads: a vector of TensorRun, of float where 16-bit gradients have been unscaled.
  template <class Function>
  auto with_gradients(const Function& f) const {
    if constexpr (sizeof(gradient_type) != sizeof(float)) {
      if (m_reads_unscaled) return f(unscaled_runs());
    }
    return f(source_runs());
  }

  /// Stage one: reads all gradients once.
  GradientCheck check() const {
    return with_gradients([&](const auto& runs) { return check_finite(m_context, runs); });
  }

  /// Stage two: ranks that hold other parts of the same model have their say; here nobody does.
  GradientCheck agree(const GradientCheck& check) const { return check; }

  /// Multiplies all gradients by `factor` in one pass and checks the products. 16-bit gradients are not rounded a second time: they
  /// go to an fp32 buffer, which the step then reads.
  GradientCheck unscale_(float factor) {
    if constexpr (sizeof(gradient_type) == sizeof(float)) {
      const auto runs = source_runs();
      return scale_and_check(m_context, factor, runs, runs);
    } else {
      if (m_reads_unscaled) {
        const auto runs = unscaled_runs();
        return scale_and_check(m_context, factor, runs, runs);
      }
      if (m_unscaled.size() != m_source.flat_size()) {
        m_unscaled = make_tensor<float>(m_context, {m_source.flat_size()});
        m_unscaled_view = m_unscaled.view();
      }
      const auto result = scale_and_check(m_context, factor, unscaled_runs(), source_runs());
      m_reads_unscaled = true;
      return result;
    }
  }

  /// Stage three: one read-modify-write pass with every gradient multiplied by `factor` on the way; writes the 16-bit weights too.
  void apply(double factor) {
    // A factor below the normal numbers would be flushed to zero on some machines; the gradients take part of it beforehand.
    while (factor < 0x1p-126 && factor > 0) {
      unscale_(0x1p-64f);
      factor *= 0x1p64;
    }
    ++m_steps;
    if constexpr (sizeof(gradient_type) != sizeof(float)) {
      if (m_reads_unscaled) {
        apply_to([&](const auto& segment) { return static_cast<const float*>(m_unscaled_view.data()) + segment.offset; },
                 static_cast<float>(factor));
        return;
      }
    }
    apply_to([](const auto& segment) { return static_cast<const gradient_type*>(segment.gradient); }, static_cast<float>(factor));
  }

  /// Looks for the first gradient element that is not finite, parameter by parameter in the order of declaration. Gradients are
  /// there until the window ends: ask between step and update. Reads on the host, after all work given to the context.
  std::optional<NonfiniteGradient> find_nonfinite() {
    m_context.synchronize();
    std::optional<NonfiniteGradient> result;
    for_each_segment([&](const auto& segment) {
      for (index_t i = 0; i < segment.size && !result; ++i) {
        const float value = static_cast<float>(segment.gradient[i]);
        if (!is_finite(value)) result = m_source.name_element(segment.offset + i, value);
      }
    });
    return result;
  }

 private:
  template <class Function>
  void for_each_segment(const Function& f) const {
    expects<state_error>(m_source.flat_size() == m_flat_size,
                         "Optimizer: it was made for {} elements, now there are {}; add all parameters before making it", m_flat_size,
                         m_source.flat_size());
    m_source.for_each_segment([&](const auto& segment) {
      if (!m_groups[static_cast<std::size_t>(segment.group)].is_frozen) f(segment);
    });
  }

  std::vector<TensorRun<gradient_type>> source_runs() const {
    std::vector<TensorRun<gradient_type>> runs;
    for_each_segment([&](const auto& segment) { runs.push_back({segment.gradient, segment.size}); });
    return runs;
  }
  std::vector<TensorRun<float>> unscaled_runs() const {
    std::vector<TensorRun<float>> runs;
    for_each_segment([&](const auto& segment) { runs.push_back({m_unscaled_view.data() + segment.offset, segment.size}); });
    return runs;
  }

  template <class GradientOf>
  void apply_to(const GradientOf& gradient_of, float factor) {
    using functor_type = typename Rule::template functor_type<Source::has_copies>;
    const float learning_rate = m_learning_rate * m_schedule(m_steps - 1);
    std::vector<functor_type> functors;  // one for each group
    for (const GroupOptions& group : m_groups) {
      functors.push_back(
          m_rule.template functor<Source::has_copies>(m_steps, learning_rate * group.learning_rate_factor, group.weight_decay, factor));
    }
    std::vector<typename Source::segment_type> segments;
    for_each_segment([&](const auto& segment) { segments.push_back(segment); });
    const detail::ChunkTable table(segments.size(), [&](std::size_t i) { return segments[i].size; });
    const Isa isa = m_context.isa();
    table.for_each_task(m_context, [&](index_t, const detail::Chunk* begin, const detail::Chunk* end) {
      for (const detail::Chunk* chunk = begin; chunk != end; ++chunk) {
        const auto& segment = segments[static_cast<std::size_t>(chunk->run)];
        const functor_type& functor = functors[static_cast<std::size_t>(segment.group)];
        const auto* gradient = gradient_of(segment) + chunk->begin;
        float* moments[2] = {};
        for (int i = 0; i < m_rule.moment_count(); ++i) moments[i] = m_moments[i].data() + segment.offset + chunk->begin;
        master_type* master = segment.master + chunk->begin;
        if constexpr (Source::has_copies) {
          functor.run(isa, chunk->size, moments, read(gradient), update(master), write(segment.weight + chunk->begin));
        } else {
          functor.run(isa, chunk->size, moments, read(gradient), update(master));
        }
      }
    });
  }

  context_type& m_context;
  Source& m_source;
  index_t m_flat_size;
  Rule m_rule;
  float m_learning_rate;
  StoredSchedule m_schedule;
  std::int64_t m_steps = 0;
  std::vector<GroupOptions> m_groups;
  ScalerSlot m_slot;
  Tensor<float, 1, context_type::memory_space> m_moments[2];
  Tensor<float, 1, context_type::memory_space> m_unscaled;  // of 16-bit gradients, made when first asked for
  TensorView<float, 1, context_type::memory_space> m_unscaled_view;
  bool m_reads_unscaled = false;
};

}  // namespace mezzo
