// Temporary memory that operations need and users should not see. It comes from the context and goes back to it, so that
// a training loop allocates in its first step and never again.
#pragma once

#include <cstddef>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include <mezzo/context/memory_block.hpp>
#include <mezzo/core/extents.hpp>

namespace mezzo {

/// Bytes of `count` elements of T; throws std::bad_alloc where no memory could hold them.
template <class T>
std::size_t byte_count(index_t count) {
  if (count > static_cast<index_t>(~std::size_t{0} / 2 / sizeof(T))) throw std::bad_alloc();
  return static_cast<std::size_t>(count) * sizeof(T);
}

/// Keeps returned blocks for the next caller. Safe to use from several threads.
class ScratchPool {
 public:
  ScratchPool() = default;
  ScratchPool(const ScratchPool&) = delete;
  ScratchPool& operator=(const ScratchPool&) = delete;

  /// The smallest free block of at least `bytes`, or allocate(bytes). Throws what that throws.
  template <class Allocate>
  MemoryBlock take(std::size_t bytes, const Allocate& allocate) {
    {
      std::lock_guard lock(m_lock);
      auto best = m_free.end();
      for (auto block = m_free.begin(); block != m_free.end(); ++block) {
        if (block->bytes() >= bytes && (best == m_free.end() || block->bytes() < best->bytes())) best = block;
      }
      if (best != m_free.end()) {
        MemoryBlock result = std::move(*best);
        m_free.erase(best);
        return result;
      }
      m_free.reserve(++m_blocks);
    }
    return allocate(bytes);
  }

  void give_back(MemoryBlock&& block) noexcept {
    std::lock_guard lock(m_lock);
    m_free.push_back(std::move(block));  // within the capacity that take() reserved
  }

 private:
  std::mutex m_lock;
  std::vector<MemoryBlock> m_free;
  std::size_t m_blocks = 0;
};

/// `count` uninitialised elements of T, given back to their pool at the end of the scope.
template <class T>
class Scratch {
 public:
  template <class Allocate>
  Scratch(ScratchPool& pool, index_t count, const Allocate& allocate) : m_pool(pool), m_block(pool.take(byte_count<T>(count), allocate)) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { m_pool.give_back(std::move(m_block)); }

  T* data() const { return static_cast<T*>(m_block.data()); }
  T& operator[](index_t i) const { return data()[i]; }

 private:
  ScratchPool& m_pool;
  MemoryBlock m_block;
};

}  // namespace mezzo
