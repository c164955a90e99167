// What a second thread brings, beside what it brings to a plain copy.
#include "cases.hpp"

#include <cstring>
#include <thread>
#include <vector>

#include <mezzo/kernels/finite_check.hpp>
#include <mezzo/ops/cast.hpp>

namespace bench {

namespace {

std::shared_ptr<mezzo::CpuContext> context_of(int threads) {
  return std::make_shared<mezzo::CpuContext>(mezzo::CpuContextOptions{.threads = threads});
}

/// run(context, ...) on two threads, on one, and a copy of as many bytes on each.
void add_scaling(Comparison& race, double bytes, const std::function<void(mezzo::CpuContext&)>& run) {
  const AllCores all_cores;
  auto one = context_of(1), two = context_of(2);
  const auto half = static_cast<std::size_t>(bytes) / 2;
  auto from = make_buffer<char>(half), to = make_buffer<char>(half);
  const auto copy = [=](mezzo::CpuContext& context) {
    constexpr mezzo::index_t piece = 1 << 20;
    context.parallel_for(static_cast<mezzo::index_t>(half) / piece,
                         [&](mezzo::index_t task) { std::memcpy(to->data() + task * piece, from->data() + task * piece, piece); });
  };
  race.work(bytes, "B");
  race.add("mezzo", [=] { run(*two); });
  race.add("one_thread", [=] { run(*one); });
  race.add("copy", [=] { copy(*two); });
  race.add("copy_one_thread", [=] { copy(*one); });
}

}  // namespace

void add_thread_cases() {
  if (std::thread::hardware_concurrency() < 2) return;
  add_case("two_threads/float_to_half/" + size_name(medium), [](Comparison& race) {
    auto from = make_numbers<float>(medium / 4);
    auto to = make_buffer<mezzo::half>(medium / 4);
    add_scaling(race, 1.5 * medium, [=](mezzo::CpuContext& context) { mezzo::cast(context, to->view(), from->view()); });
  });
  add_case("two_threads/unscale_check_norm/" + size_name(medium), [](Comparison& race) {
    auto gradients = make_numbers<float>(medium / 4);
    add_scaling(race, 2.0 * medium, [=](mezzo::CpuContext& context) {
      const std::vector<mezzo::TensorRun<float>> runs{{gradients->data(), static_cast<mezzo::index_t>(gradients->size())}};
      benchmark::DoNotOptimize(mezzo::scale_and_check(context, 1.0f, runs, runs));
    });
  });
}

}  // namespace bench
