// The shape of a tensor: one length per dimension. Apart from views, since owners, files and errors speak of shapes too.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>

#include <mezzo/core/config.hpp>
#include <mezzo/core/error.hpp>

namespace mezzo {

/// Counts and offsets, in elements. Signed, so that differences and loops that run backwards are safe.
using index_t = std::int64_t;

/// `Rank` non-negative lengths. `Extents{2, 3}` deduces its rank.
template <int Rank>
class Extents {
  static_assert(Rank >= 0, "mezzo: a rank is not negative");

 public:
  /// All lengths 0; for rank 0 the shape of a scalar.
  constexpr Extents() = default;

  /// Throws shape_error for a negative length or a product above 2^62.
  template <std::integral... Lengths>
  requires(sizeof...(Lengths) == Rank && Rank > 0) constexpr Extents(Lengths... lengths) : m_lengths{static_cast<index_t>(lengths)...} {
    validate();
  }
  constexpr Extents(const index_t (&lengths)[Rank > 0 ? Rank : 1]) {
    for (int i = 0; i < Rank; ++i) m_lengths[i] = lengths[i];
    validate();
  }

  MEZZO_HOST_DEVICE constexpr index_t operator[](int dimension) const { return m_lengths[dimension]; }

  /// Number of elements; 1 for rank 0.
  MEZZO_HOST_DEVICE constexpr index_t size() const {
    index_t product = 1;
    for (int i = 0; i < Rank; ++i) product *= m_lengths[i];
    return product;
  }

  friend constexpr bool operator==(const Extents&, const Extents&) = default;

  friend std::string describe(const Extents& extents) {
    std::string text = "[";
    for (int i = 0; i < Rank; ++i) text += (i > 0 ? ", " : "") + std::to_string(extents[i]);
    return text + "]";
  }

 private:
  constexpr void validate() const {
    constexpr index_t largest = index_t{1} << 62;
    index_t product = 1;
    bool is_empty = false;
    for (index_t length : m_lengths) {
      expects<shape_error>(length >= 0, "Extents: a length is negative, {} in {}", length, *this);
      is_empty = is_empty || length == 0;
    }
    if (is_empty) return;
    for (int i = 0; i < Rank; ++i) {
      expects<shape_error>(m_lengths[i] <= largest / product, "Extents: more than 2^62 elements in {}", *this);
      product *= m_lengths[i];
    }
  }

  index_t m_lengths[Rank > 0 ? Rank : 1] = {};
};

template <std::integral... Lengths>
Extents(Lengths...) -> Extents<static_cast<int>(sizeof...(Lengths))>;

}  // namespace mezzo
