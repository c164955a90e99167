// What a kernel does with each of its arguments. Said at the call, so that a loop loads only what is read and stores only
// what is written: transform(context, Axpy{a}, update(y), read(x)).
#pragma once

#include <type_traits>

#include <mezzo/core/tensor_view.hpp>

namespace mezzo {

enum class AccessMode { read, write, update };

/// A run of elements without gaps, and what a loop does with it.
template <class T, AccessMode Mode>
struct Range {
  using element_type = T;
  static constexpr AccessMode mode = Mode;
  static constexpr bool is_read = Mode != AccessMode::write;
  static constexpr bool is_written = Mode != AccessMode::read;

  T* data;

  MEZZO_HOST_DEVICE constexpr Range operator+(index_t offset) const { return {data + offset}; }
};

template <class T>
constexpr Range<const T, AccessMode::read> read(T* data) {
  return {data};
}
template <class T>
constexpr Range<T, AccessMode::write> write(T* data) {
  return {data};
}
template <class T>
constexpr Range<T, AccessMode::update> update(T* data) {
  return {data};
}

/// A view, and what a kernel does with it.
template <class View, AccessMode Mode>
struct Access {
  using view_type = View;
  using element_type = typename View::element_type;
  using range_type = Range<element_type, Mode>;
  static constexpr AccessMode mode = Mode;

  View view;
};

template <class T, int Rank, MemorySpace Space>
constexpr Access<TensorView<const T, Rank, Space>, AccessMode::read> read(const TensorView<T, Rank, Space>& view) {
  return {view};
}
template <class T, int Rank, MemorySpace Space>
constexpr Access<TensorView<T, Rank, Space>, AccessMode::write> write(const TensorView<T, Rank, Space>& view) {
  static_assert(!std::is_const_v<T>, "mezzo: a view of const elements cannot be written");
  return {view};
}
template <class T, int Rank, MemorySpace Space>
constexpr Access<TensorView<T, Rank, Space>, AccessMode::update> update(const TensorView<T, Rank, Space>& view) {
  static_assert(!std::is_const_v<T>, "mezzo: a view of const elements cannot be written");
  return {view};
}

}  // namespace mezzo
