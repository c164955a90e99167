// expect: the host cannot read device memory
#include <mezzo/core/tensor_view.hpp>

#ifdef OK
float first(mezzo::HostView<float, 1> view) { return view.at(0); }
#else
float first(mezzo::DeviceView<float, 1> view) { return view.at(0); }
#endif
