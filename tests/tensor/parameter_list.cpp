#include <doctest/doctest.h>

#include <mezzo/context/cpu_context.hpp>
#include <mezzo/tensor/parameter_list.hpp>

using mezzo::CpuContext;
using mezzo::half;
using mezzo::HostView;

TEST_CASE("parameters of the user's own memory") {
  float weight[6] = {}, gradient[6] = {}, unused[2] = {};
  mezzo::ParameterList<CpuContext> list;
  list.add("weight", HostView<float, 2>(weight, {2, 3}), HostView<float, 2>(gradient, {2, 3}));
  list.add("unused", HostView<float, 1>(unused, {2}), HostView<float, 1>(nullptr, {2}), {.group = "head"});
  CHECK(list.flat_size() == 8);
  CHECK(list.find_group("head") == 1);
  int segments = 0;
  list.for_each_segment([&](const auto& segment) {
    ++segments;
    CHECK(segment.master == weight);
    CHECK(segment.size == 6);
  });
  CHECK(segments == 1);
  CHECK(list.name_element(7, 0.0f).parameter == "unused");
  CHECK(list.name_element(7, 0.0f).index == 1);
}

TEST_CASE("masters with 16-bit copies") {
  float master[2] = {};
  half weight[2] = {}, gradient[2] = {};
  mezzo::ParameterList<CpuContext, float, half> list;
  list.add("weight", HostView<float, 1>(master, {2}), HostView<half, 1>(weight, {2}), HostView<half, 1>(gradient, {2}));
  list.for_each_segment([&](const auto& segment) { CHECK(segment.weight == weight); });
  CHECK_THROWS_WITH_AS(list.add("bad", HostView<float, 1>(master, {2}), HostView<half, 1>(weight, {1}), HostView<half, 1>(gradient, {2})),
                       doctest::Contains("[2] and weight [1]"), mezzo::shape_error);
  CHECK_THROWS_WITH_AS(list.add("bad", HostView<float, 1>(master, {2}), HostView<half, 1>(weight, {2}), HostView<half, 1>(gradient, {1})),
                       doctest::Contains("[2] and gradient [1]"), mezzo::shape_error);
  CHECK(list.flat_size() == 2);
}
