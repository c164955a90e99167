#include <doctest/doctest.h>

#include <mezzo/core/tensor_view.hpp>

#include <type_traits>

using mezzo::Extents;
using mezzo::HostView;
using mezzo::index_t;
using mezzo::TensorView;

namespace {

/// 0, 1, 2, ... in a row-major [2, 3, 4].
struct Numbers {
  int data[24];
  Numbers() {
    for (int i = 0; i < 24; ++i) data[i] = i;
  }
  HostView<int, 3> view() { return {data, {2, 3, 4}}; }
};

}  // namespace

TEST_CASE("a view of row-major data") {
  Numbers numbers;
  const auto view = numbers.view();
  CHECK(view.size() == 24);
  CHECK(view.stride(0) == 12);
  CHECK(view.is_contiguous());
  CHECK(view(1, 2, 3) == 23);
  view(1, 2, 3) = 5;
  CHECK(numbers.data[23] == 5);
}

TEST_CASE("slice, select and transpose view the same elements") {
  Numbers numbers;
  const auto view = numbers.view();
  const auto sliced = view.slice(1, 1, 3);
  CHECK(sliced.extents() == Extents{2, 2, 4});
  CHECK(sliced(1, 0, 0) == view(1, 1, 0));
  CHECK_FALSE(sliced.is_contiguous());
  CHECK(view.slice(0, 1, 2).is_contiguous());
  CHECK(view.slice(2, 4, 4).is_empty());
  CHECK(view.select(0, 1)(2, 3) == 23);
  CHECK(view.select(2, 1)(1, 2) == view(1, 2, 1));
  CHECK(view.transpose()(1, 3, 2) == view(1, 2, 3));
  CHECK(view.transpose(0, 2)(3, 2, 1) == view(1, 2, 3));
  CHECK(view.transpose().transpose().is_contiguous());
  HostView<int, 1> row = view.select(0, 0).select(0, 2);
  CHECK(row(3) == 11);
  CHECK(row.select(0, 3)() == 11);
}

TEST_CASE("reshape keeps the elements in order") {
  Numbers numbers;
  const auto view = numbers.view();
  CHECK(view.reshape({6, 4})(5, 3) == 23);
  CHECK(view.flatten()(17) == 17);
  CHECK_THROWS_WITH_AS(view.reshape({5, 4}), "TensorView::reshape: [5, 4] does not hold as many elements as [2, 3, 4]", mezzo::shape_error);
  CHECK_THROWS_WITH_AS(view.transpose().flatten(), doctest::Contains("has gaps; copy() it"), mezzo::shape_error);
}

TEST_CASE("at checks every index and names it") {
  Numbers numbers;
  const auto view = numbers.view();
  CHECK(view.at(1, 2, 3) == 23);
  CHECK_THROWS_WITH_AS(view.at(0, 3, 0), "TensorView::at: index 3 of dimension 1 lies outside [2, 3, 4]", mezzo::shape_error);
  CHECK_THROWS_AS(view.at(-1, 0, 0), mezzo::shape_error);
  CHECK_THROWS_AS(view.at(0, 0, 4), mezzo::shape_error);
}

TEST_CASE("wrong dimensions and bounds are refused") {
  Numbers numbers;
  const auto view = numbers.view();
  CHECK_THROWS_WITH_AS(view.slice(3, 0, 1), doctest::Contains("dimension 3 of a view [2, 3, 4]"), mezzo::shape_error);
  CHECK_THROWS_AS(view.slice(-1, 0, 1), mezzo::shape_error);
  CHECK_THROWS_WITH_AS(view.slice(1, 2, 4), doctest::Contains("[2, 4) does not lie in dimension 1"), mezzo::shape_error);
  CHECK_THROWS_AS(view.slice(1, 2, 1), mezzo::shape_error);
  CHECK_THROWS_AS(view.select(0, 2), mezzo::shape_error);
  CHECK_THROWS_AS(view.transpose(0, 3), mezzo::shape_error);
  CHECK_THROWS_AS((HostView<int, 1>(numbers.data, {2}, {-1})), mezzo::shape_error);
}

TEST_CASE("strides of any kind") {
  Numbers numbers;
  const HostView<int, 2> every_other(numbers.data, {3, 2}, {8, 2});
  CHECK(every_other(2, 1) == 18);
  CHECK_FALSE(every_other.is_contiguous());
  const HostView<int, 2> repeated(numbers.data, {5, 4}, {0, 1});
  CHECK(repeated(4, 3) == 3);
  const HostView<int, 2> single_column(numbers.data, {4, 1}, {1, 99});
  CHECK(single_column.is_contiguous());
}

TEST_CASE("const elements come from mutable ones, never the other way") {
  Numbers numbers;
  const HostView<const int, 3> readable = numbers.view();
  CHECK(readable(1, 2, 3) == 23);
  static_assert(!std::is_convertible_v<HostView<const int, 3>, HostView<int, 3>>);
  static_assert(std::is_trivially_copyable_v<HostView<int, 3>>);
  static_assert(!std::is_convertible_v<HostView<int, 1>, mezzo::DeviceView<int, 1>>);
}

TEST_CASE("empty and default views") {
  const HostView<float, 2> nothing;
  CHECK(nothing.is_empty());
  CHECK(nothing.is_contiguous());
  CHECK(nothing.slice(0, 0, 0).data() == nullptr);
  const HostView<float, 2> no_rows(nullptr, {0, 5});
  CHECK(no_rows.size() == 0);
  CHECK(no_rows.flatten().extent(0) == 0);
  float value = 3;
  const HostView<float, 0> scalar(&value, {});
  CHECK(scalar.size() == 1);
  CHECK(scalar() == 3);
}

namespace {
constexpr int constant[] = {1, 2, 3, 4, 5, 6};
}
static_assert(TensorView(constant, Extents{2, 3}).transpose()(2, 1) == 6);
