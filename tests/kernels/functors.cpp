#include <doctest/doctest.h>

#include <mezzo/kernels/functors.hpp>

#include <cmath>

using mezzo::Maximum;
using mezzo::Sum;
using mezzo::SumOfSquares;

static_assert(Sum<double>::combine(Sum<double>::map(1.5f), Sum<double>::identity()) == 1.5);
static_assert(SumOfSquares::map(3.0) == 9.0);

TEST_CASE("a maximum keeps NaN whichever side it comes from") {
  const float not_a_number = __builtin_nanf("");
  CHECK(std::isnan(Maximum<float>::combine(not_a_number, 1.0f)));
  CHECK(std::isnan(Maximum<float>::combine(1.0f, not_a_number)));
  CHECK(Maximum<float>::combine(Maximum<float>::identity(), -3.0f) == -3.0f);
  CHECK(Maximum<double>::combine(2.0, 1.0) == 2.0);
}
