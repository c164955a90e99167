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
typedef std::int32_t i32x4 __attribute__((vector_size(16), aligned(1), may_alias));
typedef std::uint32_t u32x4 __attribute__((vector_size(16), aligned(1), may_alias));
typedef float f32x4 __attribute__((vector_size(16), aligned(1), may_alias));
typedef float f32x8 __attribute__((vector_size(32), aligned(1), may_alias));
typedef float f32x16 __attribute__((vector_size(64), aligned(1), may_alias));

#if MEZZO_VECTOR_BYTES == 16
/// The lower halves of eight elements, which are sign-extended 16-bit numbers.
MEZZO_TARGET [[gnu::always_inline]] inline void store_codes(std::uint16_t* to, const i32x4& low, const i32x4& high) {
#if defined(__SSE2__)
  *reinterpret_cast<i16x8*>(to) = __builtin_ia32_packssdw128(low, high);
#else
  for (int k = 0; k < 4; ++k) {
    to[k] = static_cast<std::uint16_t>(low[k]);
    to[k + 4] = static_cast<std::uint16_t>(high[k]);
  }
#endif
}
#endif

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
// fast-math change nothing. Four elements at a time, in vectors: g++ would do longer loops one by one.
MEZZO_TARGET [[gnu::always_inline]] inline void load_block(Block<float>& block, const half* from) {
  const i32x16 codes = __builtin_convertvector(*reinterpret_cast<const u16x16*>(from), i32x16);
  for (int k = 0; k < block_size; k += 4) {
    const i32x4 code = *reinterpret_cast<const i32x4*>(reinterpret_cast<const std::int32_t*>(&codes) + k);
    const i32x4 magnitude = code & 0x7FFF;
    const auto small = reinterpret_cast<i32x4>(__builtin_convertvector(magnitude, f32x4) * 0x1p-24f);
    const i32x4 is_small = magnitude < 0x0400, is_special = magnitude >= 0x7C00;
    const i32x4 normal = (magnitude << 13) + (112 << 23) + (is_special & (112 << 23));
    *reinterpret_cast<i32x4*>(block.at + k) = ((code & 0x8000) << 16) | (is_small & small) | (~is_small & normal);
  }
}
/// The codes of four elements, sign-extended to 32 bits.
MEZZO_TARGET [[gnu::always_inline]] inline void half_codes(i32x4& codes, const float* from) {
  const i32x4 bits = *reinterpret_cast<const i32x4*>(from), magnitude = bits & 0x7FFFFFFF;
  const i32x4 is_small = magnitude < 0x38800000;
  const i32x4 is_large = magnitude >= 0x477FF000;
  const i32x4 is_nan = magnitude > 0x7F800000;
  const i32x4 subnormal = magnitude & is_small;
  const f32x4 scaled = reinterpret_cast<f32x4>(subnormal) * 0x1p24f;
  const i32x4 whole = __builtin_convertvector(scaled, i32x4);
  const f32x4 rest = scaled - __builtin_convertvector(whole, f32x4);
  const i32x4 is_above = rest > 0.5f, is_half = rest == 0.5f;
  const i32x4 small = whole - (is_above | (is_half & -(whole & 1)));
  const i32x4 normal = ((magnitude >> 13) - (112 << 10)) + (((magnitude & 0x1FFF) + 0xFFF + ((magnitude >> 13) & 1)) >> 13);
  const i32x4 special = 0x7C00 | (is_nan & (0x0200 | ((magnitude >> 13) & 0x03FF)));
  const i32x4 code = (is_large & special) | (~is_large & ((is_small & small) | (~is_small & normal)));
  codes = ((bits >> 31) & -0x8000) | code;
}
MEZZO_TARGET [[gnu::always_inline]] inline void store_block(half* to, const Block<float>& block) {
  for (int k = 0; k < block_size; k += 8) {
    i32x4 low, high;
    half_codes(low, block.at + k);
    half_codes(high, block.at + k + 4);
    store_codes(reinterpret_cast<std::uint16_t*>(to + k), low, high);
  }
}
#endif

