// copy() with a GPU at one end or both. Needs the CUDA Toolkit's headers and no nvcc.
#pragma once

#include <cuda_runtime_api.h>

#include <mezzo/context/cuda_context.hpp>
#include <mezzo/tensor/tensor.hpp>
#include <mezzo/tensor/viewable.hpp>

namespace mezzo {

namespace detail {

/// One or two dimensions, in bytes: `height` runs of `width`, so far from each other.
struct CopyShape {
  std::size_t width, height, to_pitch, from_pitch;
};

inline void copy_runs(CudaContext& context, char* to, const char* from, const CopyShape& shape) {
  const cudaStream_t stream = context.stream();
  cudaError_t status = cudaSuccess;
  if (shape.height == 1) {
    status = cudaMemcpyAsync(to, from, shape.width, cudaMemcpyDefault, stream);
  } else if (shape.to_pitch >= shape.width && shape.from_pitch >= shape.width) {
    status = cudaMemcpy2DAsync(to, shape.to_pitch, from, shape.from_pitch, shape.width, shape.height, cudaMemcpyDefault, stream);
  } else {  // rows that overlap, as in a view that repeats one
    for (std::size_t i = 0; i < shape.height && status == cudaSuccess; ++i) {
      status = cudaMemcpyAsync(to + i * shape.to_pitch, from + i * shape.from_pitch, shape.width, cudaMemcpyDefault, stream);
    }
  }
  expects_cuda(status, "copy: {} bytes were not copied with device {}", shape.width * shape.height, context.device());
}

/// Goes over the dimensions [dimension, outer); `shape` describes those after them.
template <class To, class From>
void copy_dimensions(CudaContext& context, char* to, const char* from, const To& to_view, const From& from_view, int dimension, int outer,
                     const CopyShape& shape) {
  constexpr auto size = static_cast<index_t>(sizeof(typename To::value_type));
  if (dimension == outer) return copy_runs(context, to, from, shape);
  for (index_t i = 0; i < to_view.extent(dimension); ++i) {
    copy_dimensions(context, to + i * to_view.stride(dimension) * size, from + i * from_view.stride(dimension) * size, to_view, from_view,
                    dimension + 1, outer, shape);
  }
}

}  // namespace detail

/// Copies elements of one dtype between views of one shape, with any strides, in host or device memory, in the order of the context's
/// work: what is read on the host afterwards is there after synchronize(). Host memory must stay until then; where it is pinned, the
/// copy goes on beside other work. Elements that do not lie side by side are copied one by one, which is slow. Throws shape_error and
/// cuda_error.
template <class To, class From>
void copy(CudaContext& context, To&& to, const From& from) {
  static_assert(Viewable<To> && Viewable<const From>, "mezzo: this argument has no view");
  const auto out = view_of(to);
  const auto in = view_of(from);
  using Out = std::remove_const_t<decltype(out)>;
  static_assert(!std::is_const_v<typename Out::element_type>, "mezzo: a view of const elements cannot be written");
  detail::require_same_dtype<Out, std::remove_const_t<decltype(in)>>();
  detail::expects_same_shape(out, in, "copy: the shape to write, {}, is not the shape to read, {}");
  if (out.is_empty()) return;

  // Dimensions without gaps are one run; the one around them is the second dimension of a copy.
  constexpr std::size_t size = sizeof(typename Out::value_type);
  detail::CopyShape shape{size, 1, 0, 0};
  int outer = Out::rank;
  if constexpr (Out::rank > 0) {
    index_t run = 1;
    while (outer > 0 && (out.extent(outer - 1) == 1 || (out.stride(outer - 1) == run && in.stride(outer - 1) == run))) {
      run *= out.extent(--outer);
    }
    shape.width = static_cast<std::size_t>(run) * size;
    if (outer > 0) {
      --outer;
      shape.height = static_cast<std::size_t>(out.extent(outer));
      shape.to_pitch = static_cast<std::size_t>(out.stride(outer)) * size;
      shape.from_pitch = static_cast<std::size_t>(in.stride(outer)) * size;
    }
  }
  const detail::CudaDeviceGuard guard(context.device());
  detail::copy_dimensions(context, reinterpret_cast<char*>(out.data()), reinterpret_cast<const char*>(in.data()), out, in, 0, outer, shape);
}

/// A host tensor of uninitialised elements in pinned memory. Throws cuda_error.
template <class T, int Rank>
Tensor<T, Rank> make_pinned_tensor(const Extents<Rank>& extents) {
  return {allocate_pinned_memory(byte_count<T>(extents.size())), extents};
}
template <class T, int Rank>
Tensor<T, Rank> make_pinned_tensor(const index_t (&extents)[Rank]) {
  return make_pinned_tensor<T>(Extents<Rank>(extents));
}

}  // namespace mezzo
