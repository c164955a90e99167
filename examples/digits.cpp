// Trains a network with two hidden layers on handwritten digits, in fp32, bfloat16 and half, with one source for the three.
//   digits <digits.csv> [epochs [curves.dat]]     (loss curves for gnuplot)
#include <mezzo/mezzo.hpp>
#include <mezzo/train/data_loader.hpp>
#include <mezzo/train/progress.hpp>

#include <cstdio>
#include <fstream>
#include <vector>

using mezzo::index_t;
constexpr index_t pixels = 64, hidden = 256, classes = 10, batch = 32;

/// The user's own struct of parameters and activations. An operation names what it does; Policy decides in which type.
template <class Policy, class Context>
class Mlp {
 public:
  using Low = mezzo::compute_t<Policy, mezzo::op::linear, float>;

  Mlp(Context& context, mezzo::RandomGenerator random)
      : m_parameters(context), m_input(context, {batch, pixels}), m_logits(context, {batch, classes}), m_loss(context, {}) {
    m_parameters.seal();
    for (const auto& weight : {m_weight1, m_weight2, m_weight3}) mezzo::kaiming_uniform(context, random, weight.master());
    mezzo::refresh_weights(context, m_parameters);
    for (auto* layer : {&m_first, &m_second, &m_grad1, &m_grad2}) *layer = mezzo::make_tensor<Low>(context, {batch, hidden});
  }

  auto& parameters() { return m_parameters; }
  index_t bytes() const {
    return index_t{sizeof(Low)} * (m_parameters.flat_size() + m_input.size() + m_first.size() + m_second.size() + m_logits.size());
  }

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

  /// Returns the loss. `scale` is the loss scale, which seeds the backward pass; the gradient of the logits takes their place.
  float backward(Context& context, const auto& labels, const auto& scale) {
    mezzo::cross_entropy<Policy>(context, m_loss, now(m_logits), labels);
    mezzo::cross_entropy_backward(context, now(m_logits), now(m_logits), labels, scale);
    mezzo::linear_backward<Policy>(context, now(m_grad2), m_weight3, m_bias3, now(m_logits), now(m_second));
    mezzo::relu_backward<Policy>(context, now(m_grad2), now(m_grad2), now(m_second));
    mezzo::linear_backward<Policy>(context, now(m_grad1), m_weight2, m_bias2, now(m_grad2), now(m_first));
    mezzo::relu_backward<Policy>(context, now(m_grad1), now(m_grad1), now(m_first));
    mezzo::linear_backward<Policy>(context, mezzo::none, m_weight1, m_bias1, now(m_grad1), now(m_input));
    return m_loss();
  }

 private:
  auto now(auto& tensor) { return tensor.view().slice(0, 0, m_rows); }  // the last batch of an epoch is shorter
  mezzo::ParameterArena<Policy, Context> m_parameters;
  mezzo::Parameter<Policy, Context, 2> m_weight1{m_parameters, "fc1.weight", {hidden, pixels}},
      m_weight2{m_parameters, "fc2.weight", {hidden, hidden}}, m_weight3{m_parameters, "fc3.weight", {classes, hidden}};
  mezzo::Parameter<Policy, Context, 1> m_bias1{m_parameters, "fc1.bias", {hidden}}, m_bias2{m_parameters, "fc2.bias", {hidden}},
      m_bias3{m_parameters, "fc3.bias", {classes}};
  mezzo::Tensor<Low, 2> m_input, m_logits, m_first, m_second, m_grad1, m_grad2;
  mezzo::Tensor<float, 0> m_loss;
  index_t m_rows = 0;
};

/// Images as rows of 64 numbers in [0, 1], and the digits that they show.
struct Digits {
  std::vector<float> images;
  std::vector<int> labels;
  auto loader(const mezzo::DataLoaderOptions& options) const {
    return mezzo::DataLoader(mezzo::TensorView(images.data(), mezzo::Extents(labels.size(), pixels)),
                             mezzo::TensorView(labels.data(), mezzo::Extents(labels.size())), options);
  }
};

struct Result {
  double accuracy = 0, loss = 0, skipped = 0, seconds = 0, bytes = 0;
};

