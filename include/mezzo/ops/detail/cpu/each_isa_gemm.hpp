// Compiles the matrix kernel once per instruction set, as kernels/detail/cpu/each_isa.hpp does with the loops. Its block loads
// and stores are those of the loops.
#pragma once

#include <type_traits>
#include <utility>

#include <mezzo/kernels/transform.hpp>

namespace mezzo::detail {

/// A panel holds `rows` rows of a or `columns` columns of b, k by k.
struct GemmTileShape {
  index_t rows, columns;
};

enum class GemmSide { rows, columns };

// Operands and results without their dtypes: the driver is compiled once, and a dtype adds its packing and its stores alone.

/// Rows of a or columns of b: vectors of k elements, `stride` from one to the next.
template <class V>
struct GemmOperand {
  const void* data;
  index_t element_size, stride, k_stride;
  void (*pack)(Isa isa, GemmSide side, V* to, const void* from, index_t count, index_t stride, index_t k, index_t k_stride);

  const void* at(index_t vector, index_t k) const {
    return static_cast<const char*>(data) + (vector * stride + k * k_stride) * element_size;
  }
};

/// Where products go: out = alpha * product + beta * out + bias, rounded once. `row_bias` has one element per row, `column_bias` one
/// per column; either may be null. out is read only where beta is not 0.
template <class V>
struct GemmResult {
  void* data;
  index_t element_size, row_stride, column_stride;
  V alpha, beta;
  const V* row_bias;
  const V* column_bias;
  void (*store)(Isa isa, const GemmResult& out, index_t row, index_t column, index_t rows, index_t columns, const V* tile, index_t stride);

  void* at(index_t row, index_t column) const {
    return static_cast<char*>(data) + (row * row_stride + column * column_stride) * element_size;
  }
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
  switch (isa) {                  \
    case Isa::avx512:             \
      return avx512::call;        \
    case Isa::avx2:               \
      return avx2::call;          \
    default:                      \
      return baseline::call;      \
  }
#else
#define MEZZO_DISPATCH(isa, call) return static_cast<void>(isa), baseline::call;
#endif

template <class V>
GemmTileShape gemm_tile_shape(Isa isa) {
  MEZZO_DISPATCH(isa, gemm_tile_shape<V>())
}

template <class V>
void multiply_tile(Isa isa, index_t k, const V* a, const V* b, V* tile, bool adds) {
  MEZZO_DISPATCH(isa, multiply_tile(k, a, b, tile, adds))
}

template <class V, class T>
void pack_panels(Isa isa, GemmSide side, V* to, const void* from, index_t count, index_t stride, index_t k, index_t k_stride) {
  MEZZO_DISPATCH(isa, pack_panels(side, to, static_cast<const T*>(from), count, stride, k, k_stride))
}

template <class V, class Out>
void store_tile(Isa isa, const GemmResult<V>& out, index_t row, index_t column, index_t rows, index_t columns, const V* tile,
                index_t stride) {
  MEZZO_DISPATCH(isa, store_tile<Out>(out, row, column, rows, columns, tile, stride))
}

#undef MEZZO_DISPATCH

}  // namespace mezzo::detail
