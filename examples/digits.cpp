// Trains a network with two hidden layers on handwritten digits, in fp32, bfloat16 and half, with one source for the three.
//   digits <digits.csv> [--quick | --curves <file>]     (the file receives loss curves for gnuplot)
#include <mezzo/mezzo.hpp>
#include <mezzo/train/data_loader.hpp>
#include <mezzo/train/progress.hpp>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

using mezzo::index_t;
constexpr index_t pixels = 64, hidden = 256, classes = 10, batch = 32;

/// The user's own struct of parameters and activations. An operation names what it does; Policy decides in which type.
template <class Policy, class Context>
class Mlp {
 public:
  using Low = mezzo::compute_t<Policy, mezzo::op::linear, float>;

  Mlp(Context& context, mezzo::RandomGenerator random) : m_parameters(context), m_loss(context, {}) {
    m_parameters.seal();
    for (const auto& weight : {m_weight1, m_weight2, m_weight3}) mezzo::kaiming_uniform(context, random, weight.master());
    mezzo::refresh_weights(context, m_parameters);
    for (auto* layer : {&m_first, &m_second, &m_grad1, &m_grad2}) *layer = mezzo::make_tensor<Low>(context, {batch, hidden});
    m_input = mezzo::make_tensor<Low>(context, {batch, pixels});
    m_logits = mezzo::make_tensor<Low>(context, {batch, classes});
  }

  auto& parameters() { return m_parameters; }
  index_t bytes() const { return index_t{sizeof(Low)} * (m_parameters.flat_size() + m_input.size() + m_first.size() + m_second.size() + m_logits.size()); }

  auto forward(Context& context, const auto& inputs) {
    m_rows = inputs.extent(0);
    mezzo::cast(context, now(m_input), inputs);
    mezzo::linear<Policy>(context, now(m_first), now(m_input), m_weight1, m_bias1);
    mezzo::relu<Policy>(context, now(m_first), now(m_first));
    mezzo::linear<Policy>(context, now(m_second), now(m_first), m_weight2, m_bias2);
    mezzo::relu<Policy>(context, now(m_second), now(m_second));
    mezzo::linear<Policy>(context, now(m_logits), now(m_second), m_weight3, m_bias3);
    return now(m_logits);
  }
  float loss(Context& context, const auto& labels) {
    mezzo::cross_entropy<Policy>(context, m_loss, now(m_logits), labels);
    return m_loss();
  }
  /// `scale` is the loss scale, which seeds the backward pass. The gradient of the logits takes their place.
  void backward(Context& context, const auto& labels, const auto& scale) {
    mezzo::cross_entropy_backward(context, now(m_logits), now(m_logits), labels, scale);
    mezzo::linear_backward<Policy>(context, now(m_grad2), m_weight3, m_bias3, now(m_logits), now(m_second));
    mezzo::relu_backward<Policy>(context, now(m_grad2), now(m_grad2), now(m_second));
    mezzo::linear_backward<Policy>(context, now(m_grad1), m_weight2, m_bias2, now(m_grad2), now(m_first));
    mezzo::relu_backward<Policy>(context, now(m_grad1), now(m_grad1), now(m_first));
    mezzo::linear_backward<Policy>(context, mezzo::none, m_weight1, m_bias1, now(m_grad1), now(m_input));
  }

 private:
  auto now(auto& tensor) { return tensor.view().slice(0, 0, m_rows); }  // the last batch of an epoch is shorter

  mezzo::ParameterArena<Policy, Context> m_parameters;
  mezzo::Parameter<Policy, Context, 2> m_weight1{m_parameters, "fc1.weight", {hidden, pixels}}, m_weight2{m_parameters, "fc2.weight", {hidden, hidden}},
      m_weight3{m_parameters, "fc3.weight", {classes, hidden}};
  mezzo::Parameter<Policy, Context, 1> m_bias1{m_parameters, "fc1.bias", {hidden}}, m_bias2{m_parameters, "fc2.bias", {hidden}},
      m_bias3{m_parameters, "fc3.bias", {classes}};
  mezzo::Tensor<Low, 2> m_input, m_first, m_second, m_logits, m_grad1, m_grad2;
  mezzo::Tensor<float, 0> m_loss;
  index_t m_rows = 0;
};

/// Images as rows of 64 numbers in [0, 1], and the digits that they show.
struct Digits {
  std::vector<float> images;
  std::vector<int> labels;

  auto loader(const mezzo::DataLoaderOptions& options) const {
    return mezzo::DataLoader(mezzo::TensorView(images.data(), mezzo::Extents(labels.size(), pixels)), mezzo::TensorView(labels.data(), mezzo::Extents(labels.size())), options);
  }
};

