// The one door between memory spaces, and the only way to copy a tensor: owners move, and nothing copies in secret.
#pragma once

#include <cstring>
#include <type_traits>

#include <mezzo/context/cpu_context.hpp>
#include <mezzo/tensor/viewable.hpp>

namespace mezzo {

namespace detail {

/// to[...] = from[...], one dimension after the other from the outside in.
template <class T, int Rank>
void copy_elements(T* to, const T* from, const TensorView<T, Rank>& to_view, const TensorView<const T, Rank>& from_view, int dimension) {
  if (dimension == Rank) {
    *to = *from;
    return;
  }
  const index_t count = to_view.extent(dimension), to_stride = to_view.stride(dimension), from_stride = from_view.stride(dimension);
  if (dimension + 1 == Rank) {
    for (index_t i = 0; i < count; ++i) to[i * to_stride] = from[i * from_stride];
    return;
  }
  for (index_t i = 0; i < count; ++i) copy_elements(to + i * to_stride, from + i * from_stride, to_view, from_view, dimension + 1);
}

template <class T, int Rank>
void copy_host(CpuContext& context, const TensorView<T, Rank>& to, const TensorView<const T, Rank>& from) {
  if (to.is_contiguous() && from.is_contiguous()) {
    if (to.data() == from.data()) return;
    constexpr index_t piece = index_t{1} << 18;
    context.parallel_for((to.size() + piece - 1) / piece, [&](index_t task) {
      const index_t begin = task * piece, count = to.size() - begin < piece ? to.size() - begin : piece;
      std::memcpy(to.data() + begin, from.data() + begin, static_cast<std::size_t>(count) * sizeof(T));
    });
    return;
  }
  if constexpr (Rank > 0) {
    context.parallel_for(to.extent(0),
                         [&](index_t i) { copy_elements(to.data() + i * to.stride(0), from.data() + i * from.stride(0), to, from, 1); });
  }
}

}  // namespace detail

/// Copies elements of one dtype between views of one shape, with any strides. The views are the same or do not overlap. Throws
/// shape_error.
template <Context C, class To, class From>
void copy(C& context, To&& to, const From& from) {
  static_assert(Viewable<To> && Viewable<const From>, "mezzo: this argument has no view");
  static_assert(view_type_t<To>::space == MemorySpace::host && view_type_t<const From>::space == MemorySpace::host,
                "mezzo: this context copies within host memory alone");
  const auto out = detail::output_view<C>(to);
  using T = typename decltype(out)::value_type;
  detail::require_same_dtype<decltype(out), view_type_t<const From>>();
  detail::expects_same_shape(out, view_of(from), "copy: the shape to write, {}, is not the shape to read, {}");
  detail::copy_host(context, out, TensorView<const T, decltype(out)::rank>(view_of(from)));
}

}  // namespace mezzo
