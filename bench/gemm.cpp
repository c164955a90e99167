// Matrix products: gemm of this build, mezzo's own kernel, and the libraries.
#include "cases.hpp"

#include <cmath>

#include <mezzo/ops/gemm.hpp>

namespace bench {

namespace {

struct Shape {
  int m, n, k;
};

template <class T>
using Matrix = std::shared_ptr<Buffer<T>>;

/// The product by mezzo's own kernel, whatever gemm calls in this build.
template <class T>
void multiply_own(mezzo::CpuContext& context, const Shape& shape, const Matrix<T>& out, const Matrix<T>& a, const Matrix<T>& b) {
  constexpr auto load = mezzo::detail::load_elements<float, T>;
  constexpr bool is_float = std::is_same_v<float, T>;
  const mezzo::index_t m = shape.m, n = shape.n, k = shape.k, bytes = sizeof(T);
  const mezzo::detail::GemmProblem<float> problem{
      m,
      n,
      k,
      {a->data(), bytes, k, 1, load, is_float},
      {b->data(), bytes, 1, n, load, is_float},
      {out->data(), bytes, n, 1, 1.0f, 0.0f, nullptr, nullptr, load, mezzo::detail::store_elements<float, T>}};
  mezzo::detail::multiply_own<T, T>(context, problem);
}

template <class T>
void add_gemm(const std::string& dtype, const Shape& shape) {
  const bool is_cube = shape.m == shape.n && shape.n == shape.k;
  const std::string name =
      is_cube ? std::to_string(shape.m) : std::to_string(shape.m) + "x" + std::to_string(shape.n) + "x" + std::to_string(shape.k);
  add_case("gemm/" + dtype + "/" + name, [shape](Comparison& race) {
    const auto elements = [](int a, int b) { return static_cast<std::size_t>(a) * static_cast<std::size_t>(b); };
    auto context = make_context();
    auto a = make_numbers<T>(elements(shape.m, shape.k), 1), b = make_numbers<T>(elements(shape.k, shape.n), 2);
    auto out = make_buffer<T>(elements(shape.m, shape.n)), other = make_buffer<T>(elements(shape.m, shape.n));
    race.keep(other);
    race.work(2.0 * shape.m * shape.n * shape.k, "FLOP");

    const auto multiply = [=] { mezzo::gemm(*context, out->view(shape.m, shape.n), a->view(shape.m, shape.k), b->view(shape.k, shape.n)); };
    multiply();
    const peers::GemmArguments arguments{a->data(), b->data(), other->data(), shape.m, shape.n, shape.k};
    const auto peer = [&](const char* peer_name, const peers::Contestant& run) {
      if (run) {
        run();
        // Sums of k products of numbers in [-1, 1], in fp32, rounded to T.
        const float tolerance =
            1e-5f * static_cast<float>(shape.k) + (std::is_same_v<T, float> ? 0.0f : 0.01f * std::sqrt(static_cast<float>(shape.k)));
        expect_close(peer_name, out->data(), other->data(), out->size(), tolerance);
      }
      race.add(peer_name, run);
    };
    race.add("mezzo", multiply);
    race.add("mezzo_own", [=] { multiply_own(*context, shape, out, a, b); });
    peer("onednn", peers::onednn::gemm<T>(arguments));
    peer("torch", peers::torch::gemm<T>(arguments));
    if constexpr (std::is_same_v<T, float>) {
      peer("openblas", peers::openblas::gemm(arguments));
      peer("eigen", peers::eigen::gemm(arguments));
      race.add_best("best_library", {"onednn", "openblas"});
      race.target("best_library", 0.97);
    } else {
      // The same product in fp32, by mezzo's own kernel: what 16-bit inputs cost.
      auto wide_a = make_numbers<float>(a->size(), 1), wide_b = make_numbers<float>(b->size(), 2),
           wide_out = make_buffer<float>(out->size());
      race.add("own_fp32", [=] { multiply_own(*context, shape, wide_out, wide_a, wide_b); });
      if constexpr (std::is_same_v<T, mezzo::half>) race.target("own_fp32", 0.95);
      if constexpr (std::is_same_v<T, mezzo::bfloat16>) {
#if defined(__x86_64__)
        if (__builtin_cpu_supports("avx512bf16")) race.target("onednn", 1.0);
#endif
      }
    }
  });
}

}  // namespace

void add_gemm_cases() {
  for (const Shape& shape : {Shape{256, 256, 256}, Shape{1024, 1024, 1024}, Shape{2048, 2048, 2048}, Shape{512, 768, 3072}}) {
    add_gemm<float>("fp32", shape);
    add_gemm<mezzo::bfloat16>("bf16", shape);
    add_gemm<mezzo::half>("fp16", shape);
  }
}

}  // namespace bench
