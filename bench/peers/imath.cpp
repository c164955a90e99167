#include "peers.hpp"

#if MEZZO_BENCH_IMATH
#include <Imath/half.h>
#endif

namespace bench::peers::imath {

#if MEZZO_BENCH_IMATH
Contestant to_half(half* to, const float* from, std::size_t size) {
  return [=] {
    auto* const target = reinterpret_cast<Imath::half*>(to);
    for (std::size_t i = 0; i < size; ++i) target[i] = Imath::half(from[i]);
  };
}
Contestant to_float(float* to, const half* from, std::size_t size) {
  return [=] {
    const auto* const source = reinterpret_cast<const Imath::half*>(from);
    for (std::size_t i = 0; i < size; ++i) to[i] = source[i];
  };
}
#else
Contestant to_half(half*, const float*, std::size_t) { return {}; }
Contestant to_float(float*, const half*, std::size_t) { return {}; }
#endif

}  // namespace bench::peers::imath
