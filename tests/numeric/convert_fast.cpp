// Compiled with -Ofast, which flushes subnormals and promises the compiler that there are no infinities or NaNs: the same bits.
#include "convert.hpp"
