// Who computes, on a CPU: threads, vector instructions and scratch memory. Contexts are independent of each other; two of them
// in two threads share nothing.
#pragma once

#include <cstring>
#include <optional>

#include <mezzo/context/host_memory.hpp>
#include <mezzo/context/isa.hpp>
#include <mezzo/context/scratch.hpp>
#include <mezzo/context/thread_pool.hpp>
#include <mezzo/core/memory_space.hpp>

namespace mezzo {

struct CpuContextOptions {
  int threads = 0;              ///< the calling thread among them; 0: one per hardware thread
  std::optional<Isa> isa = {};  ///< none: MEZZO_ISA, else the best that the CPU has
};

/// Operations given a CpuContext run on its threads and have finished when they return. Results do not depend on the number of
/// threads, bit for bit.
class CpuContext {
 public:
  static constexpr MemorySpace memory_space = MemorySpace::host;

  /// Throws option_error for a thread count outside [0, 4096], unsupported_error for instructions that the CPU lacks.
  explicit CpuContext(const CpuContextOptions& options = {}) : m_isa(checked_isa(options.isa)), m_pool(checked_threads(options.threads)) {}
  CpuContext(const CpuContext&) = delete;
  CpuContext& operator=(const CpuContext&) = delete;

  int threads() const { return m_pool.threads(); }
  Isa isa() const { return m_isa; }

  /// function(task) for every task in [0, tasks), in any order and on any thread; see ThreadPool::run.
  template <class Function>
  void parallel_for(index_t tasks, const Function& function) {
    m_pool.run(tasks, function);
  }

  /// Uninitialised memory until the end of the scope, aligned to 64 bytes.
  template <class T>
  Scratch<T> scratch(index_t count) {
    return Scratch<T>(m_scratch, count, [this](std::size_t bytes) { return allocate(bytes); });
  }

  /// Memory for owners such as Tensor, aligned to 64 bytes; never null. Throws std::bad_alloc.
  MemoryBlock allocate(std::size_t bytes) {
    return {allocate_host_memory(bytes), bytes, [](void* data, void*) noexcept { free_host_memory(data); }};
  }

  void fill_zero(void* data, std::size_t bytes) { std::memset(data, 0, bytes); }

  /// Returns when all work given to the context is done, which on a CPU it is.
  void synchronize() {}

 private:
  static Isa checked_isa(const std::optional<Isa>& isa) {
    if (!isa) return default_isa();
    expects<unsupported_error>(*isa <= best_isa(), "CpuContext: isa is {}, but this CPU's best is {}", describe(*isa),
                               describe(best_isa()));
    return *isa;
  }

  static int checked_threads(int threads) {
    expects<option_error>(threads >= 0 && threads <= 4096, "CpuContext: threads must lie in [0, 4096], is {}", threads);
    if (threads > 0) return threads;
    const unsigned available = std::thread::hardware_concurrency();
    return available > 0 ? static_cast<int>(available) : 1;
  }

  Isa m_isa;
  ThreadPool m_pool;
  ScratchPool m_scratch;
};

}  // namespace mezzo
