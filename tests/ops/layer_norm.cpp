#include "layer_norm.hpp"

using mezzo::CpuContext;

TEST_CASE_TEMPLATE("rows are normalised within bounds", T, float, mezzo::half, mezzo::bfloat16) {
  CpuContext context({.threads = 2});
  for (mezzo::index_t width : {1, 8, 33, 1000}) {
    test::normalised_rows<float, T>(context, width);
    test::normalised_rows<T, T>(context, width);
  }
  test::layer_norm_backward_in<T>(context);
}

TEST_CASE("in fp64, and its gradients") {
  CpuContext context({.threads = 2});
  test::normalised_rows<double, double>(context, 33);
  test::layer_norm_gradients(context);
}

TEST_CASE("strides, parameters and large numbers") {
  CpuContext context({.threads = 2});
  test::layer_norm_of_any_strides(context);
  test::far_from_zero(context);
  test::far_beyond_squares(context);
  test::through_the_sink(context);
  test::layer_norm_misuse(context);
}

TEST_CASE("any number of threads gives the same bits") { test::layer_norm_ignores_threads<CpuContext>(); }

TEST_CASE_TEMPLATE("rows past the caches", T, float, mezzo::bfloat16) {
  CpuContext context({.threads = 2});
  test::rows_past_the_caches<T>(context, [&](auto y, auto x, auto, auto) { mezzo::layer_norm(context, y, x, mezzo::none, mezzo::none); });
}
