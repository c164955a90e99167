// expect: no viable constructor|could not convert|no viable conversion
#include <mezzo/core/tensor_view.hpp>

#ifdef OK
mezzo::HostView<const float, 1> as_output(mezzo::HostView<float, 1> view) { return view; }
#else
mezzo::HostView<float, 1> as_output(mezzo::HostView<const float, 1> view) { return view; }
#endif
