// The two loops, for the instruction set that each_isa.hpp has chosen. They own the conversions: a block of 16 elements is loaded
// as the compute type, the functor runs over it in plain C++, and the block is stored. Included once per instruction set.

namespace mezzo::detail::MEZZO_ISA {

template <class T>
struct VectorOf {
  static constexpr int bytes = block_size * sizeof(T) < MEZZO_VECTOR_BYTES ? block_size * sizeof(T) : MEZZO_VECTOR_BYTES;
  typedef T type __attribute__((vector_size(bytes), aligned(1), may_alias));
  static constexpr int width = bytes / static_cast<int>(sizeof(T));
};

/// 16 elements in registers, in the type that functors compute in.
template <class V>
struct alignas(64) Block {
  V at[block_size];
};

// Blocks are copied in whole registers: narrower stores before a wide load would stall it.
template <class V>
MEZZO_TARGET [[gnu::always_inline]] inline void load_block(Block<V>& block, const V* from) {
  using vector = typename VectorOf<V>::type;
  for (int k = 0; k < block_size; k += VectorOf<V>::width) {
    *reinterpret_cast<vector*>(block.at + k) = *reinterpret_cast<const vector*>(from + k);
  }
}
template <class V>
MEZZO_TARGET [[gnu::always_inline]] inline void store_block(V* to, const Block<V>& block) {
  using vector = typename VectorOf<V>::type;
  for (int k = 0; k < block_size; k += VectorOf<V>::width) {
    *reinterpret_cast<vector*>(to + k) = *reinterpret_cast<const vector*>(block.at + k);
  }
}

typedef short i16x8 __attribute__((vector_size(16), aligned(1), may_alias));
typedef short i16x16 __attribute__((vector_size(32), aligned(1), may_alias));
typedef unsigned short u16x16 __attribute__((vector_size(32), aligned(1), may_alias));
typedef std::int32_t i32x16 __attribute__((vector_size(64), aligned(1), may_alias));
typedef std::uint32_t u32x16 __attribute__((vector_size(64), aligned(1), may_alias));
typedef float f32x8 __attribute__((vector_size(32), aligned(1), may_alias));
typedef float f32x16 __attribute__((vector_size(64), aligned(1), may_alias));

#if MEZZO_VECTOR_BYTES == 64
MEZZO_TARGET [[gnu::always_inline]] inline void load_block(Block<float>& block, const half* from) {
  unsigned short all = 0xFFFF;  // not const: g++ and clang++ disagree on the mask's sign, and nvcc warns of a constant that changes it
  *reinterpret_cast<f32x16*>(block.at) = __builtin_ia32_vcvtph2ps512_mask(*reinterpret_cast<const i16x16*>(from), f32x16{}, all, 4);
}
MEZZO_TARGET [[gnu::always_inline]] inline void store_block(half* to, const Block<float>& block) {
  *reinterpret_cast<i16x16*>(to) =
      __builtin_ia32_vcvtps2ph512_mask(*reinterpret_cast<const f32x16*>(block.at), 0, i16x16{}, static_cast<unsigned short>(-1));
}
#elif MEZZO_HAS_F16C
MEZZO_TARGET [[gnu::always_inline]] inline void load_block(Block<float>& block, const half* from) {
  for (int k = 0; k < block_size; k += 8) {
    *reinterpret_cast<f32x8*>(block.at + k) = __builtin_ia32_vcvtph2ps256(*reinterpret_cast<const i16x8*>(from + k));
  }
}
MEZZO_TARGET [[gnu::always_inline]] inline void store_block(half* to, const Block<float>& block) {
  for (int k = 0; k < block_size; k += 8) {
    *reinterpret_cast<i16x8*>(to + k) = __builtin_ia32_vcvtps2ph256(*reinterpret_cast<const f32x8*>(block.at + k), 0);
  }
}
#else
// Without F16C: every floating-point operation below is exact and meets no subnormal number, so rounding mode, flush-to-zero and
// fast-math change nothing.
MEZZO_TARGET [[gnu::always_inline]] inline void load_block(Block<float>& block, const half* from) {
  std::uint16_t codes[block_size];
  __builtin_memcpy(codes, from, sizeof codes);
  for (int k = 0; k < block_size; ++k) {
    const std::int32_t code = codes[k], magnitude = code & 0x7FFF;
    const auto small = __builtin_bit_cast(std::int32_t, static_cast<float>(magnitude) * 0x1p-24f);
    const std::int32_t is_small = -static_cast<std::int32_t>(magnitude < 0x0400);
    const std::int32_t is_special = -static_cast<std::int32_t>(magnitude >= 0x7C00);
    const std::int32_t normal = (magnitude << 13) + (112 << 23) + (is_special & (112 << 23));
    const auto sign = static_cast<std::uint32_t>(code & 0x8000) << 16;
    block.at[k] = __builtin_bit_cast(float, sign | static_cast<std::uint32_t>((is_small & small) | (~is_small & normal)));
  }
}
MEZZO_TARGET [[gnu::always_inline]] inline void store_block(half* to, const Block<float>& block) {
  Block<std::uint32_t> from;
  __builtin_memcpy(&from, &block, sizeof from);
  Block<std::uint16_t> codes;
  for (int k = 0; k < block_size; ++k) {
    const std::uint32_t bits = from.at[k];
    const auto magnitude = static_cast<std::int32_t>(bits & 0x7FFFFFFFu);
    const std::int32_t is_small = -static_cast<std::int32_t>(magnitude < 0x38800000);
    const std::int32_t is_large = -static_cast<std::int32_t>(magnitude >= 0x477FF000);
    const std::int32_t is_nan = -static_cast<std::int32_t>(magnitude > 0x7F800000);
    const std::int32_t subnormal = magnitude & is_small;
    const float scaled = __builtin_bit_cast(float, subnormal) * 0x1p24f;
    const auto whole = static_cast<std::int32_t>(scaled);
    const float rest = scaled - static_cast<float>(whole);
    const std::int32_t small = whole + (static_cast<std::int32_t>(rest > 0.5f) | (static_cast<std::int32_t>(rest == 0.5f) & whole & 1));
    const std::int32_t normal = ((magnitude >> 13) - (112 << 10)) + (((magnitude & 0x1FFF) + 0xFFF + ((magnitude >> 13) & 1)) >> 13);
    const std::int32_t special = 0x7C00 | (is_nan & (0x0200 | ((magnitude >> 13) & 0x03FF)));
    const std::int32_t finite = (is_small & small) | (~is_small & normal);
    const std::int32_t code = (is_large & special) | (~is_large & finite);
    codes.at[k] = static_cast<std::uint16_t>((bits >> 16 & 0x8000u) | static_cast<std::uint32_t>(code));
  }
  __builtin_memcpy(static_cast<void*>(to), codes.at, sizeof codes.at);
}
#endif

// bfloat16 in integers everywhere: the instruction of AVX512_BF16 flushes subnormals.
MEZZO_TARGET [[gnu::always_inline]] inline void load_block(Block<float>& block, const bfloat16* from) {
  *reinterpret_cast<u32x16*>(block.at) = __builtin_convertvector(*reinterpret_cast<const u16x16*>(from), u32x16) << 16;
}
MEZZO_TARGET [[gnu::always_inline]] inline void store_block(bfloat16* to, const Block<float>& block) {
  Block<std::uint32_t> from;
  __builtin_memcpy(&from, &block, sizeof from);
  Block<std::uint16_t> codes;
  for (int k = 0; k < block_size; ++k) {
    const std::uint32_t bits = from.at[k];
    const std::uint32_t rounded = bits + 0x7FFFu + (bits >> 16 & 1u);
    const std::uint32_t is_nan = 0u - static_cast<std::uint32_t>(static_cast<std::int32_t>(bits & 0x7FFFFFFFu) > 0x7F800000);
    codes.at[k] = static_cast<std::uint16_t>(((is_nan & (bits | 0x00400000u)) | (~is_nan & rounded)) >> 16);
  }
  __builtin_memcpy(static_cast<void*>(to), codes.at, sizeof codes.at);
}

template <StorageFloat T>
MEZZO_TARGET [[gnu::always_inline]] inline void load_block(Block<float>& block, const T* from) {
  for (int k = 0; k < block_size; ++k) block.at[k] = static_cast<float>(from[k]);
}
template <StorageFloat T>
MEZZO_TARGET [[gnu::always_inline]] inline void store_block(T* to, const Block<float>& block) {
  for (int k = 0; k < block_size; ++k) to[k] = convert<T>(block.at[k]);
}

/// One argument of a loop with the block of it that is at work.
template <class R>
struct Lane : R {
  using value_type = compute_type_t<typename R::element_type>;
  using element = std::remove_const_t<typename R::element_type>;
  Block<value_type> block;

