// The upper half of a float: the storage type of AmpBf16, with the range of float and 8 bits of precision.
#pragma once

#include <limits>

#include <mezzo/numeric/detail/narrow_float.hpp>

namespace mezzo {

/// 1 sign, 8 exponent and 7 mantissa bits; up to 3.39e38. The bits of __nv_bfloat16 and __bf16.
class bfloat16 : public detail::NarrowFloat<bfloat16> {
 public:
  using NarrowFloat::NarrowFloat;
  bfloat16() = default;
};

}  // namespace mezzo

template <>
class std::numeric_limits<mezzo::bfloat16> : public mezzo::detail::NarrowLimits<mezzo::bfloat16> {};
