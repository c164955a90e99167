#include <doctest/doctest.h>

#include <mezzo/context/context.hpp>
#include <mezzo/context/cpu_context.hpp>

#include <atomic>
#include <cstdint>
#include <thread>

using mezzo::CpuContext;
using mezzo::index_t;

static_assert(mezzo::Context<CpuContext>);
static_assert(!mezzo::Context<int>);

TEST_CASE("a context has the threads asked for, or those of the machine") {
  CHECK(CpuContext({.threads = 3}).threads() == 3);
  CHECK(CpuContext().threads() == static_cast<int>(std::thread::hardware_concurrency()));
  CHECK_THROWS_WITH_AS(CpuContext({.threads = -1}), "CpuContext: threads must lie in [0, 4096], is -1", mezzo::option_error);
  CHECK_THROWS_AS(CpuContext({.threads = 5000}), mezzo::option_error);
}

TEST_CASE("two contexts in two threads do not share one pool") {
  std::atomic<int> running{0};
  const auto use = [&] {
    CpuContext context({.threads = 2});
    context.parallel_for(2, [&](index_t) {  // all four tasks meet: no context waits for the other
      ++running;
      while (running < 4) std::this_thread::yield();
    });
  };
  std::thread other(use);
  use();
  other.join();
  CHECK(running == 4);
}

TEST_CASE("memory is aligned, zeroed on request and may have no bytes") {
  CpuContext context({.threads = 1});
  for (std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{1000}}) {
    const auto block = context.allocate(bytes);
    void* const data = block.data();
    CHECK(block.bytes() == bytes);
    CHECK(data != nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(data) % 64 == 0);
    context.fill_zero(data, bytes);
    for (std::size_t i = 0; i < bytes; ++i) CHECK(static_cast<const char*>(data)[i] == 0);
  }
}
