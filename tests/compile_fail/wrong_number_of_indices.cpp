// expect: a view takes one index per dimension
#include <mezzo/core/tensor_view.hpp>

float first(mezzo::HostView<float, 2> view) {
#ifdef OK
  return view(0, 0);
#else
  return view(0);
#endif
}
