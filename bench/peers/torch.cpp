// LibTorch, as a user would call it. Outputs are preallocated wherever it has a form of the call that takes them.
#include "peers.hpp"

#if MEZZO_BENCH_TORCH
#include <torch/nn/functional.h>
#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/adamw.h>
#include <torch/torch.h>
#include <torch/version.h>
#include <memory>
#include <type_traits>
#include <vector>
#endif

namespace bench::peers::torch {

#if MEZZO_BENCH_TORCH
namespace {

template <class T>
constexpr at::ScalarType dtype = std::is_same_v<T, half>       ? at::kHalf
                                 : std::is_same_v<T, bfloat16> ? at::kBFloat16
                                 : std::is_same_v<T, int>      ? at::kInt
                                                               : at::kFloat;

template <class T>
at::Tensor wrap(const T* data, std::vector<std::int64_t> extents) {
  return at::from_blob(const_cast<T*>(data), extents, at::TensorOptions(dtype<T>));
}
template <class T>
at::Tensor wrap(const T* data, std::size_t size) {
  return wrap(data, std::vector<std::int64_t>{static_cast<std::int64_t>(size)});
}
std::vector<std::int64_t> extents(std::size_t rows, std::size_t columns) {
  return {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)};
}

volatile float sink;

/// Parameters with gradients, their 16-bit copies, and an optimizer whose state exists.
template <class T>
struct Model {
  std::vector<at::Tensor> parameters, copies;
  std::unique_ptr<::torch::optim::AdamW> optimizer;

  Model(const AdamWState* states, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const AdamWState& s = states[i];
      at::Tensor parameter = wrap(s.weights, s.size).set_requires_grad(true);
      parameter.mutable_grad() = wrap(s.gradients, s.size);
      parameters.push_back(parameter);
      copies.push_back(wrap(static_cast<const T*>(s.copies), s.size));
    }
    optimizer = std::make_unique<::torch::optim::AdamW>(parameters, ::torch::optim::AdamWOptions(1e-6).weight_decay(0.01));
    optimizer->step();
  }

  void step() {
    optimizer->step();
    at::NoGradGuard guard;
    for (std::size_t i = 0; i < parameters.size(); ++i) copies[i].copy_(parameters[i]);
  }
};

}  // namespace

std::string version() { return std::string("LibTorch ") + TORCH_VERSION; }
void set_threads(int threads) { at::set_num_threads(threads); }

template <class Out, class In>
Contestant cast(Out* to, const In* from, std::size_t size) {
  return [target = wrap(to, size), source = wrap(from, size)]() mutable {
    at::NoGradGuard guard;
    target.copy_(source);
  };
}

Contestant norm(const float* data, std::size_t size) {
  return [x = wrap(data, size)] {
    at::NoGradGuard guard;
    sink = at::norm(x).item<float>();
  };
}

Contestant unscale_check_norm(float* const* data, const std::size_t* sizes, std::size_t count) {
  std::vector<at::Tensor> gradients;
  for (std::size_t i = 0; i < count; ++i) gradients.push_back(wrap(data[i], sizes[i]));
  return [gradients]() mutable {
    at::NoGradGuard guard;
    bool is_finite = true;
    at::_foreach_mul_(gradients, 1.0);
    for (const auto& gradient : gradients) is_finite = is_finite && at::isfinite(gradient).all().item<bool>();
    std::vector<at::Tensor> norms = at::_foreach_norm(gradients);
    sink = is_finite ? at::norm(at::stack(norms)).item<float>() : 0.0f;
  };
}

template <class T>
Contestant adamw(const AdamWState& state) {
  return [model = std::make_shared<Model<T>>(&state, 1)] { model->step(); };
}

template <class T>
Contestant step(const AdamWState* states, std::size_t count) {
  return [model = std::make_shared<Model<T>>(states, count)] {
    bool is_finite = true;
    {
      at::NoGradGuard guard;
      for (const auto& parameter : model->parameters) {
        parameter.grad().mul_(1.0);
        is_finite = is_finite && at::isfinite(parameter.grad()).all().template item<bool>();
      }
    }
    if (!is_finite) return;
    ::torch::nn::utils::clip_grad_norm_(model->parameters, 1e30);
    model->step();
  };
}

template <class T>
Contestant gemm(const GemmArguments& p) {
  if (std::is_same_v<T, half>) return {};  // its CPU back end does not multiply it
  return [a = wrap(static_cast<const T*>(p.a), {p.m, p.k}), b = wrap(static_cast<const T*>(p.b), {p.k, p.n}),
          out = wrap(static_cast<const T*>(p.out), {p.m, p.n})]() mutable {
    at::NoGradGuard guard;
    at::mm_out(out, a, b);
  };
}

Contestant softmax(float* out, const float* in, std::size_t rows, std::size_t columns) {
  return [y = wrap(out, extents(rows, columns)), x = wrap(in, extents(rows, columns))]() mutable {
    at::NoGradGuard guard;
    at::_softmax_out(y, x, 1, false);
  };
}

Contestant layer_norm(float* out, const float* in, const float* scale, const float* shift, std::size_t rows, std::size_t columns) {
  const auto length = static_cast<std::int64_t>(rows);
  return [y = wrap(out, extents(rows, columns)), x = wrap(in, extents(rows, columns)), scale = wrap(scale, columns),
          shift = wrap(shift, columns), mean = at::empty({length, 1}), rstd = at::empty({length, 1})]() mutable {
    at::NoGradGuard guard;
    at::native_layer_norm_out(y, mean, rstd, x, scale.sizes(), scale, shift, 1e-5);
  };
}

Contestant cross_entropy(const float* logits, const int* labels, std::size_t rows, std::size_t columns) {
  at::Tensor x = wrap(logits, extents(rows, columns)).set_requires_grad(true);
  return [x, labels = wrap(labels, rows).to(at::kLong)]() mutable {
    x.mutable_grad() = at::Tensor();
    const at::Tensor loss = at::cross_entropy_loss(x, labels);
    loss.backward();
    sink = loss.template item<float>();
  };
}
#else
std::string version() { return {}; }
void set_threads(int) {}
template <class Out, class In>
Contestant cast(Out*, const In*, std::size_t) {
  return {};
}
Contestant norm(const float*, std::size_t) { return {}; }
Contestant unscale_check_norm(float* const*, const std::size_t*, std::size_t) { return {}; }
template <class T>
Contestant adamw(const AdamWState&) {
  return {};
}
template <class T>
Contestant step(const AdamWState*, std::size_t) {
  return {};
}
template <class T>
Contestant gemm(const GemmArguments&) {
  return {};
}
Contestant softmax(float*, const float*, std::size_t, std::size_t) { return {}; }
Contestant layer_norm(float*, const float*, const float*, const float*, std::size_t, std::size_t) { return {}; }
Contestant cross_entropy(const float*, const int*, std::size_t, std::size_t) { return {}; }
#endif

#include "casts.inl"
template Contestant adamw<half>(const AdamWState&);
template Contestant adamw<bfloat16>(const AdamWState&);
template Contestant step<half>(const AdamWState*, std::size_t);
template Contestant step<bfloat16>(const AdamWState*, std::size_t);
#include "gemms.inl"

}  // namespace bench::peers::torch
