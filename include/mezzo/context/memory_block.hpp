// Memory that somebody owns: where it is, and how it is given back.
#pragma once

#include <cstddef>
#include <utility>

namespace mezzo {

/// Memory of a context, given back when destroyed, which may be after the context. Moves, does not copy.
class MemoryBlock {
 public:
  /// Gives memory back; `owner` is what the context put there, such as the stream in whose order that happens.
  using Deallocate = void (*)(void* data, void* owner) noexcept;

  MemoryBlock() = default;
  MemoryBlock(void* data, std::size_t bytes, Deallocate deallocate, void* owner = nullptr)
      : m_data(data), m_bytes(bytes), m_deallocate(deallocate), m_owner(owner) {}
  MemoryBlock(MemoryBlock&& other) noexcept { swap(other); }
  MemoryBlock& operator=(MemoryBlock&& other) noexcept {
    swap(other);
    return *this;
  }
  ~MemoryBlock() {
    if (m_deallocate != nullptr) m_deallocate(m_data, m_owner);
  }

  void* data() const { return m_data; }
  std::size_t bytes() const { return m_bytes; }

 private:
  void swap(MemoryBlock& other) noexcept {
    std::swap(m_data, other.m_data);
    std::swap(m_bytes, other.m_bytes);
    std::swap(m_deallocate, other.m_deallocate);
    std::swap(m_owner, other.m_owner);
  }

  void* m_data = nullptr;
  std::size_t m_bytes = 0;
  Deallocate m_deallocate = nullptr;
  void* m_owner = nullptr;
};

}  // namespace mezzo
