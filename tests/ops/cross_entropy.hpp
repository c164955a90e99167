// Cases of cross-entropy, over the context.
#pragma once

#include <mezzo/ops/cast.hpp>
#include <mezzo/ops/cross_entropy.hpp>

#include "testing.hpp"

namespace test {

using mezzo::half;
using mezzo::Reduction;
using Options = mezzo::CrossEntropyOptions<>;

struct CrossEntropyReference {
  double loss = 0;
  index_t counted = 0;
  double magnitude = 0;  ///< of the terms that make up the loss
};

template <class Logits, class Labels>
CrossEntropyReference cross_entropy_reference(const Logits& x, const Labels& labels, const Options& options) {
  CrossEntropyReference result;
  const index_t classes = x.extent(1);
  const double smoothing = static_cast<double>(options.label_smoothing);
  for (index_t row = 0; row < x.extent(0); ++row) {
    if (options.ignore_index && labels(row) == *options.ignore_index) continue;
    ++result.counted;
    double largest = -HUGE_VAL, sum = 0;
    for (index_t k = 0; k < classes; ++k) largest = std::max(largest, to_double(x(row, k)));
    for (index_t k = 0; k < classes; ++k) sum += std::exp(to_double(x(row, k)) - largest);
    for (index_t k = 0; k < classes; ++k) {
      const double target = (k == labels(row) ? 1 - smoothing : 0) + smoothing / static_cast<double>(classes);
      const double log_p = to_double(x(row, k)) - largest - std::log(sum);
      if (target > 0) result.loss -= target * log_p;
      result.magnitude += target * (std::abs(to_double(x(row, k)) - largest) + std::log(sum));
    }
  }
  if (options.reduction == Reduction::mean) {
    result.loss /= static_cast<double>(result.counted);
    result.magnitude /= static_cast<double>(result.counted);
  }
  return result;
}

inline const Options all_options[] = {{},
                                      {.reduction = Reduction::sum},
                                      {.ignore_index = 2},
                                      {.label_smoothing = 0.1f},
                                      {.reduction = Reduction::sum, .ignore_index = -100, .label_smoothing = 1.0f}};

template <class Label, class Context>
auto some_labels(Context& context, index_t rows, index_t classes) {
  auto labels = mezzo::make_tensor<Label>(context, {rows});
  for (index_t i = 0; i < rows; ++i) labels(i) = static_cast<Label>((i * 5 + 2) % classes);
  return labels;
}

/// Each row's loss within some units of fp32 of the terms that it is made of; rows are added in fp64.
template <class T, class Context>
void losses_keep_their_bounds(Context& context) {
  const index_t rows = 37, classes = 50;
  const auto x = random_tensor<T>(context, {rows, classes}, 1, -9, 9);
  const auto labels = some_labels<std::int32_t>(context, rows, classes);
  for (const Options& options : all_options) {
    const auto reference = cross_entropy_reference(x, labels, options);
    index_t counted = -1;
    Options given = options;
    given.counted = {&counted, {}};
    float loss = 0;
    mezzo::cross_entropy(context, mezzo::TensorView<float, 0>(&loss, {}), x, labels, given);
    const double rows_added = options.reduction == Reduction::sum ? static_cast<double>(reference.counted) : 1;
    const double units = (static_cast<double>(classes) / 16 + 12) * (reference.magnitude + rows_added) + 2 * 18 * rows_added;
    CHECK(std::abs(static_cast<double>(loss) - reference.loss) <= units * 0x1p-24 + rounding<float>(reference.loss));
    CHECK(counted == reference.counted);
    auto turned = mezzo::make_tensor<T>(context, {classes, rows});
    for (index_t i = 0; i < rows; ++i) {
      for (index_t j = 0; j < classes; ++j) turned(j, i) = x(i, j);
    }
    float again = 0;
    mezzo::cross_entropy<mezzo::AmpFp16>(context, mezzo::TensorView<float, 0>(&again, {}), turned.view().transpose(), labels, options);
    CHECK(again == loss);
  }
}

template <class Context>
void cross_entropy_gradients(Context& context) {
  auto x = random_tensor<double>(context, {5, 7}, 2);
  const auto labels = some_labels<std::int64_t>(context, 5, 7);
  auto gx = mezzo::make_tensor<double>(context, {5, 7});
  for (const Options& options : all_options) {
    mezzo::cross_entropy_backward(context, gx, x, labels, 4.0f, options);
    check_gradient(
        x, gx,
        [&] {
          double loss = 0;
          mezzo::cross_entropy(context, mezzo::TensorView<double, 0>(&loss, {}), x, labels, options);
          return 4 * loss;
        },
        1e-7);
  }
}

/// In T as in double, rounded once after the loss scale: small gradients survive in half.
template <class T, class Context>
void cross_entropy_backward_in(Context& context) {
  const index_t rows = 20, classes = 30;
  const auto x = random_tensor<T>(context, {rows, classes}, 3, -9, 9);
  const auto labels = some_labels<std::uint8_t>(context, rows, classes);
  auto x64 = mezzo::make_tensor<double>(context, {rows, classes}), g64 = mezzo::make_tensor<double>(context, {rows, classes});
  mezzo::cast(context, x64, x);
  auto g = mezzo::make_tensor<T>(context, {rows, classes});
  const float scale = 1024;
  const mezzo::Scalar<float> scale_view = mezzo::TensorView<const float, 0>(&scale, {});
  for (const Options& options : all_options) {
    mezzo::cross_entropy_backward(context, g, x, labels, scale_view, options);
    mezzo::cross_entropy_backward(context, g64, x64, labels, scale, options);
    const double factor = options.reduction == Reduction::mean ? 1024.0 / (options.ignore_index ? rows - 2 : rows) : 1024.0;
    for (index_t i = 0; i < g.size(); ++i) {
      REQUIRE(std::abs(to_double(g.data()[i]) - g64.data()[i]) <=
              rounding<T>(g64.data()[i]) + factor * 0x1p-24 * (2 * 18 + classes / 16.0 + 20));
    }
  }
  auto in_place = mezzo::make_tensor<T>(context, {rows, classes});
  mezzo::cast(context, in_place, x);
  mezzo::cross_entropy_backward(context, in_place, in_place, labels, scale_view, all_options[4]);
  CHECK(values(in_place) == values(g));
}

template <class Context>
void cross_entropy_ends_of_the_range(Context& context) {
  auto x = mezzo::make_tensor<half>(context, {2, 3});
  const float rows[2][3] = {{60000, -60000, 0}, {60000, 60000, 60000}};
  for (index_t i = 0; i < 2; ++i) {
    for (index_t j = 0; j < 3; ++j) x(i, j) = half(rows[i][j]);
  }
  const std::int64_t labels[] = {1, 2};
  const mezzo::TensorView<const std::int64_t, 1> t(labels, {2});
  float loss = 0;
  const mezzo::TensorView<float, 0> result(&loss, {});
  mezzo::cross_entropy(context, result, x, t, {.reduction = Reduction::sum, .label_smoothing = 0.5f});
  CHECK(static_cast<double>(loss) == doctest::Approx(0.5 * 120000 + 0.5 / 3 * (120000 + 60000) + std::log(3.0)));
  mezzo::cross_entropy(context, result, x, t);
  CHECK(static_cast<double>(loss) == doctest::Approx((120000 + std::log(3.0)) / 2));
  auto g = mezzo::make_tensor<half>(context, {2, 3});
  mezzo::cross_entropy_backward(context, g, x, t, 65536.0f, {.reduction = Reduction::mean});
  CHECK(static_cast<float>(g(0, 0)) == 32768.0f);
  CHECK(static_cast<float>(g(0, 1)) == -32768.0f);
  CHECK(static_cast<float>(g(0, 2)) == 0.0f);
  x(0, 2) = half(-HUGE_VALF);  // a class ruled out costs nothing
  mezzo::cross_entropy(context, result, x, t);
  CHECK(static_cast<double>(loss) == doctest::Approx((120000 + std::log(3.0)) / 2));
}

template <class Context>
void cross_entropy_misuse(Context& context) {
  auto x = mezzo::make_zeros<float>(context, {3, 4}), g = mezzo::make_zeros<float>(context, {3, 4});
  float loss = 7;
  index_t counted = 7;
  const mezzo::TensorView<float, 0> result(&loss, {});
  const std::int32_t beyond[] = {0, 4, 1}, negative[] = {0, 1, -100}, all_ignored[] = {3, 3, 3};
  const auto view = [](const std::int32_t* labels, index_t count = 3) { return mezzo::TensorView<const std::int32_t, 1>(labels, {count}); };
  CHECK_THROWS_WITH_AS(mezzo::cross_entropy(context, result, x, view(beyond), {.counted = {&counted, {}}}),
                       "cross_entropy: the label of row 1 is 4, but there are 4 classes", mezzo::option_error);
  mezzo::fill(context, g, 5.0f);
  CHECK_THROWS_WITH_AS(mezzo::cross_entropy_backward(context, g, x, view(negative)),
                       "cross_entropy: the label of row 2 is -100, but there are 4 classes", mezzo::option_error);
  CHECK_THROWS_WITH_AS(mezzo::cross_entropy(context, result, x, view(beyond, 2)),
                       "cross_entropy: logits [3, 4] and labels [2] differ in their batch", mezzo::shape_error);
  for (float smoothing : {-0.1f, 1.1f, NAN}) {
    CHECK_THROWS_WITH_AS(mezzo::cross_entropy(context, result, x, view(all_ignored), {.label_smoothing = smoothing}),
                         doctest::Contains("label_smoothing"), mezzo::option_error);
  }
  CHECK(loss == 7);
  CHECK(counted == 7);
  CHECK(g(2, 2) == 5);
  mezzo::cross_entropy(context, result, x, view(all_ignored), {.ignore_index = 3, .counted = {&counted, {}}});
  mezzo::cross_entropy_backward(context, g, x, view(all_ignored), 1.0f, {.ignore_index = 3});
  CHECK(std::isnan(loss));
  CHECK(counted == 0);
  CHECK(g(2, 2) == 0);
  mezzo::cross_entropy(context, result, x.view().slice(0, 0, 0), view(beyond, 0), {.reduction = Reduction::sum});
  CHECK(loss == 0);
}

template <class Context>
void cross_entropy_ignores_threads() {
  std::vector<double> first;
  for (int threads : {1, 2, 3}) {
    Context context({.threads = threads});
    const auto x = random_tensor<half>(context, {200, 333}, 5);
    const auto labels = some_labels<std::int64_t>(context, 200, 333);
    auto g = mezzo::make_tensor<half>(context, {200, 333});
    float loss = 0;
    mezzo::cross_entropy(context, mezzo::TensorView<float, 0>(&loss, {}), x, labels);
    mezzo::cross_entropy_backward(context, g, x, labels, 1024.0f);
    auto all = values(g);
    all.push_back(static_cast<double>(loss));
    if (first.empty()) first = all;
    CHECK(all == first);
  }
}

}  // namespace test
