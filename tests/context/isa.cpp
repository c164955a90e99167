#include <doctest/doctest.h>

#include <mezzo/context/cpu_context.hpp>

#include <cstdlib>
#include <string>

using mezzo::CpuContext;
using mezzo::Isa;

namespace {

/// Sets MEZZO_ISA for the length of a scope.
class Environment {
 public:
  explicit Environment(const char* value) {
    if (const char* old = std::getenv("MEZZO_ISA")) m_old = old;
    setenv("MEZZO_ISA", value, 1);
  }
  ~Environment() {
    if (m_old.empty()) {
      unsetenv("MEZZO_ISA");
    } else {
      setenv("MEZZO_ISA", m_old.c_str(), 1);
    }
  }

 private:
  std::string m_old;
};

}  // namespace

TEST_CASE("MEZZO_ISA forces an instruction set that the CPU has") {
  for (Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
    const Environment environment(describe(isa));
    if (isa <= mezzo::best_isa()) {
      CHECK(CpuContext({.threads = 1}).isa() == isa);
    } else {
      CHECK_THROWS_WITH_AS(CpuContext({.threads = 1}), doctest::Contains(describe(mezzo::best_isa())), mezzo::unsupported_error);
    }
  }
}

TEST_CASE("an unknown name is refused with the known ones") {
  const Environment environment("sse9");
  CHECK_THROWS_WITH_AS(CpuContext(), "MEZZO_ISA is 'sse9'; it can be baseline, avx2 or avx512", mezzo::option_error);
}

TEST_CASE("an empty name means the best") {
  const Environment environment("");
  CHECK(CpuContext({.threads = 1}).isa() == mezzo::best_isa());
}

TEST_CASE("an option outweighs the environment") {
  const Environment environment("sse9");
  CHECK(CpuContext({.threads = 1, .isa = Isa::baseline}).isa() == Isa::baseline);
}