struct Result { double accuracy = 0, loss = 0, seconds = 0; int skipped = 0; index_t bytes = 0; };

template <class Policy, class Context>
Result train(Context& context, const Digits& training, const Digits& test, int epochs, unsigned seed, std::ostream& curve) {
  Mlp<Policy, Context> model(context, mezzo::RandomGenerator({.seed = seed}));
  auto loader = training.loader({.batch_size = batch, .shuffle = true, .seed = seed});
  mezzo::AdamW optimizer(context, model.parameters(), {.learning_rate = 2e-3f, .weight_decay = 0.01f});
  optimizer.set_schedule(mezzo::CosineSchedule({.steps = epochs * loader.size()}));
  mezzo::GradScaler scaler(context, mezzo::default_loss_scaler<Policy>());  // scales for half alone
  mezzo::Progress progress({.steps = epochs * loader.size(), .label = std::string(Policy::name) + " " + std::to_string(seed)});
  const auto start = std::chrono::steady_clock::now();

  Result result;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    double sum = 0;
    for (auto [inputs, labels] : loader) {
      model.forward(context, inputs);
      const float loss = model.loss(context, labels);
      model.backward(context, labels, scaler.scale_view());
      const auto report = scaler.step(optimizer, {.max_grad_norm = 5.0f});
      scaler.update();
      progress.tick({.loss = loss, .loss_scale = report.loss_scale(), .samples = labels.size(), .skipped = report.skipped()});
      result.skipped += report.skipped();
      sum += double(loss);
    }
    result.loss = sum / double(loader.size());
    curve << epoch + 1 << ' ' << result.loss << '\n';
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  auto test_loader = test.loader({.batch_size = batch});
  for (auto [inputs, labels] : test_loader) {
    auto guesses = mezzo::make_tensor<int>(context, labels.extents());
    mezzo::argmax(context, guesses, model.forward(context, inputs));
    for (index_t i = 0; i < labels.size(); ++i) result.accuracy += double(guesses(i) == labels(i)) / double(test.labels.size());
  }
  result.bytes = model.bytes();
  return result;
}

int main(int count, char** arguments) {
  const std::vector<std::string> options(arguments + 1, arguments + count);
  std::ifstream file(options.empty() ? "data/digits.csv" : options[0]);
  if (!file) return std::fprintf(stderr, "digits: no data; scripts/setup demo fetches it to data/digits.csv\n"), 77;
  Digits training, test;
  float value = 0;
  for (index_t i = 0; file >> value; file.ignore(), ++i) {
    Digits& part = i / (pixels + 1) % 5 == 4 ? test : training;  // every fifth image is for testing
    i % (pixels + 1) < pixels ? part.images.push_back(value / 16) : part.labels.push_back(int(value));
  }
  const bool is_quick = options.size() > 1 && options[1] == "--quick";
  std::ofstream curves(options.size() > 2 && options[1] == "--curves" ? options[2] : "/dev/null"), unseen("/dev/null");
  mezzo::CpuContext context;
  std::printf("%s, %d threads, %s\n", mezzo::capabilities(context).device.c_str(), context.threads(), describe(context.isa()));

  std::string table = "policy     seed  test accuracy  final loss  skipped steps  weights + activations    time\n";
  double mean[3] = {};
  const auto train_all = [&](auto policy, double& accuracy) {
    curves << "\n\n\"" << policy.name << "\"\n";
    for (unsigned seed = 1; seed <= (is_quick ? 1 : 3); ++seed) {
      const Result r = train<decltype(policy)>(context, training, test, is_quick ? 3 : 40, seed, seed == 1 ? curves : unseen);
      char row[128];
      std::snprintf(row, sizeof row, "%-10s %4u %12.2f %% %11.5f %14d %16ld bytes %6.2f s\n", policy.name, seed, 100 * r.accuracy, r.loss, r.skipped, long(r.bytes), r.seconds);
      table += row;
      accuracy += r.accuracy / (is_quick ? 1 : 3);
    }
  };
  train_all(mezzo::Fp32(), mean[0]), train_all(mezzo::AmpBf16(), mean[1]), train_all(mezzo::AmpFp16(), mean[2]);
  std::printf("%smean test accuracy: %.2f %% in fp32, %.2f %% in bfloat16, %.2f %% in half\n", table.c_str(), 100 * mean[0], 100 * mean[1], 100 * mean[2]);
  for (double accuracy : mean) if (!is_quick && (accuracy < 0.96 || accuracy < mean[0] - 0.01)) return std::puts("less than expected"), 1;
  return 0;
}
