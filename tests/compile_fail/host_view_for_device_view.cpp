// expect: no matching function|could not convert|no viable conversion|no known conversion
#include <mezzo/core/tensor_view.hpp>

void run_on_gpu(mezzo::DeviceView<float, 1> view);

#ifdef OK
void call(mezzo::DeviceView<float, 1> view) { run_on_gpu(view); }
#else
void call(mezzo::HostView<float, 1> view) { run_on_gpu(view); }
#endif
