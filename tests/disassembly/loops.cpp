// The loops that a training step spends its time in, for check to read their machine code.
#include <mezzo/context/cpu_context.hpp>
#include <mezzo/kernels/finite_check.hpp>
#include <mezzo/numeric/policy.hpp>
#include <mezzo/ops/activation.hpp>
#include <mezzo/ops/cast.hpp>
#include <mezzo/ops/gemm.hpp>
#include <mezzo/ops/layer_norm.hpp>
#include <mezzo/optim/adamw.hpp>

template <class Policy>
using Step = mezzo::AdamW<mezzo::ParameterArena<Policy, mezzo::CpuContext>>;

void step(Step<mezzo::AmpFp16>& half_step, Step<mezzo::AmpBf16>& bfloat16_step) {
  half_step.apply(1.0);
  bfloat16_step.apply(1.0);
}

mezzo::GradientCheck check(mezzo::CpuContext& context, const std::vector<mezzo::TensorRun<float>>& runs) {
  return mezzo::check_finite(context, runs);
}

void cast(mezzo::CpuContext& context, mezzo::HostView<float, 1> full, mezzo::HostView<mezzo::half, 1> low) {
  mezzo::cast(context, full, low);
  mezzo::cast(context, low, full);
  mezzo::gelu(context, full, full);
  mezzo::layer_norm(context, full, full, mezzo::none, mezzo::none);
}

void gemm(mezzo::CpuContext& context, mezzo::HostView<float, 2> out, mezzo::HostView<mezzo::bfloat16, 2> in) {
  mezzo::gemm(context, out, in, in);
}
