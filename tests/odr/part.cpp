#include "part.hpp"

// MEZZO_PART names the function, so that two copies of this file fit in one program.
Results MEZZO_PART(mezzo::CpuContext& context, mezzo::HostView<const float, 1> numbers, mezzo::DynamicLossScaler& scaler) {
  Results results{};
  auto halves = mezzo::make_tensor<mezzo::half>(context, {4});
  mezzo::cast(context, halves, numbers);
  for (int i = 0; i < 4; ++i) results.half_bits[i] = halves.view()(i).bits();

  const float infinity = mezzo::convert<float>(mezzo::half::from_bits(0x7C00));
  results.has_infinity = !mezzo::is_finite(infinity);

  mezzo::softmax(context, mezzo::HostView<float, 2>(results.softmax, {1, 4}), numbers.reshape({1, 4}));

  const auto matrix = numbers.reshape({2, 2});
  mezzo::gemm(context, mezzo::HostView<float, 2>(results.product, {2, 2}), matrix, matrix);

  scaler.update(true);
  results.scale = scaler.scale();
  return results;
}
