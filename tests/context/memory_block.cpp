#include <doctest/doctest.h>

#include <mezzo/context/memory_block.hpp>

#include <utility>

using mezzo::MemoryBlock;

TEST_CASE("a block is given back once, by whoever holds it last") {
  int given_back = 0, data = 0;
  const auto count = [](void*, void* owner) noexcept { ++*static_cast<int*>(owner); };
  {
    MemoryBlock empty;
    CHECK(empty.data() == nullptr);
    MemoryBlock first(&data, sizeof data, count, &given_back), second(std::move(first));
    CHECK(first.data() == nullptr);
    CHECK(second.data() == &data);
    CHECK(second.bytes() == sizeof data);
    empty = std::move(second);
    CHECK(given_back == 0);
    MemoryBlock other(&data, sizeof data, count, &given_back);
    empty = std::move(other);  // they change places: both are given back at the end
  }
  CHECK(given_back == 2);
}
