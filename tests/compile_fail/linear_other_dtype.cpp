// expect: mezzo: linear<Policy> computes in another dtype than this argument's
#include <mezzo/ops/linear.hpp>

void apply(mezzo::CpuContext& context, mezzo::HostView<float, 2> out, mezzo::HostView<const float, 2> in) {
#ifdef OK
  mezzo::linear<mezzo::Fp32>(context, out, in, in, mezzo::none);
#else
  mezzo::linear<mezzo::AmpFp16>(context, out, in, in, mezzo::none);
#endif
}
