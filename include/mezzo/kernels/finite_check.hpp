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

  index_t task_count() const { return static_cast<index_t>(m_task_begins.size()); }

  /// function(task, begin, end) for each task and its chunks, tasks in parallel.
  template <class Function>
  void for_each_task(CpuContext& context, const Function& function) const {
    context.parallel_for(task_count(), [&](index_t task) {
      const auto next = static_cast<std::size_t>(task + 1);
      const Chunk* const chunks = m_chunks.data();
      const index_t end = next < m_task_begins.size() ? m_task_begins[next] : static_cast<index_t>(m_chunks.size());
      function(task, chunks + m_task_begins[static_cast<std::size_t>(task)], chunks + end);
    });
  }

 private:
  std::vector<Chunk> m_chunks;
  std::vector<index_t> m_task_begins;
  index_t m_task_size = 0;
};

/// Magnitudes between which the fp32 sum of squares of one task neither overflows nor loses bits that matter: 2^-40 and 2^56.
constexpr bool squares_fit_fp32(std::uint32_t largest) { return largest >= 0x2B800000u && largest < 0x5B800000u; }

/// pass(isa, checks, chunk) for the chunks of each task, and the sum of squares of `checked` in fp64 where fp32 would not do.
template <class T, class Pass>
GradientCheck check_chunks(CpuContext& context, const std::vector<TensorRun<T>>& checked, const Pass& pass) {
  ChunkTable table;
  for (std::size_t i = 0; i < checked.size(); ++i) table.add(static_cast<index_t>(i), checked[i].size);
  auto results = context.template scratch<GradientCheck>(table.task_count());
  const Isa isa = context.isa();
  table.for_each_task(context, [&](index_t task, const Chunk* begin, const Chunk* end) {
    FiniteChecks checks;
    for (const Chunk* chunk = begin; chunk != end; ++chunk) pass(isa, checks, *chunk);
    const FiniteCheck check = combine_checks(checks);
    GradientCheck result{check.largest >= 0x7F800000u, static_cast<double>(check.sum_of_squares)};
    if (!result.has_nonfinite && check.largest > 0 && !squares_fit_fp32(check.largest)) {
      result.sum_of_squares = 0.0;
      for (const Chunk* chunk = begin; chunk != end; ++chunk) {
        const T* const data = checked[static_cast<std::size_t>(chunk->run)].data + chunk->begin;
        result.sum_of_squares += reduce_range(isa, SumOfSquares{}, chunk->size, read(data));
      }
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
  return detail::check_chunks(context, runs, [&](Isa isa, detail::FiniteChecks& checks, const detail::Chunk& chunk) {
    const std::remove_const_t<T>* data = runs[static_cast<std::size_t>(chunk.run)].data + chunk.begin;
    detail::check_range(isa, checks, chunk.size, data);
  });
}

/// to[i] = from[i] * factor, run by run, rounded once; checks the products in the same pass. `to` may be `from`.
template <class Out, class In>
GradientCheck scale_and_check(CpuContext& context, float factor, const std::vector<TensorRun<Out>>& to,
                              const std::vector<TensorRun<In>>& from) {
  return detail::check_chunks(context, to, [&](Isa isa, detail::FiniteChecks& checks, const detail::Chunk& chunk) {
    const auto run = static_cast<std::size_t>(chunk.run);
    const std::remove_const_t<In>* in = from[run].data + chunk.begin;
    detail::scale_check_range(isa, checks, factor, chunk.size, to[run].data + chunk.begin, in);
  });
}

}  // namespace mezzo
