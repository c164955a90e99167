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
typedef float f32x4 __attribute__((vector_size(16), aligned(1), may_alias));
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
#if MEZZO_VECTOR_BYTES == 64
MEZZO_TARGET [[gnu::always_inline]] inline void store_block(bfloat16* to, const Block<float>& block) {
  typedef unsigned short u16x32 __attribute__((vector_size(64), may_alias));
  const u32x16 bits = *reinterpret_cast<const u32x16*>(block.at);
  const f32x16 values = *reinterpret_cast<const f32x16*>(block.at);
  unsigned short all = 0xFFFF;
  const auto is_nan = static_cast<unsigned short>(__builtin_ia32_fpclassps512_mask(values, 0x81, all));
  const i32x16 rounded = reinterpret_cast<i32x16>(bits + 0x7FFFu + (bits >> 16 & 1u)), quiet = reinterpret_cast<i32x16>(bits | 0x00400000u);
#if defined(__clang__)
  const auto codes = reinterpret_cast<u16x32>(__builtin_ia32_selectd_512(is_nan, quiet, rounded));
  const auto halves = __builtin_shufflevector(codes, codes, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  *reinterpret_cast<u16x16*>(static_cast<void*>(to)) = halves;
#else
  const auto codes = reinterpret_cast<u16x32>(__builtin_ia32_blendmd_512_mask(rounded, quiet, is_nan));
  constexpr u16x32 odd{1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31};
  const u16x32 halves = __builtin_shuffle(codes, odd);
  *reinterpret_cast<u16x16*>(static_cast<void*>(to)) = *reinterpret_cast<const u16x16*>(&halves);
#endif
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
#endif

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

MEZZO_TARGET [[gnu::always_inline]] inline void exp_block(Block<double>& block) {
  for (int k = 0; k < block_size; ++k) block.at[k] = math::exp(block.at[k]);
}
/// As math::exp, with the instructions that AVX-512 has for its steps.
MEZZO_TARGET [[gnu::always_inline]] inline void exp_block(Block<float>& block) {
#if MEZZO_VECTOR_BYTES == 64
  unsigned short all = 0xFFFF;  // not const, as above
  typedef f32_register vector;
  vector& values = *reinterpret_cast<vector*>(block.at);
  constexpr vector least{-104, -104, -104, -104, -104, -104, -104, -104, -104, -104, -104, -104, -104, -104, -104, -104};
  constexpr vector most{89, 89, 89, 89, 89, 89, 89, 89, 89, 89, 89, 89, 89, 89, 89, 89};
  // The second operand of maximum and minimum comes through when it is not a number.
#if defined(__clang__)
  const vector x = __builtin_ia32_minps512(most, __builtin_ia32_maxps512(least, values, 4), 4);
#else
  const vector x = __builtin_ia32_minps512_mask(most, __builtin_ia32_maxps512_mask(least, values, least, all, 4), most, all, 4);
#endif
  const vector n = __builtin_ia32_rndscaleps_mask(x * 0x1.715476p+0f, 8, x, all, 4);
  const vector r = (x - n * 0x1.62e400p-1f) - n * 0x1.7f7d1cp-20f;
  vector p = r * 0x1.a1b124p-13f + 0x1.6d9ea4p-10f;
  p = p * r + 0x1.111082p-7f;
  p = p * r + 0x1.555478p-5f;
  p = p * r + 0x1.555556p-3f;
  p = p * r + 0.5f;
  p = p * (r * r) + r + 1.0f;
  values = __builtin_ia32_scalefps512_mask(p, n, p, all, 4);
#else
  for (int k = 0; k < block_size; ++k) block.at[k] = math::exp(block.at[k]);
#endif
}

/// to[i] = exp(from[i] - shift) for i in [0, count), a multiple of 16, each added to sums[i mod 16].
template <class V, class In>
MEZZO_TARGET MEZZO_OPTIMIZED void exp_blocks(V shift, V* sums, index_t count, V* to, const In* from) {
  Block<V> total;
  load_block(total, static_cast<const V*>(sums));
  for (index_t i = 0; i < count; i += block_size) {
    Block<V> block;
    load_block(block, from + i);
    for (int k = 0; k < block_size; ++k) block.at[k] -= shift;
    exp_block(block);
    store_block(to + i, block);
    for (int k = 0; k < block_size; ++k) total.at[k] += block.at[k];
  }
  store_block(sums, total);
}

/// The partial results of a check in registers, and what elements add to them: four vectors of each, or one sum would wait for the
/// one before. The bits of magnitudes are compared as integers, which fast-math cannot assume to be finite.
struct CheckRegisters {
  typedef f32_register vector;
  typedef std::int32_t bits __attribute__((vector_size(MEZZO_VECTOR_BYTES), may_alias));
  static constexpr int width = float_width;
  static constexpr int blocks = 4 * width / block_size;
  static constexpr std::make_index_sequence<4> all{};
  static constexpr std::make_index_sequence<blocks> every_block{};
  static constexpr std::make_index_sequence<block_size / width> one_block{};

  bits largest[4];
  vector sums[4];

  template <std::size_t... I>
  MEZZO_TARGET [[gnu::always_inline]] void load(const FiniteChecks& checks, std::index_sequence<I...>) {
    ((largest[I] = bits{}, sums[I] = vector{}), ...);
    for (int k = 0; k < block_size / width; ++k) {
      largest[k] = *reinterpret_cast<const bits*>(checks.largest + k * width);
      sums[k] = *reinterpret_cast<const vector*>(checks.sums_of_squares + k * width);
    }
  }
  template <std::size_t... I>
  MEZZO_TARGET [[gnu::always_inline]] void store(FiniteChecks& checks, std::index_sequence<I...>) {
    constexpr int per_block = block_size / width;
    if constexpr (blocks == 4) {
      (add_results(I, I + 2 * per_block), ...);
      (add_results(I + per_block, I + 3 * per_block), ...);
    }
    if constexpr (blocks >= 2) (add_results(I, I + per_block), ...);
    ((*reinterpret_cast<bits*>(checks.largest + I * width) = largest[I]), ...);
    ((*reinterpret_cast<vector*>(checks.sums_of_squares + I * width) = sums[I]), ...);
  }
  MEZZO_TARGET [[gnu::always_inline]] void add_results(std::size_t to, std::size_t from) {
    largest[to] = largest[to] < largest[from] ? largest[from] : largest[to];
    sums[to] += sums[from];
  }
  template <std::size_t... I>
  MEZZO_TARGET [[gnu::always_inline]] void add(const Block<float>* block, std::index_sequence<I...>) {
    (add_vector(largest[I], sums[I], block[I * width / block_size].at + I * width % block_size), ...);
  }
  MEZZO_TARGET [[gnu::always_inline]] static void add_vector(bits& most, vector& sum, const float* from) {
    const vector values = *reinterpret_cast<const vector*>(from);
    const bits magnitudes = reinterpret_cast<bits>(values) & 0x7FFFFFFF;
    most = most < magnitudes ? magnitudes : most;
    sum += values * values;
  }
};

/// Where a check's elements come from: memory.
template <class T>
struct CheckedElements {
  const T* from;

  MEZZO_TARGET [[gnu::always_inline]] void load(Block<float>& block, index_t i) const { load_block(block, from + i); }
  MEZZO_TARGET [[gnu::always_inline]] void load_rest(Block<float>& block, index_t i, index_t count) const {
    T rest[block_size] = {};  // zeros change neither a largest magnitude nor a sum
    __builtin_memcpy(static_cast<void*>(rest), from + i, static_cast<std::size_t>(count) * sizeof(T));
    load_block(block, static_cast<const T*>(rest));
  }
};

/// Memory too, multiplied by `factor` and stored, rounded to Out. What is checked is the product.
template <class Out, class In>
struct ScaledElements {
  float factor;
  Out* to;
  const In* from;

  MEZZO_TARGET [[gnu::always_inline]] void scale(Block<float>& block, Out* target, const In* source) const {
    load_block(block, source);
    MEZZO_VECTORIZE
    for (int k = 0; k < block_size; ++k) block.at[k] *= factor;
    store_block(target, block);
  }
  MEZZO_TARGET [[gnu::always_inline]] void load(Block<float>& block, index_t i) const { scale(block, to + i, from + i); }
  MEZZO_TARGET [[gnu::always_inline]] void load_rest(Block<float>& block, index_t i, index_t count) const {
    const auto size = static_cast<std::size_t>(count);
    In rest[block_size] = {};
    Out scaled[block_size];
    __builtin_memcpy(static_cast<void*>(rest), from + i, size * sizeof(In));
    scale(block, scaled, static_cast<const In*>(rest));
    __builtin_memcpy(static_cast<void*>(to + i), scaled, size * sizeof(Out));
  }
};

// Folds instead of loops: with constant indices both compilers keep the blocks in registers.
template <class Elements, std::size_t... I>
MEZZO_TARGET [[gnu::always_inline]] inline void load_blocks(Block<float>* blocks, const Elements& elements, index_t i,
                                                            std::index_sequence<I...>) {
  (elements.load(blocks[I], i + static_cast<index_t>(I) * block_size), ...);
}

/// Adds `count` elements to partial results, in an order that follows from the count.
template <class Elements>
MEZZO_TARGET [[gnu::always_inline]] inline void check_elements(FiniteChecks& results, index_t count, const Elements& elements) {
  CheckRegisters checks;
  checks.load(results, checks.all);
  constexpr index_t step = checks.blocks * block_size;
  index_t i = 0;
  for (; i + step <= count; i += step) {
    Block<float> blocks[checks.blocks];
    load_blocks(blocks, elements, i, checks.every_block);
    checks.add(blocks, checks.all);
  }
  Block<float> block;
  for (; i + block_size <= count; i += block_size) {
    elements.load(block, i);
    checks.add(&block, checks.one_block);
  }
  if (i < count) {
    elements.load_rest(block, i, count - i);
    checks.add(&block, checks.one_block);
  }
  checks.store(results, checks.one_block);
}

template <class T>
MEZZO_TARGET MEZZO_OPTIMIZED void check_range(FiniteChecks& results, index_t count, const T* from) {
  check_elements(results, count, CheckedElements<T>{from});
}
template <class Out, class In>
MEZZO_TARGET MEZZO_OPTIMIZED void scale_check_range(FiniteChecks& results, float factor, index_t count, Out* to, const In* from) {
  check_elements(results, count, ScaledElements<Out, In>{factor, to, from});
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

/// to[i] = from[i] for i in [0, count), a multiple of 16, past the caches; `to` is aligned to 64 bytes.
template <class Out, class In>
MEZZO_TARGET MEZZO_OPTIMIZED void stream_blocks(index_t count, Out* to, const In* from) {
  for (index_t i = 0; i < count; i += block_size) {
    Block<compute_type_t<Out>> block;
    load_block(block, from + i);
#if defined(__SSE__)
    constexpr int whole = block_size * static_cast<int>(sizeof(Out)), bytes = whole < MEZZO_VECTOR_BYTES ? whole : MEZZO_VECTOR_BYTES;
    alignas(64) Out line[block_size];
    store_block(line, block);
    for (int k = 0; k < whole; k += bytes) {
      float* const target = reinterpret_cast<float*>(reinterpret_cast<char*>(to + i) + k);
      const char* const source = reinterpret_cast<const char*>(line) + k;
      if constexpr (bytes == 16) stream_16(target, source);
#if MEZZO_VECTOR_BYTES >= 32
      if constexpr (bytes == 32) stream_32(target, source);
#endif
#if MEZZO_VECTOR_BYTES == 64
      if constexpr (bytes == 64) stream_64(target, source);
#endif
    }
#else
    store_block(to + i, block);
#endif
  }
#if defined(__SSE__)
  __builtin_ia32_sfence();
#endif
}

}  // namespace mezzo::detail::MEZZO_ISA
