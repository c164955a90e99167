// Unscaling gradients with the check for infinities and the norm in one pass, beside scaling alone.
#include <benchmark/benchmark.h>

#include "benchmark_memory.hpp"

namespace {

void scale_alone(benchmark::State& state) {
  mezzo::CpuContext context({.threads = 1});
  auto gradients = bench::numbers<float>(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    mezzo::scale(context, bench::view(gradients), bench::view(gradients), 1.0f);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 8);
}

void unscale_check_norm(benchmark::State& state) {
  mezzo::CpuContext context({.threads = 1});
  auto gradients = bench::numbers<float>(static_cast<std::size_t>(state.range(0)));
  const std::vector<mezzo::TensorRun<float>> runs{{gradients.data(), state.range(0)}};
  for (auto _ : state) benchmark::DoNotOptimize(mezzo::scale_and_check(context, 1.0f, runs, runs));
  state.SetBytesProcessed(state.iterations() * state.range(0) * 8);
}

template <class T>
void check_norm(benchmark::State& state) {
  mezzo::CpuContext context({.threads = 1});
  auto gradients = bench::numbers<T>(static_cast<std::size_t>(state.range(0)));
  const std::vector<mezzo::TensorRun<T>> runs{{gradients.data(), state.range(0)}};
  for (auto _ : state) benchmark::DoNotOptimize(mezzo::check_finite(context, runs));
  state.SetBytesProcessed(state.iterations() * state.range(0) * static_cast<int>(sizeof(T)));
}

void sizes(benchmark::internal::Benchmark* benchmark) { benchmark->Arg(1 << 16)->Arg(1 << 24); }

}  // namespace

BENCHMARK(scale_alone)->Apply(sizes);
BENCHMARK(unscale_check_norm)->Apply(sizes);
BENCHMARK(check_norm<float>)->Apply(sizes);
BENCHMARK(check_norm<mezzo::half>)->Apply(sizes);
