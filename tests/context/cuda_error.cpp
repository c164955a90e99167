#include <doctest/doctest.h>

#include <mezzo/context/cuda_error.hpp>

#include <string>

TEST_CASE("a failed call names itself, its values and what CUDA says") {
  try {
    mezzo::detail::expects_cuda(cudaErrorInvalidValue, "thing: {} of {} failed", 3, 4);
    FAIL("nothing was thrown");
  } catch (const mezzo::cuda_error& error) {
    CHECK(error.status() == cudaErrorInvalidValue);
    CHECK(std::string(error.what()) == "thing: 3 of 4 failed: cudaErrorInvalidValue, invalid argument");
    CHECK(std::string(error.where().file).find("cuda_error.cpp") != std::string::npos);
  }
  mezzo::detail::expects_cuda(cudaSuccess, "nothing happens");
}

TEST_CASE("where there is no device, there is a reason, and no error left behind") {
  const auto devices = mezzo::cuda_devices();
  MESSAGE(devices.count, " devices ", devices.reason);
  CHECK((devices.count > 0) == devices.reason.empty());
  if (devices.count > 0) CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(mezzo::detail::describe_cuda_version(13000) == "13.0");
  CHECK(mezzo::detail::describe_cuda_version(12080) == "12.8");
}
