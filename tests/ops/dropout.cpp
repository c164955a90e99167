#include "dropout.hpp"

#include <mezzo/context/cpu_context.hpp>

#include <string>

using mezzo::CpuContext;
using mezzo::Isa;

TEST_CASE_TEMPLATE("dropout follows from its bits", T, float, double, mezzo::half, mezzo::bfloat16, mezzo::fp8_e4m3, mezzo::fp8_e5m2) {
  CpuContext context({.threads = 2});
  test::follows_its_definition<T>(context);
}

TEST_CASE("dropout keeps the right share") {
  CpuContext context({.threads = 2});
  test::keeps_the_right_share(context);
}

TEST_CASE("the mask depends on state and shape alone") {
  for (int threads : {1, 2, 5}) {
    for (Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
      if (isa > mezzo::best_isa()) continue;
      const std::string name = describe(isa);
      CAPTURE(threads);
      CAPTURE(name);
      CpuContext context({.threads = threads, .isa = isa});
      test::mask_is_the_same_everywhere(context);
    }
  }
}

TEST_CASE_TEMPLATE("nothing and everything dropped", T, float, double, mezzo::half, mezzo::bfloat16) {
  CpuContext context({.threads = 2});
  test::ends_of_the_range<T>(context);
}

TEST_CASE_TEMPLATE("dropout in place", T, float, double, mezzo::half, mezzo::bfloat16) {
  CpuContext context({.threads = 2});
  test::in_place<T>(context);
}

TEST_CASE("arguments are validated") {
  CpuContext context({.threads = 2});
  test::arguments_are_validated(context);
}
