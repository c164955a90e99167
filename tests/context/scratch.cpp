#include <doctest/doctest.h>

#include <mezzo/context/cpu_context.hpp>

#include <cstdint>

TEST_CASE("scratch memory is used again") {
  mezzo::CpuContext context({.threads = 1});
  const float* first = nullptr;
  {
    auto scratch = context.scratch<float>(100);
    first = scratch.data();
    CHECK(reinterpret_cast<std::uintptr_t>(first) % 64 == 0);
    auto other = context.scratch<float>(100);
    CHECK(other.data() != first);
  }
  CHECK(context.scratch<float>(50).data() != nullptr);
  auto again = context.scratch<double>(50);
  again[49] = 1;
  CHECK(again[49] == 1);
}

TEST_CASE("the smallest block that fits is taken") {
  mezzo::CpuContext context({.threads = 1});
  mezzo::ScratchPool pool;
  const auto take = [&](std::size_t bytes) { return pool.take(bytes, [&](std::size_t size) { return context.allocate(size); }); };
  auto small = take(100), large = take(10000);
  const void* const small_data = small.data();
  const void* const large_data = large.data();
  pool.give_back(std::move(large));
  pool.give_back(std::move(small));
  small = take(50);
  CHECK(small.data() == small_data);
  large = take(50);
  CHECK(large.data() == large_data);
}

TEST_CASE("tasks take scratch at the same time") {
  mezzo::CpuContext context({.threads = 3});
  context.parallel_for(300, [&](mezzo::index_t task) {
    auto scratch = context.scratch<mezzo::index_t>(64);
    for (int i = 0; i < 64; ++i) scratch[i] = task;
    for (int i = 0; i < 64; ++i) {
      if (scratch[i] != task) throw mezzo::state_error("scratch is shared", {});
    }
  });
}
