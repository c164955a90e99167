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
template <class V>
struct GemmProblem {
  index_t m, n, k;
  GemmOperand<V> a, b;
  GemmResult<V> out;

  /// The same elements of out, computed as out^T = b^T a^T.
  GemmProblem transposed() const {
    GemmProblem result{n, m, k, b, a, out};
    std::swap(result.out.row_stride, result.out.column_stride);
    std::swap(result.out.row_bias, result.out.column_bias);
    return result;
  }

  /// The same product, with k in pairs.
  GemmProblem in_pairs() const {
    GemmProblem result = *this;
    result.a = a.in_pairs(k);
    result.b = b.in_pairs(k);
    result.k = (k + 1) / 2;
    return result;
  }

  /// The part of out with `rows` rows from `row` on and `columns` columns from `column` on.
  GemmProblem block(index_t row, index_t rows, index_t column, index_t columns) const {
    GemmProblem part = *this;
    part.m = rows;
    part.n = columns;
    part.a.data = a.at(row, 0);
    part.b.data = b.at(column, 0);
    part.out.data = out.at(row, column);
    if (out.row_bias != nullptr) part.out.row_bias += row;
    if (out.column_bias != nullptr) part.out.column_bias += column;
    return part;
  }
};

/// function(task) for every task, on the pool only where the multiplications are worth waking it.
template <class Function>
void run_gemm_tasks(CpuContext& context, index_t tasks, double multiplications, const Function& function) {
  const index_t tasks_each = multiplications < 65536 ? tasks : 1;
  context.parallel_for(ceil_divide(tasks, tasks_each), [&](index_t group) {
    for (index_t i = 0; i < tasks_each; ++i) function(group * tasks_each + i);
  });
}

/// One task: panels of a times panels of b, for `rows` rows and `columns` columns of out from (row, column) on. `sums` keeps tiles
/// between blocks of k, `sums_stride` to the next row of tiles; null where one block is all.
template <class V>
struct GemmBlock {
  index_t row, column, rows, columns, k;
  const V* a;
  const V* b;
  V* sums;
  index_t sums_stride;
  bool is_first, is_last, is_paired;
};

template <class V>
void multiply_block(Isa isa, const GemmTileShape& tile, const GemmBlock<V>& block, const GemmResult<V>& out) {
  constexpr index_t largest_tile = 512;
  alignas(host_alignment) V local[largest_tile];
  for (index_t j = 0; j < block.columns; j += tile.columns) {
    for (index_t i = 0; i < block.rows; i += tile.rows) {
      V* const sums = block.sums != nullptr ? block.sums + i / tile.rows * block.sums_stride + j * tile.rows : local;
      const V* const a = block.a + i * block.k;
      const V* const b = block.b + j * block.k;
      if (block.is_paired) {
        multiply_pairs(block.k, a, b, sums, !block.is_first);
      } else {
        multiply_tile(isa, block.k, a, b, sums, !block.is_first);
      }
      if (block.is_last) {
        finish_tile(isa, out, block.row + i, block.column + j, smaller(tile.rows, block.rows - i), smaller(tile.columns, block.columns - j),
                    sums, tile.columns);
      }
    }
  }
}

/// Matrices in blocks that fit the caches. Tasks and the order of every sum follow from the shape alone.
template <class V>
void multiply_panels(CpuContext& context, const GemmProblem<V>& p) {
  if (p.m == 0 || p.n == 0) return;
  const bool is_column_major = p.out.column_stride != 1 && p.out.row_stride == 1;
  if (p.m > 1 && (p.n == 1 || is_column_major)) return multiply_panels(context, p.transposed());

  const Isa isa = context.isa();
  const GemmTileShape tile = gemm_tile_shape<V>(isa);

  // A task multiplies block_rows x k_length of a, at home in the second-level cache, by k_length x block_columns of b.
  const index_t block_rows = ceil_divide(128, tile.rows) * tile.rows, block_columns = ceil_divide(128, tile.columns) * tile.columns;
  constexpr index_t longest_k = 384;
  const index_t k_blocks = p.k > longest_k ? ceil_divide(p.k, longest_k) : 1, k_length = ceil_divide(p.k, k_blocks);

  // The tasks of one area share its packed panels, and its sums stay in V from one block of k to the next.
  const index_t area_rows = smaller(8 * block_rows, ceil_divide(p.m, tile.rows) * tile.rows);
  const index_t area_columns = smaller(16 * block_columns, ceil_divide(p.n, tile.columns) * tile.columns);
  const index_t sums_stride = area_columns * tile.rows;
  auto packed_a = context.template scratch<V>(area_rows * k_length);
  auto packed_b = context.template scratch<V>(area_columns * k_length);
  auto sums = context.template scratch<V>(k_blocks > 1 ? area_rows * area_columns : 0);

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
            pack_panels(isa, GemmSide::rows, packed_a.data() + i * k, p.a.from(area_row + i, first_k), smaller(block_rows, rows - i), k);
          } else {
            const index_t j = (task - row_tasks) * block_columns;
            pack_panels(isa, GemmSide::columns, packed_b.data() + j * k, p.b.from(area_column + j, first_k),
                        smaller(block_columns, columns - j), k);
          }
        });
        run_gemm_tasks(context, row_tasks * column_tasks, work, [&](index_t task) {
          const index_t i = task % row_tasks * block_rows, j = task / row_tasks * block_columns;
          V* const block_sums = k_blocks > 1 ? sums.data() + i / tile.rows * sums_stride + j * tile.rows : nullptr;
          multiply_block(isa, tile,
                         GemmBlock<V>{area_row + i, area_column + j, smaller(block_rows, rows - i), smaller(block_columns, columns - j), k,
                                      packed_a.data() + i * k, packed_b.data() + j * k, block_sums, sums_stride, k_block == 0,
                                      k_block == k_blocks - 1, p.a.is_paired},
                         p.out);
        });
      }
    }
  }
}

/// The product of A and B by mezzo's own kernels.
template <class A, class B>
void multiply_own(CpuContext& context, const GemmProblem<gemm_sum_t<A, B>>& p) {
  if constexpr (std::is_same_v<A, bfloat16> && std::is_same_v<B, bfloat16>) {
    if (multiplies_pairs(context.isa())) return multiply_panels(context, p.in_pairs());
  }
  multiply_panels(context, p);
}

}  // namespace mezzo::detail
