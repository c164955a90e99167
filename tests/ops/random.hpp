// Cases of random tensors and initial weights, over the context.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <mezzo/numeric/fp8.hpp>
#include <mezzo/ops/random.hpp>
#include <mezzo/tensor/tensor.hpp>

namespace test {

using mezzo::index_t;
using mezzo::RandomGenerator;
using mezzo::RandomState;

inline constexpr double pi = 3.14159265358979323846;

/// The elements of a view in row-major order.
template <class View>
auto elements(const View& view) {
  std::vector<typename View::value_type> result;
  if constexpr (View::rank == 0) {
    result.push_back(view());
  } else if constexpr (View::rank == 1) {
    for (index_t i = 0; i < view.extent(0); ++i) result.push_back(view(i));
  } else {
    for (index_t i = 0; i < view.extent(0); ++i) {
      for (auto x : elements(view.select(0, i))) result.push_back(x);
    }
  }
  return result;
}

template <class T>
std::vector<unsigned char> bytes_of(const std::vector<T>& values) {
  std::vector<unsigned char> result(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(result.data(), values.data(), result.size());
  return result;
}

/// `count` numbers of one operation from a new generator.
template <class T, class Context, class Operation>
std::vector<T> make(Context& context, std::uint64_t seed, index_t count, const Operation& operation) {
  auto out = mezzo::make_tensor<T>(context, {count});
  RandomGenerator generator({.seed = seed});
  operation(context, generator, out);
  return elements(out.view());
}

inline const auto unit_uniform = [](auto& context, RandomGenerator& generator, auto& out) { mezzo::uniform(context, generator, out); };
inline const auto unit_normal = [](auto& context, RandomGenerator& generator, auto& out) { mezzo::normal(context, generator, out); };

/// Central moments 1 to 4, the first around 0.
struct Moments {
  double mean = 0, variance = 0, third = 0, fourth = 0;
};

template <class T>
Moments moments_of(const std::vector<T>& values) {
  const auto n = static_cast<double>(values.size());
  Moments m;
  for (T x : values) m.mean += static_cast<double>(x) / n;
  for (T x : values) {
    const double d = static_cast<double>(x) - m.mean;
    m.variance += d * d / n;
    m.third += d * d * d / n;
    m.fourth += d * d * d * d / n;
  }
  return m;
}

/// The fp32 result that `bits` stand for in a uniform distribution, from the definition.
inline float uniform_of(std::uint32_t bits, double low, double high) {
  const double u = std::ldexp(static_cast<double>(bits >> 8), -24);
  return static_cast<float>(low * (1 - u) + high * u);
}

/// Standard normal number `index` in fp64, from the definition of Box and Muller.
inline double normal_of(const RandomState& state, index_t index) {
  const bool is_second = index / 64 % 2 != 0;
  const index_t first = is_second ? index - 64 : index;
  const auto u = static_cast<double>(static_cast<float>((mezzo::random_bits(state, first) >> 1) | 1u)) * 0x1p-31;
  const double angle = 2 * pi * static_cast<double>(mezzo::random_bits(state, first + 64)) * 0x1p-32;
  return std::sqrt(-2 * std::log(u)) * (is_second ? std::sin(angle) : std::cos(angle));
}

inline constexpr index_t sizes[] = {0, 1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 255, 256, 257, 1000, 16383, 16384, 16385, 40001};

/// Every element by itself, at sizes around lanes, blocks, groups and tasks; the neighbours of a slice stay as they are.
template <class T, class Context>
void uniform_follows_its_definition(Context& context) {
  RandomGenerator generator({.seed = 11});
  for (index_t size : sizes) {
    CAPTURE(size);
    auto out = mezzo::make_zeros<T>(context, {size + 2});
    const RandomState state = generator.state();
    mezzo::uniform(context, generator, out.view().slice(0, 1, size + 1), {.low = -2.0f, .high = 4.0f});
    index_t wrong = 0;
    for (index_t i = 0; i < size; ++i) {
      const T expected = mezzo::convert<T>(uniform_of(mezzo::random_bits(state, i), -2, 4)),
              below = mezzo::detail::neighbour(mezzo::convert<T>(4.0f), -1);
      wrong += out(i + 1) != (static_cast<float>(expected) < 4.0f ? expected : std::is_same_v<T, double> ? expected : below);
    }
    CHECK(wrong == 0);
    CHECK(static_cast<float>(out(0)) == 0.0f);
    CHECK(static_cast<float>(out(size + 1)) == 0.0f);
    RandomGenerator expected(state);
    CHECK(expected.reserve(size) == state);
    CHECK(generator.state() == expected.state());
  }
}

/// Within 4 units of the last place: 1 of half the logarithm's 2, 1 of the root, 1.5 of sine and cosine, 0.5 of the product.
template <class Context>
void normal_follows_its_definition(Context& context) {
  RandomGenerator generator({.seed = 12, .offset = 0xFFFFFFFF - 100});
  for (index_t size : sizes) {
    CAPTURE(size);
    auto out = mezzo::make_zeros<float>(context, {size + 2});
    const RandomState state = generator.state();
    mezzo::normal(context, generator, out.view().slice(0, 1, size + 1));
    double worst = 0;
    for (index_t i = 0; i < size; ++i) {
      const double expected = normal_of(state, i);
      worst = std::max(worst, std::abs(static_cast<double>(out(i + 1)) - expected) / std::max(std::abs(expected), 1e-12));
    }
    CHECK(worst <= 4 * 0x1p-23);
    CHECK(out(0) == 0.0f);
    CHECK(out(size + 1) == 0.0f);
  }
}

/// Bounds are 5 standard deviations of each statistic: they fail for one seed in a million.
template <class Context>
void moments_are_right(Context& context) {
  const index_t count = 1000003;
  const auto n = static_cast<double>(count);
  for (std::uint64_t seed : {0u, 1u, 42u}) {
    CAPTURE(seed);
    const Moments u = moments_of(make<float>(context, seed, count, unit_uniform));
    CHECK(std::abs(u.mean - 0.5) <= 5 * std::sqrt(1.0 / 12 / n));
    CHECK(std::abs(u.variance - 1.0 / 12) <= 5 * std::sqrt(1.0 / 180 / n));
    CHECK(std::abs(u.third) <= 5 * std::sqrt(1.0 / 448 / n));
    const auto z = make<float>(context, seed, count, unit_normal);
    const Moments m = moments_of(z);
    CHECK(std::abs(m.mean) <= 5 * std::sqrt(1 / n));
    CHECK(std::abs(m.variance - 1) <= 5 * std::sqrt(2 / n));
    CHECK(std::abs(m.third) <= 5 * std::sqrt(15 / n));
    CHECK(std::abs(m.fourth - 3) <= 5 * std::sqrt(96 / n));
    for (std::size_t lag : {1u, 2u, 4u, 16u, 64u, 128u, 256u, 16384u}) {  // products have mean 0 and variance 1
      CAPTURE(lag);
      double sum = 0;
      for (std::size_t i = lag; i < z.size(); ++i) sum += static_cast<double>(z[i]) * static_cast<double>(z[i - lag]);
      CHECK(std::abs(sum) <= 5 * std::sqrt(n));
    }
  }
}

/// Chi-square of single numbers and of neighbouring pairs in equal cells: mean cells - 1, variance 2 (cells - 1).
template <class Context>
void uniform_numbers_fill_their_cells(Context& context) {
  const index_t count = 1 << 20;
  const auto cells_are_filled = [](const std::vector<double>& cells) {
    const auto n = static_cast<double>(cells.size());
    double total = 0, chi_square = 0;
    for (double observed : cells) total += observed;
    for (double observed : cells) chi_square += (observed - total / n) * (observed - total / n) / (total / n);
    CHECK(std::abs(chi_square - (n - 1)) <= 5 * std::sqrt(2 * (n - 1)));
  };
  for (std::uint64_t seed : {5u, 6u}) {
    CAPTURE(seed);
    const auto u = make<float>(context, seed, count, unit_uniform);
    for (std::size_t lag : {1u, 64u, 128u, 256u}) {
      std::vector<double> single(1024), pair(1024);
      for (std::size_t i = 0; i < u.size(); ++i) single[static_cast<std::size_t>(u[i] * 1024)] += 1;
      for (std::size_t i = lag; i < u.size(); i += 2) {
        pair[static_cast<std::size_t>(u[i] * 32) * 32 + static_cast<std::size_t>(u[i - lag] * 32)] += 1;
      }
      cells_are_filled(single);
      cells_are_filled(pair);
    }
  }
}

/// Kolmogorov and Smirnov: the distance of the distribution functions exceeds 2.6 / sqrt(n) with probability 2 exp(-2 * 2.6^2) = 3e-6.
template <class Context>
void normal_numbers_have_their_distribution(Context& context) {
  const index_t count = 200001;
  for (std::uint64_t seed : {8u, 9u}) {
    CAPTURE(seed);
    auto z = make<float>(context, seed, count, unit_normal);
    std::sort(z.begin(), z.end());
    double distance = 0;
    for (std::size_t i = 0; i < z.size(); ++i) {
      const double wanted = 0.5 * std::erfc(-static_cast<double>(z[i]) / std::sqrt(2.0)), n = static_cast<double>(count);
      distance = std::max({distance, wanted - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - wanted});
    }
    CHECK(distance <= 2.6 / std::sqrt(static_cast<double>(count)));
  }
}

/// In [low, high) whatever the rounding, except where the dtype has no number there. The ranges make every dtype round at both ends.
template <class T, class Context>
void uniform_never_reaches_high(Context& context) {
  const float largest = std::numeric_limits<float>::max();
  const float ranges[][2] = {{0, 1},      {-1, 1},    {1, 1.0000001f}, {-0.1f, 0.1f}, {-1, 0}, {0.3f, 5.7f}, {-largest, largest},
                             {-448, 448}, {0, 1e-41f}};
  for (const auto& range : ranges) {
    CAPTURE(range[0]);
    CAPTURE(range[1]);
    const auto draw = [&](auto& c, auto& generator, auto& out) { mezzo::uniform(c, generator, out, {.low = range[0], .high = range[1]}); };
    const auto values = make<T>(context, 17, 100001, draw);
    index_t wrong = 0;
    for (T x : values) wrong += !(x >= T(range[0])) || !(static_cast<double>(x) < static_cast<double>(range[1]));
    CHECK(wrong == 0);
    for (std::uint32_t bits : {0u, 0xFFFFFFFFu}) {
      mezzo::compute_type_t<T> y;
      mezzo::detail::Uniform{static_cast<double>(range[0]), static_cast<double>(range[1]),
                             mezzo::detail::range_between<T>(range[0], range[1])}(y, bits);
      CHECK(static_cast<double>(mezzo::convert<T>(y)) < static_cast<double>(range[1]));
      CHECK(mezzo::convert<T>(y) >= T(range[0]));
    }
  }
  for (T x :
       make<T>(context, 1, 100, [](auto&c, auto&generator, auto&out) { mezzo::uniform(c, generator, out, {.low = 0.3f, .high = 0.3f}); })) {
    CHECK(x == mezzo::convert<T>(0.3f));
  }
}

/// Below low never either: 0.1 is no number of the narrow dtypes, and the nearest one of some lies below.
template <class T, class Context>
void uniform_never_passes_low(Context& context) {
  for (float low : {0.1f, 0.7f, -0.1f, -0.7f}) {
    CAPTURE(low);
    const auto values = make<T>(context, 23, 100001,
                                [&](auto& c, auto& generator, auto& out) { mezzo::uniform(c, generator, out, {.low = low, .high = 1}); });
    const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
    CHECK(static_cast<double>(*least) >= static_cast<double>(low));
    CHECK(static_cast<double>(*greatest) < 1);
  }
}

template <class T, class Context>
void normal_is_finite(Context& context) {
  const float largest = std::numeric_limits<float>::max();
  const mezzo::NormalOptions all[] = {{0, 1},       {60000, 20000}, {largest, largest}, {-largest, 1},
                                      {0, largest}, {0, 0},         {448, 100},         {0, 1e-44f}};
  for (const auto& options : all) {
    CAPTURE(options.mean);
    CAPTURE(options.standard_deviation);
    const auto values =
        make<T>(context, 29, 20001, [&](auto& c, auto& generator, auto& out) { mezzo::normal(c, generator, out, options); });
    index_t wrong = 0;
    for (const T& x : values) wrong += !mezzo::is_finite(x);
    CHECK(wrong == 0);
  }
}

/// Narrow dtypes hold the rounded fp32 numbers: one rounding, the same stream.
template <class T, class Context>
void narrow_types_round_once(Context& context) {
  const auto wide = make<float>(context, 31, 20001, unit_normal);
  const auto narrow = make<T>(context, 31, 20001, unit_normal);
  index_t wrong = 0;
  for (std::size_t i = 0; i < wide.size(); ++i) wrong += narrow[i] != mezzo::convert<T>(wide[i]);
  CHECK(wrong == 0);
  const auto scaled = [](auto& c, auto& generator, auto& out) {
    mezzo::normal(c, generator, out, {.mean = 3, .standard_deviation = 0.1f});
  };
  const auto moved = make<float>(context, 31, 20001, scaled);
  for (std::size_t i = 0; i < wide.size(); ++i) {
    const double expected = static_cast<double>(wide[i]) * static_cast<double>(0.1f) + 3;
    wrong += moved[i] != static_cast<float>(expected);
  }
  CHECK(wrong == 0);
}

/// Uniform, normal and strided results as bytes.
template <class T, class Context>
std::vector<unsigned char> everything(Context& context) {
  std::vector<unsigned char> result;
  const auto add = [&](const auto& view) {
    const auto bytes = bytes_of(elements(view));
    result.insert(result.end(), bytes.begin(), bytes.end());
  };
  RandomGenerator generator({.seed = 99, .offset = 12345});
  auto flat = mezzo::make_tensor<T>(context, {70001});
  mezzo::uniform(context, generator, flat, {.low = -0.3f, .high = 1.7f});
  add(flat.view());
  mezzo::normal(context, generator, flat, {.mean = 0.3f, .standard_deviation = 0.7f});
  add(flat.view());
  auto square = mezzo::make_tensor<T>(context, {301, 173});
  mezzo::normal(context, generator, square.view().transpose());
  add(square.view());
  mezzo::kaiming_uniform(context, generator, square);
  add(square.view());
  return result;
}

/// Whatever the strides, element i in row-major order of the view gets number i; nothing beside the view changes.
template <class T, class Context>
void strides_do_not_matter(Context& context) {
  const RandomState state{.seed = 77};
  const auto expect_numbers = [&](const auto& view) {
    RandomGenerator generator(state);
    mezzo::normal(context, generator, view);
    CHECK(bytes_of(elements(view)) == bytes_of(make<T>(context, 77, view.size(), unit_normal)));
  };
  for (index_t rows : {1, 3, 70, 257}) {
    for (index_t columns : {1, 5, 256, 300}) {
      CAPTURE(rows);
      CAPTURE(columns);
      auto x = mezzo::make_zeros<T>(context, {rows + 1, columns + 2});
      const auto inner = x.view().slice(0, 1, rows + 1).slice(1, 1, columns + 1);
      expect_numbers(inner);
      expect_numbers(inner.transpose());
      expect_numbers(inner.select(1, columns / 2));
      index_t changed = 0;
      for (index_t j = 0; j < columns + 2; ++j) changed += static_cast<float>(x(0, j)) != 0.0f;
      for (index_t i = 0; i < rows + 1; ++i)
        changed += static_cast<float>(x(i, 0)) != 0.0f || static_cast<float>(x(i, columns + 1)) != 0.0f;
      CHECK(changed == 0);
    }
  }
  auto cube = mezzo::make_tensor<T>(context, {7, 40, 11});
  expect_numbers(cube.view());
  expect_numbers(cube.view().transpose(0, 2));
  expect_numbers(cube.view().slice(1, 3, 39).transpose());
  auto scalar = mezzo::make_tensor<T>(context, mezzo::Extents<0>());
  expect_numbers(scalar.view());
}

/// The next call goes on where this one ended, and a saved state repeats.
template <class Context>
void calls_are_disjoint(Context& context) {
  RandomGenerator generator({.seed = 5});
  auto a = mezzo::make_tensor<float>(context, {1000}), b = mezzo::make_tensor<float>(context, {1000}),
       again = mezzo::make_tensor<float>(context, {1000});
  mezzo::uniform(context, generator, a);
  const RandomState between = generator.state();
  mezzo::uniform(context, generator, b);
  RandomGenerator restored(between);
  mezzo::uniform(context, restored, again);
  CHECK(bytes_of(elements(b.view())) == bytes_of(elements(again.view())));
  CHECK(restored.state() == generator.state());
  double sum = 0;  // of products with mean 0 and variance 1/144
  for (index_t i = 0; i < 1000; ++i) sum += (static_cast<double>(a(i)) - 0.5) * (static_cast<double>(b(i)) - 0.5);
  CHECK(std::abs(sum) <= 5 * std::sqrt(1000.0) / 12);
  RandomGenerator other({.seed = 6});
  mezzo::uniform(context, other, again);
  CHECK(bytes_of(elements(a.view())) != bytes_of(elements(again.view())));
}

template <class T, class Context, class Operation>
void expect_deviation(Context& context, const Operation& operation, bool is_uniform, double deviation) {
  auto weight = mezzo::make_tensor<T>(context, {300, 40, 5, 3});
  RandomGenerator generator({.seed = 1234});
  operation(generator, weight.view());
  const auto values = elements(weight.view());
  const Moments m = moments_of(values);
  const double n = static_cast<double>(values.size()), rounding = std::ldexp(1.0, -mezzo::float_traits<T>::mantissa_bits);
  // Rounding moves each weight by at most half a unit; the variance of the sample variance is (fourth - 1) / n of its square.
  CHECK(std::abs(m.mean) <= 5 * deviation / std::sqrt(n) + rounding * deviation);
  CHECK(std::abs(m.variance / (deviation * deviation) - 1) <= 5 * std::sqrt((is_uniform ? 0.8 : 2.0) / n) + 2 * rounding);
  double largest = 0;
  for (T x : values) largest = std::max(largest, std::abs(static_cast<double>(x)));
  if (is_uniform) CHECK(largest <= std::sqrt(3.0) * deviation * (1 + 0x1p-22));
  if (is_uniform) CHECK(largest >= std::sqrt(3.0) * deviation * (0.999 - rounding));
  if (!is_uniform) CHECK(largest >= 3.5 * deviation);
}

/// Weights [300, 40, 5, 3]: fan-in 600, fan-out 4500.
template <class T, class Context>
void initial_weights(Context& context) {
  using mezzo::Nonlinearity;
  const double xavier = std::sqrt(2.0 / (600 + 4500)), in = 1 / std::sqrt(600.0), out = 1 / std::sqrt(4500.0), root2 = std::sqrt(2.0);
  expect_deviation<T>(
      context, [&](auto& g, auto w) { mezzo::xavier_uniform(context, g, w); }, true, xavier);
  expect_deviation<T>(
      context, [&](auto& g, auto w) { mezzo::xavier_normal(context, g, w); }, false, xavier);
  expect_deviation<T>(
      context, [&](auto& g, auto w) { mezzo::xavier_uniform(context, g, w, {.gain = 3}); }, true, 3 * xavier);
  expect_deviation<T>(
      context, [&](auto& g, auto w) { mezzo::xavier_normal(context, g, w, {.gain = 3}); }, false, 3 * xavier);
  expect_deviation<T>(
      context, [&](auto& g, auto w) { mezzo::kaiming_uniform(context, g, w); }, true, root2 * in);
  expect_deviation<T>(
      context, [&](auto& g, auto w) { mezzo::kaiming_normal(context, g, w); }, false, root2 * in);
  expect_deviation<T>(
      context, [&](auto& g, auto w) { mezzo::kaiming_uniform(context, g, w, {.fan = mezzo::Fan::out}); }, true, root2 * out);
  expect_deviation<T>(
      context, [&](auto& g, auto w) { mezzo::kaiming_normal(context, g, w, {.fan = mezzo::Fan::out}); }, false, root2 * out);
  const auto torch_linear = [&](auto& g, auto w) {
    mezzo::kaiming_uniform(context, g, w, {.nonlinearity = Nonlinearity::leaky_relu, .negative_slope = std::sqrt(5.0f)});
  };
  expect_deviation<T>(context, torch_linear, true, in / std::sqrt(3.0));
  expect_deviation<T>(
      context, [&](auto& g, auto w) { mezzo::kaiming_normal(context, g, w, {.nonlinearity = Nonlinearity::tanh}); }, false, in * 5 / 3);
}

/// A transposed weight has its fans exchanged, and takes the same numbers as the rows of a contiguous one.
template <class Context>
void weights_of_a_matrix(Context& context) {
  auto a = mezzo::make_tensor<float>(context, {64, 16}), b = mezzo::make_tensor<float>(context, {16, 64});
  RandomGenerator first({.seed = 3}), second({.seed = 3});
  mezzo::kaiming_normal(context, first, a);
  mezzo::kaiming_normal(context, second, b.view().transpose());
  CHECK(bytes_of(elements(a.view())) == bytes_of(elements(b.view().transpose())));
  auto empty = mezzo::make_tensor<float>(context, {0, 16});
  const RandomState before = first.state();
  mezzo::xavier_uniform(context, first, empty);
  mezzo::kaiming_normal(context, first, empty, {.fan = mezzo::Fan::out});
  CHECK(first.state() == before);
}

/// A refused option changes neither the generator nor the output.
template <class Context>
void options_are_validated(Context& context) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  RandomGenerator generator({.seed = 1, .offset = 2});
  auto x = mezzo::make_zeros<float>(context, {8, 8});
  using mezzo::option_error;
  for (float bad : {nan, infinity, -infinity}) {
    CHECK_THROWS_WITH_AS(mezzo::uniform(context, generator, x, {.low = bad}), doctest::Contains("uniform: low must be finite, is"),
                         option_error);
    CHECK_THROWS_WITH_AS(mezzo::uniform(context, generator, x, {.high = bad}), doctest::Contains("uniform: high must be finite, is"),
                         option_error);
    CHECK_THROWS_WITH_AS(mezzo::normal(context, generator, x, {.mean = bad}), doctest::Contains("normal: mean must be finite, is"),
                         option_error);
    CHECK_THROWS_WITH_AS(mezzo::normal(context, generator, x, {.standard_deviation = bad}),
                         doctest::Contains("normal: standard_deviation must"), option_error);
    CHECK_THROWS_WITH_AS(mezzo::xavier_uniform(context, generator, x, {.gain = bad}), doctest::Contains("xavier_uniform: gain must"),
                         option_error);
    CHECK_THROWS_WITH_AS(mezzo::xavier_normal(context, generator, x, {.gain = bad}), doctest::Contains("xavier_normal: gain must"),
                         option_error);
    CHECK_THROWS_WITH_AS(mezzo::kaiming_uniform(context, generator, x, {.negative_slope = bad}),
                         doctest::Contains("kaiming_uniform: negative_slope"), option_error);
    CHECK_THROWS_WITH_AS(mezzo::kaiming_normal(context, generator, x, {.negative_slope = bad}),
                         doctest::Contains("kaiming_normal: negative_slope"), option_error);
  }
  CHECK_THROWS_WITH_AS(mezzo::uniform(context, generator, x, {.low = 2, .high = 1}),
                       "uniform: low must not be above high, but 2 is above 1", option_error);
  CHECK_THROWS_WITH_AS(mezzo::normal(context, generator, x, {.standard_deviation = -0.5f}),
                       "normal: standard_deviation must be finite and not negative, is -0.5", option_error);
  CHECK_THROWS_WITH_AS(mezzo::xavier_uniform(context, generator, x, {.gain = -1}), "xavier_uniform: gain must lie in [0, 2^100], is -1",
                       option_error);
  CHECK(generator.state() == RandomState{1, 2});
  for (float value : elements(x.view())) CHECK(value == 0.0f);
}

}  // namespace test
