#include "softmax.hpp"

using mezzo::CpuContext;

TEST_CASE_TEMPLATE("probabilities and their logarithms keep their bounds", T, float, mezzo::half, mezzo::bfloat16) {
  CpuContext context({.threads = 2});
  for (mezzo::index_t width : {1, 10, 16, 33, 1000}) {
    test::softmax_rows<float, T>(context, width);
    test::softmax_rows<T, T>(context, width);
  }
  test::softmax_backward_in<T>(context);
}

TEST_CASE("in fp64, and its gradients") {
  CpuContext context({.threads = 2});
  test::softmax_rows<double, double>(context, 33);
  test::softmax_gradients(context);
}

TEST_CASE("the ends of the range, and wrong shapes") {
  CpuContext context;
  test::softmax_ends_of_the_range(context);
  test::softmax_shapes(context);
}

TEST_CASE("any number of threads gives the same bits") { test::softmax_ignores_threads<CpuContext>(); }

TEST_CASE_TEMPLATE("rows past the caches", T, float, mezzo::bfloat16) {
  CpuContext context({.threads = 2});
  test::rows_past_the_caches<T>(context, [&](auto y, auto x, auto, auto) { mezzo::softmax(context, y, x); });
}
