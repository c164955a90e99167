// Who computes, on an NVIDIA GPU: a device, and a stream that keeps the order of the work. Needs the CUDA Toolkit's headers and no
// nvcc: a .cpp may make contexts, allocate and copy.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <optional>

#include <mezzo/context/cuda_error.hpp>
#include <mezzo/context/memory_block.hpp>
#include <mezzo/context/scratch.hpp>
#include <mezzo/core/memory_space.hpp>

namespace mezzo {

struct CudaContextOptions {
  int device = 0;                           ///< CUDA's number of it
  std::optional<cudaStream_t> stream = {};  ///< the user's own, of that device, which must outlive all memory of the context
};

namespace detail {

/// Makes a device the current one of this thread until the end of the scope.
class CudaDeviceGuard {
 public:
  explicit CudaDeviceGuard(int device) {
    if (cudaGetDevice(&m_before) != cudaSuccess || m_before == device) {
      m_before = -1;
    } else if (cudaSetDevice(device) != cudaSuccess) {
      m_before = -1;
      static_cast<void>(cudaGetLastError());  // the call that needs the device will say so
    }
  }
  CudaDeviceGuard(const CudaDeviceGuard&) = delete;
  CudaDeviceGuard& operator=(const CudaDeviceGuard&) = delete;
  ~CudaDeviceGuard() {
    if (m_before >= 0) static_cast<void>(cudaSetDevice(m_before));
  }

 private:
  int m_before = -1;
};

/// A stream with everybody who still needs it: its context, and memory that is given back in its order.
struct SharedStream {
  int device;
  cudaStream_t stream;
  bool is_owned;
  bool has_pools;  ///< the device allocates in the order of a stream
  std::atomic<int> users{1};

  void release() noexcept {
    if (users.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    const CudaDeviceGuard guard(device);
    if (is_owned) static_cast<void>(cudaStreamDestroy(stream));  // work that it still has is done nevertheless
    delete this;
  }

  /// A MemoryBlock's way back.
  static void deallocate(void* data, void* owner) noexcept {
    auto* const shared = static_cast<SharedStream*>(owner);
    {
      const CudaDeviceGuard guard(shared->device);
      static_cast<void>(shared->has_pools ? cudaFreeAsync(data, shared->stream) : cudaFree(data));
    }
    shared->release();
  }
};

}  // namespace detail

/// Operations given a CudaContext are put into its stream and take effect in order; they return before they are done. Results are read
/// after copy() to the host and synchronize(). Several contexts, of one device or several, may be used in one process; one context is
/// used by one thread at a time.
class CudaContext {
 public:
  static constexpr MemorySpace memory_space = MemorySpace::device;

  /// A stream of its own, or the one given. Throws unsupported_error where CUDA has no device, saying why, option_error for a number
  /// that no device has, and cuda_error.
  explicit CudaContext(const CudaContextOptions& options = {}) {
    const CudaDevices devices = cuda_devices();
    expects<unsupported_error>(devices.count > 0, "CudaContext: {}", devices.reason);
    expects<option_error>(options.device >= 0 && options.device < devices.count, "CudaContext: device is {}, but there are {} devices",
                          options.device, devices.count);
    const detail::CudaDeviceGuard guard(options.device);
    int has_pools = 0;
    detail::expects_cuda(cudaDeviceGetAttribute(&has_pools, cudaDevAttrMemoryPoolsSupported, options.device),
                         "CudaContext: device {} cannot be used", options.device);
    detail::expects_cuda(cudaDeviceGetAttribute(&m_multiprocessors, cudaDevAttrMultiProcessorCount, options.device),
                         "CudaContext: device {} cannot be used", options.device);
    cudaStream_t stream = options.stream.value_or(nullptr);
    if (!options.stream) {
      detail::expects_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "CudaContext: device {} gives no stream",
                           options.device);
    }
    m_stream = new detail::SharedStream{options.device, stream, !options.stream, has_pools != 0};
  }
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;
  ~CudaContext() { m_stream->release(); }

  int device() const { return m_stream->device; }
  cudaStream_t stream() const { return m_stream->stream; }
  int multiprocessors() const { return m_multiprocessors; }

  /// Uninitialised memory until the end of the scope, for work given to this context meanwhile.
  template <class T>
  Scratch<T> scratch(index_t count) {
    return Scratch<T>(m_scratch, count, [this](std::size_t bytes) { return allocate(bytes); });
  }

