#include <doctest/doctest.h>

#include <mezzo/context/cpu_context.hpp>
#include <mezzo/tensor/viewable.hpp>

#include <vector>

static_assert(mezzo::Viewable<mezzo::HostView<float, 2>>);
static_assert(mezzo::Viewable<const mezzo::HostView<float, 2>>);
static_assert(mezzo::Viewable<mezzo::Tensor<float, 2>>);
static_assert(!mezzo::Viewable<float> && !mezzo::Viewable<std::vector<float>>);
static_assert(std::is_same_v<mezzo::value_type_t<const mezzo::Tensor<int, 2>>, int>);

TEST_CASE("views and owners of views are the same to an operation") {
  mezzo::CpuContext context({.threads = 1});
  auto tensor = mezzo::make_tensor<float>(context, {2, 3});
  CHECK(mezzo::view_of(tensor).data() == tensor.data());
  CHECK(mezzo::view_of(tensor.view()).data() == tensor.data());
  const auto& constant = tensor;
  static_assert(std::is_same_v<decltype(mezzo::view_of(constant)), mezzo::HostView<const float, 2>>);
}

TEST_CASE("shapes that differ are an error with both") {
  mezzo::CpuContext context({.threads = 1});
  const auto a = mezzo::make_tensor<float>(context, {2, 3});
  const auto b = mezzo::make_tensor<float>(context, {3, 2});
  mezzo::detail::expects_same_shape(a.view(), a.view(), "f: {} and {}");
  CHECK_THROWS_WITH_AS(mezzo::detail::expects_same_shape(a.view(), b.view(), "f: {} and {}"), "f: [2, 3] and [3, 2]", mezzo::shape_error);
}