  MEZZO_TARGET [[gnu::always_inline]] explicit Lane(const R& range) : R(range) {}

  MEZZO_TARGET [[gnu::always_inline]] void load(index_t i) {
    if constexpr (R::is_read) load_block(block, this->data + i);
  }
  MEZZO_TARGET [[gnu::always_inline]] void store(index_t i) {
    if constexpr (R::is_written) store_block(this->data + i, block);
  }
};

// flatten: a functor with two exponentials is too long for clang++ to inline unasked, and calls do not vectorise.
template <class Functor, class... Ranges>
MEZZO_TARGET [[gnu::always_inline, gnu::flatten]] inline void transform_block(const Functor& functor, index_t i, Lane<Ranges>&&... lanes) {
  (lanes.load(i), ...);
  for (int k = 0; k < block_size; ++k) functor(lanes.block.at[k]...);
  (lanes.store(i), ...);
}

/// functor(a[i], b[i], ...) for i in [0, count), a multiple of 16.
template <class Functor, class... Ranges>
MEZZO_TARGET MEZZO_OPTIMIZED void transform_blocks(const Functor functor, index_t count, Ranges... ranges) {
  for (index_t i = 0; i < count; i += block_size) transform_block(functor, i, Lane<Ranges>(ranges)...);
}

template <class Functor, class V, class... Ranges>
MEZZO_TARGET [[gnu::always_inline, gnu::flatten]] inline void reduce_block(const Functor& functor, V* sums, index_t i,
                                                                           Lane<Ranges>&&... lanes) {
  (lanes.load(i), ...);
  for (int k = 0; k < block_size; ++k) sums[k] = functor.combine(sums[k], functor.map(lanes.block.at[k]...));
}

/// Combines map(a[i], b[i], ...) into results[i mod 16] for i in [0, count), a multiple of 16.
template <class Functor, class V, class... Ranges>
MEZZO_TARGET MEZZO_OPTIMIZED void reduce_blocks(const Functor functor, V* results, index_t count, Ranges... ranges) {
  V sums[block_size];
  for (int k = 0; k < block_size; ++k) sums[k] = results[k];
  for (index_t i = 0; i < count; i += block_size) reduce_block(functor, sums, i, Lane<Ranges>(ranges)...);
  for (int k = 0; k < block_size; ++k) results[k] = sums[k];
}

/// Notes the bits of the largest magnitude, as integers in memory where fast-math cannot assume them finite, and adds the squares.
MEZZO_TARGET [[gnu::always_inline]] inline void check_block(std::uint32_t* largest, float* sums, const Block<float>& block) {
  Block<std::uint32_t> bits;
  __builtin_memcpy(&bits, &block, sizeof bits);
  for (int k = 0; k < block_size; ++k) {
    const std::uint32_t magnitude = bits.at[k] & 0x7FFFFFFFu;
    largest[k] = largest[k] < magnitude ? magnitude : largest[k];
    sums[k] += block.at[k] * block.at[k];
  }
}

/// Checks `count` elements, a multiple of 16, into 16 partial results as reduce_blocks does.
template <class T>
MEZZO_TARGET MEZZO_OPTIMIZED void check_blocks(FiniteChecks& results, index_t count, const T* from) {
  FiniteChecks checks = results;
  Lane<Range<const T, AccessMode::read>> lane({from});
  for (index_t i = 0; i < count; i += block_size) {
    lane.load(i);
    check_block(checks.largest, checks.sums_of_squares, lane.block);
  }
  results = checks;
}

/// As check_blocks, after multiplying by `factor`, rounding to Out and storing. What is checked is the product.
template <class Out, class In>
MEZZO_TARGET MEZZO_OPTIMIZED void scale_check_blocks(FiniteChecks& results, float factor, index_t count, Out* to, const In* from) {
  FiniteChecks checks = results;
  for (index_t i = 0; i < count; i += block_size) {
    Block<float> block;
    load_block(block, from + i);
    MEZZO_VECTORIZE
    for (int k = 0; k < block_size; ++k) block.at[k] *= factor;
    store_block(to + i, block);
    check_block(checks.largest, checks.sums_of_squares, block);
  }
  results = checks;
}

}  // namespace mezzo::detail::MEZZO_ISA