// bfloat16 in integers everywhere: the instruction of AVX512_BF16 flushes subnormals.
MEZZO_TARGET [[gnu::always_inline]] inline void load_block(Block<float>& block, const bfloat16* from) {
  *reinterpret_cast<u32x16*>(block.at) = __builtin_convertvector(*reinterpret_cast<const u16x16*>(from), u32x16) << 16;
}
#if MEZZO_VECTOR_BYTES == 64
typedef unsigned short u16x32 __attribute__((vector_size(64), aligned(1), may_alias));

/// Sixteen elements rounded, their codes in the upper halves; right for numbers.
MEZZO_TARGET [[gnu::always_inline]] inline void round_to_bfloat16(u32x16& rounded, const float* from) {
  const u32x16 bits = *reinterpret_cast<const u32x16*>(from);
  rounded = bits + 0x7FFFu + (bits >> 16 & 1u);
}
/// And what NaNs become.
MEZZO_TARGET [[gnu::always_inline]] inline void quiet_nans(u32x16& rounded, const float* from) {
  const u32x16 bits = *reinterpret_cast<const u32x16*>(from);
  const auto is_nan = reinterpret_cast<u32x16>((bits & 0x7FFFFFFFu) > 0x7F800000u);
  rounded = (is_nan & (bits | 0x00400000u)) | (~is_nan & rounded);
}
/// Whether a or b has a NaN: seldom, so that branches cost less than blending each block.
MEZZO_TARGET [[gnu::always_inline]] inline bool has_nan(const float* a, const float* b) {
  unsigned short all = 0xFFFF;
  return __builtin_ia32_cmpps512_mask(*reinterpret_cast<const f32x16*>(a), *reinterpret_cast<const f32x16*>(b), 3, all, 4) != 0;
}
/// The upper halves of a's elements, then of b's.
MEZZO_TARGET [[gnu::always_inline]] inline void upper_halves(u16x32& result, const u32x16& a, const u32x16& b) {
  const auto low = reinterpret_cast<u16x32>(a), high = reinterpret_cast<u16x32>(b);
#if defined(__clang__)
  result = __builtin_shufflevector(low, high, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31, 33, 35, 37, 39, 41, 43, 45, 47, 49,
                                   51, 53, 55, 57, 59, 61, 63);
#else
  constexpr u16x32 odd{1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31,
                       33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63};
  result = __builtin_shuffle(low, high, odd);
#endif
}
MEZZO_TARGET [[gnu::always_inline]] inline void store_block(bfloat16* to, const Block<float>& block) {
  u32x16 rounded;
  round_to_bfloat16(rounded, block.at);
  if (has_nan(block.at, block.at)) [[unlikely]]
    quiet_nans(rounded, block.at);
  u16x32 halves;
  upper_halves(halves, rounded, rounded);
  *reinterpret_cast<u16x16*>(static_cast<void*>(to)) = *reinterpret_cast<const u16x16*>(&halves);
}
MEZZO_TARGET [[gnu::always_inline]] inline void store_blocks(bfloat16* to, const Block<float>& first, const Block<float>& second) {
  u32x16 a, b;
  round_to_bfloat16(a, first.at);
  round_to_bfloat16(b, second.at);
  if (has_nan(first.at, second.at)) [[unlikely]] {
    quiet_nans(a, first.at);
    quiet_nans(b, second.at);
  }
  u16x32 halves;
  upper_halves(halves, a, b);
  *reinterpret_cast<u16x32*>(static_cast<void*>(to)) = halves;
}
#elif MEZZO_VECTOR_BYTES == 32
typedef std::int32_t i32x8 __attribute__((vector_size(32), aligned(1), may_alias));
typedef std::uint32_t u32x8 __attribute__((vector_size(32), aligned(1), may_alias));

