// What the threads of a GPU's kernel do, run one after the other on the CPU: against the CPU's own loops.
#include <doctest/doctest.h>

#include <mezzo/kernels/detail/cuda/lanes.hpp>
#include <mezzo/kernels/transform.hpp>
#include <mezzo/ops/elementwise.hpp>
#include <mezzo/optim/adamw.hpp>
#include <mezzo/tensor/tensor.hpp>

#include <cstring>
#include <vector>

namespace {

using mezzo::bfloat16;
using mezzo::half;
using mezzo::index_t;
namespace cuda = mezzo::detail::cuda;

template <class T>
std::vector<T> numbers(index_t size) {
  std::vector<T> result;
  for (index_t i = 0; i < size; ++i) result.push_back(mezzo::convert<T>(static_cast<float>(i * 37 % 101) * 0.371f - 11.0f));
  return result;
}

template <class Functor, class... Ranges>
void run_threads(const Functor& functor, index_t count, bool is_aligned, const Ranges&... ranges) {
  constexpr index_t threads = 7;
  for (index_t thread = 0; thread < threads; ++thread) cuda::transform_thread(functor, thread, threads, count, is_aligned, ranges...);
}

struct AddTwice {
  template <class V>
  MEZZO_HOST_DEVICE void operator()(V& y, V a, V b) const {
    y = static_cast<V>(a + 2 * b);
  }
};

template <class Y, class A, class B>
void all_sizes() {
  mezzo::CpuContext context({.threads = 1});
  for (const bool is_aligned : {true, false}) {
    for (index_t size = 0; size < 150; ++size) {
      auto y = mezzo::make_zeros<Y>(context, {size + 16}), expected = mezzo::make_zeros<Y>(context, {size + 16});
      auto a = mezzo::make_tensor<A>(context, {size});
      auto b = mezzo::make_tensor<B>(context, {size});
      const auto a_numbers = numbers<A>(size);
      const auto b_numbers = numbers<B>(size);
      for (index_t i = 0; i < size; ++i) {
        a(i) = a_numbers[static_cast<std::size_t>(i)];
        b(i) = b_numbers[static_cast<std::size_t>(size - 1 - i)];
      }
      run_threads(AddTwice{}, size, is_aligned, mezzo::write(y.data()), mezzo::read(static_cast<const A*>(a.data())),
                  mezzo::read(static_cast<const B*>(b.data())));
      mezzo::transform(context, AddTwice{}, mezzo::write(expected.view().slice(0, 0, size)), mezzo::read(a.view()), mezzo::read(b.view()));
      REQUIRE(std::memcmp(y.data(), expected.data(), static_cast<std::size_t>(size + 16) * sizeof(Y)) == 0);  // and nothing beyond
    }
  }
}

}  // namespace

TEST_CASE("every element once, for every size and mixture of types") {
  static_assert(cuda::pack_size<mezzo::Range<float, mezzo::AccessMode::write>>() == 4);
  static_assert(cuda::pack_size<mezzo::Range<float, mezzo::AccessMode::write>, mezzo::Range<const half, mezzo::AccessMode::read>>() == 8);
  static_assert(cuda::pack_size<mezzo::Range<double, mezzo::AccessMode::write>>() == 2);
  static_assert(cuda::pack_size<mezzo::Range<mezzo::fp8_e4m3, mezzo::AccessMode::write>>() == 8);
  all_sizes<float, float, float>();
  all_sizes<half, float, half>();
  all_sizes<float, bfloat16, half>();
  all_sizes<bfloat16, bfloat16, bfloat16>();
  all_sizes<double, double, double>();
  all_sizes<mezzo::fp8_e4m3, float, half>();
}

TEST_CASE("views with gaps, by their row-major numbers") {
  mezzo::CpuContext context({.threads = 1});
  auto x = mezzo::make_tensor<float>(context, {4, 5, 6}), y = mezzo::make_zeros<float>(context, {6, 5, 4});
  for (index_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i);
  const auto in = x.view();
  const auto out = y.view().transpose(0, 2);
  cuda::StridedRange<const float, mezzo::AccessMode::read, 3> from{in.data(), {4, 5, 6}, {}};
  cuda::StridedRange<float, mezzo::AccessMode::write, 3> to{out.data(), {4, 5, 6}, {}};
  for (int i = 0; i < 3; ++i) {
    from.strides[i] = in.stride(i);
    to.strides[i] = out.stride(i);
  }
  run_threads(mezzo::detail::Scale<float>{2.0f}, x.size(), false, to, from);
  for (index_t i = 0; i < 4; ++i) {
    for (index_t j = 0; j < 5; ++j) {
      for (index_t k = 0; k < 6; ++k) REQUIRE(y(k, j, i) == 2.0f * x(i, j, k));
    }
  }
}

TEST_CASE("AdamW's root is in its place") {
  mezzo::CpuContext context({.threads = 1});
  constexpr index_t size = 37;
  const auto functor = mezzo::AdamRule<true>::checked({.learning_rate = 1e-2f}).functor<false>(1, 1e-2f, {}, 1.0f);
  auto g = numbers<float>(size), p = numbers<float>(size), expected = p;
  std::vector<float> m(size), v(size), m2(size), v2(size);
  run_threads(functor, size, false, mezzo::read(static_cast<const float*>(g.data())), mezzo::update(p.data()), mezzo::update(m.data()),
              mezzo::update(v.data()));
  mezzo::detail::transform_range(context.isa(), functor, size, mezzo::read(static_cast<const float*>(g.data())),
                                 mezzo::update(expected.data()), mezzo::update(m2.data()), mezzo::update(v2.data()));
  for (std::size_t i = 0; i < size; ++i) CHECK(p[i] == doctest::Approx(expected[i]).epsilon(1e-6));
}
