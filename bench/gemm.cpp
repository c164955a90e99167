// gemm of this build, mezzo's own kernel, and the libraries that this machine has, on one thread and in one process.
#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include <initializer_list>

#include <mezzo/ops/gemm.hpp>
#include <mezzo/tensor/tensor.hpp>

namespace {

using mezzo::index_t;

template <class T>
struct Matrices {
  mezzo::CpuContext context{{.threads = 1}};
  mezzo::Tensor<T, 2> a, b, out;

  explicit Matrices(index_t size)
      : a(mezzo::make_tensor<T>(context, {size, size})),
        b(mezzo::make_tensor<T>(context, {size, size})),
        out(mezzo::make_tensor<T>(context, {size, size})) {
    for (index_t i = 0; i < a.size(); ++i) a.data()[i] = b.data()[i] = mezzo::convert<T>(static_cast<float>(i % 17 - 8) / 8);
  }
};

void count_flops(benchmark::State& state) {
  const double size = static_cast<double>(state.range(0));
  state.counters["flops"] = benchmark::Counter(2 * size * size * size, benchmark::Counter::kIsIterationInvariantRate);
}

template <class T>
void gemm(benchmark::State& state) {
  Matrices<T> m(state.range(0));
  for (auto _ : state) mezzo::gemm(m.context, m.out, m.a, m.b);
  state.SetLabel(mezzo::gemm_engine());
  count_flops(state);
}

template <class T>
void gemm_own(benchmark::State& state) {
  Matrices<T> m(state.range(0));
  const index_t size = state.range(0), bytes = sizeof(T);
  constexpr auto load = mezzo::detail::load_elements<float, T>;
  const mezzo::detail::GemmProblem<float> problem{
      size,
      size,
      size,
      {m.a.data(), bytes, size, 1, load, std::is_same_v<float, T>},
      {m.b.data(), bytes, 1, size, load, std::is_same_v<float, T>},
      {m.out.data(), bytes, size, 1, 1.0f, 0.0f, nullptr, nullptr, load, mezzo::detail::store_elements<float, T>}};
  for (auto _ : state) mezzo::detail::multiply_own(m.context, problem);
  count_flops(state);
}

/// The function `name` of the first of these libraries that is installed, or null.
void* find_function(std::initializer_list<const char*> libraries, const char* name) {
  for (const char* library : libraries) {
    if (void* handle = dlopen(library, RTLD_NOW | RTLD_GLOBAL)) return dlsym(handle, name);
  }
  return nullptr;
}

void set_one_thread(void* function) {
  if (function != nullptr) reinterpret_cast<void (*)(int)>(function)(1);
}

void openblas(benchmark::State& state) {
  using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
  const auto libraries = {"libopenblas.so.0", "libopenblas.so"};
  const auto sgemm = reinterpret_cast<Sgemm>(find_function(libraries, "cblas_sgemm"));
  if (sgemm == nullptr) return state.SkipWithError("OpenBLAS is not installed");
  set_one_thread(find_function(libraries, "openblas_set_num_threads"));
  if (void* const core = find_function(libraries, "openblas_get_corename")) state.SetLabel(reinterpret_cast<const char* (*)()>(core)());
  Matrices<float> m(state.range(0));
  const int size = static_cast<int>(state.range(0));
  for (auto _ : state) sgemm(101, 111, 111, size, size, size, 1.0f, m.a.data(), size, m.b.data(), size, 0.0f, m.out.data(), size);
  count_flops(state);
}

void onednn(benchmark::State& state) {
  using Sgemm = int (*)(char, char, index_t, index_t, index_t, float, const float*, index_t, const float*, index_t, float, float*, index_t);
  const auto libraries = {"libdnnl.so.3", "libdnnl.so.2", "libdnnl.so"};
  const auto sgemm = reinterpret_cast<Sgemm>(find_function(libraries, "dnnl_sgemm"));
  if (sgemm == nullptr) return state.SkipWithError("oneDNN is not installed");
  set_one_thread(find_function(libraries, "omp_set_num_threads"));
  Matrices<float> m(state.range(0));
  const index_t size = state.range(0);
  for (auto _ : state) sgemm('N', 'N', size, size, size, 1.0f, m.a.data(), size, m.b.data(), size, 0.0f, m.out.data(), size);
  count_flops(state);
}

void sizes(benchmark::internal::Benchmark* benchmark) { benchmark->Arg(64)->Arg(256)->Arg(1024); }

BENCHMARK(gemm<float>)->Apply(sizes);
BENCHMARK(gemm<mezzo::half>)->Apply(sizes);
BENCHMARK(gemm<mezzo::bfloat16>)->Apply(sizes);
BENCHMARK(gemm_own<float>)->Apply(sizes);
BENCHMARK(gemm_own<mezzo::half>)->Apply(sizes);
BENCHMARK(gemm_own<mezzo::bfloat16>)->Apply(sizes);
BENCHMARK(openblas)->Apply(sizes);
BENCHMARK(onednn)->Apply(sizes);

}  // namespace