/// The codes of eight elements, in 32 bits each.
MEZZO_TARGET [[gnu::always_inline]] inline void bfloat16_codes(i32x8& codes, const float* from) {
  const u32x8 bits = *reinterpret_cast<const u32x8*>(from);
  const u32x8 rounded = bits + 0x7FFFu + (bits >> 16 & 1u);
  const auto is_nan = reinterpret_cast<u32x8>(reinterpret_cast<i32x8>(bits & 0x7FFFFFFFu) > 0x7F800000);
  codes = reinterpret_cast<i32x8>(((is_nan & (bits | 0x00400000u)) | (~is_nan & rounded)) >> 16);
}
MEZZO_TARGET [[gnu::always_inline]] inline void store_block(bfloat16* to, const Block<float>& block) {
  typedef long long i64x4 __attribute__((vector_size(32), aligned(1), may_alias));
  i32x8 low, high;
  bfloat16_codes(low, block.at);
  bfloat16_codes(high, block.at + 8);
  // Packing interleaves the halves of its operands; the permutation puts them in order.
  const auto packed = reinterpret_cast<i64x4>(__builtin_ia32_packusdw256(low, high));
  *reinterpret_cast<i64x4*>(static_cast<void*>(to)) = __builtin_ia32_permdi256(packed, 0xD8);
}
#else
MEZZO_TARGET [[gnu::always_inline]] inline void bfloat16_codes(i32x4& codes, const float* from) {
  const i32x4 bits = *reinterpret_cast<const i32x4*>(from), is_nan = (bits & 0x7FFFFFFF) > 0x7F800000;
  const auto rounded = reinterpret_cast<i32x4>(reinterpret_cast<u32x4>(bits) + 0x7FFFu + reinterpret_cast<u32x4>(bits >> 16 & 1));
  codes = ((is_nan & (bits | 0x00400000)) | (~is_nan & rounded)) >> 16;
}
MEZZO_TARGET [[gnu::always_inline]] inline void store_block(bfloat16* to, const Block<float>& block) {
  for (int k = 0; k < block_size; k += 8) {
    i32x4 low, high;
    bfloat16_codes(low, block.at + k);
    bfloat16_codes(high, block.at + k + 4);
    store_codes(reinterpret_cast<std::uint16_t*>(to + k), low, high);
  }
}
#endif

template <StorageFloat T>
MEZZO_TARGET [[gnu::always_inline]] inline void load_block(Block<float>& block, const T* from) {
  for (int k = 0; k < block_size; ++k) block.at[k] = static_cast<float>(from[k]);
}
template <StorageFloat T>
MEZZO_TARGET [[gnu::always_inline]] inline void store_block(T* to, const Block<float>& block) {
  for (int k = 0; k < block_size; ++k) to[k] = convert<T>(block.at[k]);
}

template <class T, class V>
MEZZO_TARGET [[gnu::always_inline]] inline void store_blocks(T* to, const Block<V>& first, const Block<V>& second) {
  store_block(to, first);
  store_block(to + block_size, second);
}

#if defined(__SSE__)
/// Copies one register past the caches.
MEZZO_TARGET [[gnu::always_inline]] inline void stream_16(float* to, const void* from) {
  typedef float vector __attribute__((vector_size(16), may_alias));
#if defined(__clang__)
  __builtin_nontemporal_store(*static_cast<const vector*>(from), reinterpret_cast<vector*>(to));
#else
  __builtin_ia32_movntps(to, *static_cast<const vector*>(from));
#endif
}
#if MEZZO_VECTOR_BYTES >= 32
MEZZO_TARGET [[gnu::always_inline]] inline void stream_32(float* to, const void* from) {
  typedef float vector __attribute__((vector_size(32), may_alias));
#if defined(__clang__)
  __builtin_nontemporal_store(*static_cast<const vector*>(from), reinterpret_cast<vector*>(to));
#else
  __builtin_ia32_movntps256(to, *static_cast<const vector*>(from));
#endif
}
#endif
#if MEZZO_VECTOR_BYTES == 64
MEZZO_TARGET [[gnu::always_inline]] inline void stream_64(float* to, const void* from) {
  typedef float vector __attribute__((vector_size(64), may_alias));
#if defined(__clang__)
  __builtin_nontemporal_store(*static_cast<const vector*>(from), reinterpret_cast<vector*>(to));
#else
  __builtin_ia32_movntps512(to, *static_cast<const vector*>(from));
#endif
}
#endif
#endif

/// Copies past the caches in pieces of `size`, as `from` was stored: a wider load would wait for the stores. `to` is aligned to that.
template <int bytes, int size>
MEZZO_TARGET [[gnu::always_inline]] inline void stream(void* to, const void* from) {
#if defined(__SSE__)
  for (int k = 0; k < bytes; k += size) {
    float* const target = reinterpret_cast<float*>(static_cast<char*>(to) + k);
    const char* const source = static_cast<const char*>(from) + k;
    if constexpr (size == 16) stream_16(target, source);
#if MEZZO_VECTOR_BYTES >= 32
    if constexpr (size == 32) stream_32(target, source);
#endif
#if MEZZO_VECTOR_BYTES == 64
    if constexpr (size == 64) stream_64(target, source);
#endif
  }
#else
  __builtin_memcpy(to, from, bytes);
#endif
}

