// The loops over runs of any length, for the instruction set of a context. What does not fill a block goes through a block of its own,
// so that functors are compiled once for each instruction set.
#pragma once

#include <type_traits>

#include <mezzo/kernels/detail/cpu/each_isa.hpp>

namespace mezzo::detail {

// The one place where the instruction set is chosen.
#if defined(__x86_64__)
#define MEZZO_DISPATCH(isa, ...)    \
  switch (isa) {                    \
    case Isa::avx512:               \
      return avx512::__VA_ARGS__;   \
    case Isa::avx2:                 \
      return avx2::__VA_ARGS__;     \
    default:                        \
      return baseline::__VA_ARGS__; \
  }
#else
#define MEZZO_DISPATCH(isa, ...) return static_cast<void>(isa), baseline::__VA_ARGS__;
#endif

template <class Functor, class... Ranges>
void transform_blocks(Isa isa, const Functor& functor, index_t count, Ranges... ranges) {
  MEZZO_DISPATCH(isa, transform_blocks(functor, count, ranges...))
}
template <class Functor, class V, class... Ranges>
void reduce_blocks(Isa isa, const Functor& functor, V* results, index_t count, Ranges... ranges) {
  MEZZO_DISPATCH(isa, reduce_blocks(functor, results, count, ranges...))
}
/// The squares of the elements of these chunks of `runs`, in 16 sums.
template <class T, class Run>
void check_chunks(Isa isa, float* sums, const Chunk* begin, const Chunk* end, const Run* runs) {
  MEZZO_DISPATCH(isa, check_chunks<T>(sums, begin, end, runs))
}
/// to[i] = from[i] * factor over the elements of these chunks, rounded to the type in `to`; the squares of the products, in 16 sums.
template <class Out, class In, class OutRun, class InRun>
void scale_check_chunks(Isa isa, float* sums, float factor, const Chunk* begin, const Chunk* end, const OutRun* to, const InRun* from) {
  MEZZO_DISPATCH(isa, scale_check_chunks<Out, In>(sums, factor, begin, end, to, from))
}
template <class V, class In>
void exp_blocks(Isa isa, V shift, V* sums, index_t count, V* to, const In* from, index_t prefetch_distance) {
  MEZZO_DISPATCH(isa, exp_blocks(shift, sums, count, to, from, prefetch_distance))
}
template <class In>
void deviation_blocks(Isa isa, float shift, float* sums, float* squares, index_t count, const In* from, index_t prefetch_distance) {
  MEZZO_DISPATCH(isa, deviation_blocks(shift, sums, squares, count, from, prefetch_distance))
}
template <class In>
void maximum_blocks(Isa isa, float least, float* maxima, index_t count, const In* from) {
  MEZZO_DISPATCH(isa, maximum_blocks(least, maxima, count, from))
}
template <class Out, class In>
void convert_blocks(Isa isa, index_t count, Out* to, const In* from) {
  MEZZO_DISPATCH(isa, convert_blocks(count, to, from))
}
template <class Out, class In>
void stream_blocks(Isa isa, index_t count, Out* to, const In* from) {
  MEZZO_DISPATCH(isa, stream_blocks(count, to, from))
}

#undef MEZZO_DISPATCH

/// The last elements of a run in a block of their own. The last one fills it up, so that functors meet no number that was not given.
template <class R>
struct RestBlock {
  using element = std::remove_const_t<typename R::element_type>;

  RestBlock(const R& range, index_t begin, int size) : to(range.data + begin), count(size) {
    if constexpr (R::is_read) {
      for (int k = 0; k < block_size; ++k) block[k] = to[k < count ? k : count - 1];
    }
  }
  R range() { return {block}; }
  void finish() {
    if constexpr (R::is_written) {
      for (int k = 0; k < count; ++k) to[k] = block[k];
    }
  }

