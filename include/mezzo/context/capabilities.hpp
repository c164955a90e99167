// What the hardware behind a context can do, asked when the program runs.
#pragma once

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <string>

#include <mezzo/context/cpu_context.hpp>

namespace mezzo {

/// A plain value: tests and users may make one up.
struct Capabilities {
  std::string device;          ///< as the hardware names itself
  bool has_half = false;       ///< converts half in hardware
  bool has_bfloat16 = false;   ///< reads and writes bfloat16 at full speed
  bool has_fast_half = false;  ///< multiplies matrices of half faster than of float
  bool has_fast_bfloat16 = false;
};

/// The CPU, within the instruction set that the context uses.
inline Capabilities capabilities(const CpuContext& context) {
  Capabilities result;
  result.device = "CPU";
  result.has_bfloat16 = true;  // two shifts
  result.has_half = context.isa() >= Isa::avx2;
#if defined(__x86_64__)
  char brand[49] = {};
  unsigned registers[12] = {};
  for (unsigned i = 0; i < 3; ++i) {
    unsigned* r = registers + 4 * i;
    if (__get_cpuid(0x80000002u + i, r, r + 1, r + 2, r + 3) == 0) return result;
  }
  std::memcpy(brand, registers, sizeof registers);
  if (brand[0] != '\0') result.device = brand;
  if (context.isa() == Isa::avx512) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid_count(7, 1, &a, &b, &c, &d) != 0) result.has_fast_bfloat16 = (a & (1u << 5)) != 0;  // AVX512_BF16
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) result.has_fast_half = (d & (1u << 23)) != 0;     // AVX512_FP16
  }
#endif
  return result;
}

}  // namespace mezzo
