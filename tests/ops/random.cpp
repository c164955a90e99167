#include "random.hpp"

#include <mezzo/context/cpu_context.hpp>

#include <string>

using mezzo::CpuContext;
using mezzo::Isa;

TEST_CASE_TEMPLATE("uniform numbers follow from their bits", T, float, double, mezzo::half, mezzo::bfloat16, mezzo::fp8_e4m3,
                   mezzo::fp8_e5m2) {
  CpuContext context({.threads = 2});
  test::uniform_follows_its_definition<T>(context);
}

TEST_CASE("normal numbers follow from their bits") {
  CpuContext context({.threads = 2});
  test::normal_follows_its_definition(context);
}

TEST_CASE("distributions are what they are called") {
  CpuContext context({.threads = 2});
  test::moments_are_right(context);
  test::uniform_numbers_fill_their_cells(context);
  test::normal_numbers_have_their_distribution(context);
}

TEST_CASE_TEMPLATE("rounding never leaves the range", T, float, double, mezzo::half, mezzo::bfloat16, mezzo::fp8_e4m3, mezzo::fp8_e5m2) {
  CpuContext context({.threads = 2});
  test::uniform_never_reaches_high<T>(context);
  test::uniform_never_passes_low<T>(context);
  test::normal_is_finite<T>(context);
}

TEST_CASE_TEMPLATE("results are rounded once", T, double, mezzo::half, mezzo::bfloat16, mezzo::fp8_e4m3, mezzo::fp8_e5m2) {
  CpuContext context({.threads = 2});
  test::narrow_types_round_once<T>(context);
}

TEST_CASE("Box-Muller is finite at its ends") {
  const std::uint32_t ends[] = {0u,          1u,          2u,          0x1FFFFFFFu, 0x20000000u, 0x3FFFFFFFu,
                                0x40000000u, 0x7FFFFFFFu, 0x80000000u, 0xC0000000u, 0xFFFFFFFEu, 0xFFFFFFFFu};
  for (std::uint32_t radius : ends) {
    for (std::uint32_t angle : ends) {
      CAPTURE(radius);
      CAPTURE(angle);
      float a = 0, b = 0;
      mezzo::detail::BoxMuller{}(a, b, radius, angle);
      CHECK((mezzo::is_finite(a) && mezzo::is_finite(b)));
      CHECK(static_cast<double>(a) * static_cast<double>(a) + static_cast<double>(b) * static_cast<double>(b) <= 6.56 * 6.56);
    }
  }
}

TEST_CASE_TEMPLATE("any number of threads and every instruction set give the same bits", T, float, double, mezzo::half, mezzo::bfloat16,
                   mezzo::fp8_e4m3, mezzo::fp8_e5m2) {
  CpuContext first({.threads = 1, .isa = Isa::baseline});
  const auto expected = test::everything<T>(first);
  for (int threads : {1, 2, 5}) {
    for (Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
      if (isa > mezzo::best_isa()) continue;
      const std::string name = describe(isa);
      CAPTURE(threads);
      CAPTURE(name);
      CpuContext context({.threads = threads, .isa = isa});
      CHECK(test::everything<T>(context) == expected);
    }
  }
}

TEST_CASE_TEMPLATE("strides do not matter", T, float, double, mezzo::half, mezzo::bfloat16) {
  CpuContext context({.threads = 2});
  test::strides_do_not_matter<T>(context);
}

TEST_CASE("calls are disjoint and repeatable") {
  CpuContext context({.threads = 2});
  test::calls_are_disjoint(context);
}

TEST_CASE_TEMPLATE("initial weights keep the variance", T, float, mezzo::half, mezzo::bfloat16) {
  CpuContext context({.threads = 2});
  test::initial_weights<T>(context);
}

TEST_CASE("weights of a matrix") {
  CpuContext context({.threads = 2});
  test::weights_of_a_matrix(context);
}

TEST_CASE("gains are PyTorch's") {
  using mezzo::gain_of;
  using mezzo::Nonlinearity;
  CHECK(gain_of(Nonlinearity::linear) == 1.0);
  CHECK(gain_of(Nonlinearity::sigmoid) == 1.0);
  CHECK(gain_of(Nonlinearity::tanh) == 5.0 / 3.0);
  CHECK(gain_of(Nonlinearity::relu) == std::sqrt(2.0));
  CHECK(gain_of(Nonlinearity::leaky_relu) == doctest::Approx(std::sqrt(2 / 1.0001)));
  CHECK(gain_of(Nonlinearity::leaky_relu, 1.0f) == 1.0);
  CHECK(gain_of(Nonlinearity::selu) == 0.75);
}

TEST_CASE("options are validated") {
  CpuContext context({.threads = 2});
  test::options_are_validated(context);
}
