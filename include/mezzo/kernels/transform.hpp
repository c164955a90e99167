// The element-wise loop: every element-wise operation, cast and optimizer is a functor that it runs.
#pragma once

#include <mezzo/context/cpu_context.hpp>
#include <mezzo/kernels/detail/cpu/ranges.hpp>
#include <mezzo/kernels/detail/cpu/rows.hpp>

namespace mezzo {

namespace detail {

/// A functor that has resolved() is asked for the one to run where the work runs, once for each launch.
template <class Functor>
MEZZO_HOST_DEVICE constexpr auto resolved(const Functor& functor) {
  if constexpr (requires { functor.resolved(); }) {
    return functor.resolved();
  } else {
    return functor;
  }
}

}  // namespace detail

/// Runs functor(a, b, ...) over corresponding elements. An access is read(view), write(view) or update(view); the functor gets its
/// elements by reference, in the compute type (float for every type of at most 32 bits, double for double, integers as they are),
/// and what was not read is undefined. Results are rounded once, to nearest even, when stored. Views of one shape, with any strides;
/// two of them may be the same memory element for element. Throws shape_error.
template <class Functor, class First, class... Rest>
void transform(CpuContext& context, const Functor& functor, const First& first, const Rest&... rest) {
  (detail::expects_same_shape(first.view, rest.view, "transform: shapes {} and {} differ"), ...);
  const Isa isa = context.isa();
  const auto run = detail::resolved(functor);
  detail::for_each_run(
      context, detail::elementwise_chunk(context, first.view.size()),
      [&](index_t, index_t count, auto... ranges) { detail::transform_range(isa, run, count, ranges...); }, first, rest...);
}

}  // namespace mezzo

#if defined(MEZZO_HAS_CUDA) && defined(MEZZO_CUDACC)
#include <mezzo/kernels/detail/cuda/transform.cuh>
#endif
