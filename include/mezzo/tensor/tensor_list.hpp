// Many tensors as one: the gradients of a model whose memory is the user's own, handed to an operation that goes over all of them.
#pragma once

#include <type_traits>
#include <vector>

#include <mezzo/tensor/viewable.hpp>

namespace mezzo {

/// A run of elements side by side in memory.
template <class T>
struct TensorRun {
  T* data;
  index_t size;
};

/// Views of one dtype and any shapes. Owns none of the elements.
template <class T, MemorySpace Space = MemorySpace::host>
class TensorList {
 public:
  using value_type = std::remove_const_t<T>;
  static constexpr MemorySpace space = Space;

  TensorList() = default;
  template <class... Views>
  requires(sizeof...(Views) > 0 && (Viewable<Views> && ...)) explicit TensorList(Views&&... views) { (add(views), ...); }

  /// Throws shape_error for a view with gaps.
  template <Viewable V>
  void add(V&& v) {
    const TensorView<T, view_type_t<V>::rank, Space> view = view_of(v);
    expects<shape_error>(view.is_contiguous(), "TensorList: tensor {} of shape {} has gaps; copy() it into a contiguous one", size(),
                         view.extents());
    m_runs.push_back({view.data(), view.size()});
  }

  index_t size() const { return static_cast<index_t>(m_runs.size()); }
  const std::vector<TensorRun<T>>& runs() const { return m_runs; }

 private:
  std::vector<TensorRun<T>> m_runs;
};

template <class First, class... Rest>
TensorList(First&&, Rest&&...) -> TensorList<typename view_type_t<First>::element_type, view_type_t<First>::space>;

}  // namespace mezzo
