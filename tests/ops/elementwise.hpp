// Cases of the element-wise operations, over the context.
#pragma once

#include <mezzo/ops/elementwise.hpp>

#include <string>

#include "testing.hpp"

namespace test {

template <class T, class Context>
void arithmetic(Context& context) {
  const auto a = random_tensor<T>(context, {5, 37}, 1), b = random_tensor<T>(context, {5, 37}, 2, 0.5, 2);
  auto y = mezzo::make_tensor<T>(context, {5, 37});
  const auto check = [&](const char* name, auto reference) {
    const std::string operation = name;
    CAPTURE(operation);
    for (index_t i = 0; i < y.size(); ++i) {
      const double expected = reference(to_double(a.data()[i]), to_double(b.data()[i]));
      REQUIRE(std::abs(to_double(y.data()[i]) - expected) <= rounding<T>(expected) + 8 * rounding<float>(expected) * (sizeof(T) < 8));
    }
  };
  mezzo::add(context, y, a, b);
  check("add", [](double p, double q) { return p + q; });
  mezzo::subtract(context, y, a, b);
  check("subtract", [](double p, double q) { return p - q; });
  mezzo::multiply(context, y, a, b);
  check("multiply", [](double p, double q) { return p * q; });
  mezzo::divide(context, y, a, b);
  check("divide", [](double p, double q) { return p / q; });
  mezzo::scale(context, y, a, 3);
  check("scale", [](double p, double) { return p * 3; });
  mezzo::fill(context, y, 0.25f);
  check("fill", [](double, double) { return 0.25; });
  mezzo::add_scaled(context, y, a, b, 0.0f);
  check("add_scaled by 0", [](double p, double) { return p; });
}

/// out = a + factor b loses at most one rounding of the product beside the last one.
template <class T, class Context>
void scaled_sum(Context& context) {
  const auto a = random_tensor<T>(context, {301}, 3), b = random_tensor<T>(context, {301}, 4);
  auto y = mezzo::make_tensor<T>(context, {301});
  mezzo::add_scaled(context, y, a, b, -1.5f);
  for (index_t i = 0; i < y.size(); ++i) {
    const double product = -1.5 * to_double(b.data()[i]), expected = to_double(a.data()[i]) + product;
    REQUIRE(std::abs(to_double(y.data()[i]) - expected) <=
            rounding<T>(expected) + 2 * rounding<float>(std::abs(product) + std::abs(expected)));
  }
}

template <class Context>
void views_and_places(Context& context) {
  auto a = random_tensor<float>(context, {6, 40}, 5);
  const auto before = values(a);
  mezzo::add(context, a, a, a);
  for (index_t i = 0; i < a.size(); ++i) REQUIRE(to_double(a.data()[i]) == 2 * before[static_cast<std::size_t>(i)]);
  auto t = mezzo::make_tensor<float>(context, {40, 6});
  float factor = 0.5f;
  mezzo::scale(context, t.view().transpose(), a, mezzo::TensorView<const float, 0>(&factor, {}));
  for (index_t i = 0; i < 6; ++i) {
    for (index_t j = 0; j < 40; ++j) REQUIRE(t(j, i) == a(i, j) * 0.5f);
  }
  auto counts = mezzo::make_zeros<std::int64_t>(context, {3});
  mezzo::fill(context, counts, 7);
  mezzo::add(context, counts, counts, counts);
  CHECK(counts(2) == 14);
  auto empty = mezzo::make_tensor<float>(context, {0, 4});
  mezzo::multiply(context, empty, empty, empty);
}

/// half with bfloat16 is computed and returned in float, half with float too.
template <class Context>
void mixtures(Context& context) {
  const auto a = random_tensor<mezzo::half>(context, {33}, 6);
  const auto b = random_tensor<mezzo::bfloat16>(context, {33}, 7);
  auto y = mezzo::make_tensor<float>(context, {33});
  mezzo::add<mezzo::AmpFp16>(context, y, a, b);
  for (index_t i = 0; i < 33; ++i) REQUIRE(y(i) == static_cast<float>(a(i)) + static_cast<float>(b(i)));
  mezzo::multiply<mezzo::AmpBf16>(context, y, a, y);
  mezzo::divide<mezzo::Fp32>(context, y, a, y);
  auto h = mezzo::make_tensor<mezzo::half>(context, {33});
  mezzo::subtract<mezzo::AmpFp16>(context, h, a, a);
  CHECK(static_cast<float>(h(5)) == 0.0f);
  auto d = random_tensor<double>(context, {33}, 8), sum = mezzo::make_tensor<double>(context, {33});
  mezzo::add<mezzo::AmpFp16>(context, sum, a, d);
  CHECK(sum(4) == d(4) + static_cast<double>(static_cast<float>(a(4))));
}

template <class Context>
void shapes(Context& context) {
  auto a = mezzo::make_zeros<float>(context, {2, 3}), b = mezzo::make_zeros<float>(context, {3, 2});
  CHECK_THROWS_WITH_AS(mezzo::add(context, a, a, b), "add: shapes [2, 3] and [3, 2] differ", mezzo::shape_error);
  CHECK_THROWS_WITH_AS(mezzo::scale(context, a, b, 2.0f), "scale: shapes [2, 3] and [3, 2] differ", mezzo::shape_error);
}

}  // namespace test
