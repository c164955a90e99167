#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include <mezzo/context/cpu_context.hpp>
#include <mezzo/optim/clip.hpp>

using mezzo::half;
using mezzo::HostView;
using mezzo::index_t;
using mezzo::TensorList;

namespace {

template <class T>
double norm_of(std::vector<T> values) {
  mezzo::CpuContext context({.threads = 2});
  TensorList list(HostView<T, 1>(values.data(), {static_cast<index_t>(values.size())}));
  return mezzo::global_norm(context, list);
}

}  // namespace

TEST_CASE("norms are right for every finite input") {
  CHECK(norm_of<float>({3, 4}) == 5.0);
  CHECK(norm_of<float>({}) == 0.0);
  CHECK(norm_of<float>({0, 0}) == 0.0);
  CHECK(norm_of<float>({2e19f, 2e19f}) == doctest::Approx(2.8284271e19).epsilon(1e-6));
  CHECK(norm_of<float>({3e-25f, 4e-25f}) == doctest::Approx(5e-25).epsilon(1e-6));
  CHECK(norm_of<float>({3.4e38f, 3.4e38f}) == doctest::Approx(std::sqrt(2.0) * 3.4e38).epsilon(1e-6));
  CHECK(norm_of<float>({0x1p-149f}) == 0x1p-149);
  CHECK(norm_of<half>({half(300.0f)}) == 300.0);
  CHECK(norm_of<half>(std::vector<half>(1000, half(5000.0f))) == doctest::Approx(158113.883).epsilon(1e-6));
  CHECK(norm_of<float>({1, __builtin_inff()}) == __builtin_inf());
  CHECK(norm_of<float>({1, __builtin_nanf("")}) == __builtin_inf());
}

TEST_CASE("a large norm among small tensors") {
  mezzo::CpuContext context({.threads = 2});
  std::vector<float> ones(100000, 1.0f), tiny(50, 1e-30f);
  TensorList<float> list;
  double sum = 0;
  for (index_t size : {index_t{1}, index_t{15}, index_t{16}, index_t{17}, index_t{16384}, index_t{16385}, index_t{60000}}) {
    list.add(HostView<float, 1>(ones.data(), {size}));
    sum += static_cast<double>(size);
  }
  list.add(HostView<float, 1>(tiny.data(), {50}));
  CHECK(mezzo::global_norm(context, list) == doctest::Approx(std::sqrt(sum)).epsilon(1e-12));
}

TEST_CASE("clipping keeps the direction and reports the norm that was") {
  mezzo::CpuContext context({.threads = 1});
  float first[] = {3}, second[] = {4};
  TensorList list(HostView<float, 1>(first, {1}), HostView<float, 1>(second, {1}));
  CHECK(mezzo::clip_grad_norm_(context, list, 10.0f) == 5.0);
  CHECK(first[0] == 3.0f);
  CHECK(mezzo::clip_grad_norm_(context, list, 1.0f) == 5.0);
  CHECK(first[0] == 0.6f);
  CHECK(second[0] == 0.8f);
  second[0] = __builtin_inff();
  CHECK(mezzo::clip_grad_norm_(context, list, 1.0f) == __builtin_inf());
  CHECK(first[0] == 0.6f);
  half low[] = {half(300.0f)};
  TensorList low_list(HostView<half, 1>(low, {1}));
  CHECK(mezzo::clip_grad_norm_(context, low_list, 1.0f) == 300.0);
  CHECK(static_cast<float>(low[0]) == 1.0f);
  CHECK_THROWS_WITH_AS(mezzo::clip_grad_norm_(context, list, 0.0f), doctest::Contains("max_norm"), mezzo::option_error);
}

TEST_CASE("a tiny bound on a huge norm does not underflow on the way") {
  mezzo::CpuContext context({.threads = 1});
  float value[] = {0x1p127f};
  TensorList list(HostView<float, 1>(value, {1}));
  mezzo::clip_grad_norm_(context, list, 0x1p-20f);
  CHECK(value[0] == 0x1p-20f);
}
