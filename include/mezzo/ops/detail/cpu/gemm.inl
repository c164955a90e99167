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

#if MEZZO_VECTOR_BYTES == 64
typedef std::int32_t i32_register __attribute__((vector_size(MEZZO_VECTOR_BYTES), may_alias));
typedef std::int32_t pair_bits __attribute__((may_alias));

// In assembly, since the intrinsics take other types with each generation of compilers.
MEZZO_TARGET [[gnu::always_inline]] inline void multiply_add_pair(f32_register& sum, const i32_register& a, const f32_register& b) {
  asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
}
template <std::size_t... I>
MEZZO_TARGET [[gnu::always_inline]] inline void multiply_add_pairs(f32_register* sums, const pair_bits* a, const f32_register* b,
                                                                   std::index_sequence<I...>) {
  constexpr std::size_t vectors = Tile<float>::vectors;
  (multiply_add_pair(sums[I], i32_register{} + a[I / vectors], b[I % vectors]), ...);
}

/// As multiply_tile for panels of k pairs of bfloat16: two products to a sum, without a rounding between them. Subnormal numbers count
/// as 0.
MEZZO_TARGET MEZZO_OPTIMIZED inline void multiply_pairs(index_t k, const float* a, const float* b, float* tile, bool adds) {
  constexpr std::make_index_sequence<Tile<float>::rows * Tile<float>::vectors> all;
  constexpr std::make_index_sequence<Tile<float>::vectors> one_row;
  f32_register sums[Tile<float>::rows * Tile<float>::vectors];
  if (adds) {
    load_vectors(sums, static_cast<const float*>(tile), all);
  } else {
    zero_vectors<float>(sums, all);
  }
  for (index_t i = 0; i < k; ++i, a += Tile<float>::rows, b += Tile<float>::columns) {
    f32_register row[Tile<float>::vectors];
    load_vectors(row, b, one_row);
    multiply_add_pairs(sums, reinterpret_cast<const pair_bits*>(a), row, all);
  }
  store_vectors(tile, sums, all);
}
#endif

/// See load_pairs in each_isa_gemm.hpp.
MEZZO_TARGET inline void load_pairs(float* to, const bfloat16* from, index_t count, index_t step, index_t pair_stride, index_t singles) {
  index_t i = 0;
  if (step == 2 && pair_stride == 1) {
    i = count - singles;
    __builtin_memcpy(to, from, static_cast<std::size_t>(i) * sizeof(float));
  } else if (step == 1) {
    for (; i + block_size <= count - singles; i += block_size) {
      const u32x16 first = __builtin_convertvector(*reinterpret_cast<const u16x16*>(from + i), u32x16);
      const u32x16 second = __builtin_convertvector(*reinterpret_cast<const u16x16*>(from + i + pair_stride), u32x16);
      *reinterpret_cast<u32x16*>(to + i) = first | second << 16;
    }
  }
  for (; i < count; ++i) {
    const std::uint32_t second = i < count - singles ? from[i * step + pair_stride].bits() : 0u,
                        pair = from[i * step].bits() | second << 16;
    __builtin_memcpy(to + i, &pair, sizeof pair);
  }
}

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

/// to[i, j] = from[i * row_stride + j * column_stride] in V, rows of `to` side by side.
template <class V, class T>
MEZZO_TARGET void load_elements(V* to, const T* from, index_t rows, index_t columns, index_t row_stride, index_t column_stride) {
  for (index_t i = 0; i < rows; ++i, to += columns, from += row_stride) {
    index_t j = 0;
    if constexpr (std::is_same_v<compute_type_t<T>, V>) {
      if (column_stride == 1) {
        for (; j + block_size <= columns; j += block_size) {
          Block<V> block;
          load_block(block, from + j);
          store_block(to + j, block);
        }
      }
    }
    for (; j < columns; ++j) to[j] = static_cast<V>(from[j * column_stride]);
  }
}

/// The other way, rounding to T; rows of `from` are `stride` apart.
template <class T, class V>
MEZZO_TARGET void store_elements(T* to, const V* from, index_t rows, index_t columns, index_t stride, index_t row_stride,
                                 index_t column_stride) {
  for (index_t i = 0; i < rows; ++i, to += row_stride, from += stride) {
    index_t j = 0;
    if constexpr (std::is_same_v<compute_type_t<T>, V>) {
      if (column_stride == 1) {
        for (; j + block_size <= columns; j += block_size) {
          Block<V> block;
          load_block(block, from + j);
          store_block(to + j, block);
        }
      }
    }
    for (; j < columns; ++j) to[j * column_stride] = convert<T>(from[j]);
  }
}

