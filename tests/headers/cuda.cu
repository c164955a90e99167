// What nvcc compiles for every generation of devices: kernels of each dtype, contiguous and with gaps.
#include <mezzo/mezzo.hpp>

namespace {

template <class T, int Rank>
using DeviceView = mezzo::TensorView<T, Rank, mezzo::MemorySpace::device>;

template <class T>
void element_wise(mezzo::CudaContext& context, const DeviceView<T, 2>& x, const DeviceView<T, 2>& y) {
  mezzo::add(context, y, x, y);
  mezzo::scale(context, y, x, 2.0f);
  mezzo::fill(context, y, 1.0f);
  mezzo::gelu(context, y, x);
  mezzo::gelu_backward(context, y, y, x);
}

}  // namespace

void compile_all(mezzo::CudaContext& context, const DeviceView<float, 2>& x, const DeviceView<mezzo::half, 2>& h,
                 const DeviceView<mezzo::bfloat16, 2>& b) {
  element_wise(context, x, x);
  element_wise(context, h, h);
  element_wise(context, b, b);
  mezzo::transform(context, mezzo::AdamRule<true>::functor_type<true>{}, mezzo::read(h), mezzo::update(x), mezzo::write(b),
                   mezzo::update(x), mezzo::update(x));
}
