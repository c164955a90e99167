// The two 8-bit formats of the Open Compute Project's OFP8 specification: e4m3 for weights and activations, e5m2 for gradients.
#pragma once

#include <limits>

#include <mezzo/numeric/detail/narrow_float.hpp>

namespace mezzo {

/// 1 sign, 4 exponent and 3 mantissa bits; up to 448, without infinity: 0x7F and 0xFF are NaN, and what is too large becomes 448.
/// The bits of __nv_fp8_e4m3 and of PyTorch's float8_e4m3fn.
class fp8_e4m3 : public detail::NarrowFloat<fp8_e4m3> {
 public:
  using NarrowFloat::NarrowFloat;
  fp8_e4m3() = default;
};

/// 1 sign, 5 exponent and 2 mantissa bits: the upper half of a `half`, up to 57344. The bits of __nv_fp8_e5m2.
class fp8_e5m2 : public detail::NarrowFloat<fp8_e5m2> {
 public:
  using NarrowFloat::NarrowFloat;
  fp8_e5m2() = default;
};

}  // namespace mezzo

template <>
class std::numeric_limits<mezzo::fp8_e4m3> : public mezzo::detail::NarrowLimits<mezzo::fp8_e4m3> {};

template <>
class std::numeric_limits<mezzo::fp8_e5m2> : public mezzo::detail::NarrowLimits<mezzo::fp8_e5m2> {};
