// Cases of the reductions, over the context.
#pragma once

#include <mezzo/ops/elementwise.hpp>
#include <mezzo/ops/reduction.hpp>

#include "testing.hpp"

namespace test {

using mezzo::half;

/// The reduction of a tensor, in Out.
template <class Out, class Function>
double scalar_of(const Function& function) {
  Out out = Out(-1);
  function(mezzo::TensorView<Out, 0>(&out, {}));
  return static_cast<double>(out);
}

template <class T, class Context>
void reductions_are_accurate(Context& context) {
  const auto x = random_tensor<T>(context, {33, 1001}, 1);
  double sum = 0, squares = 0, largest = -9;
  for (double v : values(x)) {
    sum += v;
    squares += v * v;
    largest = std::max(largest, v);
  }
  CHECK(scalar_of<double>([&](auto out) { mezzo::sum(context, out, x); }) == doctest::Approx(sum).epsilon(1e-12));
  CHECK(std::abs(scalar_of<float>([&](auto out) { mezzo::sum(context, out, x); }) - sum) <= rounding<float>(sum) * 1.0001);
  CHECK(std::abs(scalar_of<float>([&](auto out) { mezzo::mean(context, out, x); }) - sum / 33033) <= rounding<float>(sum / 33033) * 1.0001);
  CHECK(std::abs(scalar_of<float>([&](auto out) { mezzo::l2_norm(context, out, x); }) - std::sqrt(squares)) <=
        rounding<float>(std::sqrt(squares)) * 1.0001);
  CHECK(scalar_of<double>([&](auto out) { mezzo::maximum(context, out, x.view().transpose()); }) == largest);
}

template <class Context>
void cases_of_sums(Context& context) {
  auto large = mezzo::make_tensor<half>(context, {3});
  mezzo::fill(context, large, 40000.0f);
  CHECK(scalar_of<float>([&](auto out) { mezzo::mean(context, out, large); }) == 40000);
  auto ones = mezzo::make_tensor<half>(context, {100000});
  mezzo::fill(context, ones, 1.0f);
  CHECK(scalar_of<float>([&](auto out) { mezzo::mean(context, out, ones); }) == 1);
  CHECK(scalar_of<float>([&](auto out) { mezzo::sum(context, out, ones.view().slice(0, 0, 4096)); }) == 4096);
  auto pair = mezzo::make_tensor<float>(context, {2});
  const auto norm_of = [&](float a, float b) {
    pair(0) = a;
    pair(1) = b;
    return scalar_of<float>([&](auto out) { mezzo::l2_norm(context, out, pair); });
  };
  CHECK(norm_of(2e19f, 2e19f) == doctest::Approx(std::sqrt(8.0) * 1e19).epsilon(1e-6));
  CHECK(norm_of(3e-25f, 4e-25f) == doctest::Approx(5e-25).epsilon(1e-6));
  CHECK(norm_of(3e38f, 1e38f) == doctest::Approx(std::sqrt(10.0) * 1e38).epsilon(1e-6));
  CHECK(norm_of(HUGE_VALF, 1) == HUGE_VAL);
  pair(0) = pair(1) = 3e38f;
  CHECK(scalar_of<float>([&](auto out) { mezzo::mean(context, out, pair); }) == static_cast<double>(3e38f));
  pair(1) = NAN;
  CHECK(std::isnan(scalar_of<float>([&](auto out) { mezzo::maximum(context, out, pair); })));
}

template <class Context>
void reductions_of_nothing(Context& context) {
  const auto empty = mezzo::make_tensor<float>(context, {0, 3});
  CHECK(scalar_of<float>([&](auto out) { mezzo::sum(context, out, empty); }) == 0);
  CHECK(scalar_of<float>([&](auto out) { mezzo::l2_norm(context, out, empty); }) == 0);
  float out = 5;
  const mezzo::TensorView<float, 0> result(&out, {});
  CHECK_THROWS_WITH_AS(mezzo::mean(context, result, empty), "mean: a view of shape [0, 3] has no elements, and so no mean",
                       mezzo::shape_error);
  CHECK_THROWS_AS(mezzo::maximum(context, result, empty), mezzo::shape_error);
  CHECK(out == 5);
}

template <class T, class Label, class Context>
void largest_of_rows(Context& context) {
  auto x = mezzo::make_tensor<T>(context, {4, 3});
  const float rows[4][3] = {{1, 3, 2}, {-5, -5, -7}, {0, 1, 1}, {2, NAN, 3}};
  for (index_t i = 0; i < 4; ++i) {
    for (index_t j = 0; j < 3; ++j) x(i, j) = mezzo::convert<T>(rows[i][j]);
  }
  auto labels = mezzo::make_zeros<Label>(context, {4}), turned = mezzo::make_zeros<Label>(context, {3});
  mezzo::argmax(context, labels, x);
  CHECK(labels(0) == 1);
  CHECK(labels(1) == 0);  // the first of equals
  CHECK(labels(2) == 1);
  CHECK(labels(3) == 1);
  mezzo::argmax(context, turned, x.view().slice(0, 0, 3).transpose());
  CHECK(turned(0) == 0);
  CHECK(turned(1) == 0);
  CHECK(turned(2) == 0);
  auto cube = mezzo::make_zeros<T>(context, {2, 2, 3});
  auto square = mezzo::make_zeros<Label>(context, {2, 2});
  cube(1, 0, 2) = mezzo::convert<T>(1.0f);
  mezzo::argmax(context, square.view().transpose(), cube);
  CHECK(square(0, 1) == 2);
  CHECK(square(1, 0) == 0);
  CHECK_THROWS_WITH_AS(mezzo::argmax(context, labels, x.view().slice(0, 0, 3)),
                       "argmax: labels of shape [4] do not fit [3, 3] without its last dimension", mezzo::shape_error);
  CHECK_THROWS_AS(mezzo::argmax(context, labels, x.view().slice(1, 0, 0)), mezzo::shape_error);
}

}  // namespace test
