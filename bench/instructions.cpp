// instructions <kernel>: runs one kernel a single time inside run_kernel, on which callgrind counts; without an argument, their names.
// Counts are the same on a machine that is busy with something else.
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/mezzo.hpp>

namespace {

constexpr mezzo::index_t size = 1 << 16, rows = 64, columns = 1024;

using Kernel = std::function<std::function<void()>(mezzo::CpuContext&)>;

template <class Out, class In>
std::function<void()> cast(mezzo::CpuContext& context) {
  auto from = std::make_shared<mezzo::Tensor<In, 1>>(mezzo::make_tensor<In>(context, {size}));
  auto to = std::make_shared<mezzo::Tensor<Out, 1>>(mezzo::make_tensor<Out>(context, {size}));
  mezzo::fill(context, *from, 0.5f);
  return [&context, from, to] { mezzo::cast(context, *to, *from); };
}

template <class Function>
std::function<void()> over_rows(mezzo::CpuContext& context, const Function& function) {
  auto in = std::make_shared<mezzo::Tensor<float, 2>>(mezzo::make_tensor<float>(context, {rows, columns}));
  auto out = std::make_shared<mezzo::Tensor<float, 2>>(mezzo::make_tensor<float>(context, {rows, columns}));
  mezzo::fill(context, *in, 0.5f);
  return [&context, in, out, function] { function(context, *out, *in); };
}

template <bool writes>
std::function<void()> check(mezzo::CpuContext& context) {
  auto gradients = std::make_shared<mezzo::Tensor<float, 1>>(mezzo::make_tensor<float>(context, {size}));
  mezzo::fill(context, *gradients, 0.5f);
  return [&context, gradients] {
    const std::vector<mezzo::TensorRun<float>> runs{{gradients->data(), size}};
    if (writes) {
      mezzo::scale_and_check(context, 1.0f, runs, runs);
    } else {
      mezzo::check_finite(context, runs);
    }
  };
}

template <class Policy>
std::function<void()> adamw(mezzo::CpuContext& context) {
  struct Model {
    mezzo::ParameterArena<Policy, mezzo::CpuContext> arena;
    mezzo::Parameter<Policy, mezzo::CpuContext, 1> weight;
    mezzo::AdamW<mezzo::ParameterArena<Policy, mezzo::CpuContext>> optimizer;
    explicit Model(mezzo::CpuContext& c) : arena(c), weight(arena, "weight", {size}), optimizer(c, sealed()) {}
    auto& sealed() {
      arena.seal();
      return arena;
    }
  };
  auto model = std::make_shared<Model>(context);
  mezzo::fill(context, model->weight.gradient_sink().view, 0.25f);
  return [model] {
    model->weight.written();
    model->optimizer.step();
  };
}

const std::vector<std::pair<std::string, Kernel>> kernels{
    {"float_to_half", cast<mezzo::half, float>},
    {"half_to_float", cast<float, mezzo::half>},
    {"float_to_bfloat16", cast<mezzo::bfloat16, float>},
    {"bfloat16_to_float", cast<float, mezzo::bfloat16>},
    {"check_norm", check<false>},
    {"unscale_check_norm", check<true>},
    {"adamw_fp32", adamw<mezzo::Fp32>},
    {"adamw_fp16", adamw<mezzo::AmpFp16>},
    {"softmax", [](auto& context) { return over_rows(context, [](auto& c, auto& out, auto& in) { mezzo::softmax(c, out, in); }); }},
    {"layer_norm",
     [](auto& context) {
       return over_rows(context, [](auto& c, auto& out, auto& in) { mezzo::layer_norm(c, out, in, mezzo::none, mezzo::none); });
     }},
};

[[gnu::noinline]] void run_kernel(const std::function<void()>& kernel) {
  kernel();
  asm volatile("");
}

}  // namespace

int main(int argc, char** argv) {
  mezzo::CpuContext context({.threads = 1});
  for (const auto& [name, make] : kernels) {
    if (argc < 2) {
      std::printf("%s\n", name.c_str());
    } else if (name == argv[1]) {
      const auto kernel = make(context);
      kernel();  // scratch memory exists from here on
      run_kernel(kernel);
      std::printf("%lld\n", static_cast<long long>(size));
      return 0;
    }
  }
  return argc < 2 ? 0 : 1;
}
