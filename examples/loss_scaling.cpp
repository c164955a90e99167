// Loss scaling by hand: a loss scaler is a plain value, and unscaling works on gradients in memory of your own. This is all that a
// training loop with its own optimizer needs.
#include <mezzo/mezzo.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

namespace {

/// The gradient of 0.5 (w - 3)^2 for each weight, computed in half: gradients below 2^-24 vanish, those above 65504 are infinite.
void backward(std::vector<mezzo::half>& gradients, const std::vector<float>& weights, float scale) {
  for (std::size_t i = 0; i < weights.size(); ++i) gradients[i] = mezzo::half((weights[i] - 3.0f) * 1e-6f * scale);
}

}  // namespace

int main() {
  mezzo::CpuContext context({.threads = 1});
  std::vector<float> weights{3.01f, 2.99f, 3.5f}, unscaled(3);
  std::vector<mezzo::half> gradients(3);

  backward(gradients, weights, 1.0f);
  std::printf("without scaling the gradient -1e-8 is %g in half\n", static_cast<double>(gradients[1]));

  const mezzo::TensorList low(mezzo::HostView<mezzo::half, 1>(gradients.data(), {3}));
  const mezzo::TensorList full(mezzo::HostView<float, 1>(unscaled.data(), {3}));
  mezzo::GradScaler scaler(context, mezzo::DynamicLossScaler({.initial_scale = 0x1p40f, .growth_window = 20}));

  for (int step = 0; step < 60; ++step) {
    const float scale = scaler.scale();
    backward(gradients, weights, scale);             // your backward pass, seeded with the scale
    const bool finite = scaler.unscale_(full, low);  // to fp32, rounded once; false where a gradient overflowed
    if (finite) {
      for (std::size_t i = 0; i < weights.size(); ++i) weights[i] -= 1e5f * unscaled[i];  // your optimizer
    }
    scaler.update();  // grows after 20 clean steps, halves after an overflow
    if (step < 8 || step % 20 == 19) std::printf("step %2d  scale 2^%-3d %s\n", step, std::ilogb(scale), finite ? "stepped" : "skipped");
  }
  std::printf("weights: %.4f %.4f %.4f (3 is right)\n", static_cast<double>(weights[0]), static_cast<double>(weights[1]),
              static_cast<double>(weights[2]));

  // The scaler alone is a value with one transition; presets follow other toolkits exactly.
  auto megatron = mezzo::megatron_loss_scaler();
  for (bool overflowed : {true, true, false}) megatron.update(overflowed);
  std::printf("Megatron's rules after two overflows: 2^%d\n", std::ilogb(megatron.scale()));
}
