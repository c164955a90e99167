// All 2^32 floats to all four storage types. The reference is no second conversion: the floats that round to one code are an interval,
// whose ends follow from the decoded codes, and every float of it must give that code.
#include <doctest/doctest.h>

#include <mezzo/numeric/convert.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "reference.hpp"

namespace {

using mezzo::convert;
using mezzo::Overflow;

constexpr std::uint32_t infinity = 0x7F800000, end = 0x80000000, chunk = 1u << 22, sign = 0x80000000;

constexpr float f32(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }

/// Where the floats of each code end, as the bits of the last one, for non-negative codes up to the one after the largest.
std::vector<std::uint32_t> last_floats(const test::Format& format) {
  std::vector<std::uint32_t> result;
  for (unsigned code = 0; code <= format.largest(); ++code) {
    const auto tie = static_cast<float>(format.bound(code));
    REQUIRE(static_cast<double>(tie) == format.bound(code));
    result.push_back(__builtin_bit_cast(std::uint32_t, tie) - (code & 1u));
  }
  result.push_back(infinity);
  return result;
}

/// Floats with magnitudes from `first` to before `last`, both signs; how many give a wrong code.
template <class T>
std::uint64_t count_wrong(const test::Format& format, const std::vector<std::uint32_t>& last_of, std::uint32_t first, std::uint32_t last) {
  std::uint64_t wrong = 0;
  std::uint32_t bits = first;
  auto code = static_cast<unsigned>(std::lower_bound(last_of.begin(), last_of.end(), first) - last_of.begin());
  for (; bits < last && bits <= infinity; ++code) {
    const std::uint32_t stop = std::min(last, last_of[code] + 1);
    for (; bits < stop; ++bits) {
      const bool is_right = convert<T>(f32(bits), Overflow::infinity).bits() == code &&
                            convert<T>(f32(bits | sign), Overflow::infinity).bits() == (code | format.sign());
      wrong += is_right ? 0 : 1;
    }
  }
  for (; bits < last; ++bits) {
    const T positive = convert<T>(f32(bits)), negative = convert<T>(f32(bits | sign));
    const bool is_right =
        format.is_nan(positive.bits()) && (positive.bits() | format.sign()) == negative.bits() && (positive.bits() & format.sign()) == 0;
    const std::uint32_t back = __builtin_bit_cast(std::uint32_t, convert<float>(negative));
    wrong += is_right && back > (infinity | sign) ? 0 : 1;
  }
  return wrong;
}

template <class T>
std::uint64_t count_wrong(const test::Format& format) {
  const std::vector<std::uint32_t> last_of = last_floats(format);
  std::atomic<std::uint32_t> next = 0;
  std::atomic<std::uint64_t> wrong = 0;
  const auto work = [&] {
    for (std::uint32_t i = next++; i < end / chunk; i = next++) wrong += count_wrong<T>(format, last_of, i * chunk, (i + 1) * chunk);
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back(work);
  work();
  for (auto& thread : threads) thread.join();
  return wrong;
}

}  // namespace

TEST_CASE("all floats to half") { CHECK(count_wrong<mezzo::half>(test::Format(5, 10, true)) == 0); }
TEST_CASE("all floats to bfloat16") { CHECK(count_wrong<mezzo::bfloat16>(test::Format(8, 7, true)) == 0); }
TEST_CASE("all floats to fp8_e4m3") { CHECK(count_wrong<mezzo::fp8_e4m3>(test::Format(4, 3, false)) == 0); }
TEST_CASE("all floats to fp8_e5m2") { CHECK(count_wrong<mezzo::fp8_e5m2>(test::Format(5, 2, true)) == 0); }
