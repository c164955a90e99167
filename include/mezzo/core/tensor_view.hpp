// Where data lies and what it is: a pointer, a shape, strides, and the memory space in the type. Views own nothing, cost
// nothing to copy, and are what every operation takes; memory that users already have becomes a view in one line.
#pragma once

#include <concepts>
#include <type_traits>

#include <mezzo/core/config.hpp>
#include <mezzo/core/error.hpp>
#include <mezzo/core/extents.hpp>
#include <mezzo/core/memory_space.hpp>

namespace mezzo {

/// A view of `Rank`-dimensional data in `Space`. Strides count elements; the last dimension is the fastest in a view made
/// from a pointer and a shape. A view of const elements is made from one of mutable elements without a word.
template <class T, int Rank, MemorySpace Space = MemorySpace::host>
class TensorView {
 public:
  using element_type = T;
  using value_type = std::remove_const_t<T>;
  static constexpr int rank = Rank;
  static constexpr MemorySpace space = Space;

  /// Views nothing: no data, all lengths 0.
  constexpr TensorView() = default;

  /// Views row-major data without gaps.
  constexpr TensorView(T* data, const Extents<Rank>& extents) : m_data(data), m_extents(extents) {
    index_t stride = 1;
    for (int i = Rank - 1; i >= 0; --i) {
      m_strides[i] = stride;
      stride *= extents[i];
    }
  }
  /// Views data with any strides, in elements; 0 repeats a dimension. Throws shape_error for a negative stride.
  constexpr TensorView(T* data, const Extents<Rank>& extents, const index_t (&strides)[Rank > 0 ? Rank : 1])
      : m_data(data), m_extents(extents) {
    for (int i = 0; i < Rank; ++i) {
      expects<shape_error>(strides[i] >= 0, "TensorView: stride {} of dimension {} is negative", strides[i], i);
      m_strides[i] = strides[i];
    }
  }
  template <std::same_as<value_type> Mutable>  // a template, since as a plain constructor it would replace the copy constructor
  requires std::is_const_v<T>
  constexpr TensorView(const TensorView<Mutable, Rank, Space>& other) : m_data(other.data()), m_extents(other.extents()) {
    for (int i = 0; i < Rank; ++i) m_strides[i] = other.stride(i);
  }

  MEZZO_HOST_DEVICE constexpr T* data() const { return m_data; }
  MEZZO_HOST_DEVICE constexpr const Extents<Rank>& extents() const { return m_extents; }
  MEZZO_HOST_DEVICE constexpr index_t extent(int dimension) const { return m_extents[dimension]; }
  MEZZO_HOST_DEVICE constexpr index_t stride(int dimension) const { return m_strides[dimension]; }
  MEZZO_HOST_DEVICE constexpr index_t size() const { return m_extents.size(); }
  MEZZO_HOST_DEVICE constexpr bool is_empty() const { return size() == 0; }

  /// Row-major without gaps. Dimensions of length 1 may have any stride; an empty view is contiguous.
  MEZZO_HOST_DEVICE constexpr bool is_contiguous() const {
    if (is_empty()) return true;
    index_t stride = 1;
    for (int i = Rank - 1; i >= 0; --i) {
      if (m_extents[i] != 1 && m_strides[i] != stride) return false;
      stride *= m_extents[i];
    }
    return true;
  }

  /// The element at `indices`, unchecked.
  template <std::integral... Indices>
  MEZZO_HOST_DEVICE constexpr T& operator()(Indices... indices) const {
    static_assert(sizeof...(Indices) == Rank, "mezzo: a view takes one index per dimension");
    const index_t at[] = {static_cast<index_t>(indices)..., 0};
    return m_data[offset(at)];
  }

  /// The element at `indices`; throws shape_error unless each lies within its dimension. Host memory only.
  template <std::integral... Indices>
  constexpr T& at(Indices... indices) const {
    static_assert(sizeof...(Indices) == Rank, "mezzo: a view takes one index per dimension");
    static_assert(Space == MemorySpace::host, "mezzo: the host cannot read device memory; copy() it over first");
    const index_t at[] = {static_cast<index_t>(indices)..., 0};
    for (int i = 0; i < Rank; ++i) {
      expects<shape_error>(at[i] >= 0 && at[i] < m_extents[i], "TensorView::at: index {} of dimension {} lies outside {}", at[i], i,
                           m_extents);
    }
    return m_data[offset(at)];
  }

