#include <mezzo/context/cpu_context.hpp>

using TestContext = mezzo::CpuContext;

#include "optimizer.hpp"
