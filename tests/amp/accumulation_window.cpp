#include <doctest/doctest.h>

#include <mezzo/amp/accumulation_window.hpp>

#include <vector>

using mezzo::AccumulationWindow;
using mezzo::index_t;

TEST_CASE("windows follow each other, the last of an epoch shorter") {
  AccumulationWindow window({.length = 4, .micro_batches = 6});
  std::vector<index_t> sizes;
  for (int i = 0; i < 12; ++i) {
    window.add(10);
    if (!window.is_full()) continue;
    sizes.push_back(window.size());
    CHECK(window.divisor() == 10 * window.size());
    window.restart();
  }
  CHECK(sizes == std::vector<index_t>{4, 2, 4, 2});
}

TEST_CASE("a window of unknown length is closed by hand") {
  AccumulationWindow window({.length = 4});
  window.close();
  CHECK_FALSE(window.is_full());
  window.add();
  CHECK_FALSE(window.is_full());
  window.close();
  CHECK(window.is_full());
  CHECK_THROWS_WITH_AS(window.add(), doctest::Contains("the window is full"), mezzo::state_error);
  window.restart();
  CHECK(window.size() == 0);
  CHECK_FALSE(window.is_full());
}

TEST_CASE("bad numbers are refused by name") {
  CHECK_THROWS_WITH_AS(AccumulationWindow({.length = 0}), doctest::Contains("length must be positive"), mezzo::option_error);
  CHECK_THROWS_WITH_AS(AccumulationWindow({.micro_batches = -1}), doctest::Contains("micro_batches"), mezzo::option_error);
  AccumulationWindow window({.length = 2});
  CHECK_THROWS_WITH_AS(window.add(-3), doctest::Contains("count"), mezzo::option_error);
  CHECK(window.size() == 0);
}
