// Independent references for the conversions: formats decoded with ldexp, rounding by looking up the interval a number lies in.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace test {

/// A format by its numbers, deliberately not read from mezzo.
class Format {
 public:
  Format(int exponent_bits, int mantissa_bits, bool has_infinity)
      : m_mantissa_bits(mantissa_bits), m_bias((1 << (exponent_bits - 1)) - 1), m_sign(1u << (exponent_bits + mantissa_bits)) {
    m_infinity = has_infinity ? ((1u << exponent_bits) - 1) << mantissa_bits : m_sign;  // no code reaches it
    m_largest = has_infinity ? m_infinity - 1 : m_sign - 2;
    for (unsigned code = 0; code <= m_largest; ++code) m_bounds.push_back((value(code) + value(code + 1)) / 2);
  }

  unsigned sign() const { return m_sign; }
  unsigned largest() const { return m_largest; }
  unsigned after_largest() const { return m_largest + 1; }  // infinity, or the NaN of a format without it
  bool is_nan(unsigned code) const { return (code & (m_sign - 1)) > (m_infinity < m_sign ? m_infinity : m_largest); }

  /// The number that the code without sign stands for; beyond the largest, the one that would come next.
  double value(unsigned code) const {
    const int exponent = static_cast<int>(code >> m_mantissa_bits);
    const int mantissa = static_cast<int>(code & ((1u << m_mantissa_bits) - 1));
    if (exponent == 0) return std::ldexp(mantissa, 1 - m_bias - m_mantissa_bits);
    return std::ldexp(mantissa + (1 << m_mantissa_bits), exponent - m_bias - m_mantissa_bits);
  }

  /// Halfway between a code and the next.
  double bound(unsigned code) const { return m_bounds[code]; }

  /// The code nearest to a finite magnitude, ties to even; after_largest() on overflow.
  unsigned nearest(double magnitude) const {
    const auto code = static_cast<unsigned>(std::lower_bound(m_bounds.begin(), m_bounds.end(), magnitude) - m_bounds.begin());
    return code <= m_largest && m_bounds[code] == magnitude ? code + (code & 1u) : code;
  }

  /// The same for an integer, compared without rounding it.
  unsigned nearest(std::uint64_t magnitude) const {
    unsigned code = 0;
    for (; code <= m_largest; ++code) {
      const double bound = m_bounds[code];
      if (bound >= 0x1p64) break;
      const auto whole = static_cast<std::uint64_t>(bound);
      const bool has_fraction = static_cast<double>(whole) != bound;
      if (magnitude < whole || (magnitude == whole && (has_fraction || (code & 1u) == 0))) break;
    }
    return code;
  }

 private:
  int m_mantissa_bits;
  int m_bias;
  unsigned m_sign;
  unsigned m_infinity = 0;
  unsigned m_largest = 0;
  std::vector<double> m_bounds;
};

/// splitmix64: the same numbers everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : m_state(seed) {}

  std::uint64_t operator()() {
    std::uint64_t z = m_state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t m_state;
};

#if defined(__SSE2__)
/// Sets MXCSR while it lives.
class Mxcsr {
 public:
  explicit Mxcsr(unsigned bits) : m_before(_mm_getcsr()) { _mm_setcsr(bits); }
  ~Mxcsr() { _mm_setcsr(m_before); }
  Mxcsr(const Mxcsr&) = delete;
  Mxcsr& operator=(const Mxcsr&) = delete;

 private:
  unsigned m_before;
};
#endif

/// Runs `f(name)` as the program was started and, on x86, in each rounding mode with subnormals kept and flushed.
inline void in_each_float_environment(const std::function<void(const std::string&)>& f) {
  f("as started");
#if defined(__SSE2__)
  constexpr unsigned masked = 0x1F80, flush = 0x8040;  // all exceptions masked; FTZ and DAZ
  const char* const rounding[] = {"nearest", "down", "up", "to zero"};
  for (unsigned mode = 0; mode < 4; ++mode) {
    for (unsigned flushed : {0u, flush}) {
      const Mxcsr mxcsr(masked | (mode << 13) | flushed);
      f(std::string("rounding ") + rounding[mode] + (flushed != 0 ? ", subnormals flushed" : ", subnormals kept"));
    }
  }
#endif
}

}  // namespace test