template <class T, class V>
MEZZO_TARGET [[gnu::always_inline]] inline void stream_block(T* to, const Block<V>& block) {
  alignas(64) T line[block_size];
  store_block(line, block);
  constexpr int bytes = sizeof line, most = std::is_same_v<T, half> && MEZZO_VECTOR_BYTES == 32 ? 16 : MEZZO_VECTOR_BYTES;
  stream<bytes, (bytes < most ? bytes : most)>(to, line);
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
    if constexpr (requires { R::is_streamed; }) {
      if (this->is_streamed) return stream_block(this->data + i, block);
    }
    if constexpr (R::is_written) store_block(this->data + i, block);
  }
};

/// Elements of fp32 in one register.
inline constexpr int float_width = MEZZO_VECTOR_BYTES / 4;
typedef float f32_register __attribute__((vector_size(MEZZO_VECTOR_BYTES), may_alias));

/// 1 / (factor * sqrt(x) + addend) of each element of a register. Roots are rounded correctly where the instruction set has them, and
/// reciprocals within a unit in the last place: a division would take longer than all the rest.
MEZZO_TARGET [[gnu::always_inline]] inline void invert_roots(f32_register& values, float factor, float addend) {
#if defined(__SSE__)
#if MEZZO_VECTOR_BYTES == 64
  unsigned short all = 0xFFFF;  // not const, as above
#if defined(__clang__)
  const f32_register divisor = __builtin_ia32_sqrtps512(values, 4) * factor + addend;
#else
  const f32_register divisor = __builtin_ia32_sqrtps512_mask(values, values, all, 4) * factor + addend;
#endif
  const f32_register guess = __builtin_ia32_rcp14ps512_mask(divisor, divisor, all);
  values = guess + guess * (1.0f - divisor * guess);
#elif MEZZO_VECTOR_BYTES == 32
  values = 1.0f / (__builtin_ia32_sqrtps256(values) * factor + addend);
#else
  values = 1.0f / (__builtin_ia32_sqrtps(values) * factor + addend);
#endif
#else
  for (int k = 0; k < float_width; ++k) values[k] = 1.0f / (math::sqrt(values[k]) * factor + addend);
#endif
}

template <std::size_t... I>
MEZZO_TARGET [[gnu::always_inline]] inline void invert_roots(Block<float>& block, float factor, float addend, std::index_sequence<I...>) {
  (invert_roots(*reinterpret_cast<f32_register*>(block.at + I * float_width), factor, addend), ...);
}

// flatten: a functor with two exponentials is too long for clang++ to inline unasked, and calls do not vectorise.
template <class Functor, class... Ranges>
MEZZO_TARGET [[gnu::always_inline, gnu::flatten]] inline void transform_block(const Functor& functor, index_t i, Lane<Ranges>&&... lanes) {
  (lanes.load(i), ...);
  if constexpr (requires { functor.radicand(lanes.block.at[0]...); }) {
    Block<float> inverses;
    for (int k = 0; k < block_size; ++k) inverses.at[k] = functor.radicand(lanes.block.at[k]...);
#if MEZZO_VECTOR_BYTES < 64
    asm("" : "+m"(inverses));  // through memory: g++ would rather do the loop above one element at a time
#endif
    invert_roots(inverses, functor.root_factor, functor.root_addend, std::make_index_sequence<block_size / float_width>());
    for (int k = 0; k < block_size; ++k) functor(inverses.at[k], lanes.block.at[k]...);
  } else {
    for (int k = 0; k < block_size; ++k) functor(lanes.block.at[k]...);
  }
  (lanes.store(i), ...);
}

/// functor(a[i], b[i], ...) for i in [0, count), a multiple of 16. A functor that divides by a root has
/// radicand(a[i], b[i], ...) too, and gets 1 / (root_factor * sqrt(radicand) + root_addend) as its first argument: compilers do not
/// vectorise square roots that could set errno.
template <class Functor, class... Ranges>
MEZZO_TARGET MEZZO_OPTIMIZED void transform_blocks(const Functor functor, index_t count, Ranges... ranges) {
  for (index_t i = 0; i < count; i += block_size) transform_block(functor, i, Lane<Ranges>(ranges)...);
}

