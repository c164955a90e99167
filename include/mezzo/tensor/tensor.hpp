// Memory with a shape: owns what a TensorView views.
#pragma once

#include <type_traits>
#include <utility>

#include <mezzo/context/context.hpp>
#include <mezzo/context/scratch.hpp>
#include <mezzo/core/tensor_view.hpp>

namespace mezzo {

/// Owns row-major elements. Moves, does not copy (copy() does), and keeps its memory until it is destroyed, which may be after the
/// context that gave it. Constness is deep: a const tensor gives views of const elements.
template <class T, int Rank, MemorySpace Space = MemorySpace::host>
class Tensor {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>, "mezzo: tensors hold plain values");

 public:
  using value_type = T;
  static constexpr int rank = Rank;
  static constexpr MemorySpace space = Space;

  Tensor() = default;

  /// Uninitialised elements. Throws std::bad_alloc.
  template <Context C>
  Tensor(C& context, const Extents<Rank>& extents) : Tensor(context.allocate(byte_count<T>(extents.size())), extents) {
    static_assert(C::memory_space == Space, "mezzo: this tensor lies in another memory space than the context's");
  }
  /// Elements in `memory`, which has room for them.
  Tensor(MemoryBlock&& memory, const Extents<Rank>& extents)
      : m_memory(std::move(memory)), m_view(static_cast<T*>(m_memory.data()), extents) {}

  Tensor(Tensor&& other) noexcept : m_memory(std::move(other.m_memory)), m_view(std::exchange(other.m_view, {})) {}
  Tensor& operator=(Tensor&& other) noexcept {
    m_memory = std::move(other.m_memory);
    std::swap(m_view, other.m_view);
    return *this;
  }

  TensorView<T, Rank, Space> view() { return m_view; }
  TensorView<const T, Rank, Space> view() const { return m_view; }

  T* data() { return m_view.data(); }
  const T* data() const { return m_view.data(); }
  const Extents<Rank>& extents() const { return m_view.extents(); }
  index_t extent(int dimension) const { return m_view.extent(dimension); }
  index_t size() const { return m_view.size(); }

  template <std::integral... Indices>
  T& operator()(Indices... indices) {
    return m_view(indices...);
  }
  template <std::integral... Indices>
  const T& operator()(Indices... indices) const {
    return m_view(indices...);
  }

 private:
  MemoryBlock m_memory;
  TensorView<T, Rank, Space> m_view;
};

/// A tensor of uninitialised elements where `context` computes.
template <class T, Context C, int Rank>
Tensor<T, Rank, C::memory_space> make_tensor(C& context, const Extents<Rank>& extents) {
  return {context, extents};
}
template <class T, Context C, int Rank>
Tensor<T, Rank, C::memory_space> make_tensor(C& context, const index_t (&extents)[Rank]) {
  return {context, Extents<Rank>(extents)};
}

/// A tensor of zeros where `context` computes.
template <class T, Context C, int Rank>
Tensor<T, Rank, C::memory_space> make_zeros(C& context, const Extents<Rank>& extents) {
  Tensor<T, Rank, C::memory_space> result(context, extents);
  context.fill_zero(result.data(), static_cast<std::size_t>(result.size()) * sizeof(T));
  return result;
}
template <class T, Context C, int Rank>
Tensor<T, Rank, C::memory_space> make_zeros(C& context, const index_t (&extents)[Rank]) {
  return make_zeros<T>(context, Extents<Rank>(extents));
}

}  // namespace mezzo
