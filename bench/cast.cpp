// Casts between fp32 and 16 bits, beside copies of as many bytes.
#include "cases.hpp"

#include <mezzo/ops/cast.hpp>

namespace bench {

namespace {

template <class Out, class In>
void add_cast(const std::string& name, std::size_t bytes) {
  add_case("cast/" + name + "/" + size_name(bytes), [bytes](Comparison& race) {
    const std::size_t size = bytes / sizeof(float);
    auto context = make_context();
    auto from = make_numbers<In>(size);
    auto to = make_buffer<Out>(size);

    auto check = make_buffer<Out>(size);
    mezzo::cast(*context, to->view(), from->view());
    const auto peer = [&](const char* peer_name, const peers::Contestant& run, bool is_exact = true) {
      if (run && is_exact) {
        run();
        expect_same(peer_name, check->data(), to->data(), size * sizeof(Out));
      }
      race.add(peer_name, run);
    };
    race.work(static_cast<double>(size * (sizeof(Out) + sizeof(In))), "B");
    race.add("mezzo", [=] { mezzo::cast(*context, to->view(), from->view()); });
    add_copies(race, size * (sizeof(Out) + sizeof(In)) / 2);
    auto twin = make_buffer<Out>(size);
    race.keep(twin);
    if (bytes > small)
      race.add("traffic_twin", peers::plain::cast_traffic(twin->data(), from->data(), size * sizeof(Out), size * sizeof(In)));
    // Highway 1.0 truncates to bfloat16.
    peer("highway", peers::highway::cast(check->data(), from->data(), size), !std::is_same_v<Out, mezzo::bfloat16>);
    peer("onednn", peers::onednn::cast(check->data(), from->data(), size));
    peer("torch", peers::torch::cast(check->data(), from->data(), size));
    if (bytes <= small) {
      peer("eigen", peers::eigen::cast(check->data(), from->data(), size));
      if constexpr (std::is_same_v<Out, mezzo::half>) peer("imath", peers::imath::to_half(check->data(), from->data(), size));
      if constexpr (std::is_same_v<In, mezzo::half>) peer("imath", peers::imath::to_float(check->data(), from->data(), size));
    }
    race.keep(from);
    race.keep(check);

    if (bytes <= small) {
      race.target("copy", 0.85);
      race.target("highway", 0.98);
    } else {
      race.target("best_copy", 0.95);
      if (bytes == medium) race.target("highway", 1.2);
      if (bytes == medium) race.target("torch", 1.5);
    }
  });
}

}  // namespace

void add_cast_cases() {
  for (const std::size_t bytes : {small, medium, large}) {
    add_cast<mezzo::half, float>("float_to_half", bytes);
    add_cast<float, mezzo::half>("half_to_float", bytes);
    add_cast<mezzo::bfloat16, float>("float_to_bfloat16", bytes);
    add_cast<float, mezzo::bfloat16>("bfloat16_to_float", bytes);
  }
}

}  // namespace bench
