// Views and tensors: memory that you have, memory that mezzo owns, 16-bit numbers, and what happens on a mistake.
#include <mezzo/mezzo.hpp>

#include <cstdio>
#include <vector>

int main() {
  mezzo::CpuContext context;  // one thread per core, the best vector instructions that the CPU has
  std::printf("computing on %d threads with %s\n", context.threads(), describe(context.isa()));

  // Memory that you already have becomes a view: pointer and shape, nothing is copied or owned.
  std::vector<float> pixels{0, 1, 2, 3, 4, 5};
  const mezzo::TensorView image(pixels.data(), mezzo::Extents{2, 3});
  std::printf("row 1, column 2: %g; transposed: %g\n", static_cast<double>(image(1, 2)), static_cast<double>(image.transpose()(2, 1)));

  // Memory that mezzo owns. A cast is always written out; it rounds to nearest even.
  auto low = mezzo::make_tensor<mezzo::half>(context, {2, 3});
  mezzo::cast(context, low, image);
  mezzo::half third(1.0f / 3);
  std::printf("1/3 in half: %.10f, bits 0x%04X\n", static_cast<double>(third), third.bits());

  // Operations take views or tensors, of any strides; sums are kept in fp32.
  auto product = mezzo::make_tensor<float>(context, {2, 2});
  mezzo::gemm(context, product, low, low.view().transpose());
  std::printf("image times its transpose: %g %g %g %g\n", static_cast<double>(product(0, 0)), static_cast<double>(product(0, 1)),
              static_cast<double>(product(1, 0)), static_cast<double>(product(1, 1)));

  // A thousand ones would stop at 256 in a bfloat16 sum, and the mean of these would be infinite in half.
  auto large = mezzo::make_tensor<mezzo::half>(context, {3000});
  mezzo::fill(context, large, 40000.0f);
  auto mean = mezzo::make_tensor<float>(context, mezzo::Extents<0>());
  mezzo::mean(context, mean, large);
  std::printf("mean of 3000 times 40000 in half: %g\n", static_cast<double>(mean()));

  // Mistakes in shape are errors that name both sides; mistakes in rank, dtype or memory space do not compile.
  try {
    mezzo::gemm(context, product, low, low);
  } catch (const mezzo::shape_error& error) {
    std::printf("caught: %s\n", error.what());
  }
}
