// What CUDA says when it fails, and why there may be no device at all. Needs the CUDA Toolkit's headers and no nvcc.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include <mezzo/core/error.hpp>

namespace mezzo {

/// A call of the CUDA runtime that failed; what() ends in CUDA's own name for it and description.
class cuda_error : public error {
 public:
  cuda_error(const std::string& message, source_location where, cudaError_t status) : error(message, where), m_status(status) {}

  cudaError_t status() const noexcept { return m_status; }

 private:
  cudaError_t m_status;
};

namespace detail {

template <class... Values>
[[noreturn, gnu::cold, gnu::noinline]] void fail_cuda(cudaError_t status, const message_at& message, const Values&... values) {
  const std::string texts[] = {describe(values)..., std::string()};
  throw cuda_error(format_message(message.text, texts) + ": " + cudaGetErrorName(status) + ", " + cudaGetErrorString(status), message.where,
                   status);
}

/// Throws cuda_error unless `status` is a success.
template <class... Values>
void expects_cuda(cudaError_t status, message_at message, const Values&... values) {
  if (status != cudaSuccess) [[unlikely]]
    fail_cuda(status, message, values...);
}

/// "13.0", as CUDA counts its versions.
inline std::string describe_cuda_version(int version) { return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10); }

}  // namespace detail

/// How many devices CUDA has for this process, and if there are none, why.
struct CudaDevices {
  int count = 0;
  std::string reason;  ///< empty if there are any
};

/// Asks the driver; throws nothing, and leaves no error behind for others to find.
inline CudaDevices cuda_devices() {
  CudaDevices result;
  const cudaError_t status = cudaGetDeviceCount(&result.count);
  if (status == cudaSuccess && result.count > 0) return result;
  static_cast<void>(cudaGetLastError());
  result.count = 0;
  int driver = 0;
  static_cast<void>(cudaDriverGetVersion(&driver));
  if (driver == 0) {
    result.reason = "there is no NVIDIA driver";
  } else if (status == cudaErrorInsufficientDriver) {
    result.reason = "the NVIDIA driver is for CUDA " + detail::describe_cuda_version(driver) + ", and this program for CUDA " +
                    detail::describe_cuda_version(CUDART_VERSION) + "; update the driver";
  } else if (status == cudaSuccess || status == cudaErrorNoDevice) {
    result.reason = "the NVIDIA driver shows no device; see nvidia-smi and CUDA_VISIBLE_DEVICES";
  } else {
    result.reason = std::string("the NVIDIA driver fails with ") + cudaGetErrorName(status) + ", " + cudaGetErrorString(status);
  }
  return result;
}

}  // namespace mezzo
