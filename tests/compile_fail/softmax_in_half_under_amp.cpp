// expect: mezzo: the policy asks for another dtype of this output
#include <mezzo/context/cpu_context.hpp>
#include <mezzo/ops/softmax.hpp>

void probabilities(mezzo::CpuContext& context, mezzo::HostView<float, 2> full, mezzo::HostView<mezzo::half, 2> low) {
#ifdef OK
  mezzo::softmax<mezzo::AmpFp16>(context, full, low);
#else
  mezzo::softmax<mezzo::AmpFp16>(context, low, low);
  static_cast<void>(full);
#endif
}
