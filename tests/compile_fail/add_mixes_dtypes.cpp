// expect: mezzo: these views differ in dtype; cast\(\) one of them
#include <mezzo/context/cpu_context.hpp>
#include <mezzo/ops/elementwise.hpp>

void f(mezzo::CpuContext& context, mezzo::HostView<float, 1> y, mezzo::HostView<mezzo::half, 1> x) {
#ifdef OK
  mezzo::add<mezzo::AmpFp16>(context, y, y, x);
#else
  mezzo::add(context, y, y, x);
#endif
}
