// The cases, a file each, and what they share.
#pragma once

#include <memory>

#include <mezzo/context/cpu_context.hpp>

#include "comparison.hpp"
#include "peers/peers.hpp"

namespace bench {

void add_cast_cases();
void add_gradient_cases();
void add_step_cases();
void add_gemm_cases();
void add_row_cases();
void add_isa_cases();
void add_thread_cases();
void add_growth_cases();

/// In the second-level cache, in memory, and well beyond every cache; of fp32 numbers.
inline constexpr std::size_t small = 256 << 10, medium = 64 << 20, large = 256 << 20;

inline std::shared_ptr<mezzo::CpuContext> make_context() {
  return std::make_shared<mezzo::CpuContext>(mezzo::CpuContextOptions{.threads = settings().threads});
}

/// The plain and the non-temporal copy of `bytes`, and the better of them.
inline void add_copies(Comparison& race, std::size_t bytes) {
  auto from = make_buffer<char>(bytes), to = make_buffer<char>(bytes);
  race.keep(from);
  race.keep(to);
  race.add("copy", peers::plain::copy(to->data(), from->data(), bytes));
  race.add("copy_nontemporal", peers::plain::copy_nontemporal(to->data(), from->data(), bytes));
  race.add_best("best_copy", {"copy", "copy_nontemporal"});
}

}  // namespace bench
