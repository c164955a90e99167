#include "is_finite.hpp"
