// A second translation unit: headers that define something twice do not link.
#include <mezzo/mezzo.hpp>
