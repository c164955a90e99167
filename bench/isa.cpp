// The same work with fewer instructions: what a CPU without AVX-512, or without AVX2, gets. MEZZO_ISA forces the same.
#include "cases.hpp"

#include <string>
#include <vector>

#include <mezzo/kernels/finite_check.hpp>
#include <mezzo/ops/activation.hpp>
#include <mezzo/ops/cast.hpp>
#include <mezzo/ops/layer_norm.hpp>
#include <mezzo/ops/softmax.hpp>

namespace bench {

namespace {

/// run(context) with `isa`, beside the best that this CPU has.
void add_isa(Comparison& race, double bytes, mezzo::Isa isa, const std::function<void(mezzo::CpuContext&)>& run) {
  auto context = std::make_shared<mezzo::CpuContext>(mezzo::CpuContextOptions{.threads = settings().threads, .isa = isa});
  auto best = make_context();
  race.work(bytes, "B");
  race.add("mezzo", [=] { run(*context); });
  race.add("best_isa", [=] { run(*best); });
  race.target("best_isa", 0.5);
}

template <class Out, class In>
void add_isa_cast(const std::string& name, mezzo::Isa isa) {
  add_case(name, [isa](Comparison& race) {
    auto from = make_numbers<In>(medium / 4);
    auto to = make_buffer<Out>(medium / 4);
    add_isa(race, 1.5 * medium, isa, [=](mezzo::CpuContext& context) { mezzo::cast(context, to->view(), from->view()); });
  });
}

void add_cases_of(mezzo::Isa isa) {
  const std::string prefix = std::string("isa_") + mezzo::describe(isa) + "/";
  add_isa_cast<mezzo::half, float>(prefix + "float_to_half", isa);
  add_isa_cast<float, mezzo::half>(prefix + "half_to_float", isa);
  add_isa_cast<mezzo::bfloat16, float>(prefix + "float_to_bfloat16", isa);
  add_isa_cast<float, mezzo::bfloat16>(prefix + "bfloat16_to_float", isa);
  add_case(prefix + "unscale_check_norm", [isa](Comparison& race) {
    auto gradients = make_numbers<float>(medium / 4);
    add_isa(race, 2.0 * medium, isa, [=](mezzo::CpuContext& context) {
      const std::vector<mezzo::TensorRun<float>> runs{{gradients->data(), static_cast<mezzo::index_t>(gradients->size())}};
      benchmark::DoNotOptimize(mezzo::scale_and_check(context, 1.0f, runs, runs));
    });
  });
  constexpr mezzo::index_t rows = 4096, columns = 1024;
  constexpr auto size = static_cast<std::size_t>(rows * columns);
  const auto add_rows = [&](const char* name, const auto& operation) {
    add_case(prefix + name, [isa, operation](Comparison& race) {
      auto in = make_numbers<float>(size), out = make_buffer<float>(size);
      add_isa(race, 8.0 * size, isa,
              [=](mezzo::CpuContext& context) { operation(context, out->view(rows, columns), in->view(rows, columns)); });
    });
  };
  add_rows("gelu", [](auto& context, auto out, auto in) { mezzo::gelu(context, out, in); });
  add_rows("softmax", [](auto& context, auto out, auto in) { mezzo::softmax(context, out, in); });
  add_rows("layer_norm", [](auto& context, auto out, auto in) { mezzo::layer_norm(context, out, in, mezzo::none, mezzo::none); });
}

}  // namespace

void add_isa_cases() {
  for (const mezzo::Isa isa : {mezzo::Isa::avx2, mezzo::Isa::baseline}) {
    if (isa < mezzo::best_isa()) add_cases_of(isa);
  }
}

}  // namespace bench