  /// Memory of the device for owners such as Tensor, aligned to 256 bytes; never null. It is taken and given back in the order of the
  /// stream. Throws cuda_error, naming how much is free.
  MemoryBlock allocate(std::size_t bytes) {
    const detail::CudaDeviceGuard guard(device());
    void* data = nullptr;
    const std::size_t size = bytes == 0 ? 1 : bytes;
    const cudaError_t status = m_stream->has_pools ? cudaMallocAsync(&data, size, stream()) : cudaMalloc(&data, size);
    if (status == cudaErrorMemoryAllocation) {
      static_cast<void>(cudaGetLastError());
      std::size_t free = 0, total = 0;
      static_cast<void>(cudaMemGetInfo(&free, &total));
      detail::expects_cuda(status, "CudaContext: {} bytes wanted on device {}, where {} of {} are free", bytes, device(), free, total);
    }
    detail::expects_cuda(status, "CudaContext: no {} bytes on device {}", bytes, device());
    m_stream->users.fetch_add(1, std::memory_order_relaxed);
    return {data, bytes, detail::SharedStream::deallocate, m_stream};
  }

  void fill_zero(void* data, std::size_t bytes) {
    const detail::CudaDeviceGuard guard(device());
    detail::expects_cuda(cudaMemsetAsync(data, 0, bytes, stream()), "CudaContext: {} bytes were not zeroed", bytes);
  }

  /// Returns when all work given to the context is done. Throws cuda_error for what went wrong in it.
  void synchronize() {
    const detail::CudaDeviceGuard guard(device());
    detail::expects_cuda(cudaStreamSynchronize(stream()), "CudaContext: work given to device {} failed", device());
  }

 private:
  int m_multiprocessors = 0;
  detail::SharedStream* m_stream = nullptr;
  ScratchPool m_scratch;  // whose blocks keep the stream until they are given back
};

/// Host memory that the GPU copies to and from at full speed and while other work goes on. Throws cuda_error.
inline MemoryBlock allocate_pinned_memory(std::size_t bytes) {
  void* data = nullptr;
  detail::expects_cuda(cudaHostAlloc(&data, bytes == 0 ? 1 : bytes, cudaHostAllocPortable), "allocate_pinned_memory: no {} bytes", bytes);
  return {data, bytes, [](void* memory, void*) noexcept { static_cast<void>(cudaFreeHost(memory)); }};
}

/// A point in a context's work: another context, or the host, can wait for it. Owned by one device.
class CudaEvent {
 public:
  /// Throws cuda_error.
  explicit CudaEvent(const CudaContext& context) : m_device(context.device()) {
    const detail::CudaDeviceGuard guard(m_device);
    detail::expects_cuda(cudaEventCreateWithFlags(&m_event, cudaEventDisableTiming), "CudaEvent: device {} gives no event", m_device);
  }
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  ~CudaEvent() { static_cast<void>(cudaEventDestroy(m_event)); }

  /// The work that `context` has been given so far.
  void record(CudaContext& context) {
    const detail::CudaDeviceGuard guard(m_device);
    detail::expects_cuda(cudaEventRecord(m_event, context.stream()), "CudaEvent: not recorded on device {}", m_device);
  }
  /// Work given to `context` from now on waits for the recorded work; the host does not.
  void make_wait(CudaContext& context) const {
    const detail::CudaDeviceGuard guard(context.device());
    detail::expects_cuda(cudaStreamWaitEvent(context.stream(), m_event), "CudaEvent: device {} cannot wait for device {}", context.device(),
                         m_device);
  }
  /// Whether the recorded work is done. Throws cuda_error for what went wrong in it.
  bool is_done() const {
    const cudaError_t status = cudaEventQuery(m_event);
    if (status == cudaErrorNotReady) return false;
    detail::expects_cuda(status, "CudaEvent: work given to device {} failed", m_device);
    return true;
  }
  /// Returns when the recorded work is done.
  void synchronize() const { detail::expects_cuda(cudaEventSynchronize(m_event), "CudaEvent: work given to device {} failed", m_device); }

  cudaEvent_t get() const { return m_event; }

 private:
  int m_device;
  cudaEvent_t m_event = nullptr;
};

}  // namespace mezzo
