// What a GPU can do, asked when the program runs.
#pragma once

#include <cuda_runtime_api.h>

#include <mezzo/context/capabilities.hpp>
#include <mezzo/context/cuda_context.hpp>

namespace mezzo {

/// A plain value, as Capabilities.
struct CudaCapabilities : Capabilities {
  int major = 0, minor = 0;                       ///< compute capability
  bool has_tf32 = false;                          ///< multiplies fp32 matrices in TF32, if asked to
  bool has_fp8 = false;                           ///< multiplies matrices of fp8
  std::size_t total_memory = 0, free_memory = 0;  ///< bytes
};

/// What every device of a compute capability can do; the rest is left as it is.
constexpr void set_features(CudaCapabilities& capabilities, int major, int minor) {
  const int capability = 10 * major + minor;
  capabilities.major = major;
  capabilities.minor = minor;
  capabilities.has_half = capability >= 53;
  capabilities.has_fast_half = capability >= 70;
  capabilities.has_bfloat16 = capabilities.has_fast_bfloat16 = capabilities.has_tf32 = capability >= 80;
  capabilities.has_fp8 = capability >= 89;
}

/// The device of `context`. Throws cuda_error.
inline CudaCapabilities capabilities(const CudaContext& context) {
  const int device = context.device();
  const detail::CudaDeviceGuard guard(device);
  const message_at message = "capabilities: device {} does not tell what it is";
  CudaCapabilities result;
  cudaDeviceProp properties;
  detail::expects_cuda(cudaGetDeviceProperties(&properties, device), message, device);
  result.device = properties.name;
  set_features(result, properties.major, properties.minor);
  detail::expects_cuda(cudaMemGetInfo(&result.free_memory, &result.total_memory), message, device);
  return result;
}

/// Whether the device of `context` reads and writes the other's memory without the host between them; true for one device. Throws
/// cuda_error.
inline bool has_peer_access(const CudaContext& context, const CudaContext& other) {
  if (context.device() == other.device()) return true;
  int result = 0;
  detail::expects_cuda(cudaDeviceCanAccessPeer(&result, context.device(), other.device()), "has_peer_access: devices {} and {} do not tell",
                       context.device(), other.device());
  return result != 0;
}

}  // namespace mezzo
