#include "../cuda.hpp"

#include <mezzo/context/cpu_context.hpp>
#include <mezzo/tensor/cuda_copy.hpp>

using mezzo::index_t;

CUDA_TEST_CASE("there and back again, contiguous, with gaps and transposed") {
  mezzo::CudaContext context;
  mezzo::CpuContext host;
  auto numbers = mezzo::make_tensor<float>(host, {6, 5, 7}), back = mezzo::make_tensor<float>(host, {6, 5, 7});
  for (index_t i = 0; i < numbers.size(); ++i) numbers.data()[i] = static_cast<float>(i);
  auto device = mezzo::make_zeros<float>(context, {6, 5, 7});
  auto turned = mezzo::make_zeros<float>(context, {7, 5, 6});

  const auto check = [&] {
    context.synchronize();
    for (index_t i = 0; i < numbers.size(); ++i) REQUIRE(back.data()[i] == numbers.data()[i]);
    for (index_t i = 0; i < numbers.size(); ++i) back.data()[i] = -1.0f;
  };
  mezzo::copy(context, device, numbers);
  mezzo::copy(context, back, device);
  check();
  for (int dimension = 0; dimension < 3; ++dimension) {
    mezzo::copy(context, back.view().slice(dimension, 0, 2), device.view().slice(dimension, 0, 2));
    mezzo::copy(context, back.view().slice(dimension, 2, back.extent(dimension)),
                device.view().slice(dimension, 2, back.extent(dimension)));
    check();
  }
  mezzo::copy(context, turned.view().transpose(0, 2), numbers);
  mezzo::copy(context, back, turned.view().transpose(0, 2));
  check();
}

CUDA_TEST_CASE("pinned memory, scalars, nothing at all, and other shapes") {
  mezzo::CudaContext context;
  auto pinned = mezzo::make_pinned_tensor<float>({3});
  for (index_t i = 0; i < 3; ++i) pinned(i) = static_cast<float>(i);
  auto device = mezzo::make_tensor<float>(context, {3}), other = mezzo::make_tensor<float>(context, {3});
  mezzo::copy(context, device, pinned);
  mezzo::copy(context, other, device);
  for (index_t i = 0; i < 3; ++i) pinned(i) = -1.0f;
  context.synchronize();
  mezzo::copy(context, pinned, other);
  context.synchronize();
  for (index_t i = 0; i < 3; ++i) CHECK(pinned(i) == static_cast<float>(i));

  auto scalar = mezzo::make_zeros<float>(context, mezzo::Extents<0>{});
  float value = 1.0f;
  mezzo::copy(context, mezzo::HostView<float, 0>(&value, {}), scalar);
  context.synchronize();
  CHECK(value == 0.0f);
  auto empty = mezzo::make_tensor<float>(context, {0});
  mezzo::copy(context, empty, mezzo::make_tensor<float>(context, {0}));
  CHECK_THROWS_AS(mezzo::copy(context, empty, device), mezzo::shape_error);
}
