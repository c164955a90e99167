// Cases of gemm, over the context.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <mezzo/ops/gemm.hpp>
#include <mezzo/tensor/tensor.hpp>

#include "../kernels/transform.hpp"

namespace test {

/// How a matrix lies in memory: by rows, by columns, with gaps after each row or column, or with gaps everywhere.
enum class Layout { rows, columns, wide_rows, wide_columns, scattered };
inline constexpr Layout all_layouts[] = {Layout::rows, Layout::columns, Layout::wide_rows, Layout::wide_columns, Layout::scattered};

/// A matrix in any layout, with NaN in the gaps.
template <class T>
class Matrix {
 public:
  template <class Context>
  Matrix(Context& context, index_t rows, index_t columns, Layout layout = Layout::rows)
      : m_is_transposed(layout == Layout::columns || layout == Layout::wide_columns), m_rows(rows), m_columns(columns) {
    const bool is_wide = layout == Layout::wide_rows || layout == Layout::wide_columns;
    m_step = layout == Layout::scattered ? 2 : 1;
    const index_t outer = m_is_transposed ? columns : rows, inner = m_is_transposed ? rows : columns;
    m_memory = mezzo::make_tensor<T>(context, {outer, inner * m_step + (is_wide ? 5 : 0)});
    for (index_t i = 0; i < m_memory.size(); ++i) m_memory.data()[i] = std::numeric_limits<T>::quiet_NaN();
  }

  mezzo::HostView<T, 2> view() {
    if (m_memory.size() == 0) return {m_memory.data(), mezzo::Extents<2>(m_rows, m_columns)};
    const index_t stride = m_memory.extent(1);
    if (m_is_transposed) return mezzo::HostView<T, 2>(m_memory.data(), mezzo::Extents<2>(m_columns, m_rows), {stride, 1}).transpose();
    return {m_memory.data(), mezzo::Extents<2>(m_rows, m_columns), {stride, m_step}};
  }

  void fill(Random& random) {
    const auto to = view();
    for (index_t i = 0; i < m_rows; ++i) {
      for (index_t j = 0; j < m_columns; ++j) to(i, j) = mezzo::convert<T>(random.uniform(-1, 1));
    }
  }
  void fill(double value) {
    const auto to = view();
    for (index_t i = 0; i < m_rows; ++i) {
      for (index_t j = 0; j < m_columns; ++j) to(i, j) = mezzo::convert<T>(value);
    }
  }

  /// Whether the gaps still hold the NaN that they held.
  bool has_clean_gaps() {
    index_t numbers = 0;
    for (index_t i = 0; i < m_memory.size(); ++i) numbers += std::isnan(static_cast<double>(m_memory.data()[i])) ? 0 : 1;
    return numbers <= m_rows * m_columns;
  }

 private:
  bool m_is_transposed;
  index_t m_step = 1, m_rows, m_columns;
  mezzo::Tensor<T, 2> m_memory;
};

template <class T>
double number(T value) {
  return static_cast<double>(value);
}

template <class View>
std::vector<double> numbers(const View& view) {
  std::vector<double> result;
  for (index_t i = 0; i < view.extent(0); ++i) {
    for (index_t j = 0; j < view.extent(1); ++j) result.push_back(number(view(i, j)));
  }
  return result;
}

/// A product as fp64 sees it. A sum of k products errs by (k + 4) units of rounding of the magnitudes added, whatever the order
/// (Higham 2002, 3.1), and is rounded once to the dtype of out, by a relative `epsilon` and an absolute `smallest`.
struct Product {
  index_t m, n, k;
  mezzo::GemmOptions options;
  std::vector<double> a, b, bias, before;
  double unit, epsilon, smallest;

