// Operations along rows.
#include "cases.hpp"

#include <mezzo/ops/cross_entropy.hpp>
#include <mezzo/ops/layer_norm.hpp>
#include <mezzo/ops/softmax.hpp>

namespace bench {

namespace {

constexpr mezzo::index_t rows = 4096, columns = 1024;
constexpr std::size_t elements = static_cast<std::size_t>(rows * columns);

struct Arrays {
  std::shared_ptr<mezzo::CpuContext> context = make_context();
  std::shared_ptr<Buffer<float>> in = make_numbers<float>(elements), out = make_buffer<float>(elements),
                                 other = make_buffer<float>(elements);
};

void add_peer(Comparison& race, const Arrays& arrays, const char* name, const peers::Contestant& run) {
  if (run) {
    run();
    expect_close(name, arrays.out->data(), arrays.other->data(), elements, 1e-5f);
  }
  race.add(name, run);
}

void softmax(Comparison& race) {
  const Arrays s;
  const auto run = [s] { mezzo::softmax(*s.context, s.out->view(rows, columns), s.in->view(rows, columns)); };
  run();
  race.keep(s.other);
  race.work(8.0 * static_cast<double>(elements), "B");
  race.add("mezzo", run);
  add_peer(race, s, "onednn", peers::onednn::softmax(s.other->data(), s.in->data(), rows, columns));
  add_peer(race, s, "torch", peers::torch::softmax(s.other->data(), s.in->data(), rows, columns));
  add_peer(race, s, "eigen", peers::eigen::softmax(s.other->data(), s.in->data(), rows, columns));
  race.add_best("best_peer", {"onednn", "torch", "eigen"});
  race.target("best_peer", 1.5);
}

void layer_norm(Comparison& race) {
  const Arrays s;
  auto scale = make_numbers<float>(columns, 3), shift = make_numbers<float>(columns, 4);
  const auto run = [=] {
    mezzo::layer_norm(*s.context, s.out->view(rows, columns), s.in->view(rows, columns), scale->view(), shift->view());
  };
  run();
  race.keep(s.other);
  race.work(8.0 * static_cast<double>(elements), "B");
  race.add("mezzo", run);
  add_peer(race, s, "onednn", peers::onednn::layer_norm(s.other->data(), s.in->data(), scale->data(), shift->data(), rows, columns));
  add_peer(race, s, "torch", peers::torch::layer_norm(s.other->data(), s.in->data(), scale->data(), shift->data(), rows, columns));
  race.add_best("best_peer", {"onednn", "torch"});
  race.target("best_peer", 1.15);
}

void cross_entropy(Comparison& race) {
  const Arrays s;
  auto labels = make_buffer<int>(rows);
  for (mezzo::index_t i = 0; i < rows; ++i) labels->data()[i] = static_cast<int>(i * 37 % columns);
  race.work(12.0 * static_cast<double>(elements), "B");
  race.add("mezzo", [=] {
    float loss = 0;
    mezzo::cross_entropy(*s.context, mezzo::HostView<float, 0>(&loss, {}), s.in->view(rows, columns), labels->view());
    mezzo::cross_entropy_backward(*s.context, s.out->view(rows, columns), s.in->view(rows, columns), labels->view());
    benchmark::DoNotOptimize(loss);
  });
  race.add("torch", peers::torch::cross_entropy(s.in->data(), labels->data(), rows, columns));
  race.target("torch", 1.5);
}

}  // namespace

void add_row_cases() {
  add_case("softmax/4096x1024", softmax);
  add_case("layer_norm/4096x1024", layer_norm);
  add_case("cross_entropy/4096x1024", cross_entropy);
}

}  // namespace bench
