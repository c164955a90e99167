// Cases of layer normalisation, over the context.
#pragma once

#include <mezzo/ops/cast.hpp>
#include <mezzo/ops/elementwise.hpp>
#include <mezzo/ops/layer_norm.hpp>
#include <mezzo/tensor/parameter.hpp>

#include "testing.hpp"

namespace test {

using mezzo::none;

/// Rounded mean, difference, 1 / sigma, products and sum: some units of fp32 each.
template <class Out, class In, class Context>
void normalised_rows(Context& context, index_t width) {
  CAPTURE(width);
  const auto x = random_tensor<In>(context, {3, 4, width}, 1, 1, 9);
  const auto gamma = random_tensor<float>(context, {width}, 2), beta = random_tensor<float>(context, {width}, 3);
  auto y = mezzo::make_tensor<Out>(context, {3, 4, width}), plain = mezzo::make_tensor<Out>(context, {3, 4, width}),
       scaled = mezzo::make_tensor<Out>(context, {3, 4, width}), shifted = mezzo::make_tensor<Out>(context, {3, 4, width});
  using V = mezzo::compute_type_t<In>;
  auto mean = mezzo::make_tensor<V>(context, {12}), inverse_sigma = mezzo::make_tensor<V>(context, {12});
  mezzo::layer_norm(context, y, x, gamma, beta, {.epsilon = 1e-3f, .mean = mean.view(), .inverse_sigma = inverse_sigma.view()});
  mezzo::layer_norm(context, plain, x, none, none, {.epsilon = 1e-3f});
  mezzo::layer_norm(context, scaled, x, gamma, none, {.epsilon = 1e-3f});
  mezzo::layer_norm(context, shifted, x, none, beta, {.epsilon = 1e-3f});
  const double unit = sizeof(V) == 8 ? 0x1p-48 : 0x1p-24;
  for (index_t row = 0; row < 12; ++row) {
    const In* from = x.data() + row * width;
    double sum = 0, squares = 0;
    for (index_t k = 0; k < width; ++k) sum += to_double(from[k]);
    const double m = sum / static_cast<double>(width);
    for (index_t k = 0; k < width; ++k) squares += (to_double(from[k]) - m) * (to_double(from[k]) - m);
    const double r = 1 / std::sqrt(squares / static_cast<double>(width) + static_cast<double>(1e-3f));
    CHECK(std::abs(static_cast<double>(mean(row)) - m) <= 2 * unit * m);
    CHECK(std::abs(static_cast<double>(inverse_sigma(row)) - r) <= 2 * unit * r);
    for (index_t k = 0; k < width; ++k) {
      const double hat = (to_double(from[k]) - m) * r, g = to_double(gamma(k)), b = to_double(beta(k));
      const double error = unit * (m * r + 6 * std::abs(hat));
      const auto is_near = [&](const auto& out, double expected, double bound) {
        return std::abs(to_double(out.data()[row * width + k]) - expected) <= bound + rounding<Out>(expected);
      };
      REQUIRE(is_near(y, hat * g + b, error * std::abs(g) + 2 * unit * std::abs(b)));
      REQUIRE(is_near(plain, hat, error));
      REQUIRE(is_near(scaled, hat * g, error * std::abs(g)));
      REQUIRE(is_near(shifted, hat + b, error + 2 * unit * std::abs(b)));
    }
  }
}

template <class Context>
void layer_norm_of_any_strides(Context& context) {
  const auto x = random_tensor<float>(context, {5, 6, 33}, 4);
  const auto gamma = random_tensor<float>(context, {33}, 5), beta = random_tensor<float>(context, {33}, 6);
  auto y = mezzo::make_tensor<float>(context, {5, 6, 33}), turned = mezzo::make_tensor<float>(context, {33, 6, 5});
  mezzo::layer_norm(context, y, x, gamma, beta);
  auto wide = mezzo::make_tensor<float>(context, {33, 6, 5});
  for (index_t i = 0; i < 5; ++i) {
    for (index_t j = 0; j < 6; ++j) {
      for (index_t k = 0; k < 33; ++k) wide(k, j, i) = x(i, j, k);
    }
  }
  mezzo::layer_norm<mezzo::Fp32>(context, turned.view().transpose(0, 2), wide.view().transpose(0, 2), gamma, beta);
  for (index_t i = 0; i < 5; ++i) {
    for (index_t j = 0; j < 6; ++j) {
      for (index_t k = 0; k < 33; ++k) REQUIRE(turned(k, j, i) == y(i, j, k));
    }
  }
  mezzo::layer_norm(context, wide.view().transpose(0, 2), wide.view().transpose(0, 2), gamma, beta);  // in place
  CHECK(wide(7, 3, 2) == y(2, 3, 7));
}

/// Two passes: the variance of numbers far from 0 survives.
template <class Context>
void far_from_zero(Context& context) {
  auto x = mezzo::make_tensor<float>(context, {1, 1000}), y = mezzo::make_tensor<float>(context, {1, 1000});
  for (index_t i = 0; i < 1000; ++i) x(0, i) = 1e6f + static_cast<float>(i % 2);
  mezzo::layer_norm(context, y, x, none, none);
  for (index_t i = 0; i < 1000; ++i) REQUIRE(to_double(y(0, i)) == doctest::Approx(i % 2 == 0 ? -1.0 : 1.0).epsilon(1e-4));
  mezzo::fill(context, x, 60000.0f);  // no variance at all
  mezzo::layer_norm(context, y, x, none, none);
  CHECK(y(0, 999) == 0.0f);
}

/// Numbers whose squares, or whose sums, fp32 does not hold; rows of one width and another, up to one of many short sums.
template <class Context>
void far_beyond_squares(Context& context) {
  for (const float scale : {0x1p120f, 0x1p64f, 0x1p-60f, 0x1p-100f}) {
    for (const index_t width : {2, 34, 4096, 100000}) {
      auto x = mezzo::make_tensor<float>(context, {1, width}), y = mezzo::make_tensor<float>(context, {1, width});
      for (index_t i = 0; i < width; ++i) x(0, i) = scale * (i % 2 == 0 ? 3.0f : 5.0f);
      mezzo::layer_norm(context, y, x, none, none, {.epsilon = 0x1p-126f});
      for (index_t i = 0; i < width; ++i) {
        const double sigma = std::sqrt(static_cast<double>(scale) * static_cast<double>(scale) + 0x1p-126);
        REQUIRE(to_double(y(0, i)) == doctest::Approx((i % 2 == 0 ? -1.0 : 1.0) * static_cast<double>(scale) / sigma).epsilon(1e-5));
      }
    }
  }
  auto x = mezzo::make_tensor<float>(context, {1, 100}), y = mezzo::make_tensor<float>(context, {1, 100});
  mezzo::fill(context, x, 1.0f);
  x(0, 70) = HUGE_VALF;
  mezzo::layer_norm(context, y, x, none, none);
  for (index_t i = 0; i < 100; ++i) REQUIRE(std::isnan(y(0, i)));
}

template <class Context>
void layer_norm_gradients(Context& context) {
  auto x = random_tensor<double>(context, {19, 11}, 7);
  auto gamma = random_tensor<double>(context, {11}, 8), beta = random_tensor<double>(context, {11}, 9);
  const auto w = random_tensor<double>(context, {19, 11}, 10);
  auto y = mezzo::make_tensor<double>(context, {19, 11}), gx = mezzo::make_tensor<double>(context, {19, 11});
  auto mean = mezzo::make_tensor<double>(context, {19}), inverse_sigma = mezzo::make_tensor<double>(context, {19});
  auto g_gamma = mezzo::make_tensor<double>(context, {11}), g_beta = mezzo::make_tensor<double>(context, {11});
  mezzo::layer_norm(context, y, x, gamma, beta, {.mean = mean.view(), .inverse_sigma = inverse_sigma.view()});
  mezzo::layer_norm_backward(context, gx, g_gamma, g_beta, w, x, gamma, mean, inverse_sigma);
  const auto loss = [&] {
    mezzo::layer_norm(context, y, x, gamma, beta);
    return dot(y, w);
  };
  check_gradient(x, gx, loss, 1e-7);
  check_gradient(gamma, g_gamma, loss);
  check_gradient(beta, g_beta, loss);
  mezzo::layer_norm_backward(context, gx, none, none, w, x, none, mean, inverse_sigma);
  check_gradient(
      x, gx,
      [&] {
        mezzo::layer_norm(context, y, x, none, none);
        return dot(y, w);
      },
      1e-7);
}

/// In T as in double, but for the roundings of sums over the row and over at least 16 rows.
template <class T, class Context>
void layer_norm_backward_in(Context& context) {
  const index_t rows = 40, width = 100;
  const auto x = random_tensor<T>(context, {rows, width}, 11), gy = random_tensor<T>(context, {rows, width}, 12);
  const auto gamma = random_tensor<float>(context, {width}, 13);
  auto x64 = mezzo::make_tensor<double>(context, {rows, width}), gy64 = mezzo::make_tensor<double>(context, {rows, width}),
       gx64 = mezzo::make_tensor<double>(context, {rows, width});
  auto gamma64 = mezzo::make_tensor<double>(context, {width});
  mezzo::cast(context, x64, x);
  mezzo::cast(context, gy64, gy);
  mezzo::cast(context, gamma64, gamma);
  auto mean = mezzo::make_tensor<float>(context, {rows}), inverse_sigma = mezzo::make_tensor<float>(context, {rows});
  auto mean64 = mezzo::make_tensor<double>(context, {rows}), inverse_sigma64 = mezzo::make_tensor<double>(context, {rows});
  auto y = mezzo::make_tensor<float>(context, {rows, width});
  mezzo::layer_norm(context, y, x, none, none, {.mean = mean.view(), .inverse_sigma = inverse_sigma.view()});
  mezzo::cast(context, mean64, mean);
  mezzo::cast(context, inverse_sigma64, inverse_sigma);
  auto gx = mezzo::make_tensor<T>(context, {rows, width});
  auto g_gamma = mezzo::make_tensor<float>(context, {width});
  auto g_beta = mezzo::make_tensor<T>(context, {width});
  auto g_gamma64 = mezzo::make_tensor<double>(context, {width}), g_beta64 = mezzo::make_tensor<double>(context, {width});
  mezzo::fill(context, g_gamma, std::nanf(""));  // overwritten
  mezzo::layer_norm_backward(context, gx, g_gamma, g_beta, gy, x, gamma, mean, inverse_sigma);
  mezzo::layer_norm_backward(context, gx64, g_gamma64, g_beta64, gy64, x64, gamma64, mean64, inverse_sigma64);
  // |x| <= 2, |grad| <= 2, |gamma| <= 2 and 1 / sigma near 0.87: no term of a row exceeds 1.75 * 4, none of a column 1.75 * 2.
  const double row_bound = 0x1p-24 * (width / 16.0 + 20) * 0.9 * 3 * 7, column_bound = 0x1p-24 * 44 * rows * 3.5;
  for (index_t i = 0; i < gx.size(); ++i)
    REQUIRE(std::abs(to_double(gx.data()[i]) - gx64.data()[i]) <= row_bound + rounding<T>(gx64.data()[i]));
  for (index_t i = 0; i < width; ++i) {
    REQUIRE(std::abs(to_double(g_gamma(i)) - g_gamma64(i)) <= column_bound);
    REQUIRE(std::abs(to_double(g_beta(i)) - g_beta64(i)) <= column_bound + rounding<T>(g_beta64(i)));
  }
  const auto apart = values(gx);
  auto in_place = mezzo::make_tensor<T>(context, {rows, width});
  for (index_t i = 0; i < gx.size(); ++i) in_place.data()[i] = gy.data()[i];
  mezzo::layer_norm_backward(context, in_place, g_gamma, none, in_place, x, gamma, mean, inverse_sigma);
  CHECK(values(in_place) == apart);
}

/// The first write of a window overwrites, the second adds; the weights are the masters.
template <class Context>
void through_the_sink(Context& context) {
  mezzo::ParameterArena<mezzo::AmpFp16, Context> arena(context);
  const mezzo::Parameter<mezzo::AmpFp16, Context, 1> gamma(arena, "gamma", {20}), beta(arena, "beta", {20});
  arena.seal();
  mezzo::fill(context, gamma.master(), 1.0001f);  // no half
  mezzo::fill(context, beta.master(), 0.5f);
  mezzo::fill(context, arena.gradients(), std::nanf(""));
  const auto x = random_tensor<mezzo::half>(context, {7, 20}, 14), gy = random_tensor<mezzo::half>(context, {7, 20}, 15);
  auto y = mezzo::make_tensor<float>(context, {7, 20}), plain = mezzo::make_tensor<float>(context, {7, 20});
  auto mean = mezzo::make_tensor<float>(context, {7}), inverse_sigma = mezzo::make_tensor<float>(context, {7});
  mezzo::layer_norm<mezzo::AmpFp16>(context, y, x, gamma, beta, {.mean = mean.view(), .inverse_sigma = inverse_sigma.view()});
  mezzo::layer_norm<mezzo::AmpFp16>(context, plain, x, none, none);
  CHECK(to_double(y(3, 4)) == doctest::Approx(to_double(plain(3, 4)) * 1.0001 + 0.5).epsilon(1e-6));
  mezzo::layer_norm_backward(context, none, gamma, beta, gy, x, gamma, mean, inverse_sigma);
  const auto once = values(gamma.gradient()), once_beta = values(beta.gradient());
  double column = 0;
  for (index_t i = 0; i < 7; ++i) column += to_double(gy(i, 2));
  CHECK(once_beta[2] == doctest::Approx(column).epsilon(1e-6));
  mezzo::layer_norm_backward(context, none, gamma, beta, gy, x, gamma, mean, inverse_sigma);
  for (index_t i = 0; i < 20; ++i) {
    CHECK(to_double(gamma.gradient()(i)) == doctest::Approx(2 * once[static_cast<std::size_t>(i)]).epsilon(1e-6));
    CHECK(to_double(beta.gradient()(i)) == doctest::Approx(2 * once_beta[static_cast<std::size_t>(i)]).epsilon(1e-6));
  }
}

template <class Context>
void layer_norm_ignores_threads() {
  std::vector<double> first;
  for (int threads : {1, 2, 3}) {
    Context context({.threads = threads});
    const auto x = random_tensor<mezzo::bfloat16>(context, {300, 700}, 16), gy = random_tensor<mezzo::bfloat16>(context, {300, 700}, 17);
    const auto gamma = random_tensor<float>(context, {700}, 18);
    auto y = mezzo::make_tensor<float>(context, {300, 700}), gx = mezzo::make_tensor<float>(context, {300, 700});
    auto mean = mezzo::make_tensor<float>(context, {300}), inverse_sigma = mezzo::make_tensor<float>(context, {300}),
         g_gamma = mezzo::make_tensor<float>(context, {700}), g_beta = mezzo::make_tensor<float>(context, {700});
    mezzo::layer_norm(context, y, x, gamma, none, {.mean = mean.view(), .inverse_sigma = inverse_sigma.view()});
    mezzo::layer_norm_backward(context, gx, g_gamma, g_beta, gy, x, gamma, mean, inverse_sigma);
    std::vector<double> all = values(y);
    for (const auto& part : {values(gx), values(g_gamma), values(g_beta)}) all.insert(all.end(), part.begin(), part.end());
    if (first.empty()) first = all;
    CHECK(all == first);
  }
}

template <class Context>
void layer_norm_misuse(Context& context) {
  auto x = mezzo::make_zeros<float>(context, {2, 3}), y = mezzo::make_zeros<float>(context, {2, 4});
  auto gamma = mezzo::make_zeros<float>(context, {4});
  CHECK_THROWS_WITH_AS(mezzo::layer_norm(context, y, x, none, none), "layer_norm: shapes [2, 4] and [2, 3] differ", mezzo::shape_error);
  CHECK_THROWS_WITH_AS(mezzo::layer_norm(context, x, x, gamma, none), "layer_norm: gamma of shape [4] does not fit rows of 3",
                       mezzo::shape_error);
  CHECK_THROWS_AS(mezzo::layer_norm(context, x, x, none, none, {.mean = gamma.view()}), mezzo::shape_error);
  CHECK_THROWS_WITH_AS(mezzo::layer_norm(context, x, x, none, none, {.epsilon = 0}), "layer_norm: epsilon must be positive, is 0",
                       mezzo::option_error);
  CHECK_THROWS_AS(mezzo::layer_norm_backward(context, x, gamma, none, x, x, none, gamma, gamma), mezzo::shape_error);
  auto empty = mezzo::make_zeros<float>(context, {0, 4});
  auto statistics = mezzo::make_zeros<float>(context, {0}), g = mezzo::make_tensor<float>(context, {4});
  mezzo::fill(context, g, std::nanf(""));
  mezzo::layer_norm(context, empty, empty, gamma, none);
  mezzo::layer_norm_backward(context, empty, g, none, empty, empty, gamma, statistics, statistics);
  CHECK(g(3) == 0);  // the sum over no rows
}

}  // namespace test
