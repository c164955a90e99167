#include <doctest/doctest.h>

#include <mezzo/numeric/fp8.hpp>
#include <mezzo/numeric/policy.hpp>

#include <cstdint>
#include <type_traits>

using mezzo::AmpBf16;
using mezzo::AmpFp16;
using mezzo::bfloat16;
using mezzo::compute_t;
using mezzo::Fp32;
using mezzo::half;
using mezzo::OpCategory;
namespace op = mezzo::op;

namespace {

// What a user adds: an operation, a policy, and an operation of mezzo's moved to another category.
struct fused_attention {
  static constexpr auto category = OpCategory::low;
};
struct fused_loss {
  static constexpr auto category = OpCategory::full;
};
struct Careful {
  using low_type = float;
  using full_type = double;
  using master_type = double;
  static constexpr const char* name = "Careful";
};

}  // namespace

template <>
inline constexpr OpCategory mezzo::op_category<mezzo::op::pow> = OpCategory::widest;

template <class A, class B>
constexpr bool same = std::is_same_v<A, B>;

// low: the policy's type, whatever comes in
static_assert(same<compute_t<AmpFp16, op::gemm, half, half>, half>);
static_assert(same<compute_t<AmpFp16, op::gemm, float, half>, half>);
static_assert(same<compute_t<AmpBf16, op::linear, float>, bfloat16>);
static_assert(same<compute_t<AmpBf16, op::linear, half>, bfloat16>);
static_assert(same<compute_t<Fp32, op::linear, half>, float>);
static_assert(same<compute_t<mezzo::Pure<half>, op::gemm, half>, half>);
static_assert(same<compute_t<AmpFp16, op::convolution>, half>);
// full: fp32
static_assert(same<compute_t<AmpFp16, op::softmax, half>, float>);
static_assert(same<compute_t<AmpFp16, op::log_softmax, half>, float>);
static_assert(same<compute_t<AmpBf16, op::layer_norm, bfloat16, float>, float>);
static_assert(same<compute_t<AmpBf16, op::cross_entropy, bfloat16>, float>);
static_assert(same<compute_t<mezzo::Pure<half>, op::softmax, half>, half>);
// widest: as the inputs
static_assert(same<compute_t<AmpFp16, op::add, half, half>, half>);
static_assert(same<compute_t<AmpFp16, op::add, half, bfloat16>, float>);
static_assert(same<compute_t<AmpFp16, op::add, half, float>, float>);
static_assert(same<compute_t<AmpFp16, op::add, half, const float, half>, float>);
static_assert(same<compute_t<AmpFp16, op::relu, bfloat16>, bfloat16>);
static_assert(same<compute_t<AmpFp16, op::multiply, half, std::int32_t>, half>);
static_assert(same<compute_t<AmpFp16, op::multiply, mezzo::fp8_e4m3, half>, float>);
// double and integers are left alone
static_assert(same<compute_t<AmpFp16, op::gemm, double, double>, double>);
static_assert(same<compute_t<AmpFp16, op::softmax, double>, double>);
static_assert(same<compute_t<AmpFp16, op::add, double, half>, double>);
static_assert(same<compute_t<AmpFp16, op::gemm, std::int8_t, std::int8_t>, std::int8_t>);
static_assert(same<compute_t<AmpFp16, op::add, std::int32_t, std::int64_t>, std::int64_t>);
static_assert(same<compute_t<AmpFp16, op::sum, std::int32_t>, std::int32_t>);
// users' own
static_assert(same<compute_t<AmpBf16, fused_attention, float>, bfloat16>);
static_assert(same<compute_t<AmpBf16, fused_loss, bfloat16>, float>);
static_assert(same<compute_t<Careful, op::softmax, float>, double>);
static_assert(mezzo::PrecisionPolicy<Careful> && !mezzo::PrecisionPolicy<int>);
static_assert(same<compute_t<AmpFp16, op::pow, half>, half>);

TEST_CASE("half alone wants its loss scaled") {
  CHECK(mezzo::wants_loss_scaling<AmpFp16>);
  CHECK_FALSE(mezzo::wants_loss_scaling<AmpBf16>);
  CHECK_FALSE(mezzo::wants_loss_scaling<Fp32>);
  CHECK(mezzo::wants_loss_scaling<mezzo::Pure<half>>);
}
