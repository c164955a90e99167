// One pass over gradients, for what others take two or three: unscale, check, norm.
#include "cases.hpp"

#include <cmath>
#include <vector>

#include <mezzo/kernels/finite_check.hpp>
#include <mezzo/ops/elementwise.hpp>
#include <mezzo/optim/clip.hpp>

namespace bench {

namespace {

using Runs = std::vector<mezzo::TensorRun<float>>;

/// Lengths of the parameters of a GPT-2 (124 million without the embeddings: 85 million) with `layers` of its twelve layers.
std::vector<std::size_t> transformer_sizes(int layers) {
  constexpr std::size_t width = 768;
  std::vector<std::size_t> result;
  for (int i = 0; i < layers; ++i) {
    for (const std::size_t size : {width, width, 3 * width * width, 3 * width, width * width, width, width, width, 4 * width * width,
                                   4 * width, 4 * width * width, width}) {
      result.push_back(size);
    }
  }
  return result;
}

/// Gradients as one run.
struct FlatGradients {
  std::size_t size;
  std::shared_ptr<mezzo::CpuContext> context = make_context();
  std::shared_ptr<Buffer<float>> buffer = make_numbers<float>(size);
  float* data = buffer->data();
  Runs runs{{data, static_cast<mezzo::index_t>(size)}};
};

void add_flat(std::size_t bytes) {
  add_case("unscale_check_norm/" + size_name(bytes), [bytes](Comparison& race) {
    const FlatGradients flat{bytes / sizeof(float)};
    race.work(2.0 * static_cast<double>(bytes), "B");
    race.add("mezzo", [=] { benchmark::DoNotOptimize(mezzo::scale_and_check(*flat.context, 1.0f, flat.runs, flat.runs)); });
    race.add("mezzo_scale", [=] { mezzo::scale(*flat.context, flat.buffer->view(), flat.buffer->view(), 1.0f); });
    race.add("scale", peers::plain::scale(flat.data, flat.size));
    race.add("two_passes", peers::plain::scale_then_check(flat.data, flat.size));
    race.add("three_passes", peers::plain::scale_then_check_then_norm(flat.data, flat.size));
    race.add("torch", peers::torch::unscale_check_norm(&flat.data, &flat.size, 1));
    race.add_best("scale_pass", {"mezzo_scale", "scale"});
    race.target("scale_pass", 1 / 1.03);
    race.target("two_passes", 1.5);
    race.target("three_passes", bytes == small ? 2.8 : 2.3);
  });
}

void add_list(const std::string& name, const std::vector<std::size_t>& sizes) {
  add_case("unscale_check_norm/" + name, [sizes](Comparison& race) {
    auto context = make_context();
    std::size_t total = 0;
    for (const std::size_t size : sizes) total += size;
    auto gradients = make_numbers<float>(total);
    auto flat = make_numbers<float>(total);
    race.keep(gradients);
    race.keep(flat);
    Runs runs;
    const Runs flat_runs{{flat->data(), static_cast<mezzo::index_t>(total)}};
    std::vector<float*> pointers;
    std::size_t offset = 0;
    for (const std::size_t size : sizes) {
      pointers.push_back(gradients->data() + offset);
      runs.push_back({pointers.back(), static_cast<mezzo::index_t>(size)});
      offset += size;
    }
    race.work(8.0 * static_cast<double>(total), "B");
    race.add("mezzo", [=] { benchmark::DoNotOptimize(mezzo::scale_and_check(*context, 1.0f, runs, runs)); });
    race.add("mezzo_flat", [=] { benchmark::DoNotOptimize(mezzo::scale_and_check(*context, 1.0f, flat_runs, flat_runs)); });
    race.add("torch", peers::torch::unscale_check_norm(pointers.data(), sizes.data(), sizes.size()));
    race.target("mezzo_flat", 1 / 1.15);
    race.target("torch", 20);
  });
}

void add_norm(std::size_t bytes) {
  add_case("norm/" + size_name(bytes), [bytes](Comparison& race) {
    const FlatGradients flat{bytes / sizeof(float)};
    const double norm = std::sqrt(mezzo::check_finite(*flat.context, flat.runs).sum_of_squares);
    double exact = 0;
    for (std::size_t i = 0; i < flat.size; ++i) exact += static_cast<double>(flat.data[i]) * static_cast<double>(flat.data[i]);
    exact = std::sqrt(exact);
    expect_close("norm against fp64", norm / exact, 1.0, 1e-6);
    race.work(static_cast<double>(bytes), "B");
    race.add("mezzo", [=] { benchmark::DoNotOptimize(mezzo::check_finite(*flat.context, flat.runs)); });
    race.add("read", peers::plain::sum(flat.data, flat.size));
    race.add("eigen", peers::eigen::norm(flat.data, flat.size));
    race.add("torch", peers::torch::norm(flat.data, flat.size));
    race.target("read", 0.97);
  });
}

}  // namespace

void add_gradient_cases() {
  for (const std::size_t bytes : {small, medium, large}) add_flat(bytes);
  add_list("1000_tensors_of_1000", std::vector<std::size_t>(1000, 1000));
  add_list("transformer", transformer_sizes(2));
  for (const std::size_t bytes : {small, medium, large}) add_norm(bytes);
}

}  // namespace bench
