// Compiled with -O3 -march=native: what good compilers make of the obvious loops.
#include "peers.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace bench::peers::plain {

Contestant copy(void* to, const void* from, std::size_t bytes) {
  return [=] { std::memcpy(to, from, bytes); };
}

Contestant copy_nontemporal(void* to, const void* from, std::size_t bytes) {
#if defined(__x86_64__)
  return [=] {
    auto* const target = static_cast<__m128i*>(to);
    const auto* const source = static_cast<const __m128i*>(from);
    const std::size_t count = bytes / sizeof(__m128i);
    for (std::size_t i = 0; i + 4 <= count; i += 4) {
      const __m128i a = source[i], b = source[i + 1], c = source[i + 2], d = source[i + 3];
      _mm_stream_si128(target + i, a);
      _mm_stream_si128(target + i + 1, b);
      _mm_stream_si128(target + i + 2, c);
      _mm_stream_si128(target + i + 3, d);
    }
    _mm_sfence();
  };
#else
  return {};
#endif
}

Contestant cast_traffic(void* to, const void* from, std::size_t to_bytes, std::size_t from_bytes) {
#if defined(__x86_64__)
  return [=] {
    auto* const target = static_cast<__m128i*>(to);
    const auto* const source = static_cast<const __m128i*>(from);
    const std::size_t count = (to_bytes < from_bytes ? to_bytes : from_bytes) / sizeof(__m128i);
    if (to_bytes < from_bytes) {
      for (std::size_t i = 0; i < count; ++i) _mm_stream_si128(target + i, _mm_or_si128(source[2 * i], source[2 * i + 1]));
    } else {
      for (std::size_t i = 0; i < count; ++i) {
        _mm_stream_si128(target + 2 * i, source[i]);
        _mm_stream_si128(target + 2 * i + 1, source[i]);
      }
    }
    _mm_sfence();
  };
#else
  return {};
#endif
}

namespace {

constexpr float factor = 1.0f;
volatile double sink;

/// Hides from the compiler what a value is.
template <class T>
T opaque(T value) {
  asm volatile("" : "+m"(value));
  return value;
}

void scale_pass(float* data, std::size_t size, float by) {
  for (std::size_t i = 0; i < size; ++i) data[i] *= by;
}
bool check_pass(const float* data, std::size_t size) {
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < size; ++i) {
    std::uint32_t bits;
    std::memcpy(&bits, data + i, sizeof bits);
    bits &= 0x7FFFFFFFu;
    largest = largest < bits ? bits : largest;
  }
  return largest < 0x7F800000u;
}

/// As wide as registers allow: sixty-four sums.
constexpr std::size_t lanes = 64;
template <class Map>
double sum_pass(const float* data, std::size_t size, const Map& map) {
  float sums[lanes] = {};
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    for (std::size_t k = 0; k < lanes; ++k) sums[k] += map(data[i + k]);
  }
  for (; i < size; ++i) sums[0] += map(data[i]);
  double result = 0;
  for (const float value : sums) result += static_cast<double>(value);
  return result;
}
double norm_pass(const float* data, std::size_t size) {
  return std::sqrt(sum_pass(data, size, [](float value) { return value * value; }));
}

template <class T>
std::uint16_t code(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<std::uint16_t>(bits >> 16);
}
/// With rounding.
template <class T>
std::uint16_t rounded_code(float value) {
  if constexpr (std::is_same_v<T, half>) {
#if defined(__FLT16_MANT_DIG__)
    const auto narrow = static_cast<_Float16>(value);
    std::uint16_t result;
    std::memcpy(&result, &narrow, sizeof result);
    return result;
#else
    return static_cast<half>(value).bits();
#endif
  } else {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return static_cast<std::uint16_t>((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
  }
}

template <bool writes_copies, class T>
void adamw_pass(const AdamWState& s, float gradient_factor) {
  float* __restrict p = s.weights, * __restrict m = s.first_moments, * __restrict v = s.second_moments;
  const float* __restrict g = s.gradients;
  auto* __restrict w = static_cast<std::uint16_t*>(s.copies);
  const float rate = 1e-6f, decay = 1e-8f, epsilon = 1e-8f;
  for (std::size_t i = 0; i < s.size; ++i) {
    const float gradient = g[i] * gradient_factor;
    m[i] += 0.1f * (gradient - m[i]);
    v[i] += 0.001f * (gradient * gradient - v[i]);
    p[i] = p[i] - decay * p[i] - rate * m[i] / (std::sqrt(v[i]) + epsilon);
    if (writes_copies) w[i] = rounded_code<T>(p[i]);
  }
}

}  // namespace

Contestant scale(float* data, std::size_t size) {
  return [=] { scale_pass(data, size, opaque(factor)); };
}
Contestant scale_then_check(float* data, std::size_t size) {
  return [=] {
    scale_pass(data, size, opaque(factor));
    sink = check_pass(data, size);
  };
}
Contestant scale_then_check_then_norm(float* data, std::size_t size) {
  return [=] {
    scale_pass(data, size, opaque(factor));
    sink = check_pass(data, size);
    sink = norm_pass(data, size);
  };
}
Contestant sum(const float* data, std::size_t size) {
  return [=] { sink = sum_pass(data, size, [](float value) { return value; }); };
}

template <class T>
Contestant adamw_traffic(const AdamWState& s) {
  return [s] {
    float* __restrict p = s.weights, * __restrict m = s.first_moments, * __restrict v = s.second_moments;
    const float* __restrict g = s.gradients;
    auto* __restrict w = static_cast<std::uint16_t*>(s.copies);
    for (std::size_t i = 0; i < s.size; ++i) {
      p[i] += g[i] * 1e-9f;
      m[i] *= 0.9999f;
      v[i] *= 0.9999f;
      w[i] = code<T>(p[i]);
    }
  };
}
template <class T>
Contestant adamw(const AdamWState& s) {
  return [s] { adamw_pass<true, T>(s, opaque(factor)); };
}
template <class T>
Contestant step_passes(const AdamWState& s) {
  return [s] {
    scale_pass(s.gradients, s.size, opaque(factor));
    if (!check_pass(s.gradients, s.size)) return;
    const double norm = norm_pass(s.gradients, s.size);
    scale_pass(s.gradients, s.size, norm > 1e30 ? static_cast<float>(1 / norm) : opaque(factor));
    adamw_pass<false, T>(s, 1.0f);
    auto* __restrict w = static_cast<std::uint16_t*>(s.copies);
    for (std::size_t i = 0; i < s.size; ++i) w[i] = rounded_code<T>(s.weights[i]);
  };
}

template Contestant adamw_traffic<half>(const AdamWState&);
template Contestant adamw_traffic<bfloat16>(const AdamWState&);
template Contestant adamw<half>(const AdamWState&);
template Contestant adamw<bfloat16>(const AdamWState&);
template Contestant step_passes<half>(const AdamWState&);
template Contestant step_passes<bfloat16>(const AdamWState&);

}  // namespace bench::peers::plain