  typename R::element_type* to;
  int count;
  element block[block_size];
};

template <class Functor, class... Blocks>
void transform_rest(Isa isa, const Functor& functor, Blocks... blocks) {
  transform_blocks(isa, functor, block_size, blocks.range()...);
  (blocks.finish(), ...);
}

/// functor(a[i], b[i], ...) for i in [0, count).
template <class Functor, class... Ranges>
void transform_range(Isa isa, const Functor& functor, index_t count, Ranges... ranges) {
  const index_t whole = count - count % block_size;
  if (whole > 0) transform_blocks(isa, functor, whole, ranges...);
  if (whole < count) transform_rest(isa, functor, RestBlock<Ranges>(ranges, whole, static_cast<int>(count - whole))...);
}

/// combine over 16 partial results, pairwise; destroys them.
template <class V, class Combine>
[[gnu::always_inline]] inline V combine_pairwise(V (&results)[block_size], const Combine& combine) {
  for (int width = block_size / 2; width > 0; width /= 2) {
    for (int k = 0; k < width; ++k) results[k] = combine(results[k], results[k + width]);
  }
  return results[0];
}

template <class Functor, class V, class... Blocks>
void reduce_rest(Isa isa, const Functor& functor, V* results, Blocks... blocks) {
  reduce_blocks(isa, functor, results, block_size, blocks.range()...);
}

/// combine over map(a[i], b[i], ...) for i in [0, count): element i goes to partial result i mod 16, in order; the 16 are then
/// combined pairwise. The same order for every instruction set.
template <class Functor, class... Ranges>
typename Functor::value_type reduce_range(Isa isa, const Functor& functor, index_t count, Ranges... ranges) {
  using V = typename Functor::value_type;
  V results[block_size], rest[block_size];
  for (int k = 0; k < block_size; ++k) results[k] = rest[k] = functor.identity();
  const index_t whole = count - count % block_size;
  if (whole > 0) reduce_blocks(isa, functor, results, whole, ranges...);
  if (whole < count) {
    const int rest_count = static_cast<int>(count - whole);
    reduce_rest(isa, functor, rest, RestBlock<Ranges>(ranges, whole, rest_count)...);
    for (int k = 0; k < rest_count; ++k) results[k] = functor.combine(results[k], rest[k]);
  }
  return combine_pairwise(results, [&](V a, V b) { return functor.combine(a, b); });
}

/// to[i] = exp(from[i] - shift) for i in [0, count), and their sum, in the order of reduce_range. Rows side by side: the next one is
/// fetched meanwhile.
template <class V, class In>
V exp_range(Isa isa, V shift, index_t count, V* to, const In* from) {
  V sums[block_size] = {};
  const index_t whole = count - count % block_size;
  if (whole > 0) exp_blocks(isa, shift, sums, whole, to, from, count);
  if (whole < count) {
    In rest[block_size] = {};
    V results[block_size], unused[block_size] = {};
    for (index_t i = whole; i < count; ++i) rest[i - whole] = from[i];
    exp_blocks(isa, shift, unused, block_size, results, static_cast<const In*>(rest), 0);
    for (index_t i = whole; i < count; ++i) {
      to[i] = results[i - whole];
      sums[i - whole] += results[i - whole];
    }
  }
  return combine_pairwise(sums, [](V a, V b) { return a + b; });
}

/// The largest number among from[i] for i in [0, count), whatever NaNs are among them; -infinity if there is none.
template <class V, class In>
V maximum_range(Isa isa, index_t count, const In* from) {
  const auto larger = [](V a, V b) { return b > a ? b : a; };
  V result = -static_cast<V>(__builtin_inf());
  index_t begin = 0;
  if constexpr (std::is_same_v<V, float>) {
    begin = count - count % block_size;
    if (begin > 0) {
      alignas(host_alignment) float maxima[block_size];
      maximum_blocks(isa, result, maxima, begin, from);
      result = combine_pairwise(maxima, larger);
    }
  }
  for (index_t i = begin; i < count; ++i) result = larger(result, static_cast<V>(from[i]));
  return result;
}

/// Whether sums of squares in fp32, of thousands of elements, came to `sum` with nothing lost that matters: no square overflowed, and
/// what was lost when squares fell below the normal numbers, at most 2^-126 each, is small beside it. By the bits, since fast-math
/// assumes that all is finite.
constexpr bool squares_fit_fp32(double sum) {
  const auto bits = __builtin_bit_cast(std::uint64_t, sum);
  return bits >= 0x3AF0000000000000u && bits < 0x47F0000000000000u;  // 2^-80, 2^128
}

/// Sums over a row of x - shift and of its square.
struct Deviations {
  double sum = 0.0, sum_of_squares = 0.0;
};

/// In fp64 from fp32 sums of a thousand elements each. What is needed next lies `prefetch_distance` elements on.
template <class In>
Deviations deviations(Isa isa, float shift, index_t count, const In* from, index_t prefetch_distance) {
  const auto add = [](float a, float b) { return a + b; };
  constexpr index_t piece = 1024;
  Deviations result;
  const index_t whole = count - count % block_size;
  for (index_t begin = 0; begin < whole; begin += piece) {
    alignas(host_alignment) float sums[block_size], squares[block_size];
    deviation_blocks(isa, shift, sums, squares, whole - begin < piece ? whole - begin : piece, from + begin, prefetch_distance);
    result.sum += static_cast<double>(combine_pairwise(sums, add));
    result.sum_of_squares += static_cast<double>(combine_pairwise(squares, add));
  }
  for (index_t i = whole; i < count; ++i) {
    const double deviation = static_cast<double>(static_cast<float>(from[i])) - static_cast<double>(shift);
    result.sum += deviation;
    result.sum_of_squares += deviation * deviation;
  }
  return result;
}

/// A range that is written past the caches where `is_streamed`: its rows are aligned then. store_fence() before others read it.
template <class T>
struct StreamedRange {
  using element_type = T;
  static constexpr bool is_read = false, is_written = true;

  T* data;
  bool is_streamed = false;
};
template <class T>
StreamedRange<T> streamed(const Range<T, AccessMode::write>& range, bool passes_caches) {
  return {range.data, passes_caches && reinterpret_cast<std::uintptr_t>(range.data) % host_alignment == 0};
}

inline void store_fence() {
#if defined(__SSE__)
  __builtin_ia32_sfence();
#endif
}

/// to[i] = from[i] for i in [0, count); past the caches if `is_streamed`, for outputs that would only push out what is in them.
template <class Out, class In>
void convert_range(Isa isa, bool is_streamed, index_t count, Out* to, const In* from) {
  index_t head = is_streamed ? static_cast<index_t>(-reinterpret_cast<std::uintptr_t>(to) % host_alignment / sizeof(Out)) : 0;
  if (head > count) head = count;
  const index_t whole = (count - head) / (2 * block_size) * (2 * block_size);
  for (index_t i = 0; i < head; ++i) to[i] = convert<Out>(from[i]);
  if (whole > 0) {
    if (is_streamed) {
      stream_blocks(isa, whole, to + head, from + head);
      store_fence();
    } else {
      convert_blocks(isa, whole, to + head, from + head);
    }
  }
  for (index_t i = head + whole; i < count; ++i) to[i] = convert<Out>(from[i]);
}

}  // namespace mezzo::detail
