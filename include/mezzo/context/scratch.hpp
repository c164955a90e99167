// Temporary memory that operations need and users should not see. It comes from the context and goes back to it, so that
// a training loop allocates in its first step and never again.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include <mezzo/context/host_memory.hpp>
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
  ~ScratchPool() {
    for (const Block& block : m_free) free_host_memory(block.data);
  }

  struct Block {
    void* data = nullptr;
    std::size_t bytes = 0;
  };

  /// The smallest free block of at least `bytes`, or a new one. Throws std::bad_alloc.
  Block take(std::size_t bytes) {
    {
      std::lock_guard lock(m_lock);
      auto best = m_free.end();
      for (auto block = m_free.begin(); block != m_free.end(); ++block) {
        if (block->bytes >= bytes && (best == m_free.end() || block->bytes < best->bytes)) best = block;
      }
      if (best != m_free.end()) {
        const Block result = *best;
        m_free.erase(best);
        return result;
      }
      m_free.reserve(++m_blocks);
    }
    return {allocate_host_memory(bytes), bytes};
  }

  void give_back(Block block) noexcept {
    std::lock_guard lock(m_lock);
    m_free.push_back(block);  // within the capacity that take() reserved
  }

 private:
  std::mutex m_lock;
  std::vector<Block> m_free;
  std::size_t m_blocks = 0;
};

/// `count` uninitialised elements of T, given back to their pool at the end of the scope.
template <class T>
class Scratch {
 public:
  Scratch(ScratchPool& pool, index_t count) : m_pool(pool), m_block(pool.take(byte_count<T>(count))) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { m_pool.give_back(m_block); }

  T* data() const { return static_cast<T*>(m_block.data); }
  T& operator[](index_t i) const { return data()[i]; }

 private:
  ScratchPool& m_pool;
  ScratchPool::Block m_block;
};

}  // namespace mezzo
