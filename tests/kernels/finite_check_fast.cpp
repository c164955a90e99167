// Compiled with -Ofast.
#include "finite_check.hpp"
