#include <mezzo/mezzo.hpp>

#include <cstdio>

int main() {
  mezzo::CpuContext context({.threads = 2});
  float numbers[] = {1, 2, 3, 4, 5, 6};
  const mezzo::TensorView matrix(numbers, mezzo::Extents{2, 3});
  context.parallel_for(matrix.size(), [&](mezzo::index_t i) { numbers[i] *= 2; });

  auto product = mezzo::make_tensor<float>(context, {2, 2});
  mezzo::gemm(context, product, matrix, matrix.transpose());

  mezzo::DynamicLossScaler scaler({.initial_scale = 1024.0f});
  scaler.update(true);

  const bool is_right = matrix(1, 2) == 12.0f && product.view()(0, 1) == 128.0f && scaler.scale() == 512.0f;
  std::printf("mezzo %d.%d: %s\n", mezzo::version::major, mezzo::version::minor, is_right ? "right" : "wrong");
  return is_right ? 0 : 1;
}
