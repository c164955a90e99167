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
    CHECK(sum == doctest::Approx(exact).epsilon(1e-6));
  }
}

TEST_CASE("sums of many equal squares stay within their bound") {
  // Equal addends are rounded the same way again and again. A sum has 32 lanes of 32 additions, and 32 of those sums: 64 additions in
  // all, each wrong by 2^-24 of a sum that is half of the result on average.
  constexpr double bound = 64 * 0x1p-25;
  for (const mezzo::Isa isa : {mezzo::Isa::baseline, mezzo::Isa::avx2, mezzo::Isa::avx512}) {
    if (isa > mezzo::best_isa()) continue;
    mezzo::CpuContext context({.threads = 1, .isa = isa});
    for (const float value : {0.1f, 1e-3f, 0.7f}) {
      const std::vector<float> values(100000, value);
      const double square = static_cast<double>(value) * static_cast<double>(value);
      for (const index_t size : {1, 7, 16, 1000, 99999}) {
        std::vector<mezzo::TensorRun<const float>> runs;
        for (index_t begin = 0; begin + size <= 100000; begin += size) runs.push_back({values.data() + begin, size});
        const double exact = square * static_cast<double>(size) * static_cast<double>(runs.size());
        CHECK(std::abs(mezzo::check_finite(context, runs).sum_of_squares - exact) <= bound * exact);
      }
    }
  }
}

TEST_CASE("gradients at the ends of the range of fp32") {
  const auto sum_of = [](float value, std::size_t count) { return check(std::vector<float>(count, value)).sum_of_squares; };
  for (const float value : {0.0f, 0x1p-149f, 0x1p-126f, 0x1p-75f, 0x1p-63f, 0x1p-40f, 0x1p60f, 0x1p64f, 0x1p127f}) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{37}, std::size_t{20000}}) {
      const double square = static_cast<double>(value) * static_cast<double>(value);
      CHECK(sum_of(value, count) == doctest::Approx(square * static_cast<double>(count)).epsilon(1e-6));
    }
  }
}

}  // namespace
