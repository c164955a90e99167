#include <doctest/doctest.h>

#include <mezzo/numeric/math.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>

namespace {

/// The largest error of `function` against `reference`, in units of the last place of the reference, over every `step`-th float
/// between two bit patterns, both signs.
template <class Function, class Reference>
double worst_error(Function function, Reference reference, std::uint32_t first, std::uint32_t last, std::uint32_t step,
                   bool both_signs = true) {
  double worst = 0;
  for (std::uint64_t bits = first; bits <= last; bits += step) {
    for (std::uint32_t sign : {0u, 0x80000000u}) {
      if (sign != 0 && !both_signs) continue;
      const float x = __builtin_bit_cast(float, static_cast<std::uint32_t>(bits) | sign);
      const double expected = reference(static_cast<double>(x));
      if (std::abs(expected) > 3.4028234e38) continue;
      const double unit = std::max(std::ldexp(1.0, std::ilogb(expected) - 23), 0x1p-149);
      worst = std::max(worst, std::abs(static_cast<double>(function(x)) - expected) / (expected == 0 ? 0x1p-149 : unit));
    }
  }
  return worst;
}

constexpr float infinity = std::numeric_limits<float>::infinity(), not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr std::uint32_t largest = 0x7F7FFFFF, step = 7919;

}  // namespace

// The bounds are the documented ones; every exponent is visited, some 250,000 values a function.
TEST_CASE("functions stay within their documented error") {
  namespace m = mezzo::math;
  CHECK(worst_error([](float x) { return m::exp(x); }, [](double x) { return std::exp(x); }, 1, 0x42D00000, step) <= 2.0);
  CHECK(worst_error([](float x) { return m::log(x); }, [](double x) { return std::log(x); }, 1, largest, step, false) <= 2.0);
  CHECK(worst_error([](float x) { return m::sqrt(x); }, [](double x) { return std::sqrt(x); }, 1, largest, step, false) <= 1.0);
  CHECK(worst_error([](float x) { return m::tanh(x); }, [](double x) { return std::tanh(x); }, 0x00800000, largest, step) <= 4.0);
  CHECK(worst_error([](float x) { return m::erf(x); }, [](double x) { return std::erf(x); }, 0x00800000, largest, step) <= 4.0);
}

TEST_CASE("the ends of the range") {
  namespace m = mezzo::math;
  CHECK(m::exp(-infinity) == 0.0f);
  CHECK(m::exp(infinity) == infinity);
  CHECK(m::exp(0.0f) == 1.0f);
  CHECK(m::log(0.0f) == -infinity);
  CHECK(m::log(1.0f) == 0.0f);
  CHECK(m::log(infinity) == infinity);
  CHECK(std::isnan(m::log(-1.0f)));
  CHECK(m::sqrt(0.0f) == 0.0f);
  CHECK(m::sqrt(1e-40f) == doctest::Approx(std::sqrt(static_cast<double>(1e-40f))));
  CHECK(m::sqrt(infinity) == infinity);
  CHECK(std::isnan(m::sqrt(-1.0f)));
  CHECK(m::tanh(infinity) == 1.0f);
  CHECK(m::erf(-infinity) == -1.0f);
  for (float result : {m::exp(not_a_number), m::log(not_a_number), m::sqrt(not_a_number), m::tanh(not_a_number), m::erf(not_a_number)})
    CHECK(std::isnan(result));
}

static_assert(mezzo::math::exp(0.0f) == 1.0f && mezzo::math::sqrt(4.0f) == 2.0f);
