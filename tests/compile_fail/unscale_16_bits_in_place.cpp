// expect: mezzo: unscaling 16-bit gradients in place would round them twice
#include <mezzo/amp/grad_scaler.hpp>
#include <mezzo/context/cpu_context.hpp>

bool unscale(mezzo::GradScaler<mezzo::CpuContext>& scaler, const mezzo::TensorList<mezzo::half>& low, const mezzo::TensorList<float>& full) {
#ifdef OK
  return scaler.unscale_(full, low);
#else
  static_cast<void>(full);
  return scaler.unscale_(low);
#endif
}
