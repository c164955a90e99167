// Cases of dropout, over the context.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include <mezzo/numeric/fp8.hpp>
#include <mezzo/ops/dropout.hpp>
#include <mezzo/tensor/tensor.hpp>

namespace test {

using mezzo::index_t;
using mezzo::RandomGenerator;
using mezzo::RandomState;

/// 1, 2, 3, 1, 2, ...: numbers of every dtype, never zero.
template <class T>
T value_at(index_t i) {
  return mezzo::convert<T>(static_cast<float>(i % 3 + 1));
}

/// What dropout makes of `x` at `index`, from the definition, rounded once from fp32 (fp64 for double).
template <class T>
T dropped(T x, const RandomState& state, index_t index, float probability) {
  if (static_cast<double>(mezzo::random_bits(state, index)) < std::floor(std::ldexp(static_cast<double>(probability), 32) + 0.5))
    return T(0.0f);
  using V = mezzo::compute_type_t<T>;
  return mezzo::convert<T>(static_cast<V>(x) * static_cast<V>(1.0 / (1.0 - static_cast<double>(probability))));
}

/// Bit i: whether element i, in row-major order, is not zero.
template <class View>
std::vector<bool> mask_of(const View& view) {
  std::vector<bool> result;
  if constexpr (View::rank == 1) {
    for (index_t i = 0; i < view.extent(0); ++i) result.push_back(static_cast<double>(view(i)) != 0.0);
  } else {
    for (index_t i = 0; i < view.extent(0); ++i) {
      for (bool kept : mask_of(view.select(0, i))) result.push_back(kept);
    }
  }
  return result;
}

template <class T>
std::vector<unsigned char> bytes_of(const mezzo::HostView<T, 1>& view) {
  std::vector<unsigned char> result(static_cast<std::size_t>(view.size()) * sizeof(T));
  if (view.size() > 0) std::memcpy(result.data(), view.data(), result.size());
  return result;
}

/// Every element by itself, forward and backward, at sizes around lanes, blocks, groups and tasks, also in place.
template <class T, class Context>
void follows_its_definition(Context& context) {
  RandomGenerator generator({.seed = 21, .offset = 0xFFFFFFFF - 500});
  for (index_t size : {0, 1, 2, 3, 5, 15, 16, 17, 63, 64, 65, 255, 256, 257, 1000, 16383, 16384, 16385, 40001}) {
    for (float probability : {0.1f, 0.5f, 0.9f}) {
      CAPTURE(size);
      CAPTURE(probability);
      auto x = mezzo::make_tensor<T>(context, {size}), y = mezzo::make_tensor<T>(context, {size + 2}),
           gradient = mezzo::make_tensor<T>(context, {size});
      for (index_t i = 0; i < size; ++i) x(i) = value_at<T>(i);
      for (index_t i = 0; i < size + 2; ++i) y(i) = value_at<T>(1);
      const RandomState before = generator.state();
      const RandomState state = mezzo::dropout(context, generator, y.view().slice(0, 1, size + 1), x, {.probability = probability});
      CHECK(state == before);
      mezzo::dropout_backward(context, state, gradient, x, {.probability = probability});
      index_t wrong = 0;
      for (index_t i = 0; i < size; ++i) {
        const T expected = dropped(x(i), state, i, probability);
        wrong += y(i + 1) != expected || gradient(i) != expected;
      }
      CHECK(wrong == 0);
      CHECK(y(0) == value_at<T>(1));
      CHECK(y(size + 1) == value_at<T>(1));
      mezzo::dropout_backward(context, state, x, x, {.probability = probability});
      CHECK(bytes_of(x.view()) == bytes_of(gradient.view()));
      RandomGenerator expected(before);
      static_cast<void>(expected.reserve(size));
      CHECK(generator.state() == expected.state());
    }
  }
}

/// Kept elements are counted within 5 standard deviations, and the mean of the output is that of the input as closely: it is
/// kept / (n (1 - p)).
template <class Context>
void keeps_the_right_share(Context& context) {
  const index_t size = 1000001;
  const auto n = static_cast<double>(size);
  auto x = mezzo::make_tensor<float>(context, {size}), y = mezzo::make_tensor<float>(context, {size});
  for (index_t i = 0; i < size; ++i) x(i) = 1.0f;
  for (std::uint64_t seed : {1u, 2u, 3u}) {
    for (float probability : {0.001f, 0.1f, 0.3f, 0.5f, 0.9f, 0.999f}) {
      CAPTURE(seed);
      CAPTURE(probability);
      RandomGenerator generator({.seed = seed});
      mezzo::dropout(context, generator, y, x, {.probability = probability});
      const double p = static_cast<double>(probability);
      double kept = 0, sum = 0;
      for (index_t i = 0; i < size; ++i) {
        kept += y(i) != 0.0f;
        sum += static_cast<double>(y(i));
      }
      CHECK(std::abs(kept - n * (1 - p)) <= 5 * std::sqrt(n * p * (1 - p)));
      CHECK(std::abs(sum / n - 1) <= 5 * std::sqrt(p / (1 - p) / n) + 0x1p-24);
    }
  }
}

/// The mask of one state, seen through a dtype and two layouts: contiguous going forward, transposed and sliced going backward.
template <class T, class Context>
void expect_mask(Context& context, const std::vector<bool>& expected) {
  auto x = mezzo::make_tensor<T>(context, {150, 301}), y = mezzo::make_tensor<T>(context, {150, 301});
  auto wide = mezzo::make_zeros<T>(context, {303, 151});
  for (index_t i = 0; i < x.size(); ++i) x.data()[i] = value_at<T>(i);
  RandomGenerator generator({.seed = 5});
  const RandomState state = mezzo::dropout(context, generator, y, x, {.probability = 0.4f});
  CHECK(mask_of(y.view()) == expected);
  const auto gradient = wide.view().slice(0, 1, 302).slice(1, 1, 151).transpose();
  mezzo::dropout_backward(context, state, gradient, x, {.probability = 0.4f});
  CHECK(mask_of(gradient) == expected);
  index_t changed = 0;
  for (index_t i = 0; i < 303; ++i) changed += static_cast<float>(wide(i, 0)) != 0.0f;
  for (index_t j = 0; j < 151; ++j) changed += static_cast<float>(wide(0, j)) != 0.0f || static_cast<float>(wide(302, j)) != 0.0f;
  CHECK(changed == 0);
}

inline std::vector<bool> mask_from_bits() {
  std::vector<bool> result;
  for (index_t i = 0; i < 150 * 301; ++i)
    result.push_back(static_cast<double>(mezzo::random_bits({.seed = 5}, i)) * 0x1p-32 >= static_cast<double>(0.4f));
  return result;
}

template <class Context>
void mask_is_the_same_everywhere(Context& context) {
  const std::vector<bool> expected = mask_from_bits();
  expect_mask<float>(context, expected);
  expect_mask<double>(context, expected);
  expect_mask<mezzo::half>(context, expected);
  expect_mask<mezzo::bfloat16>(context, expected);
  expect_mask<mezzo::fp8_e4m3>(context, expected);
  expect_mask<mezzo::fp8_e5m2>(context, expected);
}

/// Probability 0 copies and 1 erases, infinities and NaN included; both move the generator on as any other probability does.
template <class T, class Context>
void ends_of_the_range(Context& context) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  auto x = mezzo::make_tensor<T>(context, {1000}), y = mezzo::make_tensor<T>(context, {1000});
  for (index_t i = 0; i < 1000; ++i) x(i) = mezzo::convert<T>(i % 4 == 0 ? infinity : i % 4 == 1 ? nan : i % 4 == 2 ? -infinity : 0x1p-9f);
  RandomGenerator copies({.seed = 4}), erases({.seed = 4}), drops({.seed = 4});
  CHECK(mezzo::dropout(context, copies, y, x, {.probability = 0.0f}) == RandomState{4, 0});
  CHECK(bytes_of(y.view()) == bytes_of(x.view()));
  CHECK(mezzo::dropout(context, erases, y, x, {.probability = 1.0f}) == RandomState{4, 0});
  CHECK(bytes_of(y.view()) == std::vector<unsigned char>(1000 * sizeof(T)));
  CHECK(mezzo::dropout(context, drops, y, x, {.probability = 0.5f}) == RandomState{4, 0});
  index_t wrong = 0;
  for (index_t i = 0; i < 1000; ++i) {
    const bool is_zero = mezzo::random_bits({.seed = 4}, i) < 0x80000000u;
    wrong += is_zero      ? !(y(i) == T(0.0f))
             : i % 4 == 3 ? y(i) != mezzo::convert<T>(0x1p-8f)
             : i % 4 == 1 ? !mezzo::is_nan(y(i))
                          : y(i) == T(0.0f);
  }
  CHECK(wrong == 0);
  CHECK(copies.state() == drops.state());
  CHECK(erases.state() == drops.state());
  mezzo::dropout_backward(context, {.seed = 4}, y, x, {.probability = 1.0f});
  CHECK(bytes_of(y.view()) == std::vector<unsigned char>(1000 * sizeof(T)));
  mezzo::dropout_backward(context, {.seed = 4}, y, x, {.probability = 0.0f});
  CHECK(bytes_of(y.view()) == bytes_of(x.view()));
}

