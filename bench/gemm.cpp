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
struct Product {
  Shape shape;
  std::shared_ptr<mezzo::CpuContext> context = make_context();
  Matrix<T> a = make_numbers<T>(elements(shape.m, shape.k), 1), b = make_numbers<T>(elements(shape.k, shape.n), 2),
            out = make_buffer<T>(elements(shape.m, shape.n)), other = make_buffer<T>(elements(shape.m, shape.n));

  static std::size_t elements(int rows, int columns) { return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns); }

  peers::GemmArguments peer_arguments() const { return {a->data(), b->data(), other->data(), shape.m, shape.n, shape.k}; }

  /// A peer that must come to what lies in `out`.
  void add_peer(Comparison& race, const char* name, const peers::Contestant& run) const {
    if (run) {
      run();
      // Sums of k products of numbers in [-1, 1], in fp32, rounded to T.
      const float tolerance =
          1e-5f * static_cast<float>(shape.k) + (std::is_same_v<T, float> ? 0.0f : 0.01f * std::sqrt(static_cast<float>(shape.k)));
      expect_close(name, out->data(), other->data(), out->size(), tolerance);
    }
    race.add(name, run);
  }
  void add_libraries(Comparison& race) const {
    race.work(2.0 * shape.m * shape.n * shape.k, "FLOP");
    race.keep(other);
    add_peer(race, "onednn", peers::onednn::gemm<T>(peer_arguments()));
    if constexpr (std::is_same_v<T, float>) add_peer(race, "openblas", peers::openblas::gemm(peer_arguments()));
    race.add_best("best_library", {"onednn", "openblas"});
  }
};

/// gemm as this build has it.
template <class T>
void add_gemm(const std::string& name, const Shape& shape) {
  add_case("gemm/" + name, [shape](Comparison& race) {
    const Product<T> p{shape};
    const auto multiply = [=] {
      mezzo::gemm(*p.context, p.out->view(shape.m, shape.n), p.a->view(shape.m, shape.k), p.b->view(shape.k, shape.n));
    };
    multiply();
    race.add("mezzo", multiply);
    p.add_libraries(race);
    p.add_peer(race, "torch", peers::torch::gemm<T>(p.peer_arguments()));
    if constexpr (std::is_same_v<T, float>) {
      p.add_peer(race, "eigen", peers::eigen::gemm(p.peer_arguments()));
      race.target("best_library", 0.97);
    } else {
      // The same product in fp32, by mezzo's own kernel: what 16-bit inputs cost.
      auto a = make_numbers<float>(p.a->size(), 1), b = make_numbers<float>(p.b->size(), 2), out = make_buffer<float>(p.out->size());
      race.add("own_fp32", [=] { multiply_own(*p.context, shape, out, a, b); });
      if constexpr (std::is_same_v<T, mezzo::half>) race.target("own_fp32", 0.95);
      if constexpr (std::is_same_v<T, mezzo::bfloat16>) {
#if defined(__x86_64__)
        if (__builtin_cpu_supports("avx512bf16")) race.target("onednn", 1.0);
#endif
      }
    }
  });
}

/// gemm without a library.
template <class T>
void add_own_gemm(const std::string& name, const Shape& shape) {
  add_case("gemm_own/" + name, [shape](Comparison& race) {
    const Product<T> p{shape};
    const auto multiply = [=] { multiply_own(*p.context, shape, p.out, p.a, p.b); };
    multiply();
    race.add("mezzo", multiply);
    p.add_libraries(race);
    race.target("best_library", 0.85);
  });
}

}  // namespace

void add_gemm_cases() {
  for (const Shape& shape : {Shape{256, 256, 256}, Shape{1024, 1024, 1024}, Shape{2048, 2048, 2048}, Shape{512, 768, 3072}}) {
    const bool is_cube = shape.m == shape.n && shape.n == shape.k;
    const std::string m = std::to_string(shape.m), name = is_cube ? m : m + "x" + std::to_string(shape.n) + "x" + std::to_string(shape.k);
    add_gemm<float>("fp32/" + name, shape);
    add_gemm<mezzo::bfloat16>("bf16/" + name, shape);
    add_gemm<mezzo::half>("fp16/" + name, shape);
    add_own_gemm<float>("fp32/" + name, shape);
    add_own_gemm<mezzo::bfloat16>("bf16/" + name, shape);
  }
}

}  // namespace bench
