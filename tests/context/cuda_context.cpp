#include "../cuda.hpp"

#include <mezzo/context/context.hpp>

#include <cstdint>
#include <string>
#include <vector>

using mezzo::CudaContext;

static_assert(mezzo::Context<CudaContext>);
static_assert(CudaContext::memory_space == mezzo::MemorySpace::device);

TEST_CASE("without a device a context says why there is none") {
  if (test::has_device()) return;
  try {
    CudaContext context;
    FAIL("there is a context without a device");
  } catch (const mezzo::unsupported_error& error) {
    CHECK(std::string(error.what()) == "CudaContext: " + mezzo::cuda_devices().reason);
  }
  CHECK_THROWS_AS(mezzo::allocate_pinned_memory(100), mezzo::cuda_error);
}

CUDA_TEST_CASE("devices that do not exist") {
  CHECK_THROWS_AS(CudaContext({.device = -1}), mezzo::option_error);
  CHECK_THROWS_AS(CudaContext({.device = 1000}), mezzo::option_error);
}

CUDA_TEST_CASE("a context has a stream of its own, or the user's") {
  CudaContext first, second;
  CHECK(first.stream() != second.stream());
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  {
    CudaContext adopted({.stream = stream});
    CHECK(adopted.stream() == stream);
  }
  CHECK(cudaStreamQuery(stream) == cudaSuccess);  // still there
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}

CUDA_TEST_CASE("memory is aligned, may have no bytes, and outlives its context") {
  mezzo::MemoryBlock block;
  {
    CudaContext context;
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{1000}}) {
      block = context.allocate(bytes);
      CHECK(block.data() != nullptr);
      CHECK(reinterpret_cast<std::uintptr_t>(block.data()) % 256 == 0);
      context.fill_zero(block.data(), bytes);
    }
    context.synchronize();
    CHECK_THROWS_AS(context.allocate(std::size_t{1} << 50), mezzo::cuda_error);
    CHECK(cudaGetLastError() == cudaSuccess);
  }
  block = {};
}

CUDA_TEST_CASE("scratch memory is used again") {
  CudaContext context;
  const void* first = nullptr;
  {
    const auto scratch = context.scratch<float>(1000);
    first = scratch.data();
  }
  CHECK(context.scratch<double>(500).data() == first);
}

CUDA_TEST_CASE("one context waits for another's work") {
  CudaContext first, second;
  auto data = first.allocate(64 << 20);
  first.fill_zero(data.data(), data.bytes());
  mezzo::CudaEvent event(first);
  event.record(first);
  event.make_wait(second);
  second.synchronize();
  CHECK(event.is_done());
  event.synchronize();
}
