// What is not finite is found, and finite gradients are never mistaken for it, also under -Ofast.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include <mezzo/context/cpu_context.hpp>
#include <mezzo/kernels/finite_check.hpp>

namespace {

using mezzo::half;
using mezzo::index_t;

template <class T>
mezzo::GradientCheck check(const std::vector<T>& values) {
  mezzo::CpuContext context({.threads = 2});
  return mezzo::check_finite(context, std::vector<mezzo::TensorRun<const T>>{{values.data(), static_cast<index_t>(values.size())}});
}

TEST_CASE("the flag, by value") {
  const float infinity = __builtin_bit_cast(float, 0x7F800000u), not_a_number = __builtin_bit_cast(float, 0x7F800001u);
  CHECK_FALSE(check<float>({3e38f, 3e38f}).has_nonfinite);
  CHECK_FALSE(check<half>({half(60000.0f), half(60000.0f)}).has_nonfinite);
  CHECK(check<float>({infinity, -infinity}).has_nonfinite);
  CHECK(check<float>({not_a_number}).has_nonfinite);
  CHECK_FALSE(check<float>({}).has_nonfinite);
  CHECK(check<half>({half::from_bits(0x7C00)}).has_nonfinite);
  CHECK(check<half>({half::from_bits(0xFE01)}).has_nonfinite);
  CHECK(check<mezzo::bfloat16>({mezzo::bfloat16::from_bits(0xFF80)}).has_nonfinite);
  CHECK_FALSE(check<mezzo::bfloat16>({mezzo::bfloat16::from_bits(0x7F7F)}).has_nonfinite);
}

TEST_CASE("one bad element is found wherever it lies") {
  const float infinity = __builtin_bit_cast(float, 0x7F800000u);
  for (index_t size : {1, 15, 16, 17, 33, 16383, 16384, 16385, 40000}) {
    std::vector<float> values(static_cast<std::size_t>(size), 1.0f);
    CHECK_FALSE(check(values).has_nonfinite);
    for (index_t at : {index_t{0}, size / 2, size - 1}) {
      values[static_cast<std::size_t>(at)] = infinity;
      CHECK(check(values).has_nonfinite);
      values[static_cast<std::size_t>(at)] = 1.0f;
    }
  }
}

TEST_CASE("scaling checks its products and rounds once") {
  mezzo::CpuContext context({.threads = 2});
  std::vector<half> gradients(100, half(0x1p-24f));
  std::vector<float> unscaled(100);
  const std::vector<mezzo::TensorRun<half>> from{{gradients.data(), 100}};
  const std::vector<mezzo::TensorRun<float>> to{{unscaled.data(), 100}};
  const auto result = mezzo::scale_and_check(context, 0x1p-16f, to, from);
  CHECK_FALSE(result.has_nonfinite);
  CHECK(result.sum_of_squares == 100 * 0x1p-80);
  for (float value : unscaled) CHECK(value == 0x1p-40f);
  std::vector<float> large(40, 0x1p100f);
  const std::vector<mezzo::TensorRun<float>> runs{{large.data(), 40}};
  CHECK(mezzo::scale_and_check(context, 0x1p100f, runs, runs).has_nonfinite);
}

TEST_CASE("sums of squares have the same bits for any number of threads") {
  std::vector<float> values(123457);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i));
  const std::vector<mezzo::TensorRun<const float>> runs{{values.data(), 1000}, {values.data() + 1000, 122457}};
  double reference = 0, exact = 0;
  for (float value : values) exact += static_cast<double>(value) * static_cast<double>(value);
  for (int threads : {1, 2, 5}) {
    mezzo::CpuContext context({.threads = threads});
    const double sum = mezzo::check_finite(context, runs).sum_of_squares;
    if (reference == 0) reference = sum;
    CHECK(sum == reference);
    // 1024 additions a lane: at most 1024 * 2^-24 relative, in practice its square root.
    CHECK(sum == doctest::Approx(exact).epsilon(1e-6));
  }
}

}  // namespace
