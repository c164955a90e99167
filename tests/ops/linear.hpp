// Cases of linear, over the context.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include <mezzo/ops/linear.hpp>
#include <mezzo/tensor/tensor.hpp>

#include "../kernels/transform.hpp"

namespace test {

template <class T, class View>
void fill_uniform(const View& view, Random& random) {
  const auto flat = view.flatten();
  for (index_t i = 0; i < flat.size(); ++i) flat(i) = mezzo::convert<T>(random.uniform(-1, 1));
}

template <class View>
void fill_nan(const View& view) {
  const auto flat = view.flatten();
  for (index_t i = 0; i < flat.size(); ++i) flat(i) = std::numeric_limits<typename View::value_type>::quiet_NaN();
}

/// A linear layer with parameters of Policy: values drawn in the dtype that it computes in, so that copies equal their masters.
template <class Policy, class Context>
struct LinearLayer {
  using T = typename Policy::low_type;
  index_t batch, inputs, outputs;
  mezzo::ParameterArena<Policy, Context> arena;
  mezzo::Parameter<Policy, Context, 2> weight;
  mezzo::Parameter<Policy, Context, 1> bias;
  mezzo::Tensor<T, 2> in, out, grad_in, grad_out;

  LinearLayer(Context& context, index_t batch_size, index_t input_count, index_t output_count)
      : batch(batch_size),
        inputs(input_count),
        outputs(output_count),
        arena(context),
        weight(arena, "weight", {outputs, inputs}),
        bias(arena, "bias", {outputs}),
        in(mezzo::make_tensor<T>(context, {batch, inputs})),
        out(mezzo::make_tensor<T>(context, {batch, outputs})),
        grad_in(mezzo::make_tensor<T>(context, {batch, inputs})),
        grad_out(mezzo::make_tensor<T>(context, {batch, outputs})) {
    arena.seal();
    Random random(static_cast<std::uint64_t>(batch * 31 + inputs * 7 + outputs));
    fill_uniform<T>(in.view(), random);
    fill_uniform<T>(grad_out.view(), random);
    using Master = typename Policy::master_type;
    for (index_t i = 0; i < weight.size(); ++i) {
      const T value = mezzo::convert<T>(random.uniform(-1, 1));
      weight.master().data()[i] = mezzo::convert<Master>(value);
      const_cast<T*>(weight.view().data())[i] = value;
    }
    for (index_t i = 0; i < bias.size(); ++i) bias.master()(i) = mezzo::convert<Master>(random.uniform(-1, 1));
    fill_nan(out.view());
    fill_nan(grad_in.view());
    fill_nan(arena.gradients());
  }

