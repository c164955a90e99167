#include "finite_check.hpp"
