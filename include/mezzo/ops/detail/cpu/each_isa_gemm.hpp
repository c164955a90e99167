// Compiles the matrix kernel once per instruction set, as kernels/detail/cpu/each_isa.hpp does with the loops. Its block loads
// and stores are those of the loops.
#pragma once

#include <type_traits>
#include <utility>

#include <mezzo/kernels/transform.hpp>

namespace mezzo::detail {

/// Where products go: out = alpha * product + beta * out + bias, rounded once. `row_bias` has one element per row, `column_bias` one
/// per column; either may be null. out is read only where beta is not 0.
template <class V, class Out>
struct GemmOutput {
  Out* data;
  index_t row_stride, column_stride;
  V alpha, beta;
  const V* row_bias;
  const V* column_bias;
};

/// A panel holds `rows` rows of a or `columns` columns of b, k by k.
struct GemmTileShape {
  index_t rows, columns;
};

/// One task: panels of a times panels of b. `sums` keeps tiles between blocks of k, `sums_stride` to the row of panels; null where
/// one block is all.
template <class V, class Out>
struct GemmBlock {
  index_t row, column, rows, columns, k;  // row and column within `out`
  const V* a;
  const V* b;
  V* sums;
  index_t sums_stride;
  bool is_first, is_last;
  GemmOutput<V, Out> out;
};

}  // namespace mezzo::detail

#define MEZZO_ISA baseline
#define MEZZO_VECTOR_BYTES 16
#define MEZZO_TARGET
#include <mezzo/ops/detail/cpu/gemm.inl>
#undef MEZZO_ISA
#undef MEZZO_VECTOR_BYTES
#undef MEZZO_TARGET

#if defined(__x86_64__)
#define MEZZO_ISA avx2
#define MEZZO_VECTOR_BYTES 32
#define MEZZO_TARGET [[gnu::target("avx2,fma,f16c")]]
#include <mezzo/ops/detail/cpu/gemm.inl>
#undef MEZZO_ISA
#undef MEZZO_VECTOR_BYTES
#undef MEZZO_TARGET

#define MEZZO_ISA avx512
#define MEZZO_VECTOR_BYTES 64
#define MEZZO_TARGET [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]]
#include <mezzo/ops/detail/cpu/gemm.inl>
#undef MEZZO_ISA
#undef MEZZO_VECTOR_BYTES
#undef MEZZO_TARGET
#endif

namespace mezzo::detail {

#if defined(__x86_64__)
#define MEZZO_DISPATCH(isa, call) \
  switch (isa) { \
    case Isa::avx512: return avx512::call; \
    case Isa::avx2: return avx2::call; \
    default: return baseline::call; \
  }
#else
#define MEZZO_DISPATCH(isa, call) return static_cast<void>(isa), baseline::call;
#endif

template <class V>
GemmTileShape gemm_tile_shape(Isa isa) {
  MEZZO_DISPATCH(isa, gemm_tile_shape<V>())
}

template <class V, class T>
void pack_rows(Isa isa, V* to, const T* from, index_t rows, index_t row_stride, index_t k, index_t k_stride) {
  MEZZO_DISPATCH(isa, pack_rows(to, from, rows, row_stride, k, k_stride))
}

template <class V, class T>
void pack_columns(Isa isa, V* to, const T* from, index_t columns, index_t column_stride, index_t k, index_t k_stride) {
  MEZZO_DISPATCH(isa, pack_columns(to, from, columns, column_stride, k, k_stride))
}

template <class V, class Out>
void multiply_block(Isa isa, const GemmBlock<V, Out>& block) {
  MEZZO_DISPATCH(isa, multiply_block(block))
}

template <class V, class Out>
void store_tile(Isa isa, const GemmOutput<V, Out>& out, index_t row, index_t column, index_t rows, index_t columns, const V* tile, index_t stride) {
  MEZZO_DISPATCH(isa, store_tile(out, row, column, rows, columns, tile, stride))
}

#undef MEZZO_DISPATCH

}  // namespace mezzo::detail
