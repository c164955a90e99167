// One read over all gradients of a model: is anything not finite, and how large are they? The answer decides whether a step is
// taken and how it is clipped.
#pragma once

#include <vector>

#include <mezzo/context/cpu_context.hpp>
#include <mezzo/kernels/detail/cpu/ranges.hpp>
#include <mezzo/kernels/detail/cpu/rows.hpp>
#include <mezzo/kernels/functors.hpp>
#include <mezzo/tensor/tensor_list.hpp>

namespace mezzo {

/// What a pass over gradients found.
struct GradientCheck {
  bool has_nonfinite = false;
  double sum_of_squares = 0.0;  ///< right for every finite input; meaningless if has_nonfinite
};

namespace detail {

/// A piece of one run: what one call of a loop goes over.
struct Chunk {
  index_t run;
  index_t begin;
  index_t size;
};

/// Cuts runs into chunks, and chunks into tasks of about chunk_size elements, so that a thousand small tensors are a few tasks.
class ChunkTable {
 public:
  void add(index_t run, index_t size) {
    for (index_t begin = 0; begin < size; begin += chunk_size) {
      const index_t count = smaller(chunk_size, size - begin);
      if (m_task_begins.empty() || m_task_size + count > chunk_size) {
        m_task_begins.push_back(static_cast<index_t>(m_chunks.size()));
        m_task_size = 0;
      }
      m_task_size += count;
      m_chunks.push_back({run, begin, count});
    }
  }

  index_t chunk_count() const { return static_cast<index_t>(m_chunks.size()); }

  /// function(number, chunk) for each chunk, tasks in parallel.
  template <class Function>
  void for_each(CpuContext& context, const Function& function) const {
    const auto tasks = static_cast<index_t>(m_task_begins.size());
    context.parallel_for(tasks, [&](index_t task) {
      const index_t end = task + 1 < tasks ? m_task_begins[static_cast<std::size_t>(task + 1)] : chunk_count();
      for (index_t i = m_task_begins[static_cast<std::size_t>(task)]; i < end; ++i) function(i, m_chunks[static_cast<std::size_t>(i)]);
    });
  }

 private:
  std::vector<Chunk> m_chunks;
  std::vector<index_t> m_task_begins;
  index_t m_task_size = 0;
};

/// Magnitudes between which the fp32 sum of squares of one chunk neither overflows nor loses bits that matter: 2^-40 and 2^56.
constexpr bool squares_fit_fp32(std::uint32_t largest) { return largest >= 0x2B800000u && largest < 0x5B800000u; }

/// A chunk's check with its sum of squares in fp64 where fp32 would not do. `data` is what was checked.
template <class T>
GradientCheck finish_check(Isa isa, const FiniteCheck& check, index_t count, const T* data) {
  if (check.largest >= 0x7F800000u) return {true, 0.0};
  if (check.largest == 0) return {};
  if (squares_fit_fp32(check.largest)) return {false, static_cast<double>(check.sum_of_squares)};
  return {false, reduce_range(isa, SumOfSquares{}, count, read(data))};
}

/// Combines the checks of chunks in their order.
inline GradientCheck combine_checks(const GradientCheck* checks, index_t count) {
  GradientCheck result;
  for (index_t i = 0; i < count; ++i) {
    result.has_nonfinite = result.has_nonfinite || checks[i].has_nonfinite;
    result.sum_of_squares += checks[i].sum_of_squares;
  }
  return result;
}

}  // namespace detail

/// Checks every element of every run. The same bits for any number of threads.
template <class T>
GradientCheck check_finite(CpuContext& context, const std::vector<TensorRun<T>>& runs) {
  detail::ChunkTable table;
  for (std::size_t i = 0; i < runs.size(); ++i) table.add(static_cast<index_t>(i), runs[i].size);
  auto checks = context.template scratch<GradientCheck>(table.chunk_count());
  const Isa isa = context.isa();
  table.for_each(context, [&](index_t number, const detail::Chunk& chunk) {
    const T* data = runs[static_cast<std::size_t>(chunk.run)].data + chunk.begin;
    checks[number] = detail::finish_check(isa, detail::check_range(isa, chunk.size, data), chunk.size, data);
  });
  return detail::combine_checks(checks.data(), table.chunk_count());
}

/// to[i] = from[i] * factor, run by run, rounded once; checks the products in the same pass. `to` may be `from`.
template <class Out, class In>
GradientCheck scale_and_check(CpuContext& context, float factor, const std::vector<TensorRun<Out>>& to,
                              const std::vector<TensorRun<In>>& from) {
  detail::ChunkTable table;
  for (std::size_t i = 0; i < from.size(); ++i) table.add(static_cast<index_t>(i), from[i].size);
  auto checks = context.template scratch<GradientCheck>(table.chunk_count());
  const Isa isa = context.isa();
  table.for_each(context, [&](index_t number, const detail::Chunk& chunk) {
    const auto run = static_cast<std::size_t>(chunk.run);
    Out* out = to[run].data + chunk.begin;
    const std::remove_const_t<In>* in = from[run].data + chunk.begin;
    checks[number] =
        detail::finish_check(isa, detail::scale_check_range(isa, factor, chunk.size, out, in), chunk.size, static_cast<const Out*>(out));
  });
  return detail::combine_checks(checks.data(), table.chunk_count());
}

}  // namespace mezzo
