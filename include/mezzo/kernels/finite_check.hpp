// One read over all gradients of a model: is anything not finite, and how large are they? The answer decides whether a step is
// taken and how it is clipped.
#pragma once

#include <vector>

#include <mezzo/context/cpu_context.hpp>
#include <mezzo/kernels/detail/cpu/ranges.hpp>
#include <mezzo/kernels/detail/cpu/rows.hpp>
#include <mezzo/kernels/functors.hpp>
#include <mezzo/numeric/is_finite.hpp>
#include <mezzo/tensor/tensor_list.hpp>

namespace mezzo {

/// What a pass over gradients found.
struct GradientCheck {
  bool has_nonfinite = false;
  double sum_of_squares = 0.0;  ///< right for every finite input; meaningless if has_nonfinite
};

namespace detail {

/// Cuts runs into chunks, and puts chunks together to tasks of at most chunk_size elements, so that a thousand small tensors are a
/// few tasks.
class ChunkTable {
 public:
  /// `runs` runs, of size_of(run) elements each.
  template <class SizeOf>
  ChunkTable(std::size_t runs, const SizeOf& size_of) {
    if (runs == 1) {
      m_single_size = size_of(0);
      return;
    }
    index_t chunks = 0;
    for (std::size_t run = 0; run < runs; ++run) chunks += ceil_divide(size_of(run), chunk_size);
    m_chunks.reserve(static_cast<std::size_t>(chunks));
    m_task_begins.reserve(static_cast<std::size_t>(chunks));
    for (std::size_t run = 0; run < runs; ++run) add(static_cast<index_t>(run), size_of(run));
  }

  index_t task_count() const { return static_cast<index_t>(m_task_begins.size()) + ceil_divide(m_single_size, chunk_size); }

  /// function(task, begin, end) for each task and its chunks, tasks in parallel.
  template <class Function>
  void for_each_task(CpuContext& context, const Function& function) const {
    context.parallel_for(task_count(), [&](index_t task) {
      const index_t first = task * chunk_size;
      const Chunk single{0, first, smaller(chunk_size, m_single_size - first)};
      const Chunk *begin = &single, *end = begin + 1;
      if (m_single_size == 0) {
        const auto next = static_cast<std::size_t>(task + 1);
        begin = m_chunks.data() + m_task_begins[next - 1];
        end = next < m_task_begins.size() ? m_chunks.data() + m_task_begins[next] : m_chunks.data() + m_chunks.size();
      }
      function(task, begin, end);
    });
  }

 private:
  static constexpr index_t most_chunks = 16;  // of one task: their sums are added up one after the other

  void add(index_t run, index_t size) {
    for (index_t begin = 0; begin < size; begin += chunk_size) {
      const index_t count = smaller(chunk_size, size - begin), number = static_cast<index_t>(m_chunks.size());
      if (m_task_begins.empty() || m_task_size + count > chunk_size || number - m_task_begins.back() == most_chunks) {
        m_task_begins.push_back(number);
        m_task_size = 0;
      }
      m_task_size += count;
      m_chunks.push_back({run, begin, count});
    }
  }

  std::vector<Chunk> m_chunks;
  std::vector<index_t> m_task_begins;
  index_t m_task_size = 0;
  index_t m_single_size = 0;  // a single run needs no table
};

/// pass(isa, sums, begin, end) for the chunks of each task, and fp64 where fp32 would not do for `checked`.
template <class T, class Pass>
GradientCheck check_runs(CpuContext& context, const std::vector<TensorRun<T>>& checked, const Pass& pass) {
  const ChunkTable table(checked.size(), [&](std::size_t run) { return checked[run].size; });
  auto results = context.template scratch<GradientCheck>(table.task_count());
  const Isa isa = context.isa();
  table.for_each_task(context, [&](index_t task, const Chunk* begin, const Chunk* end) {
    alignas(host_alignment) float sums[block_size];
    pass(isa, sums, begin, end);
    // A finite sum of squares proves that all elements are finite. The barrier keeps fast-math from knowing where it comes from.
    auto sum = static_cast<double>(combine_pairwise(sums, [](float a, float b) { return a + b; }));
    asm("" : "+m"(sum));
    GradientCheck result{false, sum};
    if (!squares_fit_fp32(sum)) {
      result.sum_of_squares = 0.0;
      for (const Chunk* chunk = begin; chunk != end; ++chunk) {
        const T* const data = checked[static_cast<std::size_t>(chunk->run)].data + chunk->begin;
        result.sum_of_squares += reduce_range(isa, SumOfSquares{}, chunk->size, read(data));
      }
      asm("" : "+m"(result.sum_of_squares));
      result.has_nonfinite = !is_finite(result.sum_of_squares);  // in fp64 no square of fp32 overflows
    }
    results[task] = result;
  });
  GradientCheck result;
  for (index_t task = 0; task < table.task_count(); ++task) {
    result.has_nonfinite = result.has_nonfinite || results[task].has_nonfinite;
    result.sum_of_squares += results[task].sum_of_squares;
  }
  return result;
}

}  // namespace detail

/// Checks every element of every run. The same bits for any number of threads.
template <class T>
GradientCheck check_finite(CpuContext& context, const std::vector<TensorRun<T>>& runs) {
  return detail::check_runs(context, runs, [&](Isa isa, float* sums, const detail::Chunk* begin, const detail::Chunk* end) {
    detail::check_chunks<std::remove_const_t<T>>(isa, sums, begin, end, runs.data());
  });
}

/// to[i] = from[i] * factor, run by run, rounded once; checks the products in the same pass. `to` may be `from`.
template <class Out, class In>
GradientCheck scale_and_check(CpuContext& context, float factor, const std::vector<TensorRun<Out>>& to,
                              const std::vector<TensorRun<In>>& from) {
  return detail::check_runs(context, to, [&](Isa isa, float* sums, const detail::Chunk* begin, const detail::Chunk* end) {
    detail::scale_check_chunks<Out, std::remove_const_t<In>>(isa, sums, factor, begin, end, to.data(), from.data());
  });
}

}  // namespace mezzo
