#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include <mezzo/context/cpu_context.hpp>
#include <mezzo/tensor/parameter.hpp>

using mezzo::AmpFp16;
using mezzo::CpuContext;
using mezzo::index_t;
template <class Policy, class Gradient = float>
using Arena = mezzo::ParameterArena<Policy, CpuContext, Gradient>;
template <class Policy, int Rank, class Gradient = float>
using Parameter = mezzo::Parameter<Policy, CpuContext, Rank, Gradient>;

TEST_CASE("parameters lie side by side in flat buffers") {
  CpuContext context({.threads = 1});
  Arena<AmpFp16> arena(context);
  const Parameter<AmpFp16, 2> weight(arena, "fc.weight", {3, 5});
  const Parameter<AmpFp16, 1> bias(arena, "fc.bias", {3});
  arena.seal();
  CHECK(weight.name() == "fc.weight");
  CHECK(weight.extents() == mezzo::Extents{3, 5});
  CHECK(weight.master().data() == arena.masters().data());
  CHECK(bias.master().data() > weight.master().data() + 14);
  CHECK(reinterpret_cast<std::uintptr_t>(bias.view().data()) % 64 == 0);
  CHECK(arena.records()[1].extents == std::vector<index_t>{3});
  CHECK(arena.bytes() == arena.flat_size() * (4 + 2 + 4));
  for (index_t i = 0; i < arena.flat_size(); ++i) {
    CHECK(arena.masters()(i) == 0.0f);
    CHECK(arena.gradients()(i) == 0.0f);
  }
  static_assert(std::is_same_v<decltype(weight.view_as<mezzo::half>()), mezzo::HostView<const mezzo::half, 2>>);
  static_assert(std::is_same_v<decltype(weight.view_as<float>()), mezzo::HostView<const float, 2>>);
}

TEST_CASE("in fp32 the master is the weight") {
  CpuContext context({.threads = 1});
  Arena<mezzo::Fp32> arena(context);
  const Parameter<mezzo::Fp32, 1> weight(arena, "weight", {3});
  arena.seal();
  CHECK(weight.view().data() == weight.master().data());
  CHECK(arena.bytes() == arena.flat_size() * 8);
}

TEST_CASE("a gradient knows whether it is filled") {
  CpuContext context({.threads = 1});
  Arena<AmpFp16> arena(context);
  const Parameter<AmpFp16, 1> weight(arena, "weight", {2});
  arena.seal();
  CHECK_FALSE(weight.has_gradient());
  CHECK_THROWS_WITH_AS(weight.gradient(), "Parameter: 'weight' has no gradient in this window", mezzo::state_error);
  CHECK(weight.gradient_sink().beta() == 0.0f);
  weight.written();
  CHECK(weight.has_gradient());
  CHECK(weight.gradient_sink().beta() == 1.0f);
  arena.zero_grad();
  CHECK_FALSE(weight.has_gradient());
  CHECK(weight.gradient_sink().beta() == 0.0f);
}

TEST_CASE("calls in the wrong order, and names taken, are refused") {
  CpuContext context({.threads = 1});
  Arena<AmpFp16> arena(context);
  const Parameter<AmpFp16, 1> weight(arena, "weight", {2});
  CHECK_THROWS_WITH_AS(weight.master(), doctest::Contains("call seal()"), mezzo::state_error);
  CHECK_THROWS_WITH_AS((Parameter<AmpFp16, 1>(arena, "weight", {2})), doctest::Contains("named 'weight'"), mezzo::option_error);
  CHECK_THROWS_WITH_AS((Parameter<AmpFp16, 1>(arena, "", {2})), doctest::Contains("needs a name"), mezzo::option_error);
  arena.seal();
  CHECK_THROWS_WITH_AS(arena.seal(), doctest::Contains("called twice"), mezzo::state_error);
  CHECK_THROWS_WITH_AS((Parameter<AmpFp16, 1>(arena, "late", {2})), doctest::Contains("declared after seal()"), mezzo::state_error);
  CHECK(arena.records().size() == 1);
}
