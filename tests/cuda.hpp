// Tests that need a GPU: they run where there is one, and are skipped with the reason where there is none.
#pragma once

#include <doctest/doctest.h>

#include <mezzo/context/cuda_context.hpp>

#include <cstdio>

namespace test {

inline bool has_device() { return mezzo::cuda_devices().count > 0; }

}  // namespace test

/// A program whose tests were skipped says why, and CTest shows it as Skipped.
extern "C" [[gnu::used]] inline int exit_code_of_success() {
  if (test::has_device()) return 0;
  std::printf("skipped: %s\n", mezzo::cuda_devices().reason.c_str());
  return 77;
}

#define CUDA_TEST_CASE(name) TEST_CASE(name* doctest::skip(!test::has_device()))
