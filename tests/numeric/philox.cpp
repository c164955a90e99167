#include <doctest/doctest.h>

#include <mezzo/numeric/philox.hpp>

#include <cstdint>
#include <limits>
#include <set>

using mezzo::index_t;
using mezzo::philox4x32;
using mezzo::PhiloxBlock;
using mezzo::PhiloxKey;
using mezzo::RandomGenerator;
using mezzo::RandomState;

namespace {

/// Philox as its paper writes it: 4-word state, a key that is bumped between rounds, the product as a 128-bit number.
PhiloxBlock reference(PhiloxBlock counter, PhiloxKey key) {
  for (int round = 0; round < 10; ++round) {
    if (round > 0) {
      key.word[0] += 0x9E3779B9u;
      key.word[1] += 0xBB67AE85u;
    }
    __extension__ using wide = unsigned __int128;
    const wide even = static_cast<wide>(0xD2511F53u) * counter.word[0], odd = static_cast<wide>(0xCD9E8D57u) * counter.word[2];
    const PhiloxBlock next{{static_cast<std::uint32_t>(odd >> 32) ^ counter.word[1] ^ key.word[0], static_cast<std::uint32_t>(odd),
                            static_cast<std::uint32_t>(even >> 32) ^ counter.word[3] ^ key.word[1], static_cast<std::uint32_t>(even)}};
    counter = next;
  }
  return counter;
}

}  // namespace

// Random123's kat_vectors, "philox4x32 10"; confirmed by a second implementation in Python.
static_assert(philox4x32({{0, 0, 0, 0}}, {{0, 0}}) == PhiloxBlock{{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8}});
static_assert(philox4x32({{0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}}, {{0xFFFFFFFF, 0xFFFFFFFF}}) ==
              PhiloxBlock{{0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD}});
static_assert(philox4x32({{0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344}}, {{0xA4093822, 0x299F31D0}}) ==
              PhiloxBlock{{0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1}});

TEST_CASE("the published values, computed when the program runs") {
  volatile std::uint32_t zero = 0, ones = 0xFFFFFFFF;
  CHECK(philox4x32({{zero, zero, zero, zero}}, {{zero, zero}}) == PhiloxBlock{{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8}});
  CHECK(philox4x32({{ones, ones, ones, ones}}, {{ones, ones}}) == PhiloxBlock{{0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD}});
}

TEST_CASE("a second implementation agrees") {
  PhiloxBlock x{{1, 2, 3, 4}};
  index_t wrong = 0;
  for (int i = 0; i < 100000; ++i) {
    const PhiloxKey key{{x.word[3], x.word[1]}};
    const PhiloxBlock expected = reference(x, key);
    wrong += !(philox4x32(x, key) == expected);
    x = expected;
  }
  CHECK(wrong == 0);
}

// Expected bits from Python. A stream never changes, or saved runs would no longer repeat.
TEST_CASE("the bits of an element") {
  const RandomState state{.seed = 42};
  CHECK(mezzo::random_bits(state, 0) == 0x9CEAF053);
  CHECK(mezzo::random_bits(state, 1) == 0xFCDB2127);
  CHECK(mezzo::random_bits(state, 63) == 0x7519EF25);
  CHECK(mezzo::random_bits(state, 64) == 0x77F5493B);
  CHECK(mezzo::random_bits(state, 255) == 0x8EF54A1E);
  CHECK(mezzo::random_bits(state, 256) == 0xD51E8610);
  CHECK(mezzo::random_bits(state, 65536) == 0x246416D8);
  const RandomState carries{.seed = 0x0123456789ABCDEF, .offset = 0xFFFFFFFF - 30};  // the counter passes 2^32 on the way
  CHECK(mezzo::random_bits(carries, 0) == 0xE6F61D0B);
  CHECK(mezzo::random_bits(carries, 63) == 0x54E49BB4);
  CHECK(mezzo::random_bits(carries, 64) == 0x95AB3F40);
  CHECK(mezzo::random_bits(carries, 256) == 0x6ECADE6C);
  CHECK(mezzo::random_bits(carries, 1000) == 0x33B9C117);
  CHECK(mezzo::random_bits(carries, 65536) == 0xC35E3823);
}

// 17,158 draws of 32 bits collide by chance for one seed in thirty.
TEST_CASE("each element has bits of its own, within an operation and in the next one") {
  RandomGenerator generator({.seed = 3, .offset = 0xFFFFFF80});
  std::set<std::uint32_t> seen;
  std::size_t count = 0;
  for (index_t size : {1, 4, 255, 256, 257, 1000, 15385}) {
    const RandomState state = generator.reserve(size);
    for (index_t i = 0; i < size; ++i, ++count) seen.insert(mezzo::random_bits(state, i));
  }
  CHECK(seen.size() == count);
}

TEST_CASE("a generator moves on by what the size needs") {
  RandomGenerator generator({.seed = 7, .offset = 100});
  CHECK(generator.reserve(0) == RandomState{7, 100});
  CHECK(generator.state() == RandomState{7, 100});
  CHECK(generator.reserve(1) == RandomState{7, 100});
  CHECK(generator.reserve(256) == RandomState{7, 164});
  CHECK(generator.reserve(257) == RandomState{7, 228});
  CHECK(generator.state() == RandomState{7, 356});
  RandomGenerator copy = generator, restored(generator.state());
  CHECK(copy.reserve(1000) == generator.reserve(1000));
  CHECK(copy.state() == generator.state());
  CHECK(restored.reserve(1000) != copy.state());
  CHECK(restored.state() == copy.state());
}

TEST_CASE("the end of a stream is an error, not a repetition") {
  const std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
  RandomGenerator generator({.seed = 1, .offset = last - 64});
  CHECK_THROWS_WITH_AS(static_cast<void>(generator.reserve(257)),
                       "RandomGenerator: 257 elements do not fit behind offset 18446744073709551551; choose another seed",
                       mezzo::state_error);
  CHECK(generator.state() == RandomState{1, last - 64});
  CHECK(generator.reserve(256) == RandomState{1, last - 64});
  CHECK(generator.state().offset == last);
  CHECK_THROWS_AS(static_cast<void>(generator.reserve(1)), mezzo::state_error);
}
