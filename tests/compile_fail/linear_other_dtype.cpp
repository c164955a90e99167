// expect: mezzo: linear<Policy> computes in another dtype than this argument's; cast() it
#include <mezzo/ops/linear.hpp>

void f(mezzo::CpuContext& context, mezzo::HostView<float, 2> matrix) {
#ifdef WRONG
  mezzo::linear<mezzo::AmpFp16>(context, matrix, matrix, matrix, mezzo::none);
#else
  mezzo::linear<mezzo::Fp32>(context, matrix, matrix, matrix, mezzo::none);
#endif
}