  /// The first element of `out` that is wrong, in words; empty where all are right.
  std::string fault(const std::vector<double>& out) const {
    const double alpha = static_cast<double>(options.alpha), beta = static_cast<double>(options.beta);
    std::vector<double> sums(static_cast<std::size_t>(n)), magnitudes(static_cast<std::size_t>(n));
    for (index_t i = 0; i < m; ++i) {
      for (index_t j = 0; j < n; ++j) sums[static_cast<std::size_t>(j)] = magnitudes[static_cast<std::size_t>(j)] = 0;
      for (index_t l = 0; l < k; ++l) {
        const double factor = a[static_cast<std::size_t>(i * k + l)];
        const double* const row = b.data() + l * n;
        for (index_t j = 0; j < n; ++j) {
          sums[static_cast<std::size_t>(j)] += factor * row[j];
          magnitudes[static_cast<std::size_t>(j)] += std::abs(factor * row[j]);
        }
      }
      for (index_t j = 0; j < n; ++j) {
        const std::size_t at = static_cast<std::size_t>(i * n + j), column = static_cast<std::size_t>(j);
        const double old = beta != 0 ? before[at] : 0, added = bias.empty() ? 0 : bias[column];
        const double expected = alpha * sums[column] + beta * old + added;
        const double sum_error =
            static_cast<double>(k + 4) * unit * (std::abs(alpha) * magnitudes[column] + std::abs(beta * old) + std::abs(added));
        const double bound = sum_error + (std::abs(expected) + sum_error) * epsilon / 2 + smallest;
        if (!(std::abs(out[at] - expected) <= bound)) {
          return "[" + std::to_string(i) + ", " + std::to_string(j) + "] is " + std::to_string(out[at]) + ", not " +
                 std::to_string(expected);
        }
      }
    }
    return "";
  }
};

inline void expect_right(const Product& product, const std::vector<double>& out, bool has_clean_gaps, std::uint64_t seed, Layout out_layout,
                         Layout a, Layout b) {
  const std::string what = "m, n, k " + std::to_string(product.m) + " " + std::to_string(product.n) + " " + std::to_string(product.k) +
                           "; layouts " + std::to_string(static_cast<int>(out_layout)) + " " + std::to_string(static_cast<int>(a)) + " " +
                           std::to_string(static_cast<int>(b)) + "; alpha " + std::to_string(product.options.alpha) + ", beta " +
                           std::to_string(product.options.beta) + (product.bias.empty() ? "" : ", bias") + "; seed " + std::to_string(seed);
  CHECK_MESSAGE(product.fault(out) == "", what);
  CHECK_MESSAGE(has_clean_gaps, what);
}

/// out = alpha a b + beta out + bias against fp64.
template <class Out, class A, class B, class Context>
void check_product(Context& context, index_t m, index_t n, index_t k, Layout out_layout = Layout::rows, Layout a_layout = Layout::rows,
                   Layout b_layout = Layout::rows, const mezzo::GemmOptions& options = {}, bool has_bias = false) {
  const std::uint64_t seed = static_cast<std::uint64_t>(m * 10007 + n * 101 + k);
  Random random(seed);
  Matrix<Out> out(context, m, n, out_layout);
  Matrix<A> a(context, m, k, a_layout);
  Matrix<B> b(context, k, n, b_layout);
  Matrix<float> bias(context, 1, has_bias ? n : 0);
  a.fill(random);
  b.fill(random);
  bias.fill(random);
  if (options.beta != 0) out.fill(random);
  const Product product{m,
                        n,
                        k,
                        options,
                        numbers(a.view()),
                        numbers(b.view()),
                        numbers(bias.view()),
                        numbers(out.view()),
                        std::is_same_v<A, double> ? 0x1p-53 : 0x1p-24,
                        number(std::numeric_limits<Out>::epsilon()),
                        number(std::numeric_limits<Out>::denorm_min())};
  if (has_bias) {
    mezzo::gemm(context, out.view(), a.view(), b.view(), bias.view().select(0, 0), options);
  } else {
    mezzo::gemm(context, out.view(), a.view(), b.view(), options);
  }
  expect_right(product, numbers(out.view()), out.has_clean_gaps(), seed, out_layout, a_layout, b_layout);
}

template <class T, class Context>
void sizes_around_the_blocks(Context& context) {
  const index_t sizes[] = {1, 3, 15, 16, 17, 31, 33, 63, 65, 257};
  for (index_t m : sizes) {
    for (index_t n : sizes) check_product<T, T, T>(context, m, n, (m * 7 + n) % 67 + 1);
  }
  for (index_t k : {1, 2, 15, 16, 17, 383, 384, 385, 769, 1000}) {
    check_product<T, T, T>(context, 33, 17, k);
    check_product<T, T, T>(context, 1, 33, k);
    check_product<T, T, T>(context, 17, 1, k);
  }
  check_product<T, T, T>(context, 1, 1030, 300);
  check_product<T, T, T>(context, 1, 16, 20000, Layout::rows, Layout::rows, Layout::columns);
  check_product<T, T, T>(context, 520, 130, 70);
  check_product<T, T, T>(context, 1100, 3, 400);
  check_product<T, T, T>(context, 3, 2100, 400);
}

template <class T, class Context>
void layouts(Context& context) {
  for (Layout out : all_layouts) {
    for (Layout a : all_layouts) {
      for (Layout b : all_layouts) {
        check_product<T, T, T>(context, 19, 35, 53, out, a, b);
        check_product<T, T, T>(context, 33, 33, 400, out, a, b, {.alpha = 0.5f, .beta = -2.0f}, true);
        check_product<T, T, T>(context, 1, 35, 53, out, a, b, {.beta = 1.0f}, true);
        check_product<T, T, T>(context, 35, 1, 53, out, a, b, {.beta = 1.0f}, true);
      }
    }
  }
}

template <class A, class B, class Context>
void inputs(Context& context) {
  check_product<float, A, B>(context, 37, 29, 411, Layout::rows, Layout::rows, Layout::rows);
  check_product<float, A, B>(context, 37, 29, 45, Layout::columns, Layout::columns, Layout::wide_columns, {.alpha = 1.5f, .beta = 0.5f},
                             true);
  check_product<float, A, B>(context, 1, 29, 45, Layout::rows, Layout::rows, Layout::columns);
}

template <class Out, class A, class Context>
void outputs(Context& context) {
  for (Layout out : all_layouts) {
    check_product<Out, A, A>(context, 37, 65, 411, out, Layout::rows, Layout::columns, {.alpha = 0.25f, .beta = 3.0f}, true);
    check_product<Out, A, A>(context, 37, 65, 41, out);
  }
}

template <class T, class Context>
void options(Context& context) {
  for (float alpha : {1.0f, 0.0f, -1.5f}) {
    for (float beta : {0.0f, 1.0f, -0.5f}) {
      for (bool has_bias : {false, true}) {
        for (index_t k : {0, 40, 500})
          check_product<T, T, T>(context, 70, 40, k, Layout::rows, Layout::rows, Layout::rows, {.alpha = alpha, .beta = beta}, has_bias);
      }
    }
  }
}

template <class T, class Context>
void empty_matrices(Context& context) {
  for (index_t m : {0, 1, 5}) {
    for (index_t n : {0, 1, 5}) {
      for (index_t k : {0, 5}) {
        check_product<T, T, T>(context, m, n, k);
        check_product<T, T, T>(context, m, n, k, Layout::rows, Layout::rows, Layout::rows, {.beta = 2.0f}, true);
      }
    }
  }
}

/// Infinities and NaN reach the elements that they belong to, and no others.
template <class T, class Context>
void values_that_are_not_finite(Context& context) {
  for (index_t size : {5, 40, 90}) {
    CAPTURE(size);
    Matrix<T> out(context, size, size), a(context, size, size), b(context, size, size);
    a.fill(1.0);
    b.fill(1.0);
    a.view()(2, 3) = std::numeric_limits<T>::infinity();
    b.view()(1, 4) = std::numeric_limits<T>::quiet_NaN();
    a.view()(0, 0) = std::numeric_limits<T>::infinity();
    b.view()(0, 2) = mezzo::convert<T>(0.0);
    gemm(context, out.view(), a.view(), b.view());
    for (index_t i = 0; i < size; ++i) {
      for (index_t j = 0; j < size; ++j) {
        CAPTURE(i);
        CAPTURE(j);
        const double value = number(out.view()(i, j));
        if (j == 4 || (i == 0 && j == 2)) {
          CHECK(std::isnan(value));
        } else if (i == 2 || i == 0) {
          CHECK(std::isinf(value));
        } else {
          CHECK(value == static_cast<double>(j == 2 ? size - 1 : size));
        }
      }
    }
    // a zero does not hide an infinity, whatever alpha is
    gemm(context, out.view(), a.view(), b.view(), {.alpha = 0.0f});
    CHECK(std::isnan(number(out.view()(2, 0))));
  }
}

/// Sums over long k are neither kept nor passed on in 16 bits.
template <class T, class Context>
void long_sums(Context& context) {
  for (index_t size : {1, 2, 70}) {
    CAPTURE(size);
    Matrix<T> out(context, size, size), a(context, size, 4096), b(context, 4096, size);
    a.fill(1.0);
    b.fill(1.0);
    gemm(context, out.view(), a.view(), b.view());
    for (index_t i = 0; i < size; ++i) CHECK(number(out.view()(i, size - 1 - i)) == 4096);
  }
}

/// One rounding, of the whole of alpha a b + beta out + bias, however many blocks k has.
template <class T, class Context>
void one_rounding(Context& context) {
  Random random(11);
  for (index_t k : {40, 1000}) {
    CAPTURE(k);
    Matrix<T> out(context, 70, 90), a(context, 70, k), b(context, k, 90), bias(context, 1, 90);
    out.fill(random);
    a.fill(random);
    b.fill(random);
    bias.fill(random);
    Matrix<float> exact(context, 70, 90);
    for (index_t i = 0; i < 70; ++i) {
      for (index_t j = 0; j < 90; ++j) exact.view()(i, j) = static_cast<float>(out.view()(i, j));
    }
    gemm(context, exact.view(), a.view(), b.view(), bias.view().select(0, 0), {.alpha = 0.3f, .beta = 0.7f});
    gemm(context, out.view(), a.view(), b.view(), bias.view().select(0, 0), {.alpha = 0.3f, .beta = 0.7f});
    index_t wrong = 0;
    for (index_t i = 0; i < 70; ++i) {
      for (index_t j = 0; j < 90; ++j) wrong += out.view()(i, j).bits() != mezzo::convert<T>(exact.view()(i, j)).bits();
    }
    CHECK(wrong == 0);
  }
}

template <class T, class MakeContext>
void thread_counts(const MakeContext& make_context) {
  const index_t shapes[][3] = {{300, 500, 900}, {1, 3000, 700}, {2000, 1, 700}, {64, 10, 128}, {600, 600, 600}};
  for (const auto& shape : shapes) {
    const index_t m = shape[0], n = shape[1], k = shape[2];
    CAPTURE(m);
    std::vector<unsigned char> first;
    for (int threads : {1, 2, 3}) {
      CAPTURE(threads);
      auto context = make_context(threads);
      Random random(17);
      Matrix<T> out(*context, m, n), a(*context, m, k), b(*context, k, n);
      a.fill(random);
      b.fill(random);
      gemm(*context, out.view(), a.view(), b.view());
      if (threads == 1) first = bits_of(out.view());
      CHECK(bits_of(out.view()) == first);
    }
  }
}

template <class Context>
void shapes_that_do_not_fit(Context& context) {
  Matrix<float> out(context, 2, 4), a(context, 2, 3), b(context, 3, 4), other(context, 5, 4), square(context, 4, 4), bias(context, 2, 3);
  out.fill(7.0);
  a.fill(1.0);
  b.fill(1.0);
  CHECK_THROWS_WITH_AS(gemm(context, out.view(), a.view(), other.view()), "gemm: inner extents differ, a is [2, 3] and b is [5, 4]",
                       mezzo::shape_error);
  CHECK_THROWS_WITH_AS(gemm(context, other.view(), a.view(), b.view()), "gemm: out is [5, 4], but a b is [2, 4]", mezzo::shape_error);
  CHECK_THROWS_WITH_AS(gemm(context, out.view(), a.view(), b.view(), bias.view().select(0, 0)), "gemm: bias is [3], but out is [2, 4]",
                       mezzo::shape_error);
  CHECK_THROWS_WITH_AS(gemm(context, square.view(), square.view(), b.view().slice(0, 0, 0)), doctest::Contains("inner extents differ"),
                       mezzo::shape_error);
  CHECK_THROWS_WITH_AS(gemm(context, square.view(), square.view(), other.view().slice(0, 0, 4)),
                       doctest::Contains("out and a are the same memory"), mezzo::option_error);
  CHECK_THROWS_WITH_AS(gemm(context, square.view(), other.view().slice(0, 0, 4), square.view()),
                       doctest::Contains("out and b are the same memory"), mezzo::option_error);
  for (index_t i = 0; i < 2; ++i) CHECK(out.view()(i, 3) == 7.0f);
}

}  // namespace test
