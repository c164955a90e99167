// transform() on a GPU.
#pragma once

#include <mezzo/context/cuda_context.hpp>
#include <mezzo/kernels/detail/cuda/lanes.hpp>
#include <mezzo/tensor/viewable.hpp>

namespace mezzo {

namespace detail::cuda {

inline constexpr int block_threads = 256;

template <class Functor, class... Ranges>
static __global__ void transform_kernel(const Functor functor, index_t count, bool is_aligned, Ranges... ranges) {
  const index_t thread = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  transform_thread(resolved(functor), thread, static_cast<index_t>(gridDim.x) * blockDim.x, count, is_aligned, ranges...);
}

template <class Functor, class... Ranges>
void launch_transform(CudaContext& context, const Functor& functor, index_t count, bool is_aligned, const Ranges&... ranges) {
  // A few waves of blocks that go on: more would only be started and ended.
  constexpr int blocks_each = 8;
  const index_t items = (count + pack_size<Ranges...>() - 1) / pack_size<Ranges...>();
  const index_t wanted = (items + block_threads - 1) / block_threads, most = static_cast<index_t>(context.multiprocessors()) * blocks_each;
  const auto blocks = static_cast<unsigned>(wanted < most ? wanted : most);
  const CudaDeviceGuard guard(context.device());
  transform_kernel<<<blocks, block_threads, 0, context.stream()>>>(functor, count, is_aligned, ranges...);
  expects_cuda(cudaGetLastError(), "transform: the kernel did not start on device {}", context.device());
}

template <class A>
auto strided_range(const A& access) {
  using View = typename A::view_type;
  constexpr int rank = View::rank == 0 ? 1 : View::rank;
  StridedRange<typename A::element_type, A::mode, rank> result{access.view.data(), {}, {}};
  for (int i = 0; i < rank; ++i) {
    result.extents[i] = View::rank == 0 ? 1 : access.view.extent(i);
    result.strides[i] = View::rank == 0 ? 1 : access.view.stride(i);
  }
  return result;
}

template <class A>
bool is_packet_aligned(const A& access) {
  return reinterpret_cast<std::uintptr_t>(access.view.data()) % packet_size == 0;
}

}  // namespace detail::cuda

/// As on a CPU; the work is enqueued.
template <class Functor, class First, class... Rest>
void transform(CudaContext& context, const Functor& functor, const First& first, const Rest&... rest) {
  (detail::expects_same_shape(first.view, rest.view, "transform: shapes {} and {} differ"), ...);
  const index_t count = first.view.size();
  if (count == 0) return;
  if (first.view.is_contiguous() && (... && rest.view.is_contiguous())) {
    const bool is_aligned = detail::cuda::is_packet_aligned(first) && (... && detail::cuda::is_packet_aligned(rest));
    detail::cuda::launch_transform(context, functor, count, is_aligned, typename First::range_type{first.view.data()},
                                   typename Rest::range_type{rest.view.data()}...);
  } else {
    detail::cuda::launch_transform(context, functor, count, false, detail::cuda::strided_range(first),
                                   detail::cuda::strided_range(rest)...);
  }
}

}  // namespace mezzo
