// Element types as values: for files, messages and choices made at run time. Everything else knows its types when it is compiled.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <mezzo/core/error.hpp>
#include <mezzo/numeric/bfloat16.hpp>
#include <mezzo/numeric/float_traits.hpp>
#include <mezzo/numeric/fp8.hpp>
#include <mezzo/numeric/half.hpp>

namespace mezzo {

enum class DType : std::uint8_t {
  float64,
  float32,
  float16,
  bfloat16,
  float8_e4m3,
  float8_e5m2,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  boolean,
};

inline constexpr int dtype_count = 15;

/// A type as a value, to be taken apart with `typename decltype(tag)::type`.
template <class T>
struct type_tag {
  using type = T;
};

namespace detail {

inline constexpr const char* dtype_names[dtype_count] = {"float64",     "float32", "float16", "bfloat16", "float8_e4m3",
                                                         "float8_e5m2", "int8",    "int16",   "int32",    "int64",
                                                         "uint8",       "uint16",  "uint32",  "uint64",   "bool"};

template <class T>
constexpr DType find_dtype() {
  if constexpr (std::same_as<T, double>) {
    return DType::float64;
  } else if constexpr (std::same_as<T, float>) {
    return DType::float32;
  } else if constexpr (std::same_as<T, half>) {
    return DType::float16;
  } else if constexpr (std::same_as<T, bfloat16>) {
    return DType::bfloat16;
  } else if constexpr (std::same_as<T, fp8_e4m3>) {
    return DType::float8_e4m3;
  } else if constexpr (std::same_as<T, fp8_e5m2>) {
    return DType::float8_e5m2;
  } else if constexpr (std::same_as<T, bool>) {
    return DType::boolean;
  } else {
    constexpr DType narrowest = std::is_signed_v<T> ? DType::int8 : DType::uint8;
    constexpr int doublings = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return static_cast<DType>(static_cast<int>(narrowest) + doublings);
  }
}

}  // namespace detail

/// The DType of elements of type T, const or not; integer types of the same size and sign have the same.
template <class T>
requires FloatingPoint<std::remove_cv_t<T>> || std::integral<T>
inline constexpr DType dtype_of = detail::find_dtype<std::remove_cv_t<T>>();

/// Calls f(type_tag<T>{}) with the T that has `dtype`, and returns what it returns, which must be of one type for all T.
/// Throws dtype_error for a value outside the enumeration.
template <class F>
constexpr decltype(auto) visit_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::float64:
      return f(type_tag<double>{});
    case DType::float32:
      return f(type_tag<float>{});
    case DType::float16:
      return f(type_tag<half>{});
    case DType::bfloat16:
      return f(type_tag<bfloat16>{});
    case DType::float8_e4m3:
      return f(type_tag<fp8_e4m3>{});
    case DType::float8_e5m2:
      return f(type_tag<fp8_e5m2>{});
    case DType::int8:
      return f(type_tag<std::int8_t>{});
    case DType::int16:
      return f(type_tag<std::int16_t>{});
    case DType::int32:
      return f(type_tag<std::int32_t>{});
    case DType::int64:
      return f(type_tag<std::int64_t>{});
    case DType::uint8:
      return f(type_tag<std::uint8_t>{});
    case DType::uint16:
      return f(type_tag<std::uint16_t>{});
    case DType::uint32:
      return f(type_tag<std::uint32_t>{});
    case DType::uint64:
      return f(type_tag<std::uint64_t>{});
    case DType::boolean:
      return f(type_tag<bool>{});
  }
  detail::fail<dtype_error>("visit_dtype: {} is no DType; there are {}", static_cast<int>(dtype), dtype_count);
}

/// Bytes per element.
constexpr std::size_t size_of(DType dtype) {
  return visit_dtype(dtype, [](auto tag) { return sizeof(typename decltype(tag)::type); });
}

/// The name that to_dtype reads, such as "float32". Throws dtype_error for a value outside the enumeration.
constexpr const char* name_of(DType dtype) {
  expects<dtype_error>(static_cast<int>(dtype) < dtype_count, "name_of: {} is no DType; there are {}", static_cast<int>(dtype),
                       dtype_count);
  return detail::dtype_names[static_cast<int>(dtype)];
}

/// Names a DType in an error message, one outside the enumeration too.
inline std::string describe(DType dtype) {
  const int value = static_cast<int>(dtype);
  return value < dtype_count ? detail::dtype_names[value] : "DType(" + std::to_string(value) + ")";
}

/// The DType of that name. Throws dtype_error, which lists the names there are.
inline DType to_dtype(std::string_view name) {
  std::string choices;
  for (int i = 0; i < dtype_count; ++i) {
    if (name == detail::dtype_names[i]) return static_cast<DType>(i);
    choices += i == 0 ? "" : ", ";
    choices += detail::dtype_names[i];
  }
  detail::fail<dtype_error>("to_dtype: no data type is named '{}'; choose one of {}", std::string(name), choices);
}

}  // namespace mezzo
