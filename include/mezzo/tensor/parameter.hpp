// One weight of a model: its master, its 16-bit copy and its gradient, all lying in an arena.
#pragma once

#include <type_traits>

#include <mezzo/tensor/parameter_arena.hpp>

namespace mezzo {

/// A handle to one parameter of an arena; cheap to copy, valid as long as the arena.
template <PrecisionPolicy Policy, Context C, int Rank, class Gradient = float>
class Parameter {
 public:
  using arena_type = ParameterArena<Policy, C, Gradient>;
  using master_type = typename Policy::master_type;
  using weight_type = typename Policy::low_type;
  static constexpr int rank = Rank;
  static constexpr MemorySpace space = C::memory_space;

  /// Declares a parameter; it has memory once the arena is sealed.
  [[gnu::cold]] Parameter(arena_type& arena, std::string_view name, const Extents<Rank>& extents, const ParameterOptions& options = {})
      : m_arena(&arena), m_extents(extents) {
    std::vector<index_t> lengths;
    for (int i = 0; i < Rank; ++i) lengths.push_back(extents[i]);
    m_number = arena.declare(name, std::move(lengths), extents.size(), options);
  }
  [[gnu::cold]] Parameter(arena_type& arena, std::string_view name, const index_t (&extents)[Rank > 0 ? Rank : 1],
                          const ParameterOptions& options = {})
      : Parameter(arena, name, Extents<Rank>(extents), options) {}

  const std::string& name() const { return record().name; }
  const Extents<Rank>& extents() const { return m_extents; }
  index_t size() const { return m_extents.size(); }

  /// What `low` operations read: the 16-bit copy, or the master where there is none.
  TensorView<const weight_type, Rank, space> view() const { return {m_arena->weights().data() + record().offset, m_extents}; }

  /// What the optimizer updates and `full` operations read. After writing it, refresh_weights().
  TensorView<master_type, Rank, space> master() const { return {m_arena->masters().data() + record().offset, m_extents}; }

  /// The weight as T: the copy or the master, whichever has that type.
  template <class T>
  TensorView<const T, Rank, space> view_as() const {
    if constexpr (std::is_same_v<T, weight_type>) {
      return view();
    } else {
      static_assert(std::is_same_v<T, master_type>, "mezzo: a parameter is kept in its policy's low and master types alone");
      return master();
    }
  }

  /// The gradient of this window. Throws state_error where no backward pass has written one.
  TensorView<Gradient, Rank, space> gradient() const {
    expects<state_error>(record().is_filled, "Parameter: '{}' has no gradient in this window", name());
    return gradient_memory();
  }
  bool has_gradient() const { return record().is_filled; }

  /// Where a backward operation writes; it says written() afterwards. Throws state_error where 16-bit gradients would accumulate.
  GradientSink<TensorView<Gradient, Rank, space>> gradient_sink() const {
    expects<state_error>(sizeof(Gradient) > 2 || !record().is_filled,
                         "Parameter: the gradient of '{}' would be accumulated in 16 bits; declare the arena with float gradients", name());
    return {gradient_memory(), record().is_filled};
  }
  void written() const { m_arena->mark_filled(m_number); }

 private:
  const ParameterRecord& record() const { return m_arena->records()[static_cast<std::size_t>(m_number)]; }
  TensorView<Gradient, Rank, space> gradient_memory() const { return {m_arena->gradients().data() + record().offset, m_extents}; }

  arena_type* m_arena;
  Extents<Rank> m_extents;
  index_t m_number = 0;
};

namespace detail {

/// `weight` as an operation that computes in T reads it: a parameter gives the copy that has the type, a view must have it.
template <class T, class Weight>
auto weight_view(const Weight& weight) {
  if constexpr (requires { weight.template view_as<T>(); }) {
    return weight.template view_as<T>();
  } else {
    static_assert(std::is_same_v<value_type_t<const Weight>, T>, "mezzo: these views differ in dtype; cast() one of them");
    return view_of(weight);
  }
}

/// `weight` in the type that keeps most of it: a parameter's master, a view as it is.
template <class Weight>
auto master_view(const Weight& weight) {
  if constexpr (requires { weight.master(); }) {
    return weight.master();
  } else {
    return view_of(weight);
  }
}

}  // namespace detail

}  // namespace mezzo
