// expect: mezzo: these views differ in rank
#include <mezzo/context/cpu_context.hpp>
#include <mezzo/tensor/copy.hpp>

void f(mezzo::CpuContext& context, mezzo::HostView<float, 1> y, mezzo::HostView<float, 2> x) {
#ifdef OK
  mezzo::copy(context, y, x.flatten());
#else
  mezzo::copy(context, y, x);
#endif
}