  /// Elements [begin, end) of `dimension`.
  constexpr TensorView slice(int dimension, index_t begin, index_t end) const {
    expects_dimension(dimension, "TensorView::slice: dimension {} of a view {}");
    expects<shape_error>(0 <= begin && begin <= end && end <= m_extents[dimension],
                         "TensorView::slice: [{}, {}) does not lie in dimension {} of {}", begin, end, dimension, m_extents);
    TensorView result = *this;
    index_t lengths[Rank > 0 ? Rank : 1] = {};
    for (int i = 0; i < Rank; ++i) lengths[i] = i == dimension ? end - begin : m_extents[i];
    result.m_extents = Extents<Rank>(lengths);
    if (end > begin) result.m_data += begin * m_strides[dimension];
    return result;
  }

  /// The slice of one index of `dimension`, without that dimension.
  constexpr TensorView<T, Rank - 1, Space> select(int dimension, index_t index) const requires(Rank > 0) {
    expects_dimension(dimension, "TensorView::select: dimension {} of a view {}");
    expects<shape_error>(0 <= index && index < m_extents[dimension], "TensorView::select: index {} lies outside dimension {} of {}", index,
                         dimension, m_extents);
    index_t lengths[Rank > 1 ? Rank - 1 : 1] = {}, strides[Rank > 1 ? Rank - 1 : 1] = {};
    for (int i = 0, to = 0; i < Rank; ++i) {
      if (i == dimension) continue;
      lengths[to] = m_extents[i];
      strides[to++] = m_strides[i];
    }
    return {m_data + index * m_strides[dimension], Extents<Rank - 1>(lengths), strides};
  }

  /// The view with two dimensions exchanged, by default the last two.
  constexpr TensorView transpose(int first = Rank - 2, int second = Rank - 1) const requires(Rank > 1) {
    expects_dimension(first, "TensorView::transpose: dimension {} of a view {}");
    expects_dimension(second, "TensorView::transpose: dimension {} of a view {}");
    index_t lengths[Rank] = {}, strides[Rank] = {};
    for (int i = 0; i < Rank; ++i) {
      const int from = i == first ? second : i == second ? first : i;
      lengths[i] = m_extents[from];
      strides[i] = m_strides[from];
    }
    return {m_data, Extents<Rank>(lengths), strides};
  }

  /// The same elements in another shape. Throws shape_error unless the sizes agree and the view is contiguous.
  template <int NewRank>
  constexpr TensorView<T, NewRank, Space> reshape(const Extents<NewRank>& extents) const {
    expects<shape_error>(extents.size() == size(), "TensorView::reshape: {} does not hold as many elements as {}", extents, m_extents);
    expects<shape_error>(is_contiguous(), "TensorView::reshape: the view {} has gaps; copy() it into a contiguous tensor first", m_extents);
    return {m_data, extents};
  }
  template <int NewRank>
  constexpr TensorView<T, NewRank, Space> reshape(const index_t (&lengths)[NewRank]) const {
    return reshape(Extents<NewRank>(lengths));
  }

  /// The same elements as one row; as reshape.
  constexpr TensorView<T, 1, Space> flatten() const { return reshape(Extents<1>(size())); }

 private:
  MEZZO_HOST_DEVICE constexpr index_t offset(const index_t* indices) const {
    index_t result = 0;
    for (int i = 0; i < Rank; ++i) result += indices[i] * m_strides[i];
    return result;
  }

  constexpr void expects_dimension(int dimension, message_at message) const {
    expects<shape_error>(0 <= dimension && dimension < Rank, message, dimension, m_extents);
  }

  T* m_data = nullptr;
  Extents<Rank> m_extents;
  index_t m_strides[Rank > 0 ? Rank : 1] = {};
};

template <class T, int Rank>
TensorView(T*, const Extents<Rank>&) -> TensorView<T, Rank, MemorySpace::host>;

template <class T, int Rank>
using HostView = TensorView<T, Rank, MemorySpace::host>;

template <class T, int Rank>
using DeviceView = TensorView<T, Rank, MemorySpace::device>;

template <class T>
inline constexpr bool is_tensor_view = false;
template <class T, int Rank, MemorySpace Space>
inline constexpr bool is_tensor_view<TensorView<T, Rank, Space>> = true;

}  // namespace mezzo
