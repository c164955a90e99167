#include "transform.hpp"

#include <mezzo/context/cpu_context.hpp>

#include "conversions.hpp"

TEST_CASE_TEMPLATE("sizes around blocks and tasks", T, float, double, mezzo::half, mezzo::bfloat16, mezzo::fp8_e4m3, mezzo::fp8_e5m2,
                   std::int32_t, std::int64_t, std::int8_t, std::uint8_t, std::uint16_t) {
  CpuContext context({.threads = 2});
  test::every_size<T>(context);
  test::strided_views<T>(context);
}

TEST_CASE("any rank") {
  CpuContext context;
  test::rank_zero_and_three(context);
  test::shapes_must_agree(context);
}

TEST_CASE_TEMPLATE("any number of threads gives the same bits", T, float, mezzo::half, mezzo::bfloat16) {
  test::same_bits_for_any_threads<T, CpuContext>();
}

TEST_CASE("every instruction set gives the same bits where nothing can be contracted") {
  const auto from = many_floats();
  std::vector<float> first(from.size()), next(from.size());
  mezzo::detail::transform_range(Isa::baseline, test::Shift{}, static_cast<index_t>(from.size()), mezzo::write(first.data()),
                                 mezzo::read(from.data()));
  for_each_isa([&](Isa isa) {
    mezzo::detail::transform_range(isa, test::Shift{}, static_cast<index_t>(from.size()), mezzo::write(next.data()),
                                   mezzo::read(from.data()));
    index_t wrong = 0;
    for (std::size_t i = 0; i < from.size(); ++i)
      wrong += !(is_nan(first[i]) && is_nan(next[i])) && bits_of_float(first[i]) != bits_of_float(next[i]);
    CHECK(wrong == 0);
  });
}
