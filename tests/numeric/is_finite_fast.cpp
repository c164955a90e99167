// Compiled with -Ofast, which promises the compiler that there are no infinities or NaNs.
#include "is_finite.hpp"
