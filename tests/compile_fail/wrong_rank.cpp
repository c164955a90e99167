// expect: no matching function|could not convert|no viable conversion|no known conversion
#include <mezzo/core/tensor_view.hpp>

void take_matrix(mezzo::HostView<float, 2> view);

#ifdef OK
void call(mezzo::HostView<float, 2> view) { take_matrix(view); }
#else
void call(mezzo::HostView<float, 1> view) { take_matrix(view); }
#endif
