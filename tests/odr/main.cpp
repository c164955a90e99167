#include "part.hpp"

#include <cmath>
#include <cstdio>

namespace {

int failures = 0;

void check(bool is_right, const char* part, const char* what) {
  if (is_right) return;
  std::printf("%s: wrong %s\n", part, what);
  ++failures;
}

void check_results(const Results& results, float scale, const char* part) {
  const unsigned half_bits[] = {0x3C00, 0xC000, 0x3C01, 0x0001};
  const float numbers[] = {1.0f, -2.0f, 0x1.005p0f, 0x1p-24f};
  const float product[] = {1.0f - 2.0f * 0x1.005p0f, -2.0f, 0x1.005p0f, -2.0f * 0x1.005p0f};
  double sum = 0;
  for (float x : numbers) sum += std::exp(static_cast<double>(x));
  for (int i = 0; i < 4; ++i) {
    check(results.half_bits[i] == half_bits[i], part, "half");
    check(std::abs(results.softmax[i] - std::exp(static_cast<double>(numbers[i])) / sum) < 1e-6, part, "softmax");
    check(std::abs(results.product[i] - product[i]) < 1e-6f, part, "gemm");
  }
  check(results.has_infinity, part, "is_finite");
  check(results.scale == scale, part, "scale");
}

}  // namespace

int main() {
  mezzo::CpuContext context({.threads = 2});
  mezzo::DynamicLossScaler scaler({.initial_scale = 1024.0f});
  const float numbers[] = {1.0f, -2.0f, 0x1.005p0f, 0x1p-24f};
  const mezzo::HostView<const float, 1> view(numbers, {4});
  check_results(compute_plain(context, view, scaler), 512.0f, "plain");
  check_results(compute_tuned(context, view, scaler), 256.0f, "tuned");
  check_results(compute_plain(context, view, scaler), 128.0f, "plain again");
  if (failures == 0) std::puts("both parts agree");
  return failures;
}
