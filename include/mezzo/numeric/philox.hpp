// Random numbers as a pure function of seed and position. There is no state that threads, ranks or devices would have to share, so
// results depend on nothing but the seed, the offset and the shape.
#pragma once

#include <cstdint>

#include <mezzo/core/config.hpp>
#include <mezzo/core/error.hpp>
#include <mezzo/core/extents.hpp>

namespace mezzo {

/// What Philox maps, and what it maps it to.
struct PhiloxBlock {
  std::uint32_t word[4];
  friend constexpr bool operator==(const PhiloxBlock&, const PhiloxBlock&) = default;
};

struct PhiloxKey {
  std::uint32_t word[2];
};

namespace detail {

[[gnu::always_inline]] MEZZO_HOST_DEVICE constexpr PhiloxBlock philox_round(const PhiloxBlock& x, const PhiloxKey& key,
                                                                            std::uint32_t round) {
  constexpr std::uint32_t multiplier0 = 0xD2511F53u, multiplier1 = 0xCD9E8D57u, weyl0 = 0x9E3779B9u, weyl1 = 0xBB67AE85u;
  const std::uint64_t product0 = std::uint64_t{multiplier0} * x.word[0], product1 = std::uint64_t{multiplier1} * x.word[2];
  const std::uint32_t a = static_cast<std::uint32_t>(product1 >> 32) ^ x.word[1] ^ (key.word[0] + round * weyl0);
  const std::uint32_t c = static_cast<std::uint32_t>(product0 >> 32) ^ x.word[3] ^ (key.word[1] + round * weyl1);
  return {{a, static_cast<std::uint32_t>(product1), c, static_cast<std::uint32_t>(product0)}};
}

[[gnu::always_inline]] MEZZO_HOST_DEVICE constexpr PhiloxBlock philox_five_rounds(const PhiloxBlock& x, const PhiloxKey& key,
                                                                                  std::uint32_t first) {
  const PhiloxBlock y = philox_round(philox_round(x, key, first), key, first + 1);
  return philox_round(philox_round(philox_round(y, key, first + 2), key, first + 3), key, first + 4);
}

}  // namespace detail

/// Philox 4x32-10: a bijection of 128-bit counters for every key. Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC'11.
[[gnu::always_inline]] MEZZO_HOST_DEVICE constexpr PhiloxBlock philox4x32(const PhiloxBlock& counter, const PhiloxKey& key) {
  // Without a loop, so that loops over it vectorise.
  return detail::philox_five_rounds(detail::philox_five_rounds(counter, key, 0), key, 5);
}

/// A place in a stream of random numbers: all there is to save. Seeds are different streams; the offset counts Philox blocks.
struct RandomState {
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;
  friend constexpr bool operator==(const RandomState&, const RandomState&) = default;
};

namespace detail {

/// 64 consecutive blocks serve 256 elements: element 64 w + k of them has word w of block k, so that neighbours in memory are
/// neighbours in vector registers and in a warp.
inline constexpr index_t random_lanes = 64, random_group = 4 * random_lanes;

constexpr std::uint64_t random_blocks(index_t size) {
  return static_cast<std::uint64_t>(size / random_group + (size % random_group != 0)) * static_cast<std::uint64_t>(random_lanes);
}

/// Block number `lane`, below 2^32, after `state`.
[[gnu::always_inline]] MEZZO_HOST_DEVICE constexpr PhiloxBlock random_block(const RandomState& state, std::uint32_t lane) {
  const std::uint32_t low = static_cast<std::uint32_t>(state.offset) + lane;
  const std::uint32_t high = static_cast<std::uint32_t>(state.offset >> 32) + static_cast<std::uint32_t>(low < lane);
  return philox4x32({{low, high, 0u, 0u}}, {{static_cast<std::uint32_t>(state.seed), static_cast<std::uint32_t>(state.seed >> 32)}});
}

/// The state at the group of 256 elements with that number.
MEZZO_HOST_DEVICE constexpr RandomState random_group_state(const RandomState& state, index_t group) {
  return {state.seed, state.offset + static_cast<std::uint64_t>(group * random_lanes)};
}

}  // namespace detail

/// The 32 random bits of element `index`, in row-major order, of an operation that began at `state`.
MEZZO_HOST_DEVICE constexpr std::uint32_t random_bits(const RandomState& state, index_t index) {
  const index_t within = index % detail::random_group;
  const PhiloxBlock block = detail::random_block(detail::random_group_state(state, index / detail::random_group),
                                                 static_cast<std::uint32_t>(within % detail::random_lanes));
  return block.word[within / detail::random_lanes];
}

/// Hands out disjoint parts of a stream. A value: a copy repeats what the original gives from there on.
class RandomGenerator {
 public:
  constexpr explicit RandomGenerator(const RandomState& state = {}) : m_state(state) {}

  constexpr const RandomState& state() const { return m_state; }

  /// Moves past the numbers that `size` elements need and returns the state before. Throws state_error where the stream ends, after
  /// 2^64 blocks.
  [[nodiscard]] constexpr RandomState reserve(index_t size) {
    const RandomState start = m_state;
    const std::uint64_t blocks = detail::random_blocks(size);
    expects<state_error>(start.offset <= ~blocks, "RandomGenerator: {} elements do not fit behind offset {}; choose another seed", size,
                         start.offset);
    m_state.offset += blocks;
    return start;
  }

 private:
  RandomState m_state;
};

}  // namespace mezzo
