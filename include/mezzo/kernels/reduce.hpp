// The reduction loop: sums, norms and extrema are functors that it runs.
#pragma once

#include <mezzo/context/cpu_context.hpp>
#include <mezzo/kernels/detail/cpu/ranges.hpp>
#include <mezzo/kernels/detail/cpu/rows.hpp>

namespace mezzo {

/// combine over map(a, b, ...) of corresponding elements. A functor has value_type, what elements are combined in (float), and
/// partial_type, what the results of tasks are combined in (double for sums), identity(), map(elements...) and combine(x, y) of
/// either type. The order is fixed by the shape alone: the same bits for any number of threads. Throws shape_error.
template <class Functor, class First, class... Rest>
typename Functor::partial_type reduce(CpuContext& context, const Functor& functor, const First& first, const Rest&... rest) {
  using Partial = typename Functor::partial_type;
  (detail::expects_same_shape(first.view, rest.view, "reduce: shapes {} and {} differ"), ...);
  const Isa isa = context.isa();
  const index_t tasks = detail::task_count(detail::chunk_size, first.view, rest.view...);
  auto partials = context.template scratch<Partial>(tasks);
  for (index_t task = 0; task < tasks; ++task) partials[task] = static_cast<Partial>(functor.identity());
  detail::for_each_run(
      context, detail::chunk_size,
      [&](index_t task, index_t count, auto... ranges) {
        partials[task] = functor.combine(partials[task], static_cast<Partial>(detail::reduce_range(isa, functor, count, ranges...)));
      },
      first, rest...);
  Partial result = static_cast<Partial>(functor.identity());
  for (index_t task = 0; task < tasks; ++task) result = functor.combine(result, partials[task]);
  return result;
}

}  // namespace mezzo