  double weight_at(index_t i, index_t j) const { return static_cast<double>(weight.view()(i, j)); }
};

/// Whether `value` is `expected` after k additions in fp32 (fp64 for double) and one rounding to T. The terms are below 1.
template <class T>
void expect_close(T value, double expected, index_t k) {
  const double sum_error = static_cast<double>((k + 4) * (k + 1)) * (std::is_same_v<T, double> ? 0x1p-53 : 0x1p-24);
  const double bound = sum_error + (std::abs(expected) + sum_error) * static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
  CHECK(std::abs(static_cast<double>(value) - expected) <= bound);
}

template <class Policy, class Context>
void linear_layers(Context& context) {
  const index_t shapes[][3] = {{5, 7, 3}, {1, 64, 10}, {33, 17, 40}, {0, 3, 2}};
  for (const auto& shape : shapes) {
    const index_t batch = shape[0], inputs = shape[1], outputs = shape[2];
    CAPTURE(batch);
    LinearLayer<Policy, Context> layer(context, batch, inputs, outputs);
    mezzo::linear<Policy>(context, layer.out, layer.in, layer.weight, layer.bias);
    for (index_t i = 0; i < batch; ++i) {
      for (index_t j = 0; j < outputs; ++j) {
        double expected = static_cast<double>(layer.bias.master()(j));
        for (index_t l = 0; l < inputs; ++l) expected += static_cast<double>(layer.in(i, l)) * layer.weight_at(j, l);
        expect_close(layer.out(i, j), expected, inputs);
      }
    }
    const auto with_bias = bits_of(layer.out.view());
    mezzo::linear<Policy>(context, layer.out, layer.in, layer.weight.view(), mezzo::none);
    for (index_t i = 0; i < batch; ++i) {
      double expected = 0;
      for (index_t l = 0; l < inputs; ++l) expected += static_cast<double>(layer.in(i, l)) * layer.weight_at(0, l);
      expect_close(layer.out(i, 0), expected, inputs);
    }
    if (batch > 0) CHECK(bits_of(layer.out.view()) != with_bias);
  }
}

/// Gradients against sums in fp64. The first write of a window overwrites NaN, the next ones add.
template <class Policy, class Context>
void linear_gradients(Context& context) {
  const index_t batch = 37, inputs = 19, outputs = 21;
  LinearLayer<Policy, Context> layer(context, batch, inputs, outputs);
  for (int window : {0, 1}) {
    for (int write : {1, 2, 3}) {
      CAPTURE(window);
      CAPTURE(write);
      mezzo::linear_backward<Policy>(context, layer.grad_in, layer.weight, layer.bias, layer.grad_out, layer.in);
      for (index_t j = 0; j < outputs; ++j) {
        for (index_t l = 0; l < inputs; ++l) {
          double expected = 0;
          for (index_t i = 0; i < batch; ++i) expected += static_cast<double>(layer.grad_out(i, j)) * static_cast<double>(layer.in(i, l));
          expect_close(layer.weight.gradient()(j, l), write * expected, write * batch);
        }
        double expected = 0;
        for (index_t i = 0; i < batch; ++i) expected += static_cast<double>(layer.grad_out(i, j));
        expect_close(layer.bias.gradient()(j), write * expected, write * batch);
      }
      for (index_t i = 0; i < batch; ++i) {
        for (index_t l = 0; l < inputs; ++l) {
          double expected = 0;
          for (index_t j = 0; j < outputs; ++j) expected += static_cast<double>(layer.grad_out(i, j)) * layer.weight_at(j, l);
          expect_close(layer.grad_in(i, l), expected, outputs);
        }
      }
    }
    layer.arena.zero_grad();
    CHECK(!layer.weight.has_gradient());
  }
}

/// The loss sum(grad_out * out), differentiated numerically in fp64. It is linear in every argument, so that the central difference errs
/// by rounding alone.
template <class Context>
void linear_gradients_numerically(Context& context) {
  using Policy = mezzo::Pure<double>;
  LinearLayer<Policy, Context> layer(context, 4, 5, 3);
  const auto loss = [&] {
    mezzo::linear<Policy>(context, layer.out, layer.in, layer.weight, layer.bias);
    double sum = 0;
    for (index_t i = 0; i < layer.out.size(); ++i) sum += layer.out.data()[i] * layer.grad_out.data()[i];
    return sum;
  };
  const double step = 0x1p-10;
  const auto slope = [&](double& x) {
    const double old = x;
    x = old + step;
    const double above = loss();
    x = old - step;
    const double below = loss();
    x = old;
    return (above - below) / (2 * step);
  };
  mezzo::linear_backward<Policy>(context, layer.grad_in, layer.weight, layer.bias, layer.grad_out, layer.in);
  const double in_fp32 = 1e-5, in_fp64 = 1e-10;  // weights' gradients are kept as float
  for (index_t i = 0; i < layer.weight.size(); ++i) {
    CHECK(std::abs(slope(layer.weight.master().data()[i]) - static_cast<double>(layer.weight.gradient().data()[i])) < in_fp32);
  }
  for (index_t i = 0; i < layer.bias.size(); ++i) {
    CHECK(std::abs(slope(layer.bias.master()(i)) - static_cast<double>(layer.bias.gradient()(i))) < in_fp32);
  }
  for (index_t i = 0; i < layer.in.size(); ++i) CHECK(std::abs(slope(layer.in.data()[i]) - layer.grad_in.data()[i]) < in_fp64);

  auto grad_weight = mezzo::make_tensor<double>(context, {3, 5});
  auto grad_bias = mezzo::make_tensor<double>(context, {3});
  mezzo::linear_backward<Policy>(context, mezzo::none, grad_weight, grad_bias, layer.grad_out, layer.in);
  for (index_t i = 0; i < 15; ++i) CHECK(std::abs(slope(layer.weight.master().data()[i]) - grad_weight.data()[i]) < in_fp64);
  for (index_t i = 0; i < 3; ++i) CHECK(std::abs(slope(layer.bias.master()(i)) - grad_bias(i)) < in_fp64);
}

/// Views and tensors in place of parameters: gradients are overwritten, and a weight of its own gives grad_in.
template <class Context>
void linear_on_views(Context& context) {
  using mezzo::half;
  LinearLayer<mezzo::AmpFp16, Context> layer(context, 6, 8, 4);
  mezzo::linear_backward<mezzo::AmpFp16>(context, layer.grad_in, layer.weight, layer.bias, layer.grad_out, layer.in);
  const auto grad_in = bits_of(layer.grad_in.view());
  auto grad_weight = mezzo::make_tensor<float>(context, {4, 8});
  for (int i = 0; i < 2; ++i) {
    fill_nan(layer.grad_in.view());
    mezzo::linear_backward<mezzo::AmpFp16>(context, layer.grad_in, grad_weight, mezzo::none, layer.grad_out, layer.in, layer.weight.view());
    CHECK(bits_of(layer.grad_in.view()) == grad_in);
    CHECK(bits_of(grad_weight.view()) == bits_of(layer.weight.gradient()));
  }
  auto half_weight = mezzo::make_tensor<half>(context, {4, 8});
  mezzo::linear_backward<mezzo::AmpFp16>(context, mezzo::none, half_weight, mezzo::none, layer.grad_out, layer.in);
  for (index_t i = 0; i < 32; ++i) CHECK(half_weight.data()[i].bits() == mezzo::convert<half>(grad_weight.data()[i]).bits());
}

template <class MakeContext>
void linear_gradients_ignore_threads(const MakeContext& make_context) {
  std::vector<unsigned char> weight, bias;
  for (int threads : {1, 2, 3}) {
    CAPTURE(threads);
    auto context = make_context(threads);
    LinearLayer<mezzo::AmpBf16, std::remove_reference_t<decltype(*context)>> layer(*context, 700, 300, 1100);
    mezzo::linear_backward<mezzo::AmpBf16>(*context, layer.grad_in, layer.weight, layer.bias, layer.grad_out, layer.in);
    if (threads == 1) {
      weight = bits_of(layer.weight.gradient());
      bias = bits_of(layer.bias.gradient());
    }
    CHECK(bits_of(layer.weight.gradient()) == weight);
    CHECK(bits_of(layer.bias.gradient()) == bias);
  }
}

template <class Context>
void linear_shapes_that_do_not_fit(Context& context) {
  using Policy = mezzo::Fp32;
  LinearLayer<Policy, Context> layer(context, 2, 3, 4);
  auto other = mezzo::make_tensor<float>(context, {2, 5});
  auto wrong_bias = mezzo::make_tensor<float>(context, {3});
  CHECK_THROWS_WITH_AS(mezzo::linear<Policy>(context, layer.out, other, layer.weight, layer.bias),
                       "linear: in is [2, 5], but weight is [4, 3]", mezzo::shape_error);
  CHECK_THROWS_WITH_AS(mezzo::linear<Policy>(context, other, layer.in, layer.weight, layer.bias),
                       "linear: out is [2, 5], but in is [2, 3] and weight is [4, 3]", mezzo::shape_error);
  CHECK_THROWS_WITH_AS(mezzo::linear<Policy>(context, layer.out, layer.in, layer.weight, wrong_bias),
                       "linear: bias is [3], but weight is [4, 3]", mezzo::shape_error);
  const auto backward = [&](auto&& grad_in, auto&& weight, auto&& bias, auto&& grad_out) {
    mezzo::linear_backward<Policy>(context, grad_in, weight, bias, grad_out, layer.in, layer.weight);
  };
  CHECK_THROWS_WITH_AS(backward(other, layer.weight, layer.bias, layer.grad_out), "linear_backward: grad_in is [2, 5], but in is [2, 3]",
                       mezzo::shape_error);
  CHECK_THROWS_WITH_AS(backward(layer.grad_in, other, layer.bias, layer.grad_out),
                       "linear_backward: the weight's gradient is [2, 5], but grad_out is [2, 4] and in is [2, 3]", mezzo::shape_error);
  CHECK_THROWS_WITH_AS(backward(layer.grad_in, layer.weight, wrong_bias, layer.grad_out),
                       "linear_backward: the bias's gradient is [3], but grad_out is [2, 4]", mezzo::shape_error);
  CHECK_THROWS_WITH_AS(backward(layer.grad_in, layer.weight, layer.bias, layer.weight.master()),
                       "linear_backward: in is [2, 3], but grad_out is [4, 3]", mezzo::shape_error);
  CHECK(!layer.weight.has_gradient());
  CHECK(!layer.bias.has_gradient());
  CHECK(std::isnan(layer.grad_in(0, 0)));
  CHECK(std::isnan(layer.out(0, 0)));
}

}  // namespace test