template <class Functor, class V, class... Ranges>
MEZZO_TARGET [[gnu::always_inline, gnu::flatten]] inline void reduce_block(const Functor& functor, V* sums, index_t i,
                                                                           Lane<Ranges>&&... lanes) {
  (lanes.load(i), ...);
  // One register of sums at a time: g++ vectorises no longer row of them.
  constexpr int width = VectorOf<V>::width;
  for (int first = 0; first < block_size; first += width) {
    MEZZO_VECTORIZE
    for (int k = 0; k < width; ++k) sums[first + k] = functor.combine(sums[first + k], functor.map(lanes.block.at[first + k]...));
  }
}

/// Combines map(a[i], b[i], ...) into results[i mod 16] for i in [0, count), a multiple of 16.
template <class Functor, class V, class... Ranges>
MEZZO_TARGET MEZZO_OPTIMIZED void reduce_blocks(const Functor functor, V* results, index_t count, Ranges... ranges) {
  V sums[block_size];
  for (int k = 0; k < block_size; ++k) sums[k] = results[k];
  for (index_t i = 0; i < count; i += block_size) reduce_block(functor, sums, i, Lane<Ranges>(ranges)...);
  for (int k = 0; k < block_size; ++k) results[k] = sums[k];
}

/// To the second-level cache: a row at once is more than the first can wait for.
template <class T>
MEZZO_TARGET [[gnu::always_inline]] inline void prefetch(const T* from) {
  __builtin_prefetch(from, 0, 2);
}

/// exp of elements that are not above 0, or NaN.
MEZZO_TARGET [[gnu::always_inline]] inline void exp_block(Block<double>& block) {
  for (int k = 0; k < block_size; ++k) block.at[k] = math::exp(block.at[k]);
}
MEZZO_TARGET [[gnu::always_inline]] inline void exp_block(Block<float>& block) {
#if MEZZO_VECTOR_BYTES == 64
  // 2^(x log2 e) = 2^n 2^f, with instructions for the nearest integer and the power; the polynomial is within 0.4 * 2^-24 of 2^f.
  typedef f32_register vector;
  unsigned short all = 0xFFFF;  // not const, as above
  vector& values = *reinterpret_cast<vector*>(block.at);
  constexpr float c = 0x1.715476p+0f;
  constexpr vector log2_e{c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c};
  constexpr vector least{-104, -104, -104, -104, -104, -104, -104, -104, -104, -104, -104, -104, -104, -104, -104, -104};
  // The second operand of the maximum comes through when it is not a number.
#if defined(__clang__)
  const vector x = __builtin_ia32_maxps512(least, values, 4);
#else
  const vector x = __builtin_ia32_maxps512_mask(least, values, least, all, 4);
#endif
  const vector n = __builtin_ia32_rndscaleps_mask(x * log2_e, 8, x, all, 4);
  const vector f = __builtin_ia32_vfmaddps512_mask(x, log2_e, -n, all, 4);  // in one rounding, or large x would lose it
  vector p = f * 0x1.470b4ap-13f + 0x1.5f7276p-10f;
  p = p * f + 0x1.3b270ep-7f;
  p = p * f + 0x1.c6ae72p-5f;
  p = p * f + 0x1.ebfbe2p-3f;
  p = p * f + 0x1.62e432p-1f;
  p = p * f + 1.0f;
  values = __builtin_ia32_scalefps512_mask(p, n, p, all, 4);
#else
  for (int k = 0; k < block_size; ++k) block.at[k] = math::exp(block.at[k]);
#endif
}

/// to[i] = exp(from[i] - shift) for i in [0, count), a multiple of 16, each added to sums[i mod 16]; no element lies above shift. What
/// is needed next lies `prefetch_distance` elements on.
template <class V, class In>
MEZZO_TARGET MEZZO_OPTIMIZED void exp_blocks(V shift, V* sums, index_t count, V* to, const In* from, index_t prefetch_distance) {
  Block<V> total;
  load_block(total, static_cast<const V*>(sums));
  for (index_t i = 0; i < count; i += block_size) {
    prefetch(from + i + prefetch_distance);
    Block<V> block;
    load_block(block, from + i);
    for (int k = 0; k < block_size; ++k) block.at[k] -= shift;
    exp_block(block);
    store_block(to + i, block);
    for (int k = 0; k < block_size; ++k) total.at[k] += block.at[k];
  }
  store_block(sums, total);
}

