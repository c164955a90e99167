// Loaded at run time: LibTorch brings a BLAS of its own, and the linker would choose one for both.
#include "peers.hpp"

#include <dlfcn.h>

namespace bench::peers::openblas {

void* library() {
  static void* const handle = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  return handle;
}

void set_threads(int threads) {
  if (library() == nullptr) return;
  if (void* const function = dlsym(library(), "openblas_set_num_threads")) reinterpret_cast<void (*)(int)>(function)(threads);
}

std::string version() {
  if (library() == nullptr) return {};
  void* const function = dlsym(library(), "openblas_get_config");
  return function != nullptr ? reinterpret_cast<const char* (*)()>(function)() : "OpenBLAS";
}

Contestant gemm(const GemmArguments& p) {
  if (library() == nullptr) return {};
  using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
  const auto sgemm = reinterpret_cast<Sgemm>(dlsym(library(), "cblas_sgemm"));
  if (sgemm == nullptr) return {};
  constexpr int row_major = 101, as_is = 111;
  return [=] {
    sgemm(row_major, as_is, as_is, p.m, p.n, p.k, 1.0f, static_cast<const float*>(p.a), p.k, static_cast<const float*>(p.b), p.n, 0.0f,
          static_cast<float*>(p.out), p.n);
  };
}

}  // namespace bench::peers::openblas
