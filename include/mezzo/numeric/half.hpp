// The IEEE 754 binary16 number: the storage type of AmpFp16, with 11 bits of precision and a range that gradients leave.
#pragma once

#include <limits>

#include <mezzo/numeric/detail/narrow_float.hpp>

namespace mezzo {

/// 1 sign, 5 exponent and 10 mantissa bits; up to 65504. The bits of __half and _Float16.
class half : public detail::NarrowFloat<half> {
 public:
  using NarrowFloat::NarrowFloat;
  half() = default;
};

}  // namespace mezzo

template <>
class std::numeric_limits<mezzo::half> : public mezzo::detail::NarrowLimits<mezzo::half> {};
