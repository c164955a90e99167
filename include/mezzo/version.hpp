// mezzo's version, in the form that CMakeLists.txt reads.
#pragma once

#define MEZZO_VERSION_MAJOR 0
#define MEZZO_VERSION_MINOR 1
#define MEZZO_VERSION_PATCH 0

namespace mezzo {

/// Version of the headers that this translation unit includes.
struct version {
  static constexpr int major = MEZZO_VERSION_MAJOR;
  static constexpr int minor = MEZZO_VERSION_MINOR;
  static constexpr int patch = MEZZO_VERSION_PATCH;
};

}  // namespace mezzo
