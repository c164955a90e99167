// Cases of cast, over the context.
#pragma once

#include <mezzo/ops/cast.hpp>
#include <mezzo/tensor/parameter.hpp>

#include "testing.hpp"

namespace test {

/// Bit for bit what convert<> gives, for contiguous and transposed views.
template <class Out, class In, class Context>
void as_convert(Context& context) {
  auto in = mezzo::make_tensor<In>(context, {7, 41});
  auto out = mezzo::make_tensor<Out>(context, {7, 41}), turned = mezzo::make_tensor<Out>(context, {41, 7});
  Random random(21);
  for (index_t i = 0; i < in.size(); ++i) in.data()[i] = mezzo::convert<In>(random.uniform(-300, 300));
  in(0, 0) = mezzo::convert<In>(0);
  mezzo::cast(context, out, in);
  mezzo::cast(context, turned.view().transpose(), in);
  for (index_t i = 0; i < 7; ++i) {
    for (index_t j = 0; j < 41; ++j) {
      const Out expected = mezzo::convert<Out>(in(i, j));
      REQUIRE(mezzo::convert<double>(out(i, j)) == mezzo::convert<double>(expected));
      REQUIRE(mezzo::convert<double>(turned(j, i)) == mezzo::convert<double>(expected));
    }
  }
}

template <class In, class Context>
void to_all(Context& context) {
  as_convert<float, In>(context);
  as_convert<double, In>(context);
  as_convert<mezzo::half, In>(context);
  as_convert<mezzo::bfloat16, In>(context);
  as_convert<mezzo::fp8_e4m3, In>(context);
  as_convert<std::int32_t, In>(context);
  as_convert<std::uint8_t, In>(context);
  as_convert<std::int64_t, In>(context);
  as_convert<bool, In>(context);
}

/// The values of cases.md that a second rounding would change.
template <class Context>
void rounds_once(Context& context) {
  const double tie = 1 + 0x1p-11 + 0x1p-40;
  mezzo::half h;
  mezzo::cast(context, mezzo::TensorView<mezzo::half, 0>(&h, {}), mezzo::TensorView<const double, 0>(&tie, {}));
  CHECK(h.bits() == 0x3C01);
  const std::int32_t whole[] = {259, 511};
  mezzo::bfloat16 b[2];
  mezzo::cast(context, mezzo::TensorView<mezzo::bfloat16, 1>(b, {2}), mezzo::TensorView<const std::int32_t, 1>(whole, {2}));
  CHECK(b[0].bits() == 0x4382);
  CHECK(b[1].bits() == 0x4400);
}

/// More than the caches hold, beginning anywhere in a cache line: the stores go past the caches, to the same bits.
template <class Out, class In, class Context>
void beyond_the_caches(Context& context) {
  const auto size = static_cast<index_t>(mezzo::last_level_cache_size() / (sizeof(In) + sizeof(Out))) + 1000;
  auto in = mezzo::make_tensor<In>(context, {size + 1});
  auto out = mezzo::make_tensor<Out>(context, {size + 33});
  Random random(22);
  for (index_t i = 0; i < 4099; ++i) in.data()[i] = mezzo::convert<In>(random.uniform(-70000, 70000));
  for (index_t i = 4099; i <= size; ++i) in.data()[i] = in.data()[i - 4099];
  for (const index_t begin : {0, 1, 31, 32}) {
    const auto from = in.view().slice(0, 1, size + 1);
    const auto to = out.view().slice(0, begin, begin + size);
    context.fill_zero(out.data(), static_cast<std::size_t>(out.size()) * sizeof(Out));
    mezzo::cast(context, to, from);
    index_t wrong = 0;
    for (index_t i = 0; i < size; ++i) wrong += mezzo::convert<double>(to(i)) != mezzo::convert<double>(mezzo::convert<Out>(from(i)));
    CHECK(wrong == 0);
    for (index_t i = 0; i < out.size(); ++i) {
      if (i == begin) i += size;
      REQUIRE(mezzo::convert<double>(out(i)) == 0);
    }
  }
}

template <class Policy, class Context>
void weights_follow_masters(Context& context) {
  mezzo::ParameterArena<Policy, Context> arena(context);
  const mezzo::Parameter<Policy, Context, 2> weight(arena, "weight", {3, 5});
  const mezzo::Parameter<Policy, Context, 1> bias(arena, "bias", {5});
  arena.seal();
  for (index_t i = 0; i < 15; ++i) weight.master().data()[i] = 0.1f * static_cast<float>(i);
  bias.master()(4) = 1.0001f;
  mezzo::refresh_weights(context, arena);
  using T = typename Policy::low_type;
  for (index_t i = 0; i < 15; ++i)
    CHECK(static_cast<float>(weight.view().data()[i]) == static_cast<float>(mezzo::convert<T>(0.1f * static_cast<float>(i))));
  CHECK(static_cast<float>(bias.view()(4)) == static_cast<float>(mezzo::convert<T>(1.0001f)));
}

template <class Context>
void cast_shapes(Context& context) {
  auto a = mezzo::make_zeros<mezzo::half>(context, {4});
  auto b = mezzo::make_zeros<float>(context, {5});
  CHECK_THROWS_WITH_AS(mezzo::cast(context, a, b), "cast: shapes [4] and [5] differ", mezzo::shape_error);
}

}  // namespace test
