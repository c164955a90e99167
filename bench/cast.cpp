// Casts beside a plain copy of as many bytes.
#include <benchmark/benchmark.h>

#include <cstring>

#include "benchmark_memory.hpp"

namespace {

template <class Out, class In>
void cast(benchmark::State& state) {
  mezzo::CpuContext context({.threads = 1});
  const auto size = static_cast<std::size_t>(state.range(0));
  auto from = bench::numbers<In>(size);
  auto to = bench::numbers<Out>(size);
  for (auto _ : state) {
    mezzo::cast(context, bench::view(to), bench::view(from));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * static_cast<int>(sizeof(Out) + sizeof(In)));
}

/// As much traffic as a cast between 32 and 16 bits: 3 bytes read and 3 written for each element.
void copy(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(3 * state.range(0));
  std::vector<char> from(bytes, 1), to(bytes, 2);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), bytes);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 6);
}

void sizes(benchmark::internal::Benchmark* benchmark) { benchmark->Arg(1 << 16)->Arg(1 << 24); }

}  // namespace

BENCHMARK(copy)->Apply(sizes);
BENCHMARK(cast<mezzo::half, float>)->Apply(sizes);
BENCHMARK(cast<float, mezzo::half>)->Apply(sizes);
BENCHMARK(cast<mezzo::bfloat16, float>)->Apply(sizes);
BENCHMARK(cast<float, mezzo::bfloat16>)->Apply(sizes);
