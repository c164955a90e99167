// Where a backward operation writes the gradient of a weight. It knows whether the window has a gradient already, so that nobody
// spends a pass on zeroing: the first write overwrites, later ones add.
#pragma once

#include <mezzo/tensor/viewable.hpp>

namespace mezzo {

template <class View>
struct GradientSink {
  View view;
  bool accumulates = false;  ///< add to what is there; else overwrite it

  /// As a factor on what is there, such as GEMM's beta.
  float beta() const { return accumulates ? 1.0f : 0.0f; }
};

/// Given in place of an argument that an operation may do without: a bias, or a gradient that nobody wants.
struct None {};
inline constexpr None none;

/// The sink of a weight with storage for its gradient, such as Parameter; views and tensors are overwritten.
template <class Target>
requires requires(Target& target) { target.gradient_sink(); }
auto gradient_sink(Target& target) { return target.gradient_sink(); }
template <Viewable Target>
requires(!requires(Target & target) { target.gradient_sink(); }) auto gradient_sink(Target& target) {
  return GradientSink<view_type_t<Target>>{view_of(target)};
}

/// Tells the owner of a sink that its gradient has been written. A kernel of the user's own that writes through a sink says so too.
template <class Target>
void gradient_written(Target& target) {
  if constexpr (requires { target.written(); }) target.written();
}

}  // namespace mezzo
