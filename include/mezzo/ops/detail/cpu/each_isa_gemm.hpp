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

// Operands and results without their dtypes: packing, driver and epilogue are compiled once, and a dtype adds how its elements are
// loaded and stored.
template <class V>
using GemmLoad = void (*)(Isa isa, V* to, const void* from, index_t rows, index_t columns, index_t row_stride, index_t column_stride);
template <class V>
using GemmStore = void (*)(Isa isa, void* to, const V* from, index_t rows, index_t columns, index_t stride, index_t row_stride,
                           index_t column_stride);

/// to[i] = the bfloat16 elements from[i * step] and from[i * step + pair_stride], in the halves of one element; the last `singles` have
/// no second, but 0.
inline void load_pairs(Isa isa, float* to, const bfloat16* from, index_t count, index_t step, index_t pair_stride, index_t singles);

/// Rows of a or columns of b: vectors of k elements, `stride` from one to the next.
template <class V>
struct GemmOperand {
  const void* data;
  index_t element_size, stride, k_stride;
  GemmLoad<V> load;
  bool is_sum_type;        ///< whether the elements are of type V
  bool is_paired = false;  ///< an element is a pair of bfloat16, pair_stride from each other
  index_t pair_stride = 0;
  index_t odd_pair = -1;  ///< the number of the last pair, if it lacks its second

  const void* at(index_t vector, index_t k) const {
    return static_cast<const char*>(data) + (vector * stride + k * k_stride) * element_size;
  }
  GemmOperand from(index_t vector, index_t k) const {
    GemmOperand rest = *this;
    rest.data = at(vector, k);
    rest.odd_pair -= k;
    return rest;
  }
  /// `k` single elements as pairs of them.
  GemmOperand in_pairs(index_t k) const {
    GemmOperand result = *this;
    result.is_paired = true;
    result.pair_stride = k_stride;
    result.k_stride = 2 * k_stride;
    if (k % 2 != 0) result.odd_pair = k / 2;
    return result;
  }

  /// `count` elements from (vector, k) on, of as many vectors, or along k: where they are, or loaded into `buffer`.
  const V* across(Isa isa, V* buffer, index_t vector, index_t k, index_t count) const {
    if (is_paired) return pairs(isa, buffer, at(vector, k), count, stride, k == odd_pair ? count : 0);
    return row(isa, buffer, at(vector, k), count, stride);
  }
  const V* along(Isa isa, V* buffer, index_t vector, index_t k, index_t count) const {
    if (is_paired) return pairs(isa, buffer, at(vector, k), count, k_stride, k + count - 1 == odd_pair ? 1 : 0);
    return row(isa, buffer, at(vector, k), count, k_stride);
  }

 private:
  const V* row(Isa isa, V* buffer, const void* begin, index_t count, index_t step) const {
    if (is_sum_type && step == 1) return static_cast<const V*>(begin);
    load(isa, buffer, begin, 1, count, 0, step);
    return buffer;
  }
  const V* pairs(Isa isa, V* buffer, const void* begin, index_t count, index_t step, index_t singles) const {
    const bool is_in_place = step == 2 && pair_stride == 1 && singles == 0 && reinterpret_cast<std::uintptr_t>(begin) % alignof(V) == 0;
    if (is_in_place) return static_cast<const V*>(begin);
    if constexpr (std::is_same_v<V, float>) {
      load_pairs(isa, buffer, static_cast<const bfloat16*>(begin), count, step, pair_stride, singles);
    }
    return buffer;
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
  GemmLoad<V> load;
  GemmStore<V> store;

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

#if defined(__x86_64__)
/// Whether there are instructions for panels of pairs of bfloat16.
inline bool multiplies_pairs(Isa isa) {
  static const bool has_instructions = __builtin_cpu_supports("avx512bf16");
  return isa == Isa::avx512 && has_instructions;
}
/// As multiply_tile, for such panels.
template <class V>
void multiply_pairs(index_t k, const V* a, const V* b, V* tile, bool adds) {
  if constexpr (std::is_same_v<V, float>) avx512::multiply_pairs(k, a, b, tile, adds);
}
#else
constexpr bool multiplies_pairs(Isa) { return false; }
template <class V>
void multiply_pairs(index_t, const V*, const V*, V*, bool) {}
#endif

inline void load_pairs(Isa isa, float* to, const bfloat16* from, index_t count, index_t step, index_t pair_stride, index_t singles) {
  MEZZO_DISPATCH(isa, load_pairs(to, from, count, step, pair_stride, singles))
}

template <class V>
void pack_panels(Isa isa, GemmSide side, V* to, const GemmOperand<V>& from, index_t count, index_t k) {
  MEZZO_DISPATCH(isa, pack_panels(side, to, from, count, k))
}

template <class V>
void apply_epilogue(Isa isa, const GemmResult<V>& out, index_t row, index_t column, index_t rows, index_t columns, V* tile,
                    index_t stride) {
  MEZZO_DISPATCH(isa, apply_epilogue(out, row, column, rows, columns, tile, stride))
}

template <class V, class T>
void load_elements(Isa isa, V* to, const void* from, index_t rows, index_t columns, index_t row_stride, index_t column_stride) {
  MEZZO_DISPATCH(isa, load_elements(to, static_cast<const T*>(from), rows, columns, row_stride, column_stride))
}

template <class V, class T>
void store_elements(Isa isa, void* to, const V* from, index_t rows, index_t columns, index_t stride, index_t row_stride,
                    index_t column_stride) {
  MEZZO_DISPATCH(isa, store_elements(static_cast<T*>(to), from, rows, columns, stride, row_stride, column_stride))
}

#undef MEZZO_DISPATCH

/// Finishes the elements of `out` from (row, column) on. Their products lie in `tile`, which may be out itself, and are overwritten.
template <class V>
void finish_tile(Isa isa, const GemmResult<V>& out, index_t row, index_t column, index_t rows, index_t columns, V* tile, index_t stride) {
  if (out.alpha != V(1) || out.beta != V(0) || out.row_bias != nullptr || out.column_bias != nullptr) {
    apply_epilogue(isa, out, row, column, rows, columns, tile, stride);
  }
  void* const target = out.at(row, column);
  if (target != tile) out.store(isa, target, tile, rows, columns, stride, out.row_stride, out.column_stride);
}

}  // namespace mezzo::detail
