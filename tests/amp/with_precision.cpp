#include <doctest/doctest.h>

#include <mezzo/amp/with_precision.hpp>

#include <string>

using mezzo::Capabilities;
using mezzo::choose_precision;
using mezzo::Precision;

namespace {

const Capabilities old_cpu{.device = "old CPU", .has_bfloat16 = true};
const Capabilities old_gpu{.device = "old GPU", .has_half = true, .has_fast_half = true};
const Capabilities new_gpu{.device = "new GPU", .has_half = true, .has_bfloat16 = true, .has_fast_half = true, .has_fast_bfloat16 = true};

}  // namespace

TEST_CASE("automatic is the best that the hardware has") {
  CHECK(choose_precision(old_cpu, Precision::automatic).precision == Precision::fp32);
  CHECK(choose_precision(old_gpu, Precision::automatic).precision == Precision::amp_fp16);
  CHECK(choose_precision(new_gpu, Precision::automatic).precision == Precision::amp_bf16);
  CHECK(choose_precision(new_gpu, Precision::automatic).reason.find("new GPU") != std::string::npos);
}

TEST_CASE("what the hardware lacks falls back to fp32, or is an error") {
  CHECK(choose_precision(old_cpu, Precision::amp_fp16).precision == Precision::fp32);
  CHECK(choose_precision(old_cpu, Precision::amp_fp16).reason == "old CPU lacks amp_fp16, fp32 instead");
  CHECK(choose_precision(old_gpu, Precision::amp_bf16).precision == Precision::fp32);
  CHECK_THROWS_WITH_AS(choose_precision(old_cpu, Precision::amp_fp16, {.fallback = mezzo::Fallback::forbidden}),
                       doctest::Contains("old CPU lacks amp_fp16"), mezzo::unsupported_error);
  CHECK(choose_precision(old_cpu, Precision::fp32, {.fallback = mezzo::Fallback::forbidden}).precision == Precision::fp32);
}

TEST_CASE("the function gets a policy, and the reason if it asks") {
  mezzo::CpuContext context({.threads = 1, .isa = mezzo::Isa::baseline});
  const auto name = [](auto policy) { return std::string(policy.name); };
  CHECK(mezzo::with_precision(context, Precision::fp32, name) == "Fp32");
  CHECK(mezzo::with_precision(context, Precision::amp_bf16, name) == "AmpBf16");
  CHECK(mezzo::with_precision(context, Precision::amp_fp16, name) == "Fp32");  // no F16C in the baseline
  const auto reason = [](auto, const mezzo::PrecisionChoice& choice) { return choice.reason; };
  CHECK(mezzo::with_precision(context, Precision::amp_bf16, reason) == "amp_bf16 was asked for");
}

TEST_CASE("precisions have names") {
  for (Precision precision : {Precision::automatic, Precision::fp32, Precision::amp_fp16, Precision::amp_bf16}) {
    CHECK(mezzo::to_precision(describe(precision)) == precision);
  }
  CHECK_THROWS_WITH_AS(mezzo::to_precision("fp16"), doctest::Contains("automatic, fp32, amp_fp16, amp_bf16"), mezzo::option_error);
}
