#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <utility>

#include <mezzo/context/cpu_context.hpp>
#include <mezzo/tensor/tensor.hpp>

using mezzo::Tensor;

TEST_CASE("a tensor owns row-major memory") {
  mezzo::CpuContext context({.threads = 1});
  auto tensor = mezzo::make_zeros<float>(context, {2, 3});
  CHECK(tensor.size() == 6);
  CHECK(tensor.extent(1) == 3);
  CHECK(tensor(1, 2) == 0.0f);
  tensor(1, 2) = 5;
  CHECK(tensor.data()[5] == 5.0f);
  CHECK(tensor.view().at(1, 2) == 5.0f);
  CHECK(reinterpret_cast<std::uintptr_t>(tensor.data()) % 64 == 0);
  const auto& constant = tensor;
  static_assert(std::is_same_v<decltype(constant.view()), mezzo::HostView<const float, 2>>);
}

TEST_CASE("a tensor moves, and may outlive its context") {
  auto context = std::make_unique<mezzo::CpuContext>(mezzo::CpuContextOptions{.threads = 1});
  Tensor<int, 1> first(*context, {4});
  for (int i = 0; i < 4; ++i) first(i) = i;
  const int* data = first.data();
  Tensor<int, 1> second = std::move(first);
  CHECK(first.size() == 0);
  CHECK(first.data() == nullptr);
  CHECK(second.data() == data);
  Tensor<int, 1> third;
  third = std::move(second);
  context.reset();
  CHECK(third(3) == 3);
  static_assert(!std::is_copy_constructible_v<Tensor<int, 1>>);
}

TEST_CASE("empty tensors and scalars") {
  mezzo::CpuContext context({.threads = 1});
  auto nothing = mezzo::make_tensor<double>(context, {0, 7});
  CHECK(nothing.size() == 0);
  auto scalar = mezzo::make_tensor<double>(context, mezzo::Extents<0>());
  scalar() = 2.5;
  CHECK(scalar.view()() == 2.5);
  CHECK_THROWS_AS(mezzo::make_tensor<float>(context, {-1}), mezzo::shape_error);
  CHECK_THROWS_AS(mezzo::make_tensor<double>(context, {mezzo::index_t{1} << 61}), std::bad_alloc);
}
