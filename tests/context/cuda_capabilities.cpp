#include "../cuda.hpp"

#include <mezzo/amp/with_precision.hpp>
#include <mezzo/context/cuda_capabilities.hpp>

namespace {

mezzo::CudaCapabilities features(int major, int minor) {
  mezzo::CudaCapabilities result;
  mezzo::set_features(result, major, minor);
  return result;
}

}  // namespace

TEST_CASE("features by compute capability, from NVIDIA's table") {
  CHECK_FALSE(features(5, 2).has_half);
  CHECK(features(6, 1).has_half);
  CHECK_FALSE(features(6, 1).has_fast_half);
  CHECK(features(7, 5).has_fast_half);
  CHECK_FALSE(features(7, 5).has_bfloat16);
  CHECK(features(8, 0).has_fast_bfloat16);
  CHECK(features(8, 0).has_tf32);
  CHECK_FALSE(features(8, 6).has_fp8);
  CHECK(features(8, 9).has_fp8);
  CHECK(features(9, 0).has_fp8);
  CHECK(features(12, 0).has_fp8);
}

TEST_CASE("a precision is chosen for each generation") {
  using mezzo::Precision;
  CHECK(mezzo::choose_precision(features(6, 1), Precision::automatic).precision == Precision::fp32);
  CHECK(mezzo::choose_precision(features(7, 5), Precision::automatic).precision == Precision::amp_fp16);
  CHECK(mezzo::choose_precision(features(9, 0), Precision::automatic).precision == Precision::amp_bf16);
  CHECK(mezzo::choose_precision(features(7, 5), Precision::amp_bf16).precision == Precision::fp32);
}

CUDA_TEST_CASE("a device names itself and its memory") {
  mezzo::CudaContext context;
  const auto device = mezzo::capabilities(context);
  CHECK_FALSE(device.device.empty());
  CHECK(device.major >= 5);
  CHECK(device.free_memory <= device.total_memory);
  CHECK(device.total_memory > 0);
  CHECK(mezzo::has_peer_access(context, context));
  mezzo::with_precision(context, mezzo::Precision::automatic, [](auto) {});
}
