// What config.hpp, memory_space.hpp and source_location.hpp promise.
#include <doctest/doctest.h>

#include <mezzo/core/config.hpp>
#include <mezzo/core/memory_space.hpp>
#include <mezzo/core/source_location.hpp>
#include <mezzo/version.hpp>

#include <string>

namespace {

MEZZO_HOST_DEVICE int twice(int x) { return 2 * x; }

MEZZO_OPTIMIZED int sum(const int* values) {
  int result = 0;
  MEZZO_VECTORIZE
  for (int i = 0; i < 16; ++i) result += values[i];
  return result;
}

}  // namespace

TEST_CASE("macros leave code as it is") {
  int values[16];
  for (int& value : values) value = twice(4);
  CHECK(sum(values) == 128);
}

TEST_CASE("memory spaces name themselves") {
  CHECK(std::string(describe(mezzo::MemorySpace::host)) == "host");
  CHECK(std::string(describe(mezzo::MemorySpace::device)) == "device");
}

TEST_CASE("a source location is where it is asked for") {
  const auto here = mezzo::source_location::current();
  CHECK(here.line == __LINE__ - 1);
  CHECK(std::string(here.file).find("config.cpp") != std::string::npos);
}

TEST_CASE("the version is the macros'") {
  CHECK(mezzo::version::major == MEZZO_VERSION_MAJOR);
  CHECK(mezzo::version::minor == MEZZO_VERSION_MINOR);
  CHECK(mezzo::version::patch == MEZZO_VERSION_PATCH);
}
