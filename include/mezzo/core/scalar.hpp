// A number that changes during training: the loss scale, a clip factor, the learning rate, a divisor. It is given by value or
// lies in the memory where the step runs, so that a GPU step reads it on the device and never brings it to the host.
#pragma once

#include <mezzo/core/config.hpp>
#include <mezzo/core/tensor_view.hpp>

namespace mezzo {

/// A value, or a rank-0 view that is read when the work runs.
template <class T, MemorySpace Space = MemorySpace::host>
class Scalar {
 public:
  MEZZO_HOST_DEVICE constexpr Scalar(T value) : m_value(value) {}
  constexpr Scalar(const TensorView<const T, 0, Space>& view) : m_pointer(view.data()) {}

  /// The number now. Where Space is a device's, device code alone may ask a scalar that views memory.
  MEZZO_HOST_DEVICE constexpr T resolve() const { return m_pointer != nullptr ? *m_pointer : m_value; }

  /// The number lies in memory and may change until the work runs.
  MEZZO_HOST_DEVICE constexpr bool is_view() const { return m_pointer != nullptr; }

 private:
  T m_value{};
  const T* m_pointer = nullptr;
};

}  // namespace mezzo