template <class Policy, class Context>
Result train(Context& context, const Digits& training, const Digits& test, int epochs, unsigned seed, std::ostream& curve) {
  Mlp<Policy, Context> model(context, mezzo::RandomGenerator({.seed = seed}));
  auto loader = training.loader({.batch_size = batch, .shuffle = true, .seed = seed});
  mezzo::AdamW optimizer(context, model.parameters(), {.learning_rate = 2e-3f, .weight_decay = 0.01f});
  optimizer.set_schedule(mezzo::CosineSchedule({.steps = epochs * loader.size()}));
  mezzo::GradScaler scaler(context, mezzo::default_loss_scaler<Policy>());  // scales for half alone
  mezzo::Progress progress({.steps = epochs * loader.size(), .label = std::string(Policy::name) + " " + std::to_string(seed)});
  Result result;
  const double start = mezzo::monotonic_seconds();
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    result.loss = 0;
    for (auto [inputs, labels] : loader) {
      model.forward(context, inputs);
      const float loss = model.backward(context, labels, scaler.scale_view());
      const auto report = scaler.step(optimizer, {.max_grad_norm = 5.0f});
      scaler.update();
      progress.tick(loss, report, labels.size());
      result.skipped += report.skipped();
      result.loss += double(loss) / double(loader.size());
    }
    curve << epoch << ' ' << result.loss << '\n';
  }
  result.seconds = mezzo::monotonic_seconds() - start;
  result.bytes = double(model.bytes());
  auto test_loader = test.loader({.batch_size = batch});
  for (auto [inputs, labels] : test_loader) {
    auto guesses = mezzo::make_tensor<int>(context, labels.extents());
    mezzo::argmax(context, guesses, model.forward(context, inputs));
    for (index_t i = 0; i < labels.size(); ++i) result.accuracy += double(guesses(i) == labels(i)) / double(test.labels.size());
  }
  return result;
}

int main(int count, char** arguments) {
  std::ifstream file(count > 1 ? arguments[1] : "data/digits.csv");
  if (!file) return std::puts("digits: no data; scripts/setup demo fetches it to data/digits.csv"), 77;
  Digits training, test;
  float value = 0;
  for (index_t i = 0; file >> value; file.ignore(), ++i) {
    Digits& part = i / (pixels + 1) % 5 == 4 ? test : training;  // every fifth image is for testing
    i % (pixels + 1) < pixels ? part.images.push_back(value / 16) : part.labels.push_back(int(value));
  }
  const int epochs = count > 2 ? std::atoi(arguments[2]) : 40;
  std::ofstream curves(count > 3 ? arguments[3] : "/dev/null"), unseen("/dev/null");
  mezzo::CpuContext context;
  std::printf("%s, %d threads, %s\n", mezzo::capabilities(context).device.c_str(), context.threads(), describe(context.isa()));
  const auto train_thrice = [&](auto policy) {
    curves << "\n\n\"" << policy.name << "\"\n";
    Result mean;
    for (unsigned seed = 1; seed <= 3; ++seed) {
      const Result r = train<decltype(policy)>(context, training, test, epochs, seed, seed == 1 ? curves : unseen);
      mean = {mean.accuracy + r.accuracy / 3, mean.loss + r.loss / 3, mean.skipped + r.skipped / 3, mean.seconds + r.seconds / 3, r.bytes};
    }
    return mean;
  };
  const Result results[] = {train_thrice(mezzo::Fp32()), train_thrice(mezzo::AmpBf16()), train_thrice(mezzo::AmpFp16())};
  std::printf("policy   test accuracy  final loss  skipped steps  weights + activations  time       (means over 3 seeds)\n");
  for (int i = 0; i < 3; ++i) {
    const auto& [accuracy, loss, skipped, seconds, bytes] = results[i];
    std::printf("%-7s %12.2f %% %11.5f %14.1f %16.0f bytes %5.2f s\n",
                i == 0   ? "Fp32"
                : i == 1 ? "AmpBf16"
                         : "AmpFp16",
                100 * accuracy, loss, skipped, bytes, seconds);
    if (epochs >= 40 && (accuracy < 0.96 || accuracy < results[0].accuracy - 0.01)) return std::puts("less accurate than expected"), 1;
  }
}
