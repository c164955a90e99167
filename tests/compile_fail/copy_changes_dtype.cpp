// expect: mezzo: these views differ in dtype; cast\(\) one of them
#include <mezzo/context/cpu_context.hpp>
#include <mezzo/ops/cast.hpp>
#include <mezzo/tensor/copy.hpp>

void f(mezzo::CpuContext& context, mezzo::HostView<float, 1> y, mezzo::HostView<double, 1> x) {
#ifdef OK
  mezzo::cast(context, y, x);
#else
  mezzo::copy(context, y, x);
#endif
}
