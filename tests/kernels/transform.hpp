// Cases of the element-wise loop, over the context.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include <mezzo/kernels/transform.hpp>
#include <mezzo/numeric/fp8.hpp>
#include <mezzo/tensor/tensor.hpp>

namespace test {

using mezzo::index_t;

/// A small generator: the same numbers on every machine.
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

template <class View>
auto bits_of(const View& view) {
  using T = typename View::value_type;
  std::vector<unsigned char> result(static_cast<std::size_t>(view.size()) * sizeof(T));
  for (index_t i = 0; i < view.size(); ++i)
    std::memcpy(result.data() + static_cast<std::size_t>(i) * sizeof(T), view.data() + i, sizeof(T));
  return result;
}

struct TwiceMinus {
  template <class Y, class A, class B>
  MEZZO_HOST_DEVICE constexpr void operator()(Y& y, A a, B b) const {
    y = static_cast<Y>(a + a - b);
  }
};

struct Shift {
  template <class V>
  MEZZO_HOST_DEVICE constexpr void operator()(V& y, V a) const {
    y = a + 1.7f;
  }
};

struct Accumulate {
  template <class Y, class A>
  MEZZO_HOST_DEVICE constexpr void operator()(Y& y, A a) const {
    y = static_cast<Y>(y + a);
  }
};

/// The smallest whole numbers: exact in every dtype that has them.
template <class T>
T small(index_t i) {
  return mezzo::convert<T>(static_cast<float>((i * 7) % 3));
}

template <class T, class Context>
void every_size(Context& context) {
  for (index_t size : {0, 1, 2, 15, 16, 17, 31, 32, 33, 255, 256, 257, 16383, 16384, 16385, 32768 + 17}) {
    CAPTURE(size);
    auto y = mezzo::make_tensor<T>(context, {size + 2}), a = mezzo::make_tensor<T>(context, {size}),
         b = mezzo::make_tensor<T>(context, {size});
    for (index_t i = 0; i < size; ++i) {
      a(i) = small<T>(i + 3);
      b(i) = small<T>(0);
    }
    for (index_t i = 0; i < size + 2; ++i) y(i) = small<T>(1);
    mezzo::transform(context, TwiceMinus{}, write(y.view().slice(0, 1, size + 1)), read(a.view()), read(b.view()));
    index_t wrong = 0;
    for (index_t i = 0; i < size; ++i) wrong += static_cast<float>(y(i + 1)) != 2 * static_cast<float>(a(i));
    CHECK(wrong == 0);
    CHECK(static_cast<float>(y(0)) == static_cast<float>(small<T>(1)));
    CHECK(static_cast<float>(y(size + 1)) == static_cast<float>(small<T>(1)));
  }
}

template <class T, class Context>
void strided_views(Context& context) {
  for (index_t rows : {1, 3, 70}) {
    for (index_t columns : {1, 16, 300}) {
      CAPTURE(rows);
      CAPTURE(columns);
      auto a = mezzo::make_tensor<T>(context, {columns, rows}), y = mezzo::make_tensor<T>(context, {rows, 2 * columns});
      auto b = mezzo::make_tensor<T>(context, {rows});
      for (index_t i = 0; i < a.size(); ++i) a.data()[i] = small<T>(i);
      for (index_t i = 0; i < y.size(); ++i) y.data()[i] = small<T>(2);
      for (index_t i = 0; i < rows; ++i) b(i) = small<T>(0);
      const auto transposed = a.view().transpose();
      const auto left = y.view().slice(1, 0, columns);
      const mezzo::TensorView<T, 2> repeated(b.data(), {rows, columns}, {1, 0});  // one column, again and again
      mezzo::transform(context, TwiceMinus{}, write(left), read(transposed), read(repeated));
      mezzo::transform(context, Accumulate{}, update(left.transpose()), read(a.view()));
      index_t wrong = 0;
      for (index_t i = 0; i < rows; ++i) {
        for (index_t j = 0; j < columns; ++j) {
          wrong += static_cast<float>(y(i, j)) != 3 * static_cast<float>(a(j, i));
          wrong += static_cast<float>(y(i, j + columns)) != static_cast<float>(small<T>(2));
        }
      }
      CHECK(wrong == 0);
    }
  }
}

template <class Context>
void rank_zero_and_three(Context& context) {
  auto scalar = mezzo::make_tensor<float>(context, mezzo::Extents<0>());
  scalar() = 2.0f;
  mezzo::transform(context, Accumulate{}, update(scalar.view()), read(scalar.view()));
  CHECK(scalar() == 4.0f);
  auto cube = mezzo::make_tensor<float>(context, {4, 5, 6}), out = mezzo::make_zeros<float>(context, {3, 5, 6});
  for (index_t i = 0; i < cube.size(); ++i) cube.data()[i] = static_cast<float>(i);
  mezzo::transform(context, Accumulate{}, update(out.view().transpose()), read(cube.view().slice(0, 1, 4).transpose()));
  for (index_t i = 0; i < out.size(); ++i) REQUIRE(out.data()[i] == static_cast<float>(i + 30));
}

struct Mix {
  template <class V>
  MEZZO_HOST_DEVICE constexpr void operator()(V& y, V a, V b) const {
    y = a * 1.7f + b / (a * a + 1.0f);
  }
};

template <class T, class Context>
void same_bits_for_any_threads() {
  std::vector<unsigned char> first;
  for (int threads : {1, 2, 3}) {
    Context context({.threads = threads});
    auto y = mezzo::make_tensor<T>(context, {100, 1001}), a = mezzo::make_tensor<T>(context, {100, 1001}),
         b = mezzo::make_tensor<T>(context, {1001, 100});
    Random random(5);
    for (index_t i = 0; i < a.size(); ++i) {
      a.data()[i] = mezzo::convert<T>(static_cast<float>(random.uniform(-2, 2)));
      b.data()[i] = mezzo::convert<T>(static_cast<float>(random.uniform(-2, 2)));
    }
    mezzo::transform(context, Mix{}, write(y.view()), read(a.view()), read(b.view().transpose()));
    if (first.empty()) first = bits_of(y.view());
    CHECK(first == bits_of(y.view()));
  }
}

template <class Context>
void shapes_must_agree(Context& context) {
  auto a = mezzo::make_zeros<float>(context, {2, 3}), b = mezzo::make_zeros<float>(context, {3, 2});
  CHECK_THROWS_WITH_AS(mezzo::transform(context, Accumulate{}, update(a.view()), read(b.view())),
                       "transform: shapes [2, 3] and [3, 2] differ", mezzo::shape_error);
}

}  // namespace test
