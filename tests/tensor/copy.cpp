#include <doctest/doctest.h>

#include <mezzo/context/cpu_context.hpp>
#include <mezzo/numeric/half.hpp>
#include <mezzo/tensor/copy.hpp>

#include <cstdint>

using mezzo::CpuContext;
using mezzo::index_t;

namespace {

template <class T>
mezzo::Tensor<T, 3> counted(CpuContext& context) {
  auto result = mezzo::make_tensor<T>(context, {4, 5, 6});
  for (index_t i = 0; i < result.size(); ++i) result.data()[i] = static_cast<T>(static_cast<float>(i));
  return result;
}

}  // namespace

TEST_CASE_TEMPLATE("any dtype, contiguous and strided", T, float, mezzo::half, std::int64_t, std::uint8_t) {
  CpuContext context({.threads = 2});
  const auto from = counted<T>(context);
  auto whole = mezzo::make_zeros<T>(context, {4, 5, 6}), parts = mezzo::make_zeros<T>(context, {8, 5, 12});
  mezzo::copy(context, whole, from);
  for (index_t i = 0; i < from.size(); ++i) REQUIRE(static_cast<float>(whole.data()[i]) == static_cast<float>(from.data()[i]));
  const auto part = parts.view().slice(0, 1, 7).slice(2, 3, 7);  // [6, 5, 4]
  mezzo::copy(context, part, from.view().transpose(0, 2));
  double outside = 0;
  for (index_t i = 0; i < 8; ++i) {
    for (index_t j = 0; j < 5; ++j) {
      for (index_t k = 0; k < 12; ++k) {
        if (i >= 1 && i < 7 && k >= 3 && k < 7) {
          REQUIRE(static_cast<float>(parts(i, j, k)) == static_cast<float>(from(k - 3, j, i - 1)));
        } else {
          outside += static_cast<double>(parts(i, j, k));
        }
      }
    }
  }
  CHECK(outside == 0);
}

TEST_CASE("scalars, nothing, and a view onto itself") {
  CpuContext context;
  float a = 3, b = 0;
  mezzo::copy(context, mezzo::TensorView<float, 0>(&b, {}), mezzo::TensorView<const float, 0>(&a, {}));
  CHECK(b == 3);
  mezzo::copy(context, mezzo::TensorView<float, 2>(nullptr, {0, 3}), mezzo::TensorView<float, 2>(nullptr, {0, 3}));
  auto x = counted<float>(context);
  mezzo::copy(context, x, x);
  mezzo::copy(context, x.view().transpose(), x.view().transpose());
  for (index_t i = 0; i < x.size(); ++i) REQUIRE(x.data()[i] == static_cast<float>(i));
}

TEST_CASE("more elements than one piece") {
  CpuContext context({.threads = 3});
  const index_t size = (index_t{1} << 19) + 5;
  auto from = mezzo::make_tensor<std::int32_t>(context, {size}), to = mezzo::make_zeros<std::int32_t>(context, {size});
  for (index_t i = 0; i < size; ++i) from(i) = static_cast<std::int32_t>(i);
  mezzo::copy(context, to, from);
  index_t wrong = 0;
  for (index_t i = 0; i < size; ++i) wrong += to(i) != i;
  CHECK(wrong == 0);
}

TEST_CASE("a wrong shape changes nothing") {
  CpuContext context;
  auto a = mezzo::make_zeros<float>(context, {2, 3}), b = mezzo::make_zeros<float>(context, {3, 2});
  b(0, 0) = 1;
  CHECK_THROWS_WITH_AS(mezzo::copy(context, a, b), "copy: the shape to write, [2, 3], is not the shape to read, [3, 2]",
                       mezzo::shape_error);
  CHECK(a(0, 0) == 0);
}
