// expect: mezzo: a view of const elements cannot be written
#include <mezzo/context/cpu_context.hpp>
#include <mezzo/ops/activation.hpp>

void f(mezzo::CpuContext& context, mezzo::HostView<const float, 1> y, mezzo::HostView<float, 1> x) {
#ifdef OK
  mezzo::relu(context, x, y);
#else
  mezzo::relu(context, y, x);
#endif
}
