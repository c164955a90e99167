// Cases of the reduction loop, over the context.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include <mezzo/kernels/functors.hpp>
#include <mezzo/kernels/reduce.hpp>

#include "transform.hpp"

namespace test {

struct ProductSum : mezzo::Sum<> {
  MEZZO_HOST_DEVICE static constexpr float map(float a, float b) { return a * b; }
};

/// Whole numbers whose sums are exact, at sizes around blocks and tasks.
template <class T, class Context>
void sums_of_whole_numbers(Context& context) {
  for (index_t size : {0, 1, 15, 16, 17, 31, 33, 255, 16383, 16384, 16385, 40000}) {
    CAPTURE(size);
    auto x = mezzo::make_tensor<T>(context, {size});
    double expected = 0, largest = -HUGE_VAL;
    for (index_t i = 0; i < size; ++i) {
      const float value = static_cast<float>((i * 7) % 5 - 1);
      x(i) = mezzo::convert<T>(value);
      expected += static_cast<double>(value);
      largest = std::max(largest, static_cast<double>(value));
    }
    CHECK(mezzo::reduce(context, mezzo::Sum<>{}, read(x.view())) == expected);
    CHECK(mezzo::reduce(context, mezzo::Sum<double>{}, read(x.view())) == expected);
    CHECK(static_cast<double>(mezzo::reduce(context, mezzo::Maximum<mezzo::compute_type_t<T>>{}, read(x.view()))) == largest);
  }
}

/// fp32 sums within (n / 16 + 4) units of rounding of the sum of magnitudes inside a task; tasks are combined in fp64.
template <class Context>
void sums_are_accurate(Context& context) {
  const index_t size = 100003;
  auto x = mezzo::make_tensor<float>(context, {size});
  Random random(3);
  double expected = 0, magnitude = 0, squares = 0;
  for (index_t i = 0; i < size; ++i) {
    x(i) = static_cast<float>(random.uniform(-1, 1));
    const double value = static_cast<double>(x(i));
    expected += value;
    magnitude += std::abs(value);
    squares += value * value;
  }
  const double unit = 0x1p-24;
  CHECK(std::abs(mezzo::reduce(context, mezzo::Sum<>{}, read(x.view())) - expected) <= (16384.0 / 16 + 4) * unit * magnitude);
  CHECK(std::abs(mezzo::reduce(context, mezzo::Sum<double>{}, read(x.view())) - expected) <= size * 0x1p-53 * magnitude);
  CHECK(std::abs(mezzo::reduce(context, mezzo::SumOfSquares{}, read(x.view())) - squares) <= size * 0x1p-53 * squares);
}

template <class Context>
void strided_sums(Context& context) {
  auto x = mezzo::make_tensor<float>(context, {37, 301});
  for (index_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i % 13);
  double expected = 0;
  for (index_t i = 2; i < 37; ++i) {
    for (index_t j = 0; j < 300; ++j) expected += static_cast<double>(x(i, j));
  }
  const auto part = x.view().slice(0, 2, 37).slice(1, 0, 300);
  CHECK(mezzo::reduce(context, mezzo::Sum<>{}, read(part)) == expected);
  CHECK(mezzo::reduce(context, mezzo::Sum<>{}, read(part.transpose())) == expected);
  auto scalar = mezzo::make_tensor<float>(context, mezzo::Extents<0>());
  scalar() = 3.0f;
  CHECK(mezzo::reduce(context, mezzo::Sum<>{}, read(scalar.view())) == 3.0);
}

/// A maximum keeps NaN wherever it stands.
template <class Context>
void nan_is_kept(Context& context) {
  for (index_t at : {0, 1, 16, 40, 16400}) {
    auto x = mezzo::make_zeros<float>(context, {16401});
    x(at) = NAN;
    CHECK(std::isnan(mezzo::reduce(context, mezzo::Maximum<float>{}, read(x.view()))));
  }
}

template <class Context>
void reductions_ignore_threads() {
  double first = 0;
  for (int threads : {1, 2, 3}) {
    Context context({.threads = threads});
    auto x = mezzo::make_tensor<mezzo::half>(context, {77, 1001});
    Random random(9);
    for (index_t i = 0; i < x.size(); ++i) x.data()[i] = mezzo::convert<mezzo::half>(static_cast<float>(random.uniform(-2, 2)));
    const double sum =
        mezzo::reduce(context, mezzo::Sum<>{}, read(x.view())) + mezzo::reduce(context, mezzo::Sum<>{}, read(x.view().transpose())) * 3;
    if (threads == 1) first = sum;
    CHECK(first == sum);
  }
}

}  // namespace test
