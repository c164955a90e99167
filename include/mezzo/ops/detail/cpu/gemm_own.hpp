// Matrix multiplication of mezzo's own: cache-blocked over packed panels, for every dtype, stride and option that gemm takes. The
// engines that call a library leave to it what their library does not do.
#pragma once

#include <type_traits>

#include <mezzo/ops/detail/cpu/each_isa_gemm.hpp>

namespace mezzo::detail {

/// What products of A and B are summed up in.
template <class A, class B>
using gemm_sum_t = std::conditional_t<std::is_same_v<A, double> || std::is_same_v<B, double>, double, float>;

/// out[m, n] = alpha a[m, k] b[k, n] + beta out + bias, checked and ready to compute. Strides count elements.
template <class A, class B, class Out>
struct GemmProblem {
  using sum_type = gemm_sum_t<A, B>;

  index_t m, n, k;
  const A* a;
  index_t a_row_stride, a_k_stride;
  const B* b;
  index_t b_k_stride, b_column_stride;
  GemmOutput<sum_type, Out> out;

  /// The same elements of out, computed as out^T = b^T a^T.
  GemmProblem<B, A, Out> transposed() const {
    return {n, m, k, b, b_column_stride, b_k_stride, a, a_k_stride, a_row_stride,
            {out.data, out.column_stride, out.row_stride, out.alpha, out.beta, out.column_bias, out.row_bias}};
  }

