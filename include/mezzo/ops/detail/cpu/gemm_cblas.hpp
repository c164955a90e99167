// gemm by a CBLAS such as OpenBLAS: fp32 and fp64. Its products of 16-bit matrices would need fp32 copies, and mezzo's own kernel
// converts while it packs.
#pragma once

#include <cblas.h>

#include <mutex>
#include <type_traits>

#include <mezzo/ops/detail/cpu/gemm_library.hpp>

extern "C" {
[[gnu::weak]] void openblas_set_num_threads(int);
[[gnu::weak]] int openblas_get_num_threads();
}

namespace mezzo::detail {

/// Keeps OpenBLAS from threads of its own while at least one lives; the last one sets their number back. Other libraries are left
/// as they are.
class SingleThreadedBlas {
 public:
  SingleThreadedBlas() {
    if (openblas_set_num_threads == nullptr || openblas_get_num_threads == nullptr) return;
    std::lock_guard lock(state().lock);
    if (state().users++ > 0) return;
    state().threads = openblas_get_num_threads();
    if (state().threads != 1) openblas_set_num_threads(1);
  }
  SingleThreadedBlas(const SingleThreadedBlas&) = delete;
  SingleThreadedBlas& operator=(const SingleThreadedBlas&) = delete;
  ~SingleThreadedBlas() {
    if (openblas_set_num_threads == nullptr || openblas_get_num_threads == nullptr) return;
    std::lock_guard lock(state().lock);
    if (--state().users == 0 && state().threads != 1) openblas_set_num_threads(state().threads);
  }

 private:
  struct State {
    std::mutex lock;
    int users = 0, threads = 1;
  };
  static State& state() {
    static State state;
    return state;
  }
};

struct CblasGemmEngine {
  static constexpr const char* name = "cblas";

  template <class A, class B, class Out>
  static bool multiply(CpuContext& context, const GemmProblem<gemm_sum_t<A, B>>& p) {
    if constexpr (std::is_same_v<A, Out> && std::is_same_v<B, Out> && std::is_floating_point_v<Out>) {
      const BlasMatrix out = blas_matrix(p.m, p.n, p.out.row_stride, p.out.column_stride);
      if (!suits_library(p) || !out.is_suitable) return false;
      const SingleThreadedBlas guard;
      for_each_library_block(context, out.is_transposed ? p.transposed() : p, [isa = context.isa()](const GemmProblem<Out>& block) {
        call(block);
        add_bias(isa, block);
      });
      return true;
    } else {
      return false;
    }
  }

 private:
  template <class T>
  static void call(const GemmProblem<T>& p) {
    const BlasMatrix a = blas_matrix(p.m, p.k, p.a.stride, p.a.k_stride), b = blas_matrix(p.k, p.n, p.b.k_stride, p.b.stride);
    const auto order = [](const BlasMatrix& matrix) { return matrix.is_transposed ? CblasTrans : CblasNoTrans; };
    const auto narrow = [](index_t value) { return static_cast<int>(value); };
    if constexpr (std::is_same_v<T, float>) {
      cblas_sgemm(CblasRowMajor, order(a), order(b), narrow(p.m), narrow(p.n), narrow(p.k), p.out.alpha, static_cast<const T*>(p.a.data), narrow(a.leading),
                  static_cast<const T*>(p.b.data), narrow(b.leading), p.out.beta, static_cast<T*>(p.out.data), narrow(p.out.row_stride));
    } else {
      cblas_dgemm(CblasRowMajor, order(a), order(b), narrow(p.m), narrow(p.n), narrow(p.k), p.out.alpha, static_cast<const T*>(p.a.data), narrow(a.leading),
                  static_cast<const T*>(p.b.data), narrow(b.leading), p.out.beta, static_cast<T*>(p.out.data), narrow(p.out.row_stride));
    }
  }
};

}  // namespace mezzo::detail
