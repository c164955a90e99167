// What one thread of a kernel does. Plain C++ for host and device: CPU tests run all threads one after the other, and a kernel is no
// more than a call of it.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <mezzo/core/config.hpp>
#include <mezzo/core/extents.hpp>
#include <mezzo/kernels/access.hpp>
#include <mezzo/numeric/bfloat16.hpp>
#include <mezzo/numeric/convert.hpp>
#include <mezzo/numeric/float_traits.hpp>
#include <mezzo/numeric/half.hpp>
#include <mezzo/numeric/math.hpp>

namespace mezzo::detail::cuda {

/// What one instruction loads or stores: 16 bytes at most.
template <int bytes>
struct __attribute__((may_alias, aligned(bytes))) Packet {
  std::uint32_t words[bytes / 4];
};
inline constexpr int packet_size = 16;

/// x in the type that functors compute in, by the device's own instruction where it has one; the same bits as on the host.
template <class T>
MEZZO_HOST_DEVICE inline compute_type_t<T> widen(const T& x) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, half>) {
    float result;
    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(x.bits()));
    return result;
  }
#endif
  return static_cast<compute_type_t<T>>(x);
}
template <class T>
MEZZO_HOST_DEVICE inline T narrow(compute_type_t<T> x) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, half>) {
    std::uint16_t bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return half::from_bits(bits);
  }
#if __CUDA_ARCH__ >= 800
  if constexpr (std::is_same_v<T, bfloat16>) {
    std::uint16_t bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bfloat16::from_bits(bits);
  }
#endif
#endif
  return convert<T>(x);
}

/// Elements that a thread has in registers at a time: a packet of the narrowest type among them, eight at most.
template <class... Ranges>
MEZZO_HOST_DEVICE constexpr int pack_size() {
  int narrowest = packet_size;
  ((narrowest = static_cast<int>(sizeof(typename Ranges::element_type)) < narrowest
                    ? static_cast<int>(sizeof(typename Ranges::element_type))
                    : narrowest),
   ...);
  return narrowest == 1 ? 8 : packet_size / narrowest;
}

/// A range of a view with gaps: element i by its row-major number.
template <class T, AccessMode Mode, int Rank>
struct StridedRange {
  using element_type = T;
  static constexpr bool is_read = Mode != AccessMode::write;
  static constexpr bool is_written = Mode != AccessMode::read;

  T* data;
  index_t extents[Rank], strides[Rank];
};

template <class T, AccessMode Mode>
MEZZO_HOST_DEVICE inline T& element_of(const Range<T, Mode>& range, index_t i) {
  return range.data[i];
}
template <class T, AccessMode Mode, int Rank>
MEZZO_HOST_DEVICE inline T& element_of(const StridedRange<T, Mode, Rank>& range, index_t i) {
  index_t offset = 0;
  for (int dimension = Rank - 1; dimension > 0; --dimension) {
    offset += i % range.extents[dimension] * range.strides[dimension];
    i /= range.extents[dimension];
  }
  return range.data[offset + i * range.strides[0]];
}

/// One argument of a kernel with the elements of it that are at work.
template <int pack, class R>
struct Lane : R {
  using element = std::remove_const_t<typename R::element_type>;
  using value_type = compute_type_t<element>;
  static constexpr int bytes = pack * static_cast<int>(sizeof(element));
  using piece = Packet<(bytes < packet_size ? bytes : packet_size)>;

  value_type at[pack];

  MEZZO_HOST_DEVICE explicit Lane(const R& range) : R(range) {}

  /// The elements from i on, a multiple of the pack; the array begins on a packet's boundary.
  MEZZO_HOST_DEVICE void load(index_t i) {
    if constexpr (R::is_read) {
      union {
        piece pieces[bytes / sizeof(piece)];
        element elements[pack];
      } raw = {};
      const auto* const from = reinterpret_cast<const piece*>(this->data + i);
      for (int k = 0; k < static_cast<int>(bytes / sizeof(piece)); ++k) raw.pieces[k] = from[k];
      for (int k = 0; k < pack; ++k) at[k] = widen(raw.elements[k]);
    }
  }
  MEZZO_HOST_DEVICE void store(index_t i) {
    if constexpr (R::is_written) {
      union {
        piece pieces[bytes / sizeof(piece)];
        element elements[pack];
      } raw = {};
      for (int k = 0; k < pack; ++k) raw.elements[k] = narrow<element>(at[k]);
      auto* const to = reinterpret_cast<piece*>(this->data + i);
      for (int k = 0; k < static_cast<int>(bytes / sizeof(piece)); ++k) to[k] = raw.pieces[k];
    }
  }
  MEZZO_HOST_DEVICE void load_one(index_t i) {
    if constexpr (R::is_read) at[0] = widen<element>(element_of(static_cast<const R&>(*this), i));
  }
  MEZZO_HOST_DEVICE void store_one(index_t i) {
    if constexpr (R::is_written) element_of(static_cast<const R&>(*this), i) = narrow<element>(at[0]);
  }
};

MEZZO_HOST_DEVICE inline float square_root(float x) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("sqrt.rn.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return math::sqrt(x);
#endif
}

/// functor(elements...), or with the inverse of a root in front of them: see transform_blocks for CPUs.
template <class Functor, class... Values>
MEZZO_HOST_DEVICE inline void call(const Functor& functor, Values&... values) {
  if constexpr (requires { functor.radicand(values...); }) {
    const float root = square_root(functor.radicand(values...));
    functor(1.0f / (root * functor.root_factor + functor.root_addend), values...);
  } else {
    functor(values...);
  }
}

template <int pack, class Functor, class... Ranges>
MEZZO_HOST_DEVICE inline void transform_pack(const Functor& functor, index_t i, Lane<pack, Ranges>&&... lanes) {
  (lanes.load(i), ...);
  for (int k = 0; k < pack; ++k) call(functor, lanes.at[k]...);
  (lanes.store(i), ...);
}
template <class Functor, class... Ranges>
MEZZO_HOST_DEVICE inline void transform_one(const Functor& functor, index_t i, Lane<packet_size, Ranges>&&... lanes) {
  (lanes.load_one(i), ...);
  call(functor, lanes.at[0]...);
  (lanes.store_one(i), ...);
}

/// Thread `thread` of `threads` over all elements [0, count): the packs that begin with its number, then its share of the elements that
/// fill no pack. Without `is_aligned` every element is for itself.
template <class Functor, class... Ranges>
MEZZO_HOST_DEVICE inline void transform_thread(const Functor& functor, index_t thread, index_t threads, index_t count, bool is_aligned,
                                               const Ranges&... ranges) {
  constexpr int pack = pack_size<Ranges...>();
  index_t whole = 0;
  if constexpr ((... && !requires { Ranges::strides; })) {
    if (is_aligned) whole = count - count % pack;
    for (index_t i = thread * pack; i < whole; i += threads * pack) transform_pack<pack>(functor, i, Lane<pack, Ranges>(ranges)...);
  }
  for (index_t i = whole + thread; i < count; i += threads) transform_one(functor, i, Lane<packet_size, Ranges>(ranges)...);
}

}  // namespace mezzo::detail::cuda
