#include <doctest/doctest.h>

#include <mezzo/core/scalar.hpp>

#include <type_traits>

TEST_CASE("a scalar is a value, or what lies in memory when it is asked") {
  const mezzo::Scalar<float> value = 2.0f;
  CHECK(value.resolve() == 2.0f);
  CHECK_FALSE(value.is_view());
  float memory = 3.0f;
  const mezzo::Scalar<float> viewed(mezzo::HostView<const float, 0>(&memory, {}));
  CHECK(viewed.is_view());
  memory = 4.0f;
  CHECK(viewed.resolve() == 4.0f);
  static_assert(!std::is_constructible_v<mezzo::Scalar<float>, mezzo::DeviceView<const float, 0>>);
}
