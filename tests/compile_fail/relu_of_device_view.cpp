// expect: mezzo: this view lies in another memory space than the context computes in
#include <mezzo/context/cpu_context.hpp>
#include <mezzo/ops/activation.hpp>

void f(mezzo::CpuContext& context, mezzo::HostView<float, 2> y, mezzo::DeviceView<float, 2> x) {
#ifdef OK
  mezzo::relu(context, y, y), static_cast<void>(x);
#else
  mezzo::relu(context, y, x);
#endif
}
