// expect: mezzo: these views differ in rank
#include <mezzo/context/cpu_context.hpp>
#include <mezzo/ops/activation.hpp>

void activate(mezzo::CpuContext& context, mezzo::HostView<float, 2> out, mezzo::HostView<float, 1> in) {
#ifdef OK
  mezzo::relu(context, out.select(0, 0), in);
#else
  mezzo::relu(context, out, in);
#endif
}
