// Which vector instructions the CPU loops use. Chosen when the program runs, because a header cannot dictate compiler flags.
#pragma once

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cstdlib>
#include <string>

#include <mezzo/core/error.hpp>

namespace mezzo {

/// Sets of vector instructions, each including those before it. `baseline` is what the compiler's flags allow; `avx2` adds F16C
/// and FMA; `avx512` means F, BW, DQ and VL. Architectures other than x86-64 have `baseline` alone.
enum class Isa : unsigned char { baseline, avx2, avx512 };

constexpr const char* describe(Isa isa) { return isa == Isa::avx512 ? "avx512" : isa == Isa::avx2 ? "avx2" : "baseline"; }

/// The best set that this CPU has.
inline Isa best_isa() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool has_f16c = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;  // clang 14 does not know the name
  if (!has_f16c || !__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return Isa::baseline;
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512dq") ||
      !__builtin_cpu_supports("avx512vl")) {
    return Isa::avx2;
  }
  return Isa::avx512;
#else
  return Isa::baseline;
#endif
}

/// The set named by the environment variable MEZZO_ISA (baseline, avx2, avx512), else the best one. Throws option_error for
/// another name and unsupported_error for a set that this CPU lacks.
inline Isa default_isa() {
  const char* name = std::getenv("MEZZO_ISA");
  if (name == nullptr || *name == '\0') return best_isa();
  for (Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
    if (std::string(name) != describe(isa)) continue;
    expects<unsupported_error>(isa <= best_isa(), "MEZZO_ISA asks for {}, but this CPU's best is {}; unset it or name a lower one", name,
                               describe(best_isa()));
    return isa;
  }
  detail::fail<option_error>("MEZZO_ISA is '{}'; it can be baseline, avx2 or avx512", name);
}

}  // namespace mezzo
