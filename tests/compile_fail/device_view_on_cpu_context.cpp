// expect: mezzo: this view lies in another memory space than the context computes in; copy.. it over first
#include <mezzo/context/cpu_context.hpp>
#include <mezzo/ops/activation.hpp>

void activate(mezzo::CpuContext& context, mezzo::HostView<float, 2> out, mezzo::DeviceView<float, 2> in) {
#ifdef OK
  mezzo::relu(context, out, out);
  static_cast<void>(in);
#else
  mezzo::relu(context, out, in);
#endif
}
