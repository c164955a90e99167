// One optimizer step over a flat model: AdamW alone, and with loss scaling, check and clipping by GradScaler.
#include <benchmark/benchmark.h>

#include "benchmark_memory.hpp"

namespace {

template <class Policy>
struct Model {
  mezzo::CpuContext context{{.threads = 1}};
  mezzo::ParameterArena<Policy, mezzo::CpuContext> parameters{context};
  mezzo::Parameter<Policy, mezzo::CpuContext, 1> weight;

  explicit Model(mezzo::index_t size) : weight(parameters, "weight", {size}) {
    parameters.seal();
    mezzo::fill(context, weight.master(), 0.5f);
    mezzo::fill(context, weight.gradient_sink().view, 0.25f);
  }
};

/// AdamW reads gradient, weight and two moments, and writes the last three and the 16-bit weight.
template <class Policy>
constexpr int bytes_per_parameter = 28 + (std::is_same_v<Policy, mezzo::Fp32> ? 0 : 2);

template <class Policy>
void adamw(benchmark::State& state) {
  Model<Policy> model(state.range(0));
  mezzo::AdamW optimizer(model.context, model.parameters, {.learning_rate = 1e-6f});
  for (auto _ : state) {
    model.weight.written();
    optimizer.step();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * bytes_per_parameter<Policy>);
}

template <class Policy>
void scaled_step(benchmark::State& state) {
  Model<Policy> model(state.range(0));
  mezzo::AdamW optimizer(model.context, model.parameters, {.learning_rate = 1e-6f});
  mezzo::GradScaler scaler(model.context);
  for (auto _ : state) {
    model.weight.written();
    benchmark::DoNotOptimize(scaler.step(optimizer, {.max_grad_norm = 1.0f}));
    scaler.update();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * (4 + bytes_per_parameter<Policy>));
}

void sizes(benchmark::internal::Benchmark* benchmark) { benchmark->Arg(1 << 16)->Arg(1 << 24); }

}  // namespace

BENCHMARK(adamw<mezzo::Fp32>)->Apply(sizes);
BENCHMARK(adamw<mezzo::AmpFp16>)->Apply(sizes);
BENCHMARK(adamw<mezzo::AmpBf16>)->Apply(sizes);
BENCHMARK(scaled_step<mezzo::AmpFp16>)->Apply(sizes);
