// How the cost grows with the number of elements and of tensors: lines in a plot, which should have neither bends nor steps.
#include "cases.hpp"

#include <vector>

#include <mezzo/kernels/finite_check.hpp>
#include <mezzo/ops/cast.hpp>

namespace bench {

namespace {

void add_elements(std::size_t size) {
  add_case("growth/float_to_half/" + std::to_string(size), [size](Comparison& race) {
    auto context = make_context();
    auto from = make_numbers<float>(size);
    auto to = make_buffer<mezzo::half>(size);
    race.work(6.0 * static_cast<double>(size), "B");
    race.add("mezzo", [=] { mezzo::cast(*context, to->view(), from->view()); });
    add_copies(race, 3 * size);
  });
  add_case("growth/unscale_check_norm/" + std::to_string(size), [size](Comparison& race) {
    auto context = make_context();
    auto gradients = make_numbers<float>(size);
    race.keep(gradients);
    const std::vector<mezzo::TensorRun<float>> runs{{gradients->data(), static_cast<mezzo::index_t>(size)}};
    race.work(8.0 * static_cast<double>(size), "B");
    race.add("mezzo", [=] { benchmark::DoNotOptimize(mezzo::scale_and_check(*context, 1.0f, runs, runs)); });
    race.add("scale", peers::plain::scale(gradients->data(), size));
  });
}

void add_tensors(std::size_t count) {
  add_case("growth/tensors_of_1000/" + std::to_string(count), [count](Comparison& race) {
    auto context = make_context();
    auto gradients = make_numbers<float>(count * 1000);
    race.keep(gradients);
    std::vector<mezzo::TensorRun<float>> runs;
    for (std::size_t i = 0; i < count; ++i) runs.push_back({gradients->data() + i * 1000, 1000});
    race.work(8000.0 * static_cast<double>(count), "B");
    race.add("mezzo", [=] { benchmark::DoNotOptimize(mezzo::scale_and_check(*context, 1.0f, runs, runs)); });
    race.add("scale", peers::plain::scale(gradients->data(), count * 1000));
  });
}

}  // namespace

void add_growth_cases() {
  for (std::size_t size = 1 << 10; size <= (256u << 20); size *= 4) add_elements(size);
  for (std::size_t count = 1; count <= 10000; count *= 10) add_tensors(count);
}

}  // namespace bench
