#include "gemm.hpp"

#include <memory>
#include <string>
#include <thread>

#include <mezzo/numeric/fp8.hpp>

#if defined(MEZZO_WITH_CBLAS)
extern "C" {
[[gnu::weak]] void openblas_set_num_threads(int);
[[gnu::weak]] int openblas_get_num_threads();
}
#elif defined(MEZZO_WITH_ONEDNN)
extern "C" {
[[gnu::weak]] void omp_set_num_threads(int);
[[gnu::weak]] int omp_get_max_threads();
}
#endif

using mezzo::bfloat16, mezzo::CpuContext, mezzo::half, mezzo::fp8_e4m3, mezzo::fp8_e5m2;

TEST_CASE("gemm's engine is what the build asked for") {
#if defined(MEZZO_WITH_ONEDNN)
  CHECK(std::string(mezzo::gemm_engine()) == "onednn");
#elif defined(MEZZO_WITH_CBLAS)
  CHECK(std::string(mezzo::gemm_engine()) == "cblas");
#else
  CHECK(std::string(mezzo::gemm_engine()) == "own");
#endif
}

TEST_CASE("products of all sizes around the blocks") {
  CpuContext context({.threads = 2});
  test::sizes_around_the_blocks<float>(context);
  test::sizes_around_the_blocks<half>(context);
  test::sizes_around_the_blocks<bfloat16>(context);
  test::sizes_around_the_blocks<double>(context);
}

TEST_CASE("products in all layouts") {
  CpuContext context({.threads = 2});
  test::layouts<float>(context);
  test::layouts<half>(context);
  test::layouts<bfloat16>(context);
  test::layouts<double>(context);
}

TEST_CASE_TEMPLATE("products of all pairs of dtypes", A, float, half, bfloat16, fp8_e4m3, fp8_e5m2) {
  CpuContext context({.threads = 1});
  test::inputs<A, float>(context);
  test::inputs<A, half>(context);
  test::inputs<A, bfloat16>(context);
  test::inputs<A, fp8_e4m3>(context);
}

TEST_CASE_TEMPLATE("products rounded to all dtypes", Out, float, half, bfloat16, fp8_e4m3, fp8_e5m2, double) {
  CpuContext context({.threads = 1});
  test::outputs<Out, half>(context);
  test::outputs<Out, bfloat16>(context);
  test::outputs<Out, float>(context);
  test::outputs<Out, double>(context);
}

TEST_CASE_TEMPLATE("alpha, beta and bias", T, float, half, bfloat16, double) {
  CpuContext context({.threads = 1});
  test::options<T>(context);
}

TEST_CASE_TEMPLATE("empty matrices", T, float, bfloat16) {
  CpuContext context({.threads = 1});
  test::empty_matrices<T>(context);
}

TEST_CASE_TEMPLATE("infinities and NaN propagate", T, float, half, bfloat16, double) {
  CpuContext context({.threads = 1});
  test::values_that_are_not_finite<T>(context);
}

TEST_CASE_TEMPLATE("a product over 4096 ones is 4096", T, half, bfloat16, float) {
  CpuContext context({.threads = 1});
  test::long_sums<T>(context);
}

TEST_CASE_TEMPLATE("16-bit results are rounded once", T, half, bfloat16) {
  CpuContext context({.threads = 1});
  test::one_rounding<T>(context);
}

TEST_CASE_TEMPLATE("the bits do not depend on the number of threads", T, float, half, bfloat16) {
  test::thread_counts<T>([](int threads) { return std::make_unique<CpuContext>(mezzo::CpuContextOptions{.threads = threads}); });
}

TEST_CASE("every instruction set multiplies") {
  for (mezzo::Isa isa : {mezzo::Isa::baseline, mezzo::Isa::avx2, mezzo::Isa::avx512}) {
    if (isa > mezzo::best_isa()) continue;
    CAPTURE(describe(isa));
    CpuContext context({.threads = 1, .isa = isa});
    for (mezzo::index_t size : {1, 7, 24, 49, 130}) {
      test::check_product<float, float, float>(context, size, size, size, test::Layout::rows, test::Layout::columns);
      test::check_product<half, half, half>(context, size, size, size, test::Layout::rows, test::Layout::rows, test::Layout::columns);
      test::check_product<bfloat16, bfloat16, bfloat16>(context, size, size, size);
    }
  }
}

TEST_CASE("shapes that do not fit and memory written while read are refused, and nothing changes") {
  CpuContext context({.threads = 1});
  test::shapes_that_do_not_fit(context);
}

TEST_CASE("two threads with contexts of their own multiply at once") {
  const auto work = [](std::uint64_t seed, bool& is_right) {
    CpuContext context({.threads = 1});
    test::Random random(seed);
    test::Matrix<float> first(context, 70, 80), again(context, 70, 80), a(context, 70, 90), b(context, 90, 80);
    a.fill(random);
    b.fill(random);
    gemm(context, first.view(), a.view(), b.view());
    is_right = true;
    for (int i = 0; i < 50; ++i) {
      gemm(context, again.view(), a.view(), b.view());
      is_right = is_right && test::bits_of(first.view()) == test::bits_of(again.view());
    }
  };
  bool one = false, two = false;
  std::thread other(work, 1, std::ref(one));
  work(2, two);
  other.join();
  CHECK(one);
  CHECK(two);
}

TEST_CASE("a library's number of threads is left as it was") {
  CpuContext context({.threads = 2});
#if defined(MEZZO_WITH_CBLAS)
  if (openblas_set_num_threads != nullptr) openblas_set_num_threads(2);
  const auto threads = [] { return openblas_get_num_threads != nullptr ? openblas_get_num_threads() : 2; };
#elif defined(MEZZO_WITH_ONEDNN)
  if (omp_set_num_threads != nullptr) omp_set_num_threads(2);
  const auto threads = [] { return omp_get_max_threads != nullptr ? omp_get_max_threads() : 2; };
#else
  const auto threads = [] { return 2; };
#endif
  test::check_product<float, float, float>(context, 130, 140, 150);
  test::check_product<bfloat16, bfloat16, bfloat16>(context, 130, 140, 150);
  CHECK(threads() == 2);
}
