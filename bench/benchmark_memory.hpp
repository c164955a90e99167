// Memory for benchmarks: filled, so that no page is touched for the first time while the clock runs.
#pragma once

#include <cstddef>
#include <vector>

#include <mezzo/mezzo.hpp>

namespace bench {

/// `size` numbers of T in [-1, 1], the same each time.
template <class T>
std::vector<T> numbers(std::size_t size) {
  std::vector<T> result(size);
  for (std::size_t i = 0; i < size; ++i) result[i] = static_cast<T>(static_cast<float>(i * 2654435761u % 2001u) / 1000.0f - 1.0f);
  return result;
}

template <class T>
mezzo::HostView<T, 1> view(std::vector<T>& values) {
  return {values.data(), {static_cast<mezzo::index_t>(values.size())}};
}

}  // namespace bench
