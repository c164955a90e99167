// A backward pass for tests: writes given numbers as a parameter's gradient, through its sink, as an operation would.
#pragma once

#include <cstddef>
#include <vector>

#include <mezzo/tensor/parameter.hpp>

namespace test {

template <class Parameter>
void backward(const Parameter& parameter, const std::vector<float>& gradient) {
  auto sink = parameter.gradient_sink();
  auto values = sink.view.flatten();
  using T = typename decltype(values)::value_type;
  for (mezzo::index_t i = 0; i < values.size(); ++i) {
    const float value = gradient[static_cast<std::size_t>(i) % gradient.size()];
    values(i) = static_cast<T>(sink.accumulates ? static_cast<float>(values(i)) + value : value);
  }
  parameter.written();
}

template <class View>
std::vector<float> values_of(const View& view) {
  std::vector<float> result;
  const auto flat = view.flatten();
  for (mezzo::index_t i = 0; i < flat.size(); ++i) result.push_back(static_cast<float>(flat(i)));
  return result;
}

/// One parameter of `size` elements, all `value`, in an arena of its own.
template <class Policy, class C, class Gradient = float>
struct OneParameter {
  mezzo::ParameterArena<Policy, C, Gradient> arena;
  mezzo::Parameter<Policy, C, 1, Gradient> weight;

  OneParameter(C& context, mezzo::index_t size, float value) : arena(context), weight(arena, "weight", {size}) {
    arena.seal();
    for (mezzo::index_t i = 0; i < size; ++i) weight.master()(i) = static_cast<typename Policy::master_type>(value);
  }
};

}  // namespace test
