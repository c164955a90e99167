// Memory of this host: how large its caches are, and large blocks in large pages.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace mezzo {

/// Every allocation of mezzo's on the host begins on this boundary: a cache line, and the widest vector register.
inline constexpr std::size_t host_alignment = 64;

/// Bytes of the last-level cache that one program may count on: what the system tells, which may be the cache of many cores, and at
/// most 32 MiB.
inline std::size_t last_level_cache_size() {
  constexpr long most = 32L << 20;
  long size = 0;
#if defined(_SC_LEVEL3_CACHE_SIZE)
  static const long told = sysconf(_SC_LEVEL3_CACHE_SIZE);
  size = told;
#endif
  return static_cast<std::size_t>(size > 0 && size < most ? size : most);
}

/// Uninitialised memory, aligned to host_alignment and never null. From 4 MiB on the kernel is asked for transparent huge pages: with
/// small ones, a pass over a model spends a good part of its time on address translation. Throws std::bad_alloc.
inline void* allocate_host_memory(std::size_t bytes) {
  constexpr std::size_t huge_page = std::size_t{2} << 20;
  const bool is_large = bytes >= 2 * huge_page;
  const std::size_t alignment = is_large ? huge_page : host_alignment;
  if (bytes > static_cast<std::size_t>(-1) / 2 - alignment) throw std::bad_alloc();  // no object is larger
  const std::size_t whole = bytes == 0 ? alignment : (bytes + alignment - 1) / alignment * alignment;
  void* const data = std::aligned_alloc(alignment, whole);
  if (data == nullptr) throw std::bad_alloc();
#if defined(MADV_HUGEPAGE)
  if (is_large) madvise(data, whole, MADV_HUGEPAGE);
#endif
  return data;
}
inline void free_host_memory(void* data) noexcept { std::free(data); }

}  // namespace mezzo
