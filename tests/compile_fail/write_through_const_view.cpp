// expect: read-only|const-qualified
#include <mezzo/core/tensor_view.hpp>

void set_first(mezzo::HostView<const float, 1> values, [[maybe_unused]] mezzo::HostView<float, 1> target) {
#ifdef OK
  target(0) = values(0);
#else
  values(0) = 1.0f;
#endif
}
