// Highway's conversions, for the one target that this file is compiled for (-march=native).
#include "peers.hpp"

#include <type_traits>

#if MEZZO_BENCH_HIGHWAY
#define HWY_COMPILE_ONLY_STATIC
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace bench::peers::highway::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class Narrow, class T>
void narrow(T* to, const float* from, std::size_t size) {
  const hn::ScalableTag<float> wide;
  const hn::Rebind<Narrow, decltype(wide)> half_width;
  const std::size_t lanes = hn::Lanes(wide);
  for (std::size_t i = 0; i + lanes <= size; i += lanes) {
    hn::StoreU(hn::DemoteTo(half_width, hn::LoadU(wide, from + i)), half_width, reinterpret_cast<Narrow*>(to + i));
  }
}
template <class Narrow, class T>
void widen(float* to, const T* from, std::size_t size) {
  const hn::ScalableTag<float> wide;
  const hn::Rebind<Narrow, decltype(wide)> half_width;
  const std::size_t lanes = hn::Lanes(wide);
  for (std::size_t i = 0; i + lanes <= size; i += lanes) {
    hn::StoreU(hn::PromoteTo(wide, hn::LoadU(half_width, reinterpret_cast<const Narrow*>(from + i))), wide, to + i);
  }
}

}  // namespace bench::peers::highway::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

namespace bench::peers::highway {

template <class Out, class In>
Contestant cast([[maybe_unused]] Out* to, [[maybe_unused]] const In* from, [[maybe_unused]] std::size_t size) {
#if MEZZO_BENCH_HIGHWAY
  using Narrow = std::conditional_t<std::is_same_v<Out, half> || std::is_same_v<In, half>, hwy::float16_t, hwy::bfloat16_t>;
  if constexpr (std::is_same_v<Out, float>) {
    return [=] { HWY_NAMESPACE::widen<Narrow>(to, from, size); };
  } else {
    return [=] { HWY_NAMESPACE::narrow<Narrow>(to, from, size); };
  }
#else
  return {};
#endif
}

#include "casts.inl"

}  // namespace bench::peers::highway