/// Up to 15 elements at the end of a run, and zeros; none is touched beyond them.
template <class T>
MEZZO_TARGET [[gnu::always_inline]] inline void load_rest(Block<float>& block, const T* from, index_t count) {
  T rest[block_size] = {};
  __builtin_memcpy(static_cast<void*>(rest), from, static_cast<std::size_t>(count) * sizeof(T));
  load_block(block, static_cast<const T*>(rest));
}
template <class T>
MEZZO_TARGET [[gnu::always_inline]] inline void store_rest(T* to, const Block<float>& block, index_t count) {
  T rest[block_size];
  store_block(rest, block);
  __builtin_memcpy(static_cast<void*>(to), rest, static_cast<std::size_t>(count) * sizeof(T));
}
#if MEZZO_VECTOR_BYTES == 64
MEZZO_TARGET [[gnu::always_inline]] inline void load_rest(Block<float>& block, const float* from, index_t count) {
  auto mask = static_cast<unsigned short>((1u << count) - 1u);
  *reinterpret_cast<f32x16*>(block.at) = __builtin_ia32_loadups512_mask(from, f32x16{}, mask);
}
MEZZO_TARGET [[gnu::always_inline]] inline void store_rest(float* to, const Block<float>& block, index_t count) {
  auto mask = static_cast<unsigned short>((1u << count) - 1u);
  __builtin_ia32_storeups512_mask(to, *reinterpret_cast<const f32x16*>(block.at), mask);
}
#endif

/// What reductions combine two blocks at a time into: with one, each result would wait for the one before; with more, loads from
/// memory run so far ahead that they get slower.
inline constexpr std::size_t per_block = block_size / float_width;  // registers
inline constexpr std::make_index_sequence<per_block> one_block{};
inline constexpr std::make_index_sequence<2 * per_block> two_blocks{};

MEZZO_TARGET [[gnu::always_inline]] inline const f32_register& register_of(const Block<float>* blocks, std::size_t i) {
  return *reinterpret_cast<const f32_register*>(blocks[i / per_block].at + i % per_block * float_width);
}
template <std::size_t... I>
MEZZO_TARGET [[gnu::always_inline]] inline void store_registers(float* to, const f32_register* from, std::index_sequence<I...>) {
  ((*reinterpret_cast<f32_register*>(to + I * float_width) = from[I]), ...);
}

/// Sums of squares. Short sums are added up to longer ones, so that no element meets a sum far larger than itself.
struct SquareSums {
  static constexpr index_t longest = 1024;  // elements of a short sum

  f32_register at[2 * per_block], total[per_block];

  template <std::size_t... I>
  MEZZO_TARGET [[gnu::always_inline]] explicit SquareSums(std::index_sequence<I...>) {
    ((at[I] = at[I + per_block] = total[I] = f32_register{}), ...);
  }
  template <std::size_t... I>
  MEZZO_TARGET [[gnu::always_inline]] void add(const Block<float>* blocks, std::index_sequence<I...>) {
    ((at[I] += register_of(blocks, I) * register_of(blocks, I)), ...);
  }
  template <std::size_t... I>
  MEZZO_TARGET [[gnu::always_inline]] void add_up(std::index_sequence<I...>) {
    ((total[I] += at[I] + at[I + per_block]), ...);
    ((at[I] = at[I + per_block] = f32_register{}), ...);
  }
};

/// Sums of x - shift and of its square, also in two steps.
struct DeviationSums {
  static constexpr index_t longest = 256;

  float shift;
  f32_register sums[2 * per_block], squares[2 * per_block], total[per_block], total_squares[per_block];

