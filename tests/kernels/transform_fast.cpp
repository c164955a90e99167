// Built with -Ofast, which also flushes subnormals to zero in this process: the conversions keep their bits.
#include "conversions.hpp"
