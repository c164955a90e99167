// Compiled with -Ofast: what the scaler promises about infinities and NaNs holds there too.
#include <mezzo/context/cpu_context.hpp>

using TestContext = mezzo::CpuContext;

#include "grad_scaler.hpp"