  template <std::size_t... I>
  MEZZO_TARGET [[gnu::always_inline]] DeviationSums(float from, std::index_sequence<I...>) : shift(from) {
    ((sums[I] = sums[I + per_block] = total[I] = f32_register{}), ...);
    ((squares[I] = squares[I + per_block] = total_squares[I] = f32_register{}), ...);
  }
  template <std::size_t... I>
  MEZZO_TARGET [[gnu::always_inline]] void add(const Block<float>* blocks, std::index_sequence<I...>) {
    (add_register(I, register_of(blocks, I)), ...);
  }
  MEZZO_TARGET [[gnu::always_inline]] void add_register(std::size_t i, const f32_register& values) {
    const f32_register deviations = values - shift;
    sums[i] += deviations;
    squares[i] += deviations * deviations;
  }
  template <std::size_t... I>
  MEZZO_TARGET [[gnu::always_inline]] void add_up(std::index_sequence<I...>) {
    ((total[I] += sums[I] + sums[I + per_block], total_squares[I] += squares[I] + squares[I + per_block]), ...);
    ((sums[I] = sums[I + per_block] = squares[I] = squares[I + per_block] = f32_register{}), ...);
  }
};

/// a = b > a ? b : a, which passes over NaNs.
MEZZO_TARGET [[gnu::always_inline]] inline void raise_to(f32_register& a, const f32_register& b) {
#if defined(__SSE__)
#if MEZZO_VECTOR_BYTES == 64 && defined(__clang__)
  a = __builtin_ia32_maxps512(b, a, 4);
#elif MEZZO_VECTOR_BYTES == 64
  unsigned short all = 0xFFFF;  // not const, as above
  a = __builtin_ia32_maxps512_mask(b, a, a, all, 4);
#elif MEZZO_VECTOR_BYTES == 32
  a = __builtin_ia32_maxps256(b, a);
#else
  a = __builtin_ia32_maxps(b, a);
#endif
#else
  for (int k = 0; k < float_width; ++k) a[k] = b[k] > a[k] ? b[k] : a[k];
#endif
}

struct Maxima {
  f32_register at[2 * per_block];

  template <std::size_t... I>
  MEZZO_TARGET [[gnu::always_inline]] Maxima(float least, std::index_sequence<I...>) {
    ((at[I] = f32_register{} + least), ...);
  }
  template <std::size_t... I>
  MEZZO_TARGET [[gnu::always_inline]] void add(const Block<float>* blocks, std::index_sequence<I...>) {
    (raise_to(at[I], register_of(blocks, I)), ...);
  }
  template <std::size_t... I>
  MEZZO_TARGET [[gnu::always_inline]] void add_up(std::index_sequence<I...>) {
    (raise_to(at[I], at[I + per_block]), ...);
  }
};

/// Where the elements of a reduction come from: memory.
template <class T>
struct LoadedElements {
  const T* from;

  MEZZO_TARGET [[gnu::always_inline]] void load(Block<float>& block, index_t i) const { load_block(block, from + i); }
  MEZZO_TARGET [[gnu::always_inline]] void load_last(Block<float>& block, index_t i, index_t count) const {
    load_rest(block, from + i, count);
  }
};

/// Memory too, multiplied by `factor` and stored, rounded to Out. What is reduced is the product.
template <class Out, class In>
struct ScaledElements {
  float factor;
  Out* to;
  const In* from;

  MEZZO_TARGET [[gnu::always_inline]] void load(Block<float>& block, index_t i) const {
    load_block(block, from + i);
    scale(block);
    store_block(to + i, block);
  }
  MEZZO_TARGET [[gnu::always_inline]] void load_last(Block<float>& block, index_t i, index_t count) const {
    load_rest(block, from + i, count);
    scale(block);
    store_rest(to + i, block, count);
  }
  MEZZO_TARGET [[gnu::always_inline]] void scale(Block<float>& block) const {
    MEZZO_VECTORIZE
    for (int k = 0; k < block_size; ++k) block.at[k] *= factor;
  }
};

/// Memory too, where `distance` elements on lies what is needed next.
template <class T>
struct PrefetchedElements : LoadedElements<T> {
  index_t distance;

  MEZZO_TARGET [[gnu::always_inline]] void load(Block<float>& block, index_t i) const {
    prefetch(this->from + i + distance);
    LoadedElements<T>::load(block, i);
  }
};

