// The one door between dtypes. Operations never cast in secret; who wants another dtype says so here.
#pragma once

#include <mezzo/kernels/transform.hpp>
#include <mezzo/ops/detail/checks.hpp>
#include <mezzo/tensor/parameter_arena.hpp>

namespace mezzo {

namespace detail {

/// The loops compute it in float, without a rounding before the last.
template <class T>
inline constexpr bool is_loop_float = FloatingPoint<T> && !std::is_same_v<T, double>;

template <class Out, class In>
void convert_run(index_t count, Out* to, const In* from) {
  for (index_t i = 0; i < count; ++i) to[i] = convert<Out>(from[i]);
}

}  // namespace detail

/// out = in as another dtype (or the same), by the rules of convert<>: to nearest even, rounded once. Views of one shape with any
/// strides. Throws shape_error.
template <Context C, class Out, class In>
void cast(C& context, Out&& out, const In& in) {
  const auto y = detail::output_view<C>(out);
  const auto x = detail::input_view<C>(in);
  detail::expects_same_shape(y, x, "cast: shapes {} and {} differ");
  const index_t chunk = detail::elementwise_chunk(context, y.size());
  if constexpr (detail::is_loop_float<value_type_t<Out>> && detail::is_loop_float<value_type_t<const In>>) {
    const bool is_streamed = y.is_contiguous() && x.is_contiguous() && detail::exceeds_caches(y, x);
    detail::for_each_run(
        context, chunk,
        [&, isa = context.isa()](index_t, index_t count, auto to, auto from) {
          detail::convert_range(isa, is_streamed, count, to.data, from.data);
        },
        write(y), read(x));
  } else {
    detail::for_each_run(
        context, chunk, [](index_t, index_t count, auto to, auto from) { detail::convert_run(count, to.data, from.data); }, write(y),
        read(x));
  }
}

/// Rounds an arena's masters to its 16-bit weights, after masters were changed from outside (initialisers, a load, a broadcast). Does
/// nothing where the masters are the weights.
template <Context C, class Arena>
void refresh_weights(C& context, Arena& arena) {
  if constexpr (Arena::has_copies) cast(context, arena.weights(), arena.masters());
}

}  // namespace mezzo
