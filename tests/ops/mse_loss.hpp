// Cases of the mean squared error, over the context.
#pragma once

#include <mezzo/ops/mse_loss.hpp>

#include "testing.hpp"

namespace test {

using mezzo::Reduction;

template <class T, class Context>
void squared_errors(Context& context) {
  const auto p = random_tensor<T>(context, {7, 333}, 1);
  const auto t = random_tensor<float>(context, {7, 333}, 2);
  double sum = 0;
  for (index_t i = 0; i < p.size(); ++i) sum += std::pow(to_double(p.data()[i]) - to_double(t.data()[i]), 2);
  const double count = static_cast<double>(p.size());
  float loss = 0;
  const mezzo::TensorView<float, 0> result(&loss, {});
  mezzo::mse_loss<mezzo::AmpFp16>(context, result, p, t);
  CHECK(std::abs(static_cast<double>(loss) - sum / count) <= 1.0001 * rounding<float>(sum / count));
  mezzo::mse_loss(context, result, p, t, {.reduction = Reduction::sum});
  CHECK(std::abs(static_cast<double>(loss) - sum) <= 1.0001 * rounding<float>(sum));
  auto g = mezzo::make_tensor<T>(context, {7, 333});
  const float scale = 4096;
  mezzo::mse_loss_backward(context, g, p, t, mezzo::TensorView<const float, 0>(&scale, {}));
  for (index_t i = 0; i < p.size(); ++i) {
    const double difference = to_double(p.data()[i]) - to_double(t.data()[i]), expected = 2 * 4096 * difference / count;
    REQUIRE(std::abs(to_double(g.data()[i]) - expected) <= 4 * rounding<float>(expected) + rounding<T>(expected));
  }
}

template <class Context>
void mse_gradients(Context& context) {
  auto p = random_tensor<double>(context, {3, 13}, 3);
  const auto t = random_tensor<double>(context, {3, 13}, 4);
  auto g = mezzo::make_tensor<double>(context, {3, 13});
  for (Reduction reduction : {Reduction::mean, Reduction::sum}) {
    mezzo::mse_loss_backward(context, g, p, t, 8.0f, {.reduction = reduction});
    check_gradient(
        p, g,
        [&] {
          double loss = 0;
          mezzo::mse_loss<mezzo::AmpFp16>(context, mezzo::TensorView<double, 0>(&loss, {}), p, t, {.reduction = reduction});
          return 8 * loss;
        },
        1e-7);
  }
}

template <class Context>
void mse_ends_of_the_range(Context& context) {
  auto p = mezzo::make_zeros<float>(context, {2, 3}), t = mezzo::make_zeros<float>(context, {3, 2});
  float loss = 7;
  const mezzo::TensorView<float, 0> result(&loss, {});
  CHECK_THROWS_WITH_AS(mezzo::mse_loss(context, result, p, t), "mse_loss: predictions [2, 3] and targets [3, 2] differ in shape",
                       mezzo::shape_error);
  CHECK_THROWS_AS(mezzo::mse_loss_backward(context, t, p, p), mezzo::shape_error);
  CHECK(loss == 7);
  p(0, 0) = 2e19f;  // its square is beyond fp32
  double wide = 0;
  mezzo::mse_loss(context, mezzo::TensorView<double, 0>(&wide, {}), p, t.view().transpose());
  CHECK(wide == doctest::Approx(4e38 / 6));
  const auto empty = mezzo::make_zeros<float>(context, {0});
  mezzo::mse_loss(context, result, empty, empty, {.reduction = Reduction::sum});
  CHECK(loss == 0);
  mezzo::mse_loss(context, result, empty, empty);
  CHECK(std::isnan(loss));
}

}  // namespace test