/// Adds the elements in [begin, end), a multiple of 16 of them.
template <class Results, class Elements>
MEZZO_TARGET [[gnu::always_inline]] inline void add_blocks(Results& results, index_t begin, index_t end, const Elements& elements) {
  Block<float> blocks[2];
  index_t i = begin;
  for (; i + 2 * block_size <= end; i += 2 * block_size) {
    elements.load(blocks[0], i);
    elements.load(blocks[1], i + block_size);
    results.add(blocks, two_blocks);
  }
  if (i < end) {
    elements.load(blocks[0], i);
    results.add(blocks, one_block);
  }
}

/// The same in short sums, from 0 to `end`.
template <class Sums, class Elements>
MEZZO_TARGET [[gnu::always_inline]] inline void add_short_sums(Sums& sums, index_t end, const Elements& elements) {
  for (index_t begin = 0; begin < end; begin += Sums::longest) {
    add_blocks(sums, begin, end - begin < Sums::longest ? end : begin + Sums::longest, elements);
    sums.add_up(one_block);
  }
}

template <class Elements>
MEZZO_TARGET [[gnu::always_inline]] inline void check_elements(SquareSums& sums, index_t count, const Elements& elements) {
  const index_t whole = count - count % block_size;
  add_short_sums(sums, whole, elements);
  if (whole < count) {
    Block<float> block;
    elements.load_last(block, whole, count - whole);
    sums.add(&block, one_block);
    sums.add_up(one_block);
  }
}

/// The squares of all elements of these chunks of `runs`, in 16 sums.
template <class T, class Run>
MEZZO_TARGET MEZZO_OPTIMIZED void check_chunks(float* results, const Chunk* begin, const Chunk* end, const Run* runs) {
  SquareSums sums(one_block);
  for (const Chunk* chunk = begin; chunk != end; ++chunk) {
    check_elements(sums, chunk->size, LoadedElements<T>{runs[chunk->run].data + chunk->begin});
  }
  store_registers(results, sums.total, one_block);
}
/// The same of from[i] * factor, which goes to to[i].
template <class Out, class In, class OutRun, class InRun>
MEZZO_TARGET MEZZO_OPTIMIZED void scale_check_chunks(float* results, float factor, const Chunk* begin, const Chunk* end, const OutRun* to,
                                                     const InRun* from) {
  SquareSums sums(one_block);
  for (const Chunk* chunk = begin; chunk != end; ++chunk) {
    check_elements(sums, chunk->size,
                   ScaledElements<Out, In>{factor, to[chunk->run].data + chunk->begin, from[chunk->run].data + chunk->begin});
  }
  store_registers(results, sums.total, one_block);
}

/// 16 sums of x - shift and 16 of its square, for x in a multiple of 16 elements.
template <class In>
MEZZO_TARGET MEZZO_OPTIMIZED void deviation_blocks(float shift, float* sums, float* squares, index_t count, const In* from,
                                                   index_t prefetch_distance) {
  DeviationSums results(shift, one_block);
  add_short_sums(results, count, PrefetchedElements<In>{{from}, prefetch_distance});
  store_registers(sums, results.total, one_block);
  store_registers(squares, results.total_squares, one_block);
}

/// 16 maxima of a multiple of 16 elements, at least `least`; NaNs are passed over.
template <class In>
MEZZO_TARGET MEZZO_OPTIMIZED void maximum_blocks(float least, float* maxima, index_t count, const In* from) {
  Maxima results(least, two_blocks);
  add_blocks(results, 0, count, LoadedElements<In>{from});
  results.add_up(one_block);
  store_registers(maxima, results.at, one_block);
}

/// to[i] = from[i] for i in [0, count), a multiple of 32.
template <class Out, class In>
MEZZO_TARGET MEZZO_OPTIMIZED void convert_blocks(index_t count, Out* to, const In* from) {
  for (index_t i = 0; i < count; i += 2 * block_size) {
    Block<compute_type_t<Out>> first, second;
    load_block(first, from + i);
    load_block(second, from + i + block_size);
    store_blocks(to + i, first, second);
  }
}

/// The same past the caches, for the caller to fence; `to` is aligned to 64 bytes. One block at a time: memory likes it better than two.
template <class Out, class In>
MEZZO_TARGET MEZZO_OPTIMIZED void stream_blocks(index_t count, Out* to, const In* from) {
  for (index_t i = 0; i < count; i += block_size) {
    Block<compute_type_t<Out>> block;
    load_block(block, from + i);
    stream_block(to + i, block);
  }
}

}  // namespace mezzo::detail::MEZZO_ISA
