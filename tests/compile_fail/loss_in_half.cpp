// expect: mezzo: this result is kept in float or double
#include <mezzo/context/cpu_context.hpp>
#include <mezzo/ops/mse_loss.hpp>

void f(mezzo::CpuContext& context, mezzo::HostView<mezzo::half, 0> narrow, mezzo::HostView<float, 0> loss, mezzo::HostView<mezzo::half, 2> x) {
#ifdef OK
  mezzo::mse_loss(context, loss, x, x), static_cast<void>(narrow);
#else
  mezzo::mse_loss(context, narrow, x, x), static_cast<void>(loss);
#endif
}
