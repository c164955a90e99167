// The reductions that several operations share.
#pragma once

#include <mezzo/core/config.hpp>

namespace mezzo {

struct Sum {
  using value_type = float;
  using partial_type = double;
  MEZZO_HOST_DEVICE static constexpr float identity() { return 0.0f; }
  MEZZO_HOST_DEVICE static constexpr float map(float x) { return x; }
  template <class V>
  MEZZO_HOST_DEVICE static constexpr V combine(V a, V b) {
    return a + b;
  }
};

/// Of doubles, and of floats whose squares would leave the range of fp32.
struct SumOfSquares {
  using value_type = double;
  using partial_type = double;
  MEZZO_HOST_DEVICE static constexpr double identity() { return 0.0; }
  MEZZO_HOST_DEVICE static constexpr double map(double x) { return x * x; }
  MEZZO_HOST_DEVICE static constexpr double combine(double a, double b) { return a + b; }
};

}  // namespace mezzo
