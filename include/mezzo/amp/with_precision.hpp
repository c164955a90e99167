// From a choice made when the program runs to a policy, which is a type.
#pragma once

#include <string>
#include <type_traits>

#include <mezzo/context/capabilities.hpp>
#include <mezzo/numeric/policy.hpp>

namespace mezzo {

/// `automatic`: bfloat16, else half, where the hardware multiplies them faster than fp32; else fp32.
enum class Precision { automatic, fp32, amp_fp16, amp_bf16 };

constexpr const char* describe(Precision precision) {
  switch (precision) {
    case Precision::automatic:
      return "automatic";
    case Precision::fp32:
      return "fp32";
    case Precision::amp_fp16:
      return "amp_fp16";
    default:
      return "amp_bf16";
  }
}

/// The precision of that name; throws option_error, listing the names, for another.
inline Precision to_precision(const std::string& name) {
  for (Precision precision : {Precision::automatic, Precision::fp32, Precision::amp_fp16, Precision::amp_bf16}) {
    if (name == describe(precision)) return precision;
  }
  detail::fail<option_error>("to_precision: '{}' is none of automatic, fp32, amp_fp16, amp_bf16", name);
}

/// What to do where the hardware lacks the precision asked for.
enum class Fallback { fp32, forbidden };

struct PrecisionOptions {
  Fallback fallback = Fallback::fp32;
};

/// Never `automatic`, and in a sentence why it is this one.
struct PrecisionChoice {
  Precision precision;
  std::string reason;
};

/// Chooses by what the hardware can do. Throws unsupported_error for a precision that it lacks when falling back is forbidden.
inline PrecisionChoice choose_precision(const Capabilities& hardware, Precision wanted, const PrecisionOptions& options = {}) {
  if (wanted == Precision::automatic) {
    if (hardware.has_fast_bfloat16) return {Precision::amp_bf16, hardware.device + " multiplies bfloat16 faster than fp32"};
    if (hardware.has_fast_half) return {Precision::amp_fp16, hardware.device + " multiplies half faster than fp32"};
    return {Precision::fp32, hardware.device + " has no fast 16-bit products"};
  }
  const bool is_supported = wanted == Precision::fp32 || (wanted == Precision::amp_fp16 ? hardware.has_half : hardware.has_bfloat16);
  if (is_supported) return {wanted, std::string(describe(wanted)) + " was asked for"};
  expects<unsupported_error>(options.fallback != Fallback::forbidden,
                             "with_precision: {} lacks {}; allow Fallback::fp32 or ask for another", hardware.device, describe(wanted));
  return {Precision::fp32, hardware.device + " lacks " + describe(wanted) + ", fp32 instead"};
}

/// Calls f(policy), or f(policy, choice) if it takes the PrecisionChoice too, and returns what it returns: the same type for every
/// policy. Throws as choose_precision.
template <class C, class Function>
decltype(auto) with_precision(C& context, Precision wanted, const Function& f, const PrecisionOptions& options = {}) {
  const PrecisionChoice choice = choose_precision(capabilities(context), wanted, options);
  const auto call = [&](auto policy) -> decltype(auto) {
    if constexpr (std::is_invocable_v<const Function&, decltype(policy), const PrecisionChoice&>) {
      return f(policy, choice);
    } else {
      return f(policy);
    }
  };
  switch (choice.precision) {
    case Precision::amp_fp16:
      return call(AmpFp16());
    case Precision::amp_bf16:
      return call(AmpBf16());
    default:
      return call(Fp32());
  }
}

}  // namespace mezzo
