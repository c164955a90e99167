// Run under an emulator where one is installed: the loops of a processor without vector code of its own.
#include <mezzo/mezzo.hpp>

#include <cstdio>

int main() {
  mezzo::CpuContext context({.threads = 2});
  float numbers[] = {1.0f, -2.0f, 0x1.005p0f, 0x1p-24f};
  const mezzo::HostView<float, 2> matrix(numbers, {2, 2});

  auto halves = mezzo::make_tensor<mezzo::half>(context, {2, 2});
  mezzo::cast(context, halves, matrix);
  const bool is_cast_right = halves.view()(1, 0).bits() == 0x3C01 && halves.view()(1, 1).bits() == 0x0001;

  float squares[4];
  mezzo::gemm(context, mezzo::HostView<float, 2>(squares, {2, 2}), matrix, matrix);
  const bool is_gemm_right = squares[1] < -1.9999f && squares[1] > -2.0001f && squares[2] > 1.0012f && squares[2] < 1.0013f;

  std::printf("%s: cast %s, gemm %s\n", describe(context.isa()), is_cast_right ? "right" : "wrong", is_gemm_right ? "right" : "wrong");
  return is_cast_right && is_gemm_right ? 0 : 1;
}