/// Panels of `Width` vectors each, k by k; the last one is filled up with zeros. Element (i, j) goes to
/// to[i / Width * Width * k + j * Width + i % Width].
template <int Width, class V>
MEZZO_TARGET void pack_width(V* to, const GemmOperand<V>& from, index_t count, index_t k) {
  constexpr index_t capacity = 256;
  alignas(64) V buffer[capacity];
  const auto panel = [&](index_t i) { return to + i / Width * Width * k + i % Width; };
  index_t i = 0;  // vectors that are done
  if (from.stride == 1) {
    constexpr index_t step = Width % block_size == 0 ? block_size : Width % 8 == 0 ? 8 : 4;
    for (index_t j = 0; j < k; ++j) {
      for (index_t first = 0; first < count; first += capacity) {
        const index_t size = smaller(capacity, count - first);
        const V* const row = from.across(Isa::MEZZO_ISA, buffer, first, j, size);
        index_t l = 0;
        for (; l + step <= size; l += step) __builtin_memcpy(panel(first + l) + j * Width, row + l, step * sizeof(V));
        for (; l < size; ++l) panel(first + l)[j * Width] = row[l];
      }
    }
    i = count;
  } else if constexpr (std::is_same_v<V, float>) {
    constexpr index_t length = capacity / 4;
    for (; i + 4 <= count; i += 4) {
      for (index_t j = 0; j < k; j += length) {
        const index_t size = smaller(length, k - j);
        const float* rows[4];
        for (int l = 0; l < 4; ++l) rows[l] = from.along(Isa::MEZZO_ISA, buffer + l * length, i + l, j, size);
        float* const target = panel(i) + j * Width;
        index_t m = 0;
        for (; m + 4 <= size; m += 4) transpose_4x4(target + m * Width, Width, rows[0] + m, rows[1] + m, rows[2] + m, rows[3] + m);
        for (; m < size; ++m) {
          for (int l = 0; l < 4; ++l) target[m * Width + l] = rows[l][m];
        }
      }
    }
  }
  for (; i < count; ++i) {
    for (index_t j = 0; j < k; j += capacity) {
      const index_t size = smaller(capacity, k - j);
      const V* const row = from.along(Isa::MEZZO_ISA, buffer, i, j, size);
      for (index_t l = 0; l < size; ++l) panel(i)[(j + l) * Width] = row[l];
    }
  }
  for (; i % Width != 0; ++i) {
    for (index_t j = 0; j < k; ++j) panel(i)[j * Width] = V(0);
  }
}

template <class V>
void pack_panels(GemmSide side, V* to, const GemmOperand<V>& from, index_t count, index_t k) {
  if (side == GemmSide::rows) return pack_width<Tile<V>::rows>(to, from, count, k);
  pack_width<Tile<V>::columns>(to, from, count, k);
}

/// alpha * product + beta * out + bias in place: the products of out from (row, column) on lie in `tile`, `stride` from row to row.
template <class V>
MEZZO_TARGET MEZZO_OPTIMIZED void apply_epilogue(const GemmResult<V>& out, index_t row, index_t column, index_t rows, index_t columns,
                                                 V* tile, index_t stride) {
  constexpr index_t capacity = 512;
  alignas(64) V old[capacity];
  const index_t width = smaller(columns, capacity), height = capacity / width;
  for (index_t i = 0; i < rows; ++i) {
    for (index_t begin = 0; begin < columns; begin += width) {
      const index_t size = smaller(width, columns - begin);
      V* const values = tile + i * stride + begin;
      for (index_t j = 0; j < size; ++j) values[j] *= out.alpha;
      if (out.beta != V(0)) {
        if (i % height == 0) {
          out.load(Isa::MEZZO_ISA, old, out.at(row + i, column + begin), smaller(height, rows - i), size, out.row_stride,
                   out.column_stride);
        }
        const V* const addends = old + i % height * size;
        for (index_t j = 0; j < size; ++j) values[j] += out.beta * addends[j];
      }
      if (out.column_bias != nullptr) {
        for (index_t j = 0; j < size; ++j) values[j] += out.column_bias[column + begin + j];
      }
      if (out.row_bias != nullptr) {
        for (index_t j = 0; j < size; ++j) values[j] += out.row_bias[row + i];
      }
    }
  }
}

}  // namespace mezzo::detail::MEZZO_ISA
