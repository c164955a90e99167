#include <doctest/doctest.h>

#include <mezzo/core/extents.hpp>

#include <limits>

using mezzo::Extents;
using mezzo::index_t;

TEST_CASE("extents know their size and print themselves") {
  CHECK(Extents{2, 3}.size() == 6);
  CHECK(Extents<0>().size() == 1);
  CHECK(Extents{5, 0, 7}.size() == 0);
  CHECK(describe(Extents{2, 3}) == "[2, 3]");
  CHECK(describe(Extents<0>()) == "[]");
  CHECK(Extents{2, 3} == Extents{2, 3});
  CHECK_FALSE(Extents{2, 3} == Extents{3, 2});
}

TEST_CASE("negative lengths and sizes beyond 2^62 are refused") {
  CHECK_THROWS_WITH_AS((Extents{2, -3}), "Extents: a length is negative, -3 in [2, -3]", mezzo::shape_error);
  CHECK_THROWS_WITH_AS((Extents{index_t{1} << 40, index_t{1} << 40}), doctest::Contains("more than 2^62 elements"), mezzo::shape_error);
  CHECK((Extents{index_t{1} << 31, index_t{1} << 31}.size()) == index_t{1} << 62);
  CHECK((Extents{std::numeric_limits<index_t>::max(), index_t{0}}.size()) == 0);
}
