// What the tests of operations share: random tensors, their values in fp64, rounding units, and numerical gradients.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include <mezzo/context/cpu_context.hpp>
#include <mezzo/numeric/convert.hpp>
#include <mezzo/tensor/tensor.hpp>

namespace test {

using mezzo::index_t;

/// The same numbers on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : m_state(seed * 0x9E3779B97F4A7C15u + 1) {}
  std::uint32_t bits() {
    m_state = m_state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(m_state >> 32);
  }
  double uniform(double low, double high) { return low + (high - low) * (bits() * 0x1p-32); }

 private:
  std::uint64_t m_state;
};

/// A tensor of numbers from [low, high), rounded to T.
template <class T, class Context, int Rank>
auto random_tensor(Context& context, const index_t (&extents)[Rank], std::uint64_t seed, double low = -2, double high = 2) {
  auto result = mezzo::make_tensor<T>(context, extents);
  Random random(seed);
  for (index_t i = 0; i < result.size(); ++i) result.data()[i] = mezzo::convert<T>(random.uniform(low, high));
  return result;
}

/// The elements of a contiguous view or tensor, in fp64.
template <class V>
std::vector<double> values(const V& v) {
  std::vector<double> result;
  for (index_t i = 0; i < v.size(); ++i) result.push_back(mezzo::convert<double>(v.data()[i]));
  return result;
}

template <class T>
inline constexpr double unit_roundoff = static_cast<double>(1.0f / static_cast<float>(1 << mezzo::float_traits<T>::mantissa_bits)) / 2;
template <>
inline constexpr double unit_roundoff<double> = 0x1p-53;

/// The largest error of rounding x to T, subnormals included.
template <class T>
double rounding(double x) {
  return std::abs(x) * unit_roundoff<T> + std::ldexp(0.5, 1 - mezzo::float_traits<T>::bias - mezzo::float_traits<T>::mantissa_bits);
}

template <class T>
double to_double(const T& x) {
  return mezzo::convert<double>(x);
}

/// Checks a gradient against central differences of `loss` in fp64, for each element of `at` in turn. The differences are good to
/// about step^2 plus 1e-16 / step, relative to the function's size: 1e-8 with a step of 1e-5.
template <class Tensor, class Gradient, class Loss>
void check_gradient(Tensor& at, const Gradient& gradient, const Loss& loss, double tolerance = 1e-8) {
  const double step = 1e-5;
  for (index_t i = 0; i < at.size(); ++i) {
    double& x = at.data()[i];
    const double before = x;
    x = before + step;
    const double above = loss();
    x = before - step;
    const double below = loss();
    x = before;
    CAPTURE(i);
    CHECK(std::abs((above - below) / (2 * step) - gradient.data()[i]) <= tolerance * (1 + std::abs(gradient.data()[i])));
  }
}

/// sum weights * y: a scalar whose gradient by y is `weights`.
template <class Y, class Weights>
double dot(const Y& y, const Weights& weights) {
  double result = 0;
  for (index_t i = 0; i < y.size(); ++i) result += y.data()[i] * weights.data()[i];
  return result;
}

/// run(out, in, begin, end) does rows [begin, end): all at once, more than the caches hold, or one by one, the same bits. Every other
/// row begins within a cache line.
template <class T, class Context, class Run>
void rows_past_the_caches(Context& context, const Run& run) {
  constexpr index_t width = 1000 + 16 / static_cast<index_t>(sizeof(T));
  const auto rows = static_cast<index_t>(mezzo::last_level_cache_size() / (2 * sizeof(T))) / width + 10;
  const auto x = random_tensor<T>(context, {rows, width}, 31);
  auto y = mezzo::make_tensor<T>(context, {rows, width}), alone = mezzo::make_tensor<T>(context, {1, width});
  run(y.view(), x.view(), index_t{0}, rows);
  for (const index_t row : {index_t{0}, index_t{1}, rows / 2, rows - 1}) {
    run(alone.view(), x.view().slice(0, row, row + 1), row, row + 1);
    CHECK(std::memcmp(y.data() + row * width, alone.data(), static_cast<std::size_t>(width) * sizeof(T)) == 0);
  }
}

}  // namespace test
