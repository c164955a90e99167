#include <doctest/doctest.h>

#include <mezzo/kernels/access.hpp>

#include <type_traits>

using mezzo::AccessMode;

TEST_CASE("an access says what is read and what is written") {
  float data[6] = {};
  const mezzo::TensorView<float, 2> view(data, {2, 3});
  const auto in = mezzo::read(view);
  const auto out = mezzo::write(view);
  const auto both = mezzo::update(view);
  static_assert(std::is_same_v<decltype(in.view), mezzo::TensorView<const float, 2>>);
  static_assert(decltype(in)::range_type::is_read && !decltype(in)::range_type::is_written);
  static_assert(!decltype(out)::range_type::is_read && decltype(out)::range_type::is_written);
  static_assert(decltype(both)::range_type::is_read && decltype(both)::range_type::is_written);
  CHECK(in.view.data() == data);
  CHECK(out.view.extents() == mezzo::Extents{2, 3});
}

TEST_CASE("a range is a pointer that says the same") {
  const float data[4] = {1, 2, 3, 4};
  const auto range = mezzo::read(data) + 2;
  static_assert(decltype(range)::mode == AccessMode::read);
  static_assert(std::is_same_v<decltype(mezzo::read(static_cast<float*>(nullptr)).data), const float*>);
  CHECK(*range.data == 3);
}
