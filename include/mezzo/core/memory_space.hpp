// Which memory a pointer points into. Part of every view's type, so that host data handed to a GPU operation does not compile.
#pragma once

namespace mezzo {

/// `host` is what the CPU reads, pinned memory included; `device` is one GPU's own memory.
enum class MemorySpace : unsigned char { host, device };

constexpr const char* describe(MemorySpace space) { return space == MemorySpace::host ? "host" : "device"; }

}  // namespace mezzo
