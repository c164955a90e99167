// What the engines that call a library have in common: which matrices a BLAS takes, and the blocks that the context's own threads
// give it. A library that ran threads of its own would fight with them, and its sums could depend on their number.
#pragma once

#include <mezzo/ops/detail/cpu/gemm_own.hpp>

namespace mezzo::detail {

/// A matrix as a BLAS takes it: rows one `leading` after the other, or columns where it is transposed.
struct BlasMatrix {
  bool is_suitable, is_transposed;
  index_t leading;
};

constexpr BlasMatrix blas_matrix(index_t rows, index_t columns, index_t row_stride, index_t column_stride) {
  constexpr index_t largest = 0x7FFFFFFF;
  const bool is_row_major = column_stride == 1 && row_stride >= columns && row_stride <= largest;
  const bool is_column_major = row_stride == 1 && column_stride >= rows && column_stride <= largest;
  return {rows <= largest && columns <= largest && (is_row_major || is_column_major), !is_row_major,
          is_row_major ? row_stride : column_stride};
}

/// Whether p is worth a library's call, and means there what it means here: BLAS does not look at a and b where alpha is 0.
template <class V>
constexpr bool suits_library(const GemmProblem<V>& p) {
  return p.m > 1 && p.n > 1 && p.k > 0 && p.out.alpha != 0 && blas_matrix(p.m, p.k, p.a.stride, p.a.k_stride).is_suitable &&
         blas_matrix(p.k, p.n, p.b.k_stride, p.b.stride).is_suitable;
}

/// function(block) for the blocks of p, which follow from its shape alone, in parallel.
template <class V, class Function>
void for_each_library_block(CpuContext& context, const GemmProblem<V>& p, const Function& function) {
  constexpr index_t longest = 512, multiple = 16;
  const auto length = [](index_t extent) { return ceil_divide(ceil_divide(extent, ceil_divide(extent, longest)), multiple) * multiple; };
  const index_t rows = length(p.m), columns = length(p.n), row_blocks = ceil_divide(p.m, rows);
  const double work = static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  run_gemm_tasks(context, row_blocks * ceil_divide(p.n, columns), work, [&](index_t task) {
    const index_t row = task % row_blocks * rows, column = task / row_blocks * columns;
    function(p.block(row, smaller(rows, p.m - row), column, smaller(columns, p.n - column)));
  });
}

/// Adds the bias to a finished product of V.
template <class V>
void add_bias(Isa isa, const GemmProblem<V>& p) {
  GemmResult<V> out = p.out;
  out.alpha = V(1);
  out.beta = V(0);
  finish_tile(isa, out, 0, 0, p.m, p.n, static_cast<V*>(out.data), out.row_stride);
}

}  // namespace mezzo::detail
