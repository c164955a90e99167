// expect: mezzo: a view of const elements cannot be written
#include <mezzo/context/cpu_context.hpp>
#include <mezzo/ops/activation.hpp>

void activate(mezzo::CpuContext& context, mezzo::HostView<float, 2> out, mezzo::HostView<const float, 2> in) {
#ifdef OK
  mezzo::relu(context, out, in);
#else
  mezzo::relu(context, in, out);
#endif
}
