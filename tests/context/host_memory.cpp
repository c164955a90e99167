#include <doctest/doctest.h>

#include <mezzo/context/host_memory.hpp>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>

TEST_CASE("host memory is aligned, never null, and whole") {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{64}, std::size_t{1000}, std::size_t{5} << 20}) {
    void* const data = mezzo::allocate_host_memory(bytes);
    REQUIRE(data != nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(data) % mezzo::host_alignment == 0);
    std::memset(data, 1, bytes);
    mezzo::free_host_memory(data);
  }
}

TEST_CASE("large blocks begin on a huge page") {
  void* const data = mezzo::allocate_host_memory(std::size_t{4} << 20);
  CHECK(reinterpret_cast<std::uintptr_t>(data) % (2 << 20) == 0);
  mezzo::free_host_memory(data);
}

TEST_CASE("more than there is does not wrap around") {
  constexpr auto most = std::numeric_limits<std::size_t>::max();
  for (const std::size_t bytes : {most, most - 1, most - 63, most - (2 << 20), most / 2}) {
    CHECK_THROWS_AS(mezzo::free_host_memory(mezzo::allocate_host_memory(bytes)), std::bad_alloc);
  }
}

TEST_CASE("the last-level cache is between nothing and 32 MiB") {
  CHECK(mezzo::last_level_cache_size() > 0);
  CHECK(mezzo::last_level_cache_size() <= std::size_t{32} << 20);
}
