// What each part computes with mezzo. The parts are one source compiled in different ways, as users' translation units are.
#pragma once

#include <mezzo/mezzo.hpp>

struct Results {
  unsigned half_bits[4];
  bool has_infinity;
  float softmax[4];
  float product[4];
  float scale;
};

Results compute_plain(mezzo::CpuContext& context, mezzo::HostView<const float, 1> numbers, mezzo::DynamicLossScaler& scaler);
Results compute_tuned(mezzo::CpuContext& context, mezzo::HostView<const float, 1> numbers, mezzo::DynamicLossScaler& scaler);
