#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <mezzo/context/isa.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

/// What a program without failures exits with, where it says so: see cuda.hpp.
extern "C" [[gnu::weak]] int exit_code_of_success();

namespace {

constexpr int exit_skipped = 77;  // shown by CTest as Skipped

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown CPU";
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::printf("%s, %u threads, best %s, running %s\n", cpu_model().c_str(), std::thread::hardware_concurrency(),
                describe(mezzo::best_isa()), describe(mezzo::default_isa()));
  } catch (const mezzo::unsupported_error& error) {
    std::printf("skipped: %s\n", error.what());
    return exit_skipped;
  } catch (const mezzo::error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return EXIT_FAILURE;
  }
  const int failed = doctest::Context(argc, argv).run();
  return failed == 0 && exit_code_of_success != nullptr ? exit_code_of_success() : failed;
}
