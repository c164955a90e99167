// expect: mezzo: the policy asks for another dtype of this output
#include <mezzo/context/cpu_context.hpp>
#include <mezzo/ops/softmax.hpp>

void f(mezzo::CpuContext& context, mezzo::HostView<float, 2> wide, mezzo::HostView<mezzo::half, 2> x) {
#ifdef OK
  mezzo::softmax<mezzo::AmpFp16>(context, wide, x);
#else
  mezzo::softmax<mezzo::AmpFp16>(context, x, x), static_cast<void>(wide);
#endif
}
