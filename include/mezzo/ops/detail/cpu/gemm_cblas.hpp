// gemm by a CBLAS such as OpenBLAS: fp32 and fp64. Its products of 16-bit matrices would need fp32 copies, and mezzo's own kernel
// converts while it packs.
#pragma once

#include <mutex>
#include <type_traits>

#include <mezzo/ops/detail/cpu/gemm_library.hpp>

// Declared here under names of mezzo's own: OpenBLAS's cblas.h defines a global `bfloat16`, which `using mezzo::bfloat16` would meet.
extern "C" {
void mezzo_cblas_sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float* a, int a_leading,
                       const float* b, int b_leading, float beta, float* out, int out_leading) __asm__("cblas_sgemm");
void mezzo_cblas_dgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, double alpha, const double* a, int a_leading,
                       const double* b, int b_leading, double beta, double* out, int out_leading) __asm__("cblas_dgemm");
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
    constexpr int row_major = 101, no_transpose = 111, transpose = 112;  // as every CBLAS numbers them
    const int order_a = a.is_transposed ? transpose : no_transpose, order_b = b.is_transposed ? transpose : no_transpose;
    const auto narrow = [](index_t value) { return static_cast<int>(value); };
    const T* const a_data = static_cast<const T*>(p.a.data);
    const T* const b_data = static_cast<const T*>(p.b.data);
    T* const out = static_cast<T*>(p.out.data);
    if constexpr (std::is_same_v<T, float>) {
      mezzo_cblas_sgemm(row_major, order_a, order_b, narrow(p.m), narrow(p.n), narrow(p.k), p.out.alpha, a_data, narrow(a.leading), b_data,
                        narrow(b.leading), p.out.beta, out, narrow(p.out.row_stride));
    } else {
      mezzo_cblas_dgemm(row_major, order_a, order_b, narrow(p.m), narrow(p.n), narrow(p.k), p.out.alpha, a_data, narrow(a.leading), b_data,
                        narrow(b.leading), p.out.beta, out, narrow(p.out.row_stride));
    }
  }
};

}  // namespace mezzo::detail
