// The matrix kernel, for the instruction set that each_isa_gemm.hpp has chosen: packing into panels, a micro-kernel that keeps a
// tile of sums in registers, and the stores. Included once per instruction set.

namespace mezzo::detail::MEZZO_ISA {

/// The tile that the micro-kernel keeps in registers.
template <class V>
struct Tile {
  typedef V vector __attribute__((vector_size(MEZZO_VECTOR_BYTES), aligned(16), may_alias));
  static constexpr int width = MEZZO_VECTOR_BYTES / static_cast<int>(sizeof(V));
  static constexpr int vectors = MEZZO_VECTOR_BYTES == 32 ? 3 : 2;
  static constexpr int rows = MEZZO_VECTOR_BYTES == 64 ? 8 : 4;
  static constexpr int columns = vectors * width;
  static constexpr int size = rows * columns;
};

template <class V>
constexpr GemmTileShape gemm_tile_shape() {
  return {Tile<V>::rows, Tile<V>::columns};
}

// Folds instead of loops: with constant indices both compilers keep the sums in registers.
template <class V, std::size_t... I>
MEZZO_TARGET [[gnu::always_inline]] inline void load_vectors(typename Tile<V>::vector* to, const V* from, std::index_sequence<I...>) {
  ((to[I] = *reinterpret_cast<const typename Tile<V>::vector*>(from + I * Tile<V>::width)), ...);
}
template <class V, std::size_t... I>
MEZZO_TARGET [[gnu::always_inline]] inline void store_vectors(V* to, const typename Tile<V>::vector* from, std::index_sequence<I...>) {
  ((*reinterpret_cast<typename Tile<V>::vector*>(to + I * Tile<V>::width) = from[I]), ...);
}
template <class V, std::size_t... I>
MEZZO_TARGET [[gnu::always_inline]] inline void zero_vectors(typename Tile<V>::vector* to, std::index_sequence<I...>) {
  ((to[I] = typename Tile<V>::vector{}), ...);
}
template <class V, std::size_t... I>
MEZZO_TARGET [[gnu::always_inline]] inline void multiply_add(typename Tile<V>::vector* sums, const V* a, const typename Tile<V>::vector* b,
                                                             std::index_sequence<I...>) {
  ((sums[I] += a[I / Tile<V>::vectors] * b[I % Tile<V>::vectors]), ...);
}

/// tile = a panel of a times a panel of b, added to what the tile holds where `adds`.
template <class V>
MEZZO_TARGET MEZZO_OPTIMIZED void multiply_tile(index_t k, const V* a, const V* b, V* tile, bool adds) {
  constexpr std::make_index_sequence<Tile<V>::rows * Tile<V>::vectors> all;
  constexpr std::make_index_sequence<Tile<V>::vectors> one_row;
  typename Tile<V>::vector sums[Tile<V>::rows * Tile<V>::vectors];
  if (adds) {
    load_vectors(sums, static_cast<const V*>(tile), all);
  } else {
    zero_vectors<V>(sums, all);
  }
  for (index_t i = 0; i < k; ++i, a += Tile<V>::rows, b += Tile<V>::columns) {
    typename Tile<V>::vector row[Tile<V>::vectors];
    load_vectors(row, b, one_row);
    multiply_add(sums, a, row, all);
  }
  store_vectors(tile, sums, all);
}

typedef float f32x4 __attribute__((vector_size(16), aligned(4), may_alias));

/// Four rows of four become four columns of four, each `to_stride` after the other.
MEZZO_TARGET [[gnu::always_inline]] inline void transpose_4x4(float* to, index_t to_stride, const float* a, const float* b, const float* c,
                                                              const float* d) {
  const f32x4 row0 = *reinterpret_cast<const f32x4*>(a), row1 = *reinterpret_cast<const f32x4*>(b);
  const f32x4 row2 = *reinterpret_cast<const f32x4*>(c), row3 = *reinterpret_cast<const f32x4*>(d);
#if defined(__clang__)
  const f32x4 low01 = __builtin_shufflevector(row0, row1, 0, 4, 1, 5), high01 = __builtin_shufflevector(row0, row1, 2, 6, 3, 7);
  const f32x4 low23 = __builtin_shufflevector(row2, row3, 0, 4, 1, 5), high23 = __builtin_shufflevector(row2, row3, 2, 6, 3, 7);
  *reinterpret_cast<f32x4*>(to) = __builtin_shufflevector(low01, low23, 0, 1, 4, 5);
  *reinterpret_cast<f32x4*>(to + to_stride) = __builtin_shufflevector(low01, low23, 2, 3, 6, 7);
  *reinterpret_cast<f32x4*>(to + 2 * to_stride) = __builtin_shufflevector(high01, high23, 0, 1, 4, 5);
  *reinterpret_cast<f32x4*>(to + 3 * to_stride) = __builtin_shufflevector(high01, high23, 2, 3, 6, 7);
#else
  typedef std::int32_t mask __attribute__((vector_size(16)));
  constexpr mask low{0, 4, 1, 5}, high{2, 6, 3, 7}, first{0, 1, 4, 5}, second{2, 3, 6, 7};
  const f32x4 low01 = __builtin_shuffle(row0, row1, low), high01 = __builtin_shuffle(row0, row1, high);
  const f32x4 low23 = __builtin_shuffle(row2, row3, low), high23 = __builtin_shuffle(row2, row3, high);
  *reinterpret_cast<f32x4*>(to) = __builtin_shuffle(low01, low23, first);
  *reinterpret_cast<f32x4*>(to + to_stride) = __builtin_shuffle(low01, low23, second);
  *reinterpret_cast<f32x4*>(to + 2 * to_stride) = __builtin_shuffle(high01, high23, first);
  *reinterpret_cast<f32x4*>(to + 3 * to_stride) = __builtin_shuffle(high01, high23, second);
#endif
}

/// Panels of `Width` vectors each, k by k; the last one is filled up with zeros. Element (i, j) lies at from[i * stride + j * k_stride]
/// and goes to to[i / Width * Width * k + j * Width + i % Width].
template <int Width, class V, class T>
MEZZO_TARGET void pack_width(V* to, const T* from, index_t count, index_t stride, index_t k, index_t k_stride) {
  index_t i = 0;  // vectors that are done
  if (stride == 1 && Width % block_size == 0) {
    i = count / Width * Width;
    for (index_t j = 0; j < k; ++j) {
      const T* source = from + j * k_stride;
      V* target = to + j * Width;
      for (index_t first = 0; first < i; first += Width, source += Width, target += Width * k) {
        for (int l = 0; l < Width; l += block_size) {
          Block<V> block;
          load_block(block, source + l);
          store_block(target + l, block);
        }
      }
    }
  } else if (stride == 1) {
    constexpr int piece = Width % 8 == 0 ? 8 : 4;
    i = count / block_size * block_size;
    for (index_t j = 0; j < k; ++j) {
      for (index_t first = 0; first < i; first += block_size) {
        Block<V> block;
        load_block(block, from + first + j * k_stride);
        for (index_t l = 0; l < block_size; l += piece) {
          V* const target = to + (first + l) / Width * Width * k + j * Width + (first + l) % Width;
          __builtin_memcpy(target, block.at + l, piece * sizeof(V));
        }
      }
    }
  } else if (k_stride == 1 && std::is_same_v<V, float>) {
    if constexpr (std::is_same_v<V, float>) {
      for (; i + 4 <= count; i += 4) {
        float* const target = to + i / Width * Width * k + i % Width;
        index_t j = 0;
        for (; j + block_size <= k; j += block_size) {
          Block<float> rows[4];
          for (int l = 0; l < 4; ++l) load_block(rows[l], from + (i + l) * stride + j);
          for (int l = 0; l < block_size; l += 4) {
            transpose_4x4(target + (j + l) * Width, Width, rows[0].at + l, rows[1].at + l, rows[2].at + l, rows[3].at + l);
          }
        }
        for (; j < k; ++j) {
          for (int l = 0; l < 4; ++l) target[j * Width + l] = static_cast<V>(from[(i + l) * stride + j]);
        }
      }
    }
  }
  const index_t end = (count + Width - 1) / Width * Width;
  for (; i < end; ++i) {
    V* const target = to + i / Width * Width * k + i % Width;
    if (i < count) {
      for (index_t j = 0; j < k; ++j) target[j * Width] = static_cast<V>(from[i * stride + j * k_stride]);
    } else {
      for (index_t j = 0; j < k; ++j) target[j * Width] = V(0);
    }
  }
}

template <class V, class T>
void pack_panels(GemmSide side, V* to, const T* from, index_t count, index_t stride, index_t k, index_t k_stride) {
  if (side == GemmSide::rows) return pack_width<Tile<V>::rows>(to, from, count, stride, k, k_stride);
  pack_width<Tile<V>::columns>(to, from, count, stride, k, k_stride);
}

/// Finishes the elements of `out` from (row, column) on, their products lying in `tile`, `stride` from row to row.
template <class Out, class V>
MEZZO_TARGET void store_tile(const GemmResult<V>& out, index_t row, index_t column, index_t rows, index_t columns, const V* tile,
                             index_t stride) {
  for (index_t i = 0; i < rows; ++i, tile += stride) {
    Out* const target = static_cast<Out*>(out.at(row + i, column));
    const V row_bias = out.row_bias != nullptr ? out.row_bias[row + i] : V(0);
    const V* const column_bias = out.column_bias != nullptr ? out.column_bias + column : nullptr;
    index_t j = 0;
    if constexpr (std::is_same_v<compute_type_t<Out>, V>) {
      const index_t whole = out.column_stride == 1 ? columns : 0;
      for (; j + block_size <= whole; j += block_size) {
        Block<V> block, other;
        load_block(block, tile + j);
        MEZZO_VECTORIZE
        for (int l = 0; l < block_size; ++l) block.at[l] *= out.alpha;
        if (out.beta != V(0)) {
          load_block(other, target + j);
          MEZZO_VECTORIZE
          for (int l = 0; l < block_size; ++l) block.at[l] += out.beta * other.at[l];
        }
        if (column_bias != nullptr) {
          load_block(other, column_bias + j);
          MEZZO_VECTORIZE
          for (int l = 0; l < block_size; ++l) block.at[l] += other.at[l];
        }
        if (out.row_bias != nullptr) {
          MEZZO_VECTORIZE
          for (int l = 0; l < block_size; ++l) block.at[l] += row_bias;
        }
        store_block(target + j, block);
      }
    }
    for (; j < columns; ++j) {
      V value = out.alpha * tile[j];
      if (out.beta != V(0)) value += out.beta * static_cast<V>(target[j * out.column_stride]);
      if (column_bias != nullptr) value += column_bias[j];
      if (out.row_bias != nullptr) value += row_bias;
      target[j * out.column_stride] = convert<Out>(value);
    }
  }
}

}  // namespace mezzo::detail::MEZZO_ISA
