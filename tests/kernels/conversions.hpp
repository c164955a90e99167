// Cases of the conversions inside the CPU's loops, for each instruction set.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <mezzo/kernels/transform.hpp>

#include "transform.hpp"

namespace {

using mezzo::CpuContext;
using mezzo::index_t;
using mezzo::Isa;

template <class Function>
void for_each_isa(const Function& function) {
  for (Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
    if (isa > mezzo::best_isa()) continue;
    const std::string name = describe(isa);
    CAPTURE(name);
    function(isa);
  }
}

std::uint32_t bits_of_float(float x) { return __builtin_bit_cast(std::uint32_t, x); }
bool is_nan(float x) { return (bits_of_float(x) & 0x7FFFFFFFu) > 0x7F800000u; }

/// Floats with every exponent, around every rounding border of the narrow types, and at random.
std::vector<float> many_floats() {
  std::vector<float> result;
  for (std::uint32_t sign : {0u, 0x80000000u}) {
    for (std::uint32_t exponent = 0; exponent < 256; ++exponent) {
      for (std::uint32_t fraction : {0x0u,      0x1u,      0x7FFFu,   0x8000u,   0x8001u,   0xFFFu,    0x1000u,   0x1001u,
                                     0x1FFFu,   0x2000u,   0x3000u,   0x17FFFu,  0x18000u,  0x18001u,  0x7FC000u, 0x7FDFFFu,
                                     0x7FE000u, 0x7FEFFFu, 0x7FF000u, 0x7F7FFFu, 0x7F8000u, 0x400000u, 0x400001u, 0x7FFFFFu}) {
        result.push_back(__builtin_bit_cast(float, sign | exponent << 23 | fraction));
      }
    }
  }
  test::Random random(11);
  for (int i = 0; i < 1000000; ++i) result.push_back(__builtin_bit_cast(float, random.bits()));
  for (int i = 0; i < 200000; ++i) {  // the exponents where half rounds, among subnormals and to infinity
    const std::uint32_t bits = random.bits();
    result.push_back(__builtin_bit_cast(float, (bits & 0x807FFFFFu) | (100u + bits % 45u) << 23));
  }
  return result;
}

struct Assign {
  template <class V>
  void operator()(V& y, V x) const {
    y = x;
  }
};

/// How many results of the loop differ from convert<T>: in blocks, and one by one.
template <class T>
index_t wrong_stores(Isa isa, const std::vector<float>& from) {
  std::vector<T> to(from.size());
  index_t wrong = 0;
  for (index_t piece : {index_t{1} << 30, index_t{7}}) {
    for (index_t begin = 0; begin < static_cast<index_t>(from.size()); begin += piece) {
      const index_t count = std::min(piece, static_cast<index_t>(from.size()) - begin);
      mezzo::detail::transform_range(isa, Assign{}, count, mezzo::write(to.data() + begin), mezzo::read(from.data() + begin));
    }
    for (std::size_t i = 0; i < from.size(); ++i) {
      const T expected = mezzo::convert<T>(from[i]);
      const bool both_nan = is_nan(static_cast<float>(expected)) && is_nan(static_cast<float>(to[i]));
      if (both_nan || expected.bits() == to[i].bits()) continue;
      if (++wrong < 5)
        MESSAGE(bits_of_float(from[i]) << " gives " << static_cast<unsigned>(to[i].bits()) << ", not "
                                       << static_cast<unsigned>(expected.bits()));
    }
  }
  return wrong;
}

template <class T>
index_t wrong_loads(Isa isa) {
  constexpr std::size_t codes = std::size_t{1} << (8 * sizeof(T));
  std::vector<T> from;
  for (std::size_t code = 0; code < codes; ++code) from.push_back(T::from_bits(static_cast<decltype(T().bits())>(code)));
  std::vector<float> to(codes);
  mezzo::detail::transform_range(isa, Assign{}, static_cast<index_t>(codes), mezzo::write(to.data()), mezzo::read(from.data()));
  index_t wrong = 0;
  for (std::size_t i = 0; i < codes; ++i) {
    const float expected = mezzo::convert<float>(from[i]);
    wrong += !(is_nan(expected) && is_nan(to[i])) && bits_of_float(expected) != bits_of_float(to[i]);
  }
  return wrong;
}

}  // namespace

TEST_CASE_TEMPLATE("the loops convert as convert<> does", T, mezzo::half, mezzo::bfloat16, mezzo::fp8_e4m3, mezzo::fp8_e5m2) {
  const auto floats = many_floats();
  for_each_isa([&](Isa isa) {
    CHECK(wrong_loads<T>(isa) == 0);
    CHECK(wrong_stores<T>(isa, floats) == 0);
  });
}
