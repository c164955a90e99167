// Cases of softmax and log_softmax, over the context.
#pragma once

#include <mezzo/ops/softmax.hpp>

#include <algorithm>

#include "testing.hpp"

namespace test {

struct SoftmaxReference {
  std::vector<double> p, log_p;
  double range;  ///< largest distance from the maximum
};

inline SoftmaxReference softmax_reference(const std::vector<double>& x) {
  const double largest = *std::max_element(x.begin(), x.end()), least = *std::min_element(x.begin(), x.end());
  double sum = 0;
  for (double v : x) sum += std::exp(v - largest);
  SoftmaxReference result{{}, {}, largest - least};
  for (double v : x) {
    result.p.push_back(std::exp(v - largest) / sum);
    result.log_p.push_back(v - largest - std::log(sum));
  }
  return result;
}

/// Units of fp32 rounding, relative to a probability: the shifted argument, exp (2 ulp = 4 units) twice, the sum, and the quotient.
inline double softmax_units(double range, index_t width) { return 2 * range + 8 + static_cast<double>(width) / 16 + 8; }

template <class Out, class In, class Context>
void softmax_rows(Context& context, index_t width) {
  CAPTURE(width);
  const auto x = random_tensor<In>(context, {3, 4, width}, 11, -9, 9);
  auto y = mezzo::make_tensor<Out>(context, {3, 4, width}), turned = mezzo::make_tensor<Out>(context, {4, 3, width});
  auto logs = mezzo::make_tensor<Out>(context, {width, 3, 4});
  mezzo::softmax(context, y, x);
  mezzo::softmax(context, turned.view().transpose(0, 1), x);
  mezzo::log_softmax(context, logs.view().transpose(0, 2).transpose(0, 1), x);
  for (index_t i = 0; i < 3; ++i) {
    for (index_t j = 0; j < 4; ++j) {
      std::vector<double> row;
      for (index_t k = 0; k < width; ++k) row.push_back(to_double(x(i, j, k)));
      const auto reference = softmax_reference(row);
      const double unit = sizeof(In) == 8 ? 0x1p-48 : 0x1p-24, units = softmax_units(reference.range, width);
      for (index_t k = 0; k < width; ++k) {
        const double p = reference.p[static_cast<std::size_t>(k)], log_p = reference.log_p[static_cast<std::size_t>(k)];
        REQUIRE(std::abs(to_double(y(i, j, k)) - p) <= unit * units * p + rounding<Out>(p));
        REQUIRE(to_double(turned(j, i, k)) == to_double(y(i, j, k)));
        REQUIRE(std::abs(to_double(logs(k, i, j)) - log_p) <= unit * (units + 6 * std::abs(log_p)) + rounding<Out>(log_p));
      }
    }
  }
}

template <class Context>
void softmax_ends_of_the_range(Context& context) {
  using mezzo::half;
  const float inf = HUGE_VALF;
  auto x = mezzo::make_tensor<half>(context, {5, 3});
  const float rows[5][3] = {{60000, 60000, -60000}, {-inf, 0, -inf}, {-inf, -inf, -inf}, {inf, 0, 0}, {0, NAN, 0}};
  for (index_t i = 0; i < 5; ++i) {
    for (index_t j = 0; j < 3; ++j) x(i, j) = half(rows[i][j]);
  }
  auto y = mezzo::make_tensor<float>(context, {5, 3}), logs = mezzo::make_tensor<float>(context, {5, 3});
  mezzo::softmax<mezzo::AmpFp16>(context, y, x);
  mezzo::log_softmax<mezzo::AmpFp16>(context, logs, x);
  CHECK(y(0, 0) == 0.5f);
  CHECK(y(0, 2) == 0.0f);
  CHECK(logs(0, 0) == doctest::Approx(-std::log(2.0)));
  CHECK(logs(0, 2) == doctest::Approx(-120000.0));
  CHECK(y(1, 1) == 1.0f);
  CHECK(y(1, 0) == 0.0f);
  CHECK(logs(1, 1) == 0.0f);
  CHECK(logs(1, 0) == -inf);
  for (index_t row : {2, 3, 4}) {
    CAPTURE(row);
    CHECK(std::isnan(y(row, 0) + y(row, 1) + y(row, 2)));
    CHECK(std::isnan(logs(row, 0) + logs(row, 1) + logs(row, 2)));
  }
  auto empty = mezzo::make_tensor<float>(context, {0, 3}), narrow = mezzo::make_tensor<float>(context, {3, 0});
  mezzo::softmax(context, empty, empty);
  mezzo::log_softmax(context, narrow, narrow);
  mezzo::softmax_backward(context, narrow, narrow, narrow);
}

template <class Context>
void softmax_gradients(Context& context) {
  auto x = random_tensor<double>(context, {3, 19}, 12);
  const auto w = random_tensor<double>(context, {3, 19}, 13);
  auto y = mezzo::make_tensor<double>(context, {3, 19}), gx = mezzo::make_tensor<double>(context, {3, 19});
  mezzo::softmax(context, y, x);
  mezzo::softmax_backward(context, gx, w, y);
  check_gradient(x, gx, [&] {
    mezzo::softmax(context, y, x);
    return dot(y, w);
  });
  mezzo::log_softmax(context, y, x);
  mezzo::log_softmax_backward(context, gx, w, y);
  check_gradient(x, gx, [&] {
    mezzo::log_softmax(context, y, x);
    return dot(y, w);
  });
}

/// In T as in double, but for roundings: of the sum over the row, and at the end.
template <class T, class Context>
void softmax_backward_in(Context& context) {
  const index_t width = 37;
  auto x = random_tensor<float>(context, {4, width}, 14);
  auto y = mezzo::make_tensor<T>(context, {4, width}), logs = mezzo::make_tensor<T>(context, {4, width}),
       gx = mezzo::make_tensor<T>(context, {4, width});
  auto gy = random_tensor<T>(context, {4, width}, 15);
  mezzo::softmax(context, y, x);
  mezzo::log_softmax(context, logs, x);
  mezzo::softmax_backward(context, gx, gy, y);
  const double units = (static_cast<double>(width) / 16 + 12) * 0x1p-24;
  for (index_t i = 0; i < 4; ++i) {
    double mean = 0, magnitude = 0, sum = 0, sum_magnitude = 0;
    for (index_t j = 0; j < width; ++j) {
      mean += to_double(gy(i, j)) * to_double(y(i, j));
      magnitude += std::abs(to_double(gy(i, j)) * to_double(y(i, j)));
      sum += to_double(gy(i, j));
      sum_magnitude += std::abs(to_double(gy(i, j)));
    }
    for (index_t j = 0; j < width; ++j) {
      const double p = to_double(y(i, j)), expected = p * (to_double(gy(i, j)) - mean);
      REQUIRE(std::abs(to_double(gx(i, j)) - expected) <= rounding<T>(expected) + units * p * (std::abs(to_double(gy(i, j))) + magnitude));
    }
    mezzo::log_softmax_backward(context, gx, gy, logs);
    for (index_t j = 0; j < width; ++j) {
      const double p = std::exp(to_double(logs(i, j))), expected = to_double(gy(i, j)) - p * sum;
      REQUIRE(std::abs(to_double(gx(i, j)) - expected) <=
              rounding<T>(expected) + units * (std::abs(to_double(gy(i, j))) + p * sum_magnitude));
    }
    mezzo::softmax_backward(context, gx, gy, y);
  }
  const auto apart = values(gx);
  mezzo::softmax_backward(context, gy, gy, y);  // in place
  CHECK(values(gy) == apart);
}

template <class Context>
void softmax_ignores_threads() {
  std::vector<double> first;
  for (int threads : {1, 2, 3}) {
    Context context({.threads = threads});
    const auto x = random_tensor<mezzo::half>(context, {100, 1001}, 16);
    auto y = mezzo::make_tensor<float>(context, {100, 1001});
    mezzo::softmax(context, y, x);
    if (first.empty()) first = values(y);
    CHECK(values(y) == first);
  }
}

template <class Context>
void softmax_shapes(Context& context) {
  auto a = mezzo::make_zeros<float>(context, {2, 3}), b = mezzo::make_zeros<float>(context, {3, 2});
  CHECK_THROWS_WITH_AS(mezzo::softmax(context, a, b), "softmax: shapes [2, 3] and [3, 2] differ", mezzo::shape_error);
  CHECK_THROWS_AS(mezzo::log_softmax_backward(context, a, a, b), mezzo::shape_error);
}

}  // namespace test
