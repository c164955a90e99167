#include <doctest/doctest.h>

#include <mezzo/numeric/dtype.hpp>

#include <cstring>
#include <string>
#include <type_traits>

using mezzo::DType;
using mezzo::dtype_of;

static_assert(dtype_of<double> == DType::float64 && dtype_of<float> == DType::float32 && dtype_of<mezzo::half> == DType::float16);
static_assert(dtype_of<mezzo::bfloat16> == DType::bfloat16 && dtype_of<mezzo::fp8_e4m3> == DType::float8_e4m3);
static_assert(dtype_of<mezzo::fp8_e5m2> == DType::float8_e5m2 && dtype_of<bool> == DType::boolean &&
              dtype_of<const float> == DType::float32);
static_assert(dtype_of<long long> == DType::int64 && dtype_of<unsigned long long> == DType::uint64 && dtype_of<long> == DType::int64);
static_assert(dtype_of<signed char> == DType::int8 && dtype_of<unsigned char> == DType::uint8);
static_assert(size_of(DType::float64) == 8 && size_of(DType::bfloat16) == 2 && size_of(DType::float8_e5m2) == 1 &&
              size_of(DType::boolean) == 1);

namespace {

/// The message of the E that `f` throws.
template <class E, class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE("types, values and names agree for every dtype") {
  for (int i = 0; i < mezzo::dtype_count; ++i) {
    const auto dtype = static_cast<DType>(i);
    CAPTURE(mezzo::describe(dtype));
    CHECK(mezzo::to_dtype(name_of(dtype)) == dtype);
    CHECK(describe(dtype) == name_of(dtype));
    const std::size_t size = visit_dtype(dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      CHECK(dtype_of<T> == dtype);
      if constexpr (mezzo::FloatingPoint<T>) CHECK(std::string(mezzo::float_traits<T>::name) == name_of(dtype));
      return sizeof(T);
    });
    CHECK(size == size_of(dtype));
  }
}

TEST_CASE("names are those of the field") {
  const char* const names[] = {"float64", "float32", "float16", "bfloat16", "float8_e4m3", "float8_e5m2", "int8", "int16",
                               "int32",   "int64",   "uint8",   "uint16",   "uint32",      "uint64",      "bool"};
  const DType dtypes[] = {DType::float64,     DType::float32, DType::float16, DType::bfloat16, DType::float8_e4m3,
                          DType::float8_e5m2, DType::int8,    DType::int16,   DType::int32,    DType::int64,
                          DType::uint8,       DType::uint16,  DType::uint32,  DType::uint64,   DType::boolean};
  static_assert(std::size(names) == mezzo::dtype_count && std::size(dtypes) == mezzo::dtype_count);
  for (std::size_t i = 0; i < std::size(names); ++i) CHECK(std::strcmp(name_of(dtypes[i]), names[i]) == 0);
}

TEST_CASE("a name that is none lists the choices") {
  for (const char* name : {"float", "", "Float32", "float32 ", "boolean"}) {
    const std::string message = message_of<mezzo::dtype_error>([&] { mezzo::to_dtype(name); });
    CHECK(message == "to_dtype: no data type is named '" + std::string(name) +
                         "'; choose one of float64, float32, float16, bfloat16, float8_e4m3, float8_e5m2, int8, int16, int32, int64, "
                         "uint8, uint16, uint32, uint64, bool");
  }
}

TEST_CASE("a value outside the enumeration is an error, and can be described") {
  const auto garbage = static_cast<DType>(200);
  CHECK(message_of<mezzo::dtype_error>([&] { size_of(garbage); }) == "visit_dtype: 200 is no DType; there are 15");
  CHECK(message_of<mezzo::dtype_error>([&] { name_of(garbage); }) == "name_of: 200 is no DType; there are 15");
  CHECK(describe(garbage) == "DType(200)");
}

TEST_CASE("dtypes are described in error messages") {
  const std::string message = message_of<mezzo::dtype_error>(
      [] { mezzo::expects<mezzo::dtype_error>(false, "cast: {} is not {}", DType::float16, DType::float32); });
  CHECK(message == "cast: float16 is not float32");
}
