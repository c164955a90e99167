// Highway's conversions, for the one target that this file is compiled for (-march=native).
#include "peers.hpp"

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

namespace bench::peers::highway {

namespace target = HWY_NAMESPACE;

template <>
Contestant cast(half* to, const float* from, std::size_t size) {
  return [=] { target::narrow<hwy::float16_t>(to, from, size); };
}
template <>
Contestant cast(bfloat16* to, const float* from, std::size_t size) {
  return [=] { target::narrow<hwy::bfloat16_t>(to, from, size); };
}
template <>
Contestant cast(float* to, const half* from, std::size_t size) {
  return [=] { target::widen<hwy::float16_t>(to, from, size); };
}
template <>
Contestant cast(float* to, const bfloat16* from, std::size_t size) {
  return [=] { target::widen<hwy::bfloat16_t>(to, from, size); };
}

}  // namespace bench::peers::highway

#else

namespace bench::peers::highway {

template <class Out, class In>
Contestant cast(Out*, const In*, std::size_t) {
  return {};
}
template Contestant cast(half*, const float*, std::size_t);
template Contestant cast(bfloat16*, const float*, std::size_t);
template Contestant cast(float*, const half*, std::size_t);
template Contestant cast(float*, const bfloat16*, std::size_t);

}  // namespace bench::peers::highway

#endif
