#include "cross_entropy.hpp"

using mezzo::CpuContext;

TEST_CASE_TEMPLATE("losses and gradients keep their bounds", T, float, mezzo::half, mezzo::bfloat16) {
  CpuContext context({.threads = 2});
  test::losses_keep_their_bounds<T>(context);
  test::cross_entropy_backward_in<T>(context);
}

TEST_CASE("gradients agree with differences") {
  CpuContext context;
  test::cross_entropy_gradients(context);
}

TEST_CASE("the ends of the range, and misuse") {
  CpuContext context;
  test::cross_entropy_ends_of_the_range(context);
  test::cross_entropy_misuse(context);
}

TEST_CASE("any number of threads gives the same bits") { test::cross_entropy_ignores_threads<CpuContext>(); }

TEST_CASE("rows past the caches") {
  CpuContext context({.threads = 2});
  test::rows_past_the_caches<float>(context, [&](auto grad, auto logits, mezzo::index_t begin, mezzo::index_t end) {
    auto labels = mezzo::make_tensor<int>(context, {end - begin});
    for (mezzo::index_t i = begin; i < end; ++i) labels(i - begin) = static_cast<int>(i % logits.extent(1));
    mezzo::cross_entropy_backward(context, grad, logits, labels, 1.0f, {.reduction = mezzo::Reduction::sum});
  });
}
