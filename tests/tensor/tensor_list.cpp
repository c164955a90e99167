#include <doctest/doctest.h>

#include <mezzo/context/cpu_context.hpp>
#include <mezzo/tensor/tensor_list.hpp>

TEST_CASE("a list holds tensors of any shape") {
  mezzo::CpuContext context({.threads = 1});
  auto matrix = mezzo::make_tensor<float>(context, {2, 3});
  auto row = mezzo::make_tensor<float>(context, {4});
  mezzo::TensorList list(matrix, row.view());
  static_assert(std::is_same_v<decltype(list), mezzo::TensorList<float, mezzo::MemorySpace::host>>);
  CHECK(list.size() == 2);
  CHECK(list.runs()[0].size == 6);
  CHECK(list.runs()[1].data == row.data());
  CHECK_THROWS_WITH_AS(list.add(matrix.view().transpose()), doctest::Contains("tensor 2 of shape [3, 2] has gaps"), mezzo::shape_error);
  CHECK(list.size() == 2);
}
