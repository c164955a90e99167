#include <doctest/doctest.h>

#include <mezzo/context/capabilities.hpp>

TEST_CASE("a CPU names itself, and lacks half in hardware without F16C") {
  const auto baseline = mezzo::capabilities(mezzo::CpuContext({.threads = 1, .isa = mezzo::Isa::baseline}));
  CHECK_FALSE(baseline.device.empty());
  CHECK_FALSE(baseline.has_half);
  CHECK_FALSE(baseline.has_fast_bfloat16);
  CHECK(baseline.has_bfloat16);
  if (mezzo::best_isa() >= mezzo::Isa::avx2)
    CHECK(mezzo::capabilities(mezzo::CpuContext({.threads = 1, .isa = mezzo::Isa::avx2})).has_half);
}
