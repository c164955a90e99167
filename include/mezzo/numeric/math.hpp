// exp, log, tanh, erf and square root without branches and without errno, so that loops over them vectorise and the host computes
// what the device computes. For float; double goes to the C library. Polynomials are minimax fits (docs/architecture.md).
#pragma once

#include <cstdint>

#include <mezzo/core/config.hpp>

namespace mezzo::math {

namespace detail {

MEZZO_HOST_DEVICE constexpr std::uint32_t bits_of(float x) { return __builtin_bit_cast(std::uint32_t, x); }
MEZZO_HOST_DEVICE constexpr float float_of(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }
MEZZO_HOST_DEVICE constexpr float select(bool condition, float a, float b) {
  const std::uint32_t mask = 0u - static_cast<std::uint32_t>(condition);
  return float_of((bits_of(a) & mask) | (bits_of(b) & ~mask));
}
/// 2^n for n in [-126, 127].
MEZZO_HOST_DEVICE constexpr float power_of_two(std::int32_t n) { return float_of(static_cast<std::uint32_t>(n + 127) << 23); }
MEZZO_HOST_DEVICE constexpr float with_sign_of(float magnitude, float x) {
  return float_of((bits_of(magnitude) & 0x7FFFFFFFu) | (bits_of(x) & 0x80000000u));
}

}  // namespace detail

/// e^x within 2 units in the last place; infinity above 88.72, subnormal results kept.
MEZZO_HOST_DEVICE constexpr float exp(float x) {
  x = detail::select(x < -104.0f, -104.0f, x);  // as bits: branches would be threaded into one another, and nothing vectorised
  x = detail::select(x > 89.0f, 89.0f, x);
  // The nearest integer is read off the bits, since fast-math would cancel adding and subtracting the constant.
  constexpr float shift = 0x1.8p23f;
  const auto n = static_cast<std::int32_t>(detail::bits_of(x * 0x1.715476p+0f + shift) - detail::bits_of(shift));
  const auto whole = static_cast<float>(n);
  const float r = (x - whole * 0x1.62e400p-1f) - whole * 0x1.7f7d1cp-20f;
  float p = 0x1.a1b124p-13f;
  p = p * r + 0x1.6d9ea4p-10f;
  p = p * r + 0x1.111082p-7f;
  p = p * r + 0x1.555478p-5f;
  p = p * r + 0x1.555556p-3f;
  p = p * r + 0.5f;
  p = p * (r * r) + r + 1.0f;
  const std::int32_t half_n = n >> 1;
  return p * detail::power_of_two(half_n) * detail::power_of_two(n - half_n);
}

/// Natural logarithm within 2 units in the last place; -infinity at 0, NaN below.
MEZZO_HOST_DEVICE constexpr float log(float x) {
  const std::uint32_t given = detail::bits_of(x);
  const bool is_subnormal = given < 0x00800000u;
  const std::uint32_t bits = detail::bits_of(detail::select(is_subnormal, x * 0x1p23f, x));
  const auto exponent = static_cast<std::int32_t>(bits - 0x3F3504F3u) >> 23;
  const float f = detail::float_of(bits - (static_cast<std::uint32_t>(exponent) << 23)) - 1.0f;
  const float e = static_cast<float>(exponent) - detail::select(is_subnormal, 23.0f, 0.0f);
  float p = -0x1.38b2a8p-4f;
  p = p * f + 0x1.055ad8p-3f;
  p = p * f - 0x1.0d8586p-3f;
  p = p * f + 0x1.22da36p-3f;
  p = p * f - 0x1.547240p-3f;
  p = p * f + 0x1.99a008p-3f;
  p = p * f - 0x1.000228p-2f;
  p = p * f + 0x1.555554p-2f;
  const float square = f * f;
  const float result = ((p * f * square - 0.5f * square + e * 0x1.7f7d1cp-20f) + f) + e * 0x1.62e400p-1f;
  const std::uint32_t nan = 0x7FC00000u, infinity = 0x7F800000u;
  const bool is_negative = given > 0x80000000u, is_zero = (given << 1) == 0u, is_special = given >= infinity && !is_negative;
  const float special = detail::select(is_special && given == infinity, detail::float_of(infinity), detail::float_of(nan));
  return detail::select(is_zero, detail::float_of(0xFF800000u), detail::select(is_negative || is_special, special, result));
}

/// Square root within 1 unit in the last place, subnormal arguments included; NaN below 0.
MEZZO_HOST_DEVICE constexpr float sqrt(float x) {
  const std::uint32_t given = detail::bits_of(x);
  const bool is_tiny = given < 0x0D800000u;  // 2^-100: the products below would underflow
  const float y = x * detail::select(is_tiny, 0x1p60f, 1.0f);
  float r = detail::float_of(0x5F375A86u - (detail::bits_of(y) >> 1));
  r = r * (1.5f - 0.5f * (y * r) * r);
  r = r * (1.5f - 0.5f * (y * r) * r);
  r = r * (1.5f - 0.5f * (y * r) * r);
  float root = y * r;
  root = root + 0.5f * r * (y - root * root);
  root = root * detail::select(is_tiny, 0x1p-30f, 1.0f);
  const bool is_negative = given > 0x80000000u, is_itself = (given << 1) == 0u || given >= 0x7F800000u;
  return detail::select(is_negative, detail::float_of(0x7FC00000u), detail::select(is_itself, x, root));
}

/// Hyperbolic tangent within 4 units in the last place.
MEZZO_HOST_DEVICE constexpr float tanh(float x) {
  const float z = x * x;
  float p = -0x1.76ab88p-8f;
  p = p * z + 0x1.5256b4p-6f;
  p = p * z - 0x1.b84442p-5f;
  p = p * z + 0x1.110768p-3f;
  p = p * z - 0x1.555534p-2f;
  const float magnitude = detail::float_of(detail::bits_of(x) & 0x7FFFFFFFu);
  const float large = 1.0f - 2.0f / (exp(2.0f * magnitude) + 1.0f);
  return detail::select(magnitude < 0.625f, p * z * x + x, detail::with_sign_of(large, x));
}

/// Error function within 4 units in the last place.
MEZZO_HOST_DEVICE constexpr float erf(float x) {
  const float z = x * x;
  float p = 0x1.4ae4aap-14f;
  p = p * z - 0x1.a485dep-11f;
  p = p * z + 0x1.5419f4p-8f;
  p = p * z - 0x1.b7fbb4p-6f;
  p = p * z + 0x1.ce2d20p-4f;
  p = p * z - 0x1.81273ep-2f;
  p = p * z + 0x1.06eba8p-3f;
  const float given = detail::float_of(detail::bits_of(x) & 0x7FFFFFFFu);
  const float a = detail::select(given > 4.0f, 4.0f, given);
  float q = 0x1.6bd952p-16f;  // -log(erfc(a)) on [1, 4]
  q = q * a - 0x1.cec71cp-12f;
  q = q * a + 0x1.138d18p-8f;
  q = q * a - 0x1.9d0344p-6f;
  q = q * a + 0x1.bc1530p-4f;
  q = q * a + 0x1.443564p-1f;
  q = q * a + 0x1.212c0ep+0f;
  q = q * a - 0x1.8a5d7cp-13f;
  return detail::select(given < 1.0f, p * x + x, detail::with_sign_of(1.0f - exp(-q), x));
}

MEZZO_HOST_DEVICE inline double exp(double x) { return __builtin_exp(x); }
MEZZO_HOST_DEVICE inline double log(double x) { return __builtin_log(x); }
MEZZO_HOST_DEVICE inline double sqrt(double x) { return __builtin_sqrt(x); }
MEZZO_HOST_DEVICE inline double tanh(double x) { return __builtin_tanh(x); }
MEZZO_HOST_DEVICE inline double erf(double x) { return __builtin_erf(x); }

}  // namespace mezzo::math