/// In place, and under a policy.
template <class T, class Context>
void in_place(Context& context) {
  for (const auto& extents : {mezzo::Extents<2>(37, 500), mezzo::Extents<2>(500, 37)}) {
    auto x = mezzo::make_tensor<T>(context, extents), y = mezzo::make_tensor<T>(context, extents);
    for (index_t i = 0; i < x.size(); ++i) x.data()[i] = value_at<T>(i);
    RandomGenerator first({.seed = 8}), second({.seed = 8}), third({.seed = 8});
    mezzo::dropout(context, first, y, x);
    CHECK(mezzo::dropout<mezzo::Pure<T>>(context, second, x, x) == RandomState{8, 0});
    CHECK(bytes_of(x.view().flatten()) == bytes_of(y.view().flatten()));
    mezzo::dropout(context, third, x.view().transpose(), x.view().transpose());
    mezzo::dropout_backward<mezzo::Pure<T>>(context, {.seed = 8}, y.view().transpose(), y.view().transpose());
    CHECK(bytes_of(x.view().flatten()) == bytes_of(y.view().flatten()));
  }
}

/// A refused argument changes neither the generator nor the output.
template <class Context>
void arguments_are_validated(Context& context) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  RandomGenerator generator({.seed = 1, .offset = 2});
  auto x = mezzo::make_zeros<float>(context, {2, 3}), y = mezzo::make_zeros<float>(context, {2, 3}),
       z = mezzo::make_zeros<float>(context, {3, 2});
  for (index_t i = 0; i < 6; ++i) x.data()[i] = 1.0f;
  for (float bad : {nan, infinity, -infinity, -0.1f, 1.0000001f}) {
    CHECK_THROWS_WITH_AS(mezzo::dropout(context, generator, y, x, {.probability = bad}),
                         doctest::Contains("dropout: probability must lie in [0, 1], is "), mezzo::option_error);
    CHECK_THROWS_WITH_AS(mezzo::dropout_backward(context, {}, y, x, {.probability = bad}),
                         doctest::Contains("dropout_backward: probability must lie in [0, 1], is "), mezzo::option_error);
  }
  CHECK_THROWS_WITH_AS(mezzo::dropout(context, generator, z, x), "dropout: shapes [3, 2] and [2, 3] differ", mezzo::shape_error);
  CHECK_THROWS_WITH_AS(mezzo::dropout_backward(context, {}, z, x), "dropout_backward: shapes [3, 2] and [2, 3] differ", mezzo::shape_error);
  CHECK(generator.state() == RandomState{1, 2});
  for (index_t i = 0; i < 6; ++i) CHECK((y.data()[i] == 0.0f && z.data()[i] == 0.0f));
}

}  // namespace test
