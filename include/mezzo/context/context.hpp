// What every back end's context is.
#pragma once

#include <concepts>

#include <mezzo/core/memory_space.hpp>

namespace mezzo {

/// Computes on data in `memory_space`. Operations given to one context take effect in order.
template <class C>
concept Context = requires(C& context) {
  { C::memory_space } -> std::convertible_to<MemorySpace>;
  context.synchronize();
};

}  // namespace mezzo
