// One optimizer step: AdamW alone beside its traffic twin, and the whole step of mixed precision beside its peers' passes.
#include "cases.hpp"

#include <string>
#include <vector>

#include <mezzo/amp/grad_scaler.hpp>
#include <mezzo/ops/elementwise.hpp>
#include <mezzo/ops/random.hpp>
#include <mezzo/optim/adamw.hpp>
#include <mezzo/tensor/parameter.hpp>

namespace bench {

namespace {

/// `count` parameters of `size` elements each, with gradients.
template <class Policy>
struct Model {
  std::shared_ptr<mezzo::CpuContext> context = make_context();
  mezzo::ParameterArena<Policy, mezzo::CpuContext> arena{*context};
  std::vector<mezzo::Parameter<Policy, mezzo::CpuContext, 1>> parameters;
  mezzo::AdamW<mezzo::ParameterArena<Policy, mezzo::CpuContext>> optimizer;
  mezzo::GradScaler<mezzo::CpuContext> scaler{*context, mezzo::DynamicLossScaler({.initial_scale = 1.0f})};

  Model(mezzo::index_t count, mezzo::index_t size) : optimizer(*context, filled(count, size), {.learning_rate = 1e-6f}) {}

  mezzo::ParameterArena<Policy, mezzo::CpuContext>& filled(mezzo::index_t count, mezzo::index_t size) {
    parameters.reserve(static_cast<std::size_t>(count));
    for (mezzo::index_t i = 0; i < count; ++i) {
      parameters.emplace_back(arena, "weight" + std::to_string(i), mezzo::Extents<1>({size}));
    }
    arena.seal();
    mezzo::RandomGenerator random;
    mezzo::uniform(*context, random, arena.masters(), {.low = -1.0f, .high = 1.0f});
    for (auto& parameter : parameters) mezzo::uniform(*context, random, parameter.gradient_sink().view, {.low = -1e-3f, .high = 1e-3f});
    return arena;
  }
  void mark_gradients() {
    for (auto& parameter : parameters) parameter.written();
  }
};

/// The peers' memory: the same streams.
struct PeerModel {
  std::shared_ptr<Buffer<float>> weights, first_moments, second_moments, gradients;
  std::shared_ptr<Buffer<std::uint16_t>> copies;

  explicit PeerModel(std::size_t size)
      : weights(make_numbers<float>(size)),
        first_moments(make_buffer<float>(size)),
        second_moments(make_buffer<float>(size)),
        gradients(make_numbers<float>(size, 2)),
        copies(make_buffer<std::uint16_t>(size)) {
    for (std::size_t i = 0; i < size; ++i) gradients->data()[i] *= 1e-3f;
  }
  peers::AdamWState state(std::size_t offset, std::size_t size) const {
    return {weights->data() + offset,   first_moments->data() + offset, second_moments->data() + offset,
            gradients->data() + offset, copies->data() + offset,        size};
  }
};

template <class Policy>
using copy_type = mezzo::compute_t<Policy, mezzo::op::linear, float>;

template <class Policy>
void add_adamw(const std::string& policy, std::size_t size, double least) {
  add_case("adamw/" + policy + "/" + std::to_string(size >> 10) + "Ki", [size, least](Comparison& race) {
    using T = copy_type<Policy>;
    auto model = std::make_shared<Model<Policy>>(1, static_cast<mezzo::index_t>(size));
    auto peer = std::make_shared<PeerModel>(size);
    race.keep(peer);
    race.work(30.0 * static_cast<double>(size), "B");
    race.add("mezzo", [=] {
      model->mark_gradients();
      model->optimizer.step();
    });
    race.add("traffic_twin", peers::plain::adamw_traffic<T>(peer->state(0, size)));
    race.add("plain_loop", peers::plain::adamw<T>(peer->state(0, size)));
    race.add("torch", peers::torch::adamw<T>(peer->state(0, size)));
    race.target("traffic_twin", least);
  });
}

template <class Policy>
void add_step(const std::string& name, std::size_t count, std::size_t size) {
  add_case("full_step/" + name, [count, size](Comparison& race) {
    using T = copy_type<Policy>;
    const std::size_t total = count * size;
    auto model = std::make_shared<Model<Policy>>(static_cast<mezzo::index_t>(count), static_cast<mezzo::index_t>(size));
    auto peer = std::make_shared<PeerModel>(total);
    race.keep(peer);
    std::vector<peers::AdamWState> states;
    for (std::size_t i = 0; i < count; ++i) states.push_back(peer->state(i * size, size));
    race.work(34.0 * static_cast<double>(total), "B");
    race.add("mezzo", [=] {
      model->mark_gradients();
      model->scaler.step(model->optimizer, {.max_grad_norm = 1e30f});
      model->scaler.update();
    });
    race.add("mezzo_unscaled_step", [=] {
      model->mark_gradients();
      const auto check = model->optimizer.check();
      model->optimizer.apply(check.sum_of_squares > 1e30 ? 0.5 : 1.0);
      model->optimizer.zero_grad();
    });
    race.add("passes", peers::plain::step_passes<T>(peer->state(0, total)));
    race.add("torch", peers::torch::step<T>(states.data(), states.size()));
    race.add_best("best_composition", {"passes", "torch"});
    race.target("best_composition", 1.5);
    race.target("mezzo_unscaled_step", 1 / 1.1);
  });
}

}  // namespace

void add_step_cases() {
  constexpr std::size_t ki = 1 << 10;
  for (const std::size_t size : {64 * ki, 16 * ki * ki, 64 * ki * ki}) {
    add_adamw<mezzo::AmpFp16>("fp16", size, size == 64 * ki ? 0.9 : 0.97);
    add_adamw<mezzo::AmpBf16>("bf16", size, size == 64 * ki ? 0.9 : 0.97);
  }
  add_step<mezzo::AmpFp16>("16Mi_flat", 1, 16 * ki * ki);
  add_step<mezzo::AmpFp16>("1000_tensors_of_1000", 1000, 1000);
  add_step<mezzo::AmpFp16>("1000_tensors_of_16Ki", 1000, 16 * ki);
}

}  // namespace bench
