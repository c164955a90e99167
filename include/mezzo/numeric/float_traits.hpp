// What a floating-point format is: how many bits mean what. Everything that looks into a number, from its conversions to its
// numeric_limits, is derived from these facts.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace mezzo {

class half;
class bfloat16;
class fp8_e4m3;
class fp8_e5m2;

/// What a number too large for its target becomes: `infinity` (NaN in a format without one), or with `saturate` the largest finite
/// number, of which an infinity becomes the largest as well. NaN stays NaN under both.
enum class Overflow { infinity, saturate };

/// Facts about the format T. `mantissa_bits` are the stored ones, without the hidden bit; `overflow` is what conversions to T do
/// unless told otherwise.
template <class T>
struct float_traits;

template <>
struct float_traits<double> {
  using storage_type = std::uint64_t;
  static constexpr int exponent_bits = 11, mantissa_bits = 52, bias = 1023;
  static constexpr bool has_infinity = true;
  static constexpr Overflow overflow = Overflow::infinity;
  static constexpr const char* name = "float64";
};

template <>
struct float_traits<float> {
  using storage_type = std::uint32_t;
  static constexpr int exponent_bits = 8, mantissa_bits = 23, bias = 127;
  static constexpr bool has_infinity = true;
  static constexpr Overflow overflow = Overflow::infinity;
  static constexpr const char* name = "float32";
};

template <>
struct float_traits<half> {
  using storage_type = std::uint16_t;
  static constexpr int exponent_bits = 5, mantissa_bits = 10, bias = 15;
  static constexpr bool has_infinity = true;
  static constexpr Overflow overflow = Overflow::infinity;
  static constexpr const char* name = "float16";
};

template <>
struct float_traits<bfloat16> {
  using storage_type = std::uint16_t;
  static constexpr int exponent_bits = 8, mantissa_bits = 7, bias = 127;
  static constexpr bool has_infinity = true;
  static constexpr Overflow overflow = Overflow::infinity;
  static constexpr const char* name = "bfloat16";
};

template <>
struct float_traits<fp8_e4m3> {
  using storage_type = std::uint8_t;
  static constexpr int exponent_bits = 4, mantissa_bits = 3, bias = 7;
  static constexpr bool has_infinity = false;
  static constexpr Overflow overflow = Overflow::saturate;
  static constexpr const char* name = "float8_e4m3";
};

template <>
struct float_traits<fp8_e5m2> {
  using storage_type = std::uint8_t;
  static constexpr int exponent_bits = 5, mantissa_bits = 2, bias = 15;
  static constexpr bool has_infinity = true;
  static constexpr Overflow overflow = Overflow::infinity;
  static constexpr const char* name = "float8_e5m2";
};

/// A type that holds values and computes in float: half, bfloat16, fp8_e4m3, fp8_e5m2.
template <class T>
concept StorageFloat = std::same_as<T, half> || std::same_as<T, bfloat16> || std::same_as<T, fp8_e4m3> || std::same_as<T, fp8_e5m2>;

/// float, double or a StorageFloat.
template <class T>
concept FloatingPoint = std::same_as<T, float> || std::same_as<T, double> || StorageFloat<T>;

/// The type in which elements of type T are computed: float for storage floats, T itself for all others. const is ignored.
template <class T>
using compute_type_t = std::conditional_t<StorageFloat<std::remove_cv_t<T>>, float, std::remove_cv_t<T>>;

}  // namespace mezzo
