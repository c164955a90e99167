// Autocast at compile time: the operation says what it is, the policy says in which type it computes.
#include <mezzo/mezzo.hpp>

#include <cstdio>

using mezzo::compute_t;
namespace op = mezzo::op;

/// An operation of your own takes part with a tag.
struct my_fused_attention {
  static constexpr auto category = mezzo::OpCategory::low;
};

/// So does a policy of your own: matrix products in bfloat16 on top of fp32, under another name.
struct MyPolicy : mezzo::AmpBf16 {
  static constexpr const char* name = "MyPolicy";
};

/// One layer and a softmax, written once for every policy.
template <class Policy, class Context>
void classify(Context& context) {
  using Low = compute_t<Policy, op::linear, float>;  // half under AmpFp16, bfloat16 under AmpBf16
  using Full = compute_t<Policy, op::softmax, Low>;  // float under each of them

  mezzo::RandomGenerator random({.seed = 1});
  auto input = mezzo::make_tensor<float>(context, {4, 64}), weight = mezzo::make_tensor<float>(context, {10, 64});
  mezzo::normal(context, random, input);
  mezzo::xavier_uniform(context, random, weight);

  auto low_input = mezzo::make_tensor<Low>(context, {4, 64}), low_weight = mezzo::make_tensor<Low>(context, {10, 64});
  auto logits = mezzo::make_tensor<Low>(context, {4, 10});
  auto probabilities = mezzo::make_tensor<Full>(context, {4, 10});

  mezzo::cast(context, low_input, input);
  mezzo::cast(context, low_weight, weight);
  mezzo::linear<Policy>(context, logits, low_input, low_weight, mezzo::none);
  mezzo::softmax<Policy>(context, probabilities, logits);

  std::printf("%-9s logits have %zu bytes each, probabilities %zu; p[0] = %.6f\n", Policy::name, sizeof(Low), sizeof(Full),
              static_cast<double>(probabilities(0, 0)));
}

int main() {
  mezzo::CpuContext context;
  classify<mezzo::Fp32>(context);
  classify<mezzo::AmpBf16>(context);
  classify<mezzo::AmpFp16>(context);
  classify<MyPolicy>(context);

  static_assert(std::is_same_v<compute_t<mezzo::AmpFp16, my_fused_attention, float>, mezzo::half>);
  static_assert(std::is_same_v<compute_t<mezzo::AmpFp16, op::add, mezzo::half, mezzo::bfloat16>, float>);

  // A choice made when the program runs: ask for a precision, get a policy and the reason for it.
  mezzo::with_precision(context, mezzo::Precision::automatic, [&](auto policy, const mezzo::PrecisionChoice& choice) {
    std::printf("automatic: %s, since %s\n", policy.name, choice.reason.c_str());
    classify<decltype(policy)>(context);
  });
}
