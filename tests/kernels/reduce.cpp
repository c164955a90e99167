#include "reduce.hpp"

using mezzo::CpuContext;

TEST_CASE_TEMPLATE("sums of whole numbers are exact", T, float, double, mezzo::half, mezzo::bfloat16) {
  CpuContext context({.threads = 2});
  test::sums_of_whole_numbers<T>(context);
}

TEST_CASE("sums keep their bounds") {
  CpuContext context({.threads = 2});
  test::sums_are_accurate(context);
  test::strided_sums(context);
  test::nan_is_kept(context);
}

TEST_CASE("any number of threads gives the same sum") { test::reductions_ignore_threads<CpuContext>(); }

// Additions alone: no instruction set can contract them, and all add in one order.
TEST_CASE("every instruction set gives the same sum") {
  std::vector<float> x;
  test::Random random(2);
  for (int i = 0; i < 4001; ++i) x.push_back(static_cast<float>(random.uniform(-1, 1)));
  const float first = mezzo::detail::reduce_range(mezzo::Isa::baseline, mezzo::Sum<>{}, 4001, mezzo::read(x.data()));
  for (mezzo::Isa isa : {mezzo::Isa::avx2, mezzo::Isa::avx512}) {
    if (isa <= mezzo::best_isa()) CHECK(first == mezzo::detail::reduce_range(isa, mezzo::Sum<>{}, 4001, mezzo::read(x.data())));
  }
}

TEST_CASE("shapes must agree") {
  CpuContext context;
  auto a = mezzo::make_zeros<float>(context, {2}), b = mezzo::make_zeros<float>(context, {3});
  CHECK_THROWS_AS(mezzo::reduce(context, test::ProductSum{}, read(a.view()), read(b.view())), mezzo::shape_error);
  mezzo::transform(context, test::Shift{}, write(b.view()), read(b.view()));
  CHECK(mezzo::reduce(context, test::ProductSum{}, read(b.view()), read(b.view())) == doctest::Approx(3 * 1.7 * 1.7));
}
