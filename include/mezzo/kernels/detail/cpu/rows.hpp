// How views become runs of elements without gaps, and runs become tasks. Tasks are cut by size alone, never by the number of
// threads, so that results do not depend on it.
#pragma once

#include <type_traits>

#include <mezzo/context/cpu_context.hpp>
#include <mezzo/kernels/access.hpp>
#include <mezzo/kernels/detail/cpu/ranges.hpp>
#include <mezzo/tensor/viewable.hpp>

namespace mezzo::detail {

/// Elements of one task: its data fits a core's second-level cache, and starting it costs little beside it.
inline constexpr index_t chunk_size = 16384;

constexpr index_t ceil_divide(index_t a, index_t b) { return (a + b - 1) / b; }
constexpr index_t smaller(index_t a, index_t b) { return a < b ? a : b; }

/// Whether these views hold so much that reading and writing them through the caches would leave little else there.
template <class... Views>
bool exceeds_caches(const Views&... views) {
  return (... + (static_cast<std::size_t>(views.size()) * sizeof(typename Views::value_type))) > last_level_cache_size() / 2;
}

/// Elements of one task where results do not depend on it: few tasks, but several for each thread.
inline index_t elementwise_chunk(const CpuContext& context, index_t size) {
  const index_t pieces = context.threads() == 1 ? 1 : 4 * context.threads();
  return ceil_divide(size, pieces * chunk_size) * chunk_size;
}

/// Offset of the row with number `row`, counting all dimensions but the last.
template <class View>
constexpr index_t row_offset(const View& view, index_t row) {
  index_t offset = 0;
  for (int i = View::rank - 2; i >= 0; --i) {
    offset += row % view.extent(i) * view.stride(i);
    row /= view.extent(i);
  }
  return offset;
}

/// A piece of a row whose elements do not lie side by side, gathered before and scattered after the loop.
template <class A>
class StagedRun {
 public:
  static constexpr index_t capacity = 256;
  using range_type = typename A::range_type;

  StagedRun(const A& access, index_t row, index_t begin, index_t count, index_t stride)
      : m_data(access.view.data() + row_offset(access.view, row) + begin * stride), m_stride(stride), m_count(count) {
    if (m_stride == 1) return;
    if constexpr (range_type::is_read) {
      for (index_t i = 0; i < count; ++i) m_buffer[i] = m_data[i * m_stride];
    }
  }

  range_type range() { return {m_stride == 1 ? m_data : m_buffer}; }

  void finish() {
    if constexpr (range_type::is_written) {
      if (m_stride == 1) return;
      for (index_t i = 0; i < m_count; ++i) m_data[i * m_stride] = m_buffer[i];
    }
  }

 private:
  typename A::element_type* m_data;
  index_t m_stride, m_count;
  std::remove_const_t<typename A::element_type> m_buffer[capacity];
};

template <class Function, class... Runs>
void run_staged(const Function& function, index_t task, index_t count, Runs... runs) {
  function(task, count, runs.range()...);
  (runs.finish(), ...);
}

/// How many rows along the last dimension are one task.
template <class View>
constexpr index_t rows_per_task(const View& view) {
  return view.is_empty() ? 1 : ceil_divide(chunk_size, view.extent(View::rank - 1));
}

/// How many tasks for_each_run makes of these views in chunks of `chunk` elements.
template <class First, class... Rest>
constexpr index_t task_count(index_t chunk, const First& first, const Rest&... rest) {
  if constexpr (First::rank > 0) {  // a scalar is contiguous
    if (!first.is_contiguous() || (... || !rest.is_contiguous())) {
      return ceil_divide(first.size() / first.extent(First::rank - 1), rows_per_task(first));
    }
  }
  return first.is_empty() ? 0 : ceil_divide(first.size(), chunk);
}

/// The stride of the last dimension; 1 for a scalar.
template <class View>
constexpr index_t last_stride(const View& view) {
  if constexpr (View::rank > 0) return view.stride(View::rank - 1);
  return 1;
}

/// function(task, count, ranges...) over all elements of views of one shape, tasks in parallel; a task may be called several times,
/// in order. Views without gaps are cut into chunks of `chunk` elements.
template <class Function, class First, class... Rest>
void for_each_run(CpuContext& context, index_t chunk, const Function& function, const First& first, const Rest&... rest) {
  // Views without gaps are one long row. One loop for every case: a functor is compiled once.
  const bool is_flat = first.view.is_contiguous() && (rest.view.is_contiguous() && ...);
  const index_t size = first.view.size();
  index_t width = size, rows = 1, rows_each = 1, piece = chunk;
  if constexpr (First::view_type::rank > 0) {
    if (!is_flat) {
      width = first.view.extent(First::view_type::rank - 1);
      rows = size / width;
      rows_each = rows_per_task(first.view);
      piece = last_stride(first.view) == 1 && (... && (last_stride(rest.view) == 1)) ? width : StagedRun<First>::capacity;
    }
  }
  context.parallel_for(task_count(chunk, first.view, rest.view...), [&](index_t task) {
    const index_t first_row = is_flat ? 0 : task * rows_each, last_row = smaller(rows, first_row + rows_each);
    const index_t begin = is_flat ? task * chunk : 0, end = is_flat ? smaller(size, begin + chunk) : width;
    for (index_t row = first_row; row < last_row; ++row) {
      for (index_t i = begin; i < end; i += piece) {
        const index_t count = smaller(piece, end - i);
        run_staged(function, task, count, StagedRun<First>(first, row, i, count, is_flat ? 1 : last_stride(first.view)),
                   StagedRun<Rest>(rest, row, i, count, is_flat ? 1 : last_stride(rest.view))...);
      }
    }
  });
}

/// The rows of a view along its last dimension, one after the other: a row whose elements do not lie side by side is gathered in
/// scratch memory and scattered again.
template <class A>
class StagedRows {
 public:
  using range_type = typename A::range_type;

