#include <doctest/doctest.h>

#include <mezzo/numeric/float_traits.hpp>

#include <cstdint>
#include <limits>
#include <string>

using mezzo::compute_type_t;
using mezzo::float_traits;

// The types themselves are incomplete here: their facts do not need them.
static_assert(mezzo::FloatingPoint<double> && mezzo::FloatingPoint<float> && mezzo::FloatingPoint<mezzo::half>);
static_assert(mezzo::FloatingPoint<mezzo::fp8_e4m3> && !mezzo::FloatingPoint<int> && !mezzo::FloatingPoint<bool>);
static_assert(!mezzo::StorageFloat<float> && !mezzo::StorageFloat<double> && mezzo::StorageFloat<mezzo::half>);
static_assert(mezzo::StorageFloat<mezzo::bfloat16> && mezzo::StorageFloat<mezzo::fp8_e4m3> && mezzo::StorageFloat<mezzo::fp8_e5m2>);
static_assert(std::is_same_v<compute_type_t<double>, double> && std::is_same_v<compute_type_t<float>, float>);
static_assert(std::is_same_v<compute_type_t<mezzo::half>, float> && std::is_same_v<compute_type_t<const mezzo::bfloat16>, float>);
static_assert(std::is_same_v<compute_type_t<mezzo::fp8_e4m3>, float> && std::is_same_v<compute_type_t<mezzo::fp8_e5m2>, float>);
static_assert(std::is_same_v<compute_type_t<std::int64_t>, std::int64_t> && std::is_same_v<compute_type_t<bool>, bool>);

namespace {

template <class T>
bool has_facts(int exponent_bits, int mantissa_bits, int bias, bool has_infinity, const std::string& name) {
  using traits = float_traits<T>;
  return traits::exponent_bits == exponent_bits && traits::mantissa_bits == mantissa_bits && traits::bias == bias &&
         traits::has_infinity == has_infinity && traits::name == name &&
         sizeof(typename traits::storage_type) * 8 == static_cast<unsigned>(1 + exponent_bits + mantissa_bits);
}

}  // namespace

TEST_CASE("the facts of the six formats") {
  CHECK(has_facts<double>(11, 52, 1023, true, "float64"));
  CHECK(has_facts<float>(8, 23, 127, true, "float32"));
  CHECK(has_facts<mezzo::half>(5, 10, 15, true, "float16"));
  CHECK(has_facts<mezzo::bfloat16>(8, 7, 127, true, "bfloat16"));
  CHECK(has_facts<mezzo::fp8_e4m3>(4, 3, 7, false, "float8_e4m3"));
  CHECK(has_facts<mezzo::fp8_e5m2>(5, 2, 15, true, "float8_e5m2"));
}

TEST_CASE("only fp8_e4m3 saturates unless told otherwise") {
  CHECK(float_traits<mezzo::fp8_e4m3>::overflow == mezzo::Overflow::saturate);
  for (mezzo::Overflow overflow : {float_traits<double>::overflow, float_traits<float>::overflow, float_traits<mezzo::half>::overflow,
                                   float_traits<mezzo::bfloat16>::overflow, float_traits<mezzo::fp8_e5m2>::overflow}) {
    CHECK(overflow == mezzo::Overflow::infinity);
  }
}
