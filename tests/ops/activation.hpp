// Cases of the activations, over the context.
#pragma once

#include <mezzo/ops/activation.hpp>

#include "testing.hpp"

namespace test {

inline double gelu_reference(double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }
inline double gelu_slope(double x) {
  return 0.5 * std::erfc(-x / std::sqrt(2.0)) + x * std::exp(-x * x / 2) / std::sqrt(2 * std::acos(-1.0));
}
inline double gelu_tanh_reference(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
}

constexpr mezzo::GeluOptions with_tanh{.approximation = mezzo::Approximation::tanh};

template <class T, class Context>
void relu_is_exact(Context& context) {
  auto x = random_tensor<T>(context, {3, 35}, 1);
  const auto gy = random_tensor<T>(context, {3, 35}, 2);
  x(0, 0) = mezzo::convert<T>(0);
  x(1, 1) = mezzo::convert<T>(std::nan(""));
  x(2, 2) = mezzo::convert<T>(HUGE_VAL);
  x(2, 3) = mezzo::convert<T>(-HUGE_VAL);
  x(2, 34) = mezzo::convert<T>(std::nan(""));
  auto y = mezzo::make_tensor<T>(context, {3, 35}), gx = mezzo::make_tensor<T>(context, {3, 35});
  mezzo::relu(context, y, x);
  mezzo::relu_backward(context, gx, gy, x);
  for (index_t i = 0; i < x.size(); ++i) {
    CAPTURE(i);
    const double in = to_double(x.data()[i]);
    if (std::isnan(in)) {
      REQUIRE(std::isnan(to_double(y.data()[i])));
    } else {
      REQUIRE(to_double(y.data()[i]) == (in > 0 ? in : 0));
      REQUIRE(to_double(gx.data()[i]) == (in > 0 ? to_double(gy.data()[i]) : 0));
    }
  }
  CHECK(to_double(gx(1, 1)) == to_double(gy(1, 1)));
  auto from_output = mezzo::make_tensor<T>(context, {3, 35});
  mezzo::relu_backward(context, from_output, gy, y);
  CHECK(values(from_output) == values(gx));
  mezzo::relu<mezzo::AmpFp16>(context, x, x);
  CHECK(to_double(x(2, 2)) == HUGE_VAL);
}

/// erf and tanh are good to 4 units in the last place, 2^-22 near 1, which 0.5 x scales.
template <class T, class Context>
void gelu_keeps_its_bounds(Context& context) {
  const auto x = random_tensor<T>(context, {4, 333}, 3, -7, 7), gy = random_tensor<T>(context, {4, 333}, 4);
  auto y = mezzo::make_tensor<T>(context, {4, 333}), t = mezzo::make_tensor<T>(context, {4, 333}),
       gx = mezzo::make_tensor<T>(context, {4, 333});
  mezzo::gelu(context, y, x);
  mezzo::gelu<mezzo::AmpBf16>(context, t, x, with_tanh);
  mezzo::gelu_backward<mezzo::AmpBf16>(context, gx, gy, x);
  for (index_t i = 0; i < x.size(); ++i) {
    const double in = to_double(x.data()[i]), g = to_double(gy.data()[i]);
    CAPTURE(in);
    REQUIRE(std::abs(to_double(y.data()[i]) - gelu_reference(in)) <= std::abs(in) * 0x1p-22 + rounding<T>(gelu_reference(in)));
    REQUIRE(std::abs(to_double(t.data()[i]) - gelu_tanh_reference(in)) <= std::abs(in) * 0x1p-22 + rounding<T>(gelu_tanh_reference(in)));
    REQUIRE(std::abs(to_double(gx.data()[i]) - g * gelu_slope(in)) <= std::abs(g) * 0x1p-21 + rounding<T>(g * gelu_slope(in)));
  }
}

template <class Context>
void activation_gradients(Context& context) {
  auto x = random_tensor<double>(context, {41}, 5, -4, 4);
  const auto w = random_tensor<double>(context, {41}, 6);
  auto y = mezzo::make_tensor<double>(context, {41}), gx = mezzo::make_tensor<double>(context, {41});
  mezzo::relu_backward(context, gx, w, x);
  check_gradient(x, gx, [&] {
    mezzo::relu(context, y, x);
    return dot(y, w);
  });
  for (const auto& options : {mezzo::GeluOptions{}, with_tanh}) {
    mezzo::gelu_backward(context, gx, w, x, options);
    check_gradient(x, gx, [&] {
      mezzo::gelu(context, y, x, options);
      return dot(y, w);
    });
  }
}

template <class Context>
void activation_shapes(Context& context) {
  auto a = mezzo::make_zeros<float>(context, {2, 3}), b = mezzo::make_zeros<float>(context, {2, 4});
  CHECK_THROWS_WITH_AS(mezzo::relu(context, a, b), "relu: shapes [2, 3] and [2, 4] differ", mezzo::shape_error);
  CHECK_THROWS_AS(mezzo::gelu_backward(context, a, a, b), mezzo::shape_error);
}

}  // namespace test
