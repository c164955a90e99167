#include <doctest/doctest.h>

#include <mezzo/core/error.hpp>

#include <string>

namespace {

template <class Error>
std::string text_of(bool condition, int value) {
  try {
    mezzo::expects<Error>(condition, "scale: {} of {} is {}", value, "weight", 0.5);
    return "";
  } catch (const mezzo::error& error) {
    CHECK(std::string(error.where().file).find("error.cpp") != std::string::npos);
    CHECK(error.where().line > 0);
    return error.what();
  }
}

}  // namespace

TEST_CASE("a broken expectation throws its kind with the values and the place") {
  CHECK(text_of<mezzo::shape_error>(true, 3).empty());
  CHECK(text_of<mezzo::shape_error>(false, 3) == "scale: 3 of weight is 0.5");
  CHECK(text_of<mezzo::option_error>(false, -1) == "scale: -1 of weight is 0.5");
  CHECK_THROWS_AS(mezzo::expects<mezzo::dtype_error>(false, "x"), mezzo::dtype_error);
  CHECK_THROWS_AS(mezzo::expects<mezzo::state_error>(false, "x"), std::runtime_error);
  CHECK_THROWS_AS(mezzo::expects<mezzo::unsupported_error>(false, "x"), mezzo::error);
  CHECK_THROWS_AS(mezzo::expects<mezzo::io_error>(false, "x"), mezzo::error);
  CHECK_THROWS_AS(mezzo::expects<mezzo::timeout_error>(false, "x"), mezzo::error);
}