  /// The part of out with `rows` rows from `row` on and `columns` columns from `column` on.
  GemmProblem block(index_t row, index_t rows, index_t column, index_t columns) const {
    GemmProblem part = *this;
    part.m = rows;
    part.n = columns;
    part.a += row * a_row_stride;
    part.b += column * b_column_stride;
    part.out.data += row * out.row_stride + column * out.column_stride;
    if (out.row_bias != nullptr) part.out.row_bias += row;
    if (out.column_bias != nullptr) part.out.column_bias += column;
    return part;
  }
};

/// function(task) for every task, on the pool only where the multiplications are worth waking it.
template <class Function>
void run_gemm_tasks(CpuContext& context, index_t tasks, double multiplications, const Function& function) {
  if (multiplications < 65536) {
    for (index_t task = 0; task < tasks; ++task) function(task);
  } else {
    context.parallel_for(tasks, function);
  }
}

/// A product of two elements, for sums in reduce_range.
template <class V>
struct DotProduct {
  using value_type = V;
  MEZZO_HOST_DEVICE constexpr V identity() const { return V(0); }
  MEZZO_HOST_DEVICE constexpr V map(V x, V y) const { return x * y; }
  MEZZO_HOST_DEVICE constexpr V combine(V x, V y) const { return x + y; }
};

/// sum += factor * x.
template <class V>
struct AddProduct {
  V factor;
  MEZZO_HOST_DEVICE constexpr void operator()(V& sum, V x) const { sum += factor * x; }
};

/// A row vector times a matrix: nothing is packed, and each element of the matrix is read once. Sums over k in blocks.
template <class A, class B, class Out>
void multiply_vector(CpuContext& context, const GemmProblem<A, B, Out>& p) {
  using V = typename GemmProblem<A, B, Out>::sum_type;
  constexpr index_t block_k = 256, block_columns = 512;
  const Isa isa = context.isa();
  const double work = static_cast<double>(p.n) * static_cast<double>(p.k);
  auto x = context.scratch<V>(p.k);
  auto sums = context.scratch<V>(p.n);
  for (index_t i = 0; i < p.k; ++i) x[i] = static_cast<V>(p.a[i * p.a_k_stride]);

  if (p.b_k_stride == 1) {
    const index_t columns = ceil_divide(chunk_size, p.k);
    run_gemm_tasks(context, ceil_divide(p.n, columns), work, [&](index_t task) {
      const index_t begin = task * columns, end = smaller(p.n, begin + columns);
      for (index_t j = begin; j < end; ++j) sums[j] = reduce_range(isa, DotProduct<V>{}, p.k, read(x.data()), read(p.b + j * p.b_column_stride));
      store_tile(isa, p.out, 0, begin, 1, end - begin, static_cast<const V*>(sums.data() + begin), 0);
    });
    return;
  }
  run_gemm_tasks(context, ceil_divide(p.n, block_columns), work, [&](index_t task) {
    const index_t begin = task * block_columns, count = smaller(block_columns, p.n - begin);
    alignas(host_alignment) V partial[block_columns];
    for (index_t i = 0; i < count; ++i) sums[begin + i] = V(0);
    for (index_t first = 0; first < p.k; first += block_k) {
      for (index_t i = 0; i < count; ++i) partial[i] = V(0);
      for (index_t i = first; i < smaller(p.k, first + block_k); ++i) {
        transform_range(isa, AddProduct<V>{x[i]}, count, update(partial), read(p.b + i * p.b_k_stride + begin));
      }
      transform_range(isa, AddProduct<V>{V(1)}, count, update(sums.data() + begin), read(static_cast<const V*>(partial)));
    }
    store_tile(isa, p.out, 0, begin, 1, count, static_cast<const V*>(sums.data() + begin), 0);
  });
}

/// Matrices in blocks that fit the caches. Tasks and the order of every sum follow from the shape alone.
template <class A, class B, class Out>
void multiply_matrices(CpuContext& context, const GemmProblem<A, B, Out>& p) {
  using V = typename GemmProblem<A, B, Out>::sum_type;
  const Isa isa = context.isa();
  const GemmTileShape tile = gemm_tile_shape<V>(isa);
  const index_t tile_size = tile.rows * tile.columns;

  // A task multiplies block_rows x k_length of a, at home in the second-level cache, by k_length x block_columns of b.
  const index_t block_rows = ceil_divide(128, tile.rows) * tile.rows, block_columns = ceil_divide(128, tile.columns) * tile.columns;
  constexpr index_t longest_k = 384;
  const index_t k_blocks = p.k > longest_k ? ceil_divide(p.k, longest_k) : 1, k_length = ceil_divide(p.k, k_blocks);

  // The tasks of one area share its packed panels, and its sums stay in fp32 from one block of k to the next.
  const index_t area_rows = smaller(8 * block_rows, ceil_divide(p.m, tile.rows) * tile.rows);
  const index_t area_columns = smaller(16 * block_columns, ceil_divide(p.n, tile.columns) * tile.columns);
  auto packed_a = context.scratch<V>(area_rows * k_length);
  auto packed_b = context.scratch<V>(area_columns * k_length);
  auto sums = context.scratch<V>(k_blocks > 1 ? area_rows * area_columns : 0);

  for (index_t area_row = 0; area_row < p.m; area_row += area_rows) {
    for (index_t area_column = 0; area_column < p.n; area_column += area_columns) {
      const index_t rows = smaller(area_rows, p.m - area_row), columns = smaller(area_columns, p.n - area_column);
      const index_t row_tasks = ceil_divide(rows, block_rows), column_tasks = ceil_divide(columns, block_columns);
      const double work = static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(k_length);
      for (index_t k_block = 0; k_block < k_blocks; ++k_block) {
        const index_t first_k = smaller(p.k, k_block * k_length), k = smaller(k_length, p.k - first_k);
        run_gemm_tasks(context, row_tasks + column_tasks, work, [&](index_t task) {
          if (task < row_tasks) {
            const index_t i = task * block_rows;
            pack_rows(isa, packed_a.data() + i * k, p.a + (area_row + i) * p.a_row_stride + first_k * p.a_k_stride, smaller(block_rows, rows - i),
                      p.a_row_stride, k, p.a_k_stride);
          } else {
            const index_t j = (task - row_tasks) * block_columns;
            pack_columns(isa, packed_b.data() + j * k, p.b + (area_column + j) * p.b_column_stride + first_k * p.b_k_stride,
                         smaller(block_columns, columns - j), p.b_column_stride, k, p.b_k_stride);
          }
        });
        run_gemm_tasks(context, row_tasks * column_tasks, work, [&](index_t task) {
          const index_t i = task % row_tasks * block_rows, j = task / row_tasks * block_columns;
          const index_t sums_stride = area_columns / tile.columns * tile_size;
          V* const block_sums = k_blocks > 1 ? sums.data() + i / tile.rows * sums_stride + j / tile.columns * tile_size : nullptr;
          multiply_block(isa, GemmBlock<V, Out>{area_row + i, area_column + j, smaller(block_rows, rows - i), smaller(block_columns, columns - j), k,
                                                packed_a.data() + i * k, packed_b.data() + j * k, block_sums, sums_stride, k_block == 0,
                                                k_block == k_blocks - 1, p.out});
        });
      }
    }
  }
}

template <class A, class B, class Out>
void multiply_own(CpuContext& context, const GemmProblem<A, B, Out>& p) {
  if (p.m == 0 || p.n == 0) return;
  const bool is_column_major = p.out.column_stride != 1 && p.out.row_stride == 1;
  if (p.m > 1 && (p.n == 1 || is_column_major)) return multiply_own(context, p.transposed());
  if (p.m == 1 && p.k > 0 && (p.b_k_stride == 1 || p.b_column_stride == 1)) return multiply_vector(context, p);
  multiply_matrices(context, p);
}

}  // namespace mezzo::detail
