#include <doctest/doctest.h>

#include <mezzo/context/cpu_context.hpp>
#include <mezzo/tensor/gradient_sink.hpp>
#include <mezzo/tensor/parameter.hpp>

TEST_CASE("a view is overwritten, a parameter decides") {
  mezzo::CpuContext context({.threads = 1});
  auto tensor = mezzo::make_tensor<float>(context, {3});
  CHECK(mezzo::gradient_sink(tensor).view.data() == tensor.data());
  CHECK_FALSE(mezzo::gradient_sink(tensor).accumulates);
  mezzo::gradient_written(tensor);
  CHECK_FALSE(mezzo::gradient_sink(tensor).accumulates);

  mezzo::ParameterArena<mezzo::Fp32, mezzo::CpuContext> arena(context);
  mezzo::Parameter<mezzo::Fp32, mezzo::CpuContext, 1> weight(arena, "weight", {3});
  arena.seal();
  CHECK_FALSE(mezzo::gradient_sink(weight).accumulates);
  mezzo::gradient_written(weight);
  CHECK(mezzo::gradient_sink(weight).accumulates);
}