  StagedRows(CpuContext& context, const A& access)
      : m_access(access),
        m_width(access.view.extent(A::view_type::rank - 1)),
        m_stride(m_width == 1 ? 1 : access.view.stride(A::view_type::rank - 1)),
        m_buffer(context.template scratch<value_type>(m_stride == 1 ? 0 : m_width)) {}

  range_type begin(index_t row) {
    m_data = m_access.view.data() + row_offset(m_access.view, row);
    if (m_stride == 1) return {m_data};
    if constexpr (range_type::is_read) {
      for (index_t i = 0; i < m_width; ++i) m_buffer[i] = m_data[i * m_stride];
    }
    return {m_buffer.data()};
  }

  void end() {
    if constexpr (range_type::is_written) {
      if (m_stride == 1) return;
      for (index_t i = 0; i < m_width; ++i) m_data[i * m_stride] = m_buffer[i];
    }
  }

 private:
  using value_type = std::remove_const_t<typename A::element_type>;

  const A& m_access;
  index_t m_width, m_stride;
  Scratch<value_type> m_buffer;
  typename A::element_type* m_data = nullptr;
};

/// Stands among the accesses of for_each_row for memory of one row, which the rows of a task use one after the other.
template <class V>
struct RowScratch {
  index_t width;
};
template <class V>
class StagedRows<RowScratch<V>> {
 public:
  StagedRows(CpuContext& context, const RowScratch<V>& access) : m_buffer(context.template scratch<V>(access.width)) {}

  Range<V, AccessMode::update> begin(index_t) { return {m_buffer.data()}; }
  void end() {}

 private:
  Scratch<V> m_buffer;
};

/// Number of rows along the last dimension; 0 for an empty view.
template <class View>
constexpr index_t row_count(const View& view) {
  static_assert(View::rank > 0, "mezzo: a scalar has no rows");
  return view.is_empty() ? 0 : view.size() / view.extent(View::rank - 1);
}

template <class Function, class... Rows>
void run_rows(const Function& function, index_t task, index_t begin, index_t end, Rows... rows) {
  for (index_t row = begin; row < end; ++row) {
    function(task, row, rows.begin(row)...);
    (rows.end(), ...);
  }
  store_fence();
}

/// function(task, row, ranges...) for each row of views of one shape, `rows_each` rows a task, tasks in parallel.
template <class Function, class First, class... Rest>
void for_each_row(CpuContext& context, index_t rows_each, const Function& function, const First& first, const Rest&... rest) {
  const index_t rows = row_count(first.view);
  context.parallel_for(ceil_divide(rows, rows_each), [&](index_t task) {
    run_rows(function, task, task * rows_each, smaller(rows, (task + 1) * rows_each), StagedRows<First>(context, first),
             StagedRows<Rest>(context, rest)...);
  });
}

}  // namespace mezzo::detail
