#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <mezzo/context/cpu_context.hpp>
#include <mezzo/tensor/parameter.hpp>

using mezzo::CpuContext;
using mezzo::Fp32;
using mezzo::index_t;

TEST_CASE("segments are runs of filled neighbours of one group") {
  CpuContext context({.threads = 1});
  mezzo::ParameterArena<Fp32, CpuContext> arena(context);
  using Weight = mezzo::Parameter<Fp32, CpuContext, 1>;
  const std::vector<Weight> weights{
      {arena, "a", {5}},     {arena, "b", {40}}, {arena, "c", {1}, {.group = "norms"}}, {arena, "d", {2}, {.group = "norms"}},
      {arena, "empty", {0}}, {arena, "e", {3}}};
  arena.seal();
  CHECK(arena.group_count() == 2);
  CHECK(arena.find_group("norms") == 1);
  CHECK(arena.find_group("") == 0);
  CHECK(arena.find_group("other") == -1);
  const auto segments = [&] {
    std::string text;
    arena.for_each_segment([&](const auto& segment) {
      text += std::to_string(segment.offset) + "+" + std::to_string(segment.size) + "/" + std::to_string(segment.group) + " ";
      CHECK(segment.gradient == arena.gradients().data() + segment.offset);
      CHECK(segment.weight == nullptr);
    });
    return text;
  };
  CHECK(segments().empty());
  for (const Weight& weight : weights) weight.written();
  CHECK(segments() == "0+72/0 96+34/1 160+3/0 ");
  arena.zero_grad();
  weights[0].written();
  weights[3].written();
  CHECK(segments() == "0+5/0 128+2/1 ");
}

TEST_CASE("an element of a flat buffer is named by its parameter") {
  CpuContext context({.threads = 1});
  mezzo::ParameterArena<Fp32, CpuContext> arena(context);
  const mezzo::Parameter<Fp32, CpuContext, 1> first(arena, "first", {5}), second(arena, "second", {40});
  arena.seal();
  CHECK(arena.name_element(4, 1.0f).parameter == "first");
  const auto found = arena.name_element(39, 1.0f);
  CHECK(found.parameter == "second");
  CHECK(found.index == 7);
}
