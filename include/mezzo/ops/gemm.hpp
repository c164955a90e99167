// Matrix multiplication, where most of the time of a training step goes. Sums are fp32 whatever the dtypes, rounded once at the end.
#pragma once

#include <type_traits>

#include <mezzo/ops/detail/cpu/gemm_own.hpp>
#include <mezzo/tensor/gradient_sink.hpp>
#include <mezzo/tensor/viewable.hpp>

#if defined(MEZZO_WITH_ONEDNN)
#include <mezzo/ops/detail/cpu/gemm_onednn.hpp>
#elif defined(MEZZO_WITH_CBLAS)
#include <mezzo/ops/detail/cpu/gemm_cblas.hpp>
#endif

namespace mezzo {

struct GemmOptions {
  float alpha = 1.0f;
  float beta = 0.0f;  ///< 0: out is not read, so it may hold anything
};

namespace detail {

/// What a gemm without a library calls; the other engines have the same members.
struct OwnGemmEngine {
  static constexpr const char* name = "own";

  /// Whether the product was computed; if not, mezzo's own kernel does it.
  template <class A, class B, class Out>
  static bool multiply(CpuContext&, const GemmProblem<gemm_sum_t<A, B>>&) {
    return false;
  }
};

inline namespace MEZZO_GEMM_NAMESPACE {

#if defined(MEZZO_WITH_ONEDNN)
using GemmEngine = OnednnGemmEngine;
#elif defined(MEZZO_WITH_CBLAS)
using GemmEngine = CblasGemmEngine;
#else
using GemmEngine = OwnGemmEngine;
#endif

template <class Out, class A, class B, class Bias>
void run_gemm(CpuContext& context, const Out& out, const A& a, const B& b, const Bias& bias, const GemmOptions& options) {
  using AType = typename A::value_type;
  using BType = typename B::value_type;
  using OutType = typename Out::value_type;
  using Sum = gemm_sum_t<AType, BType>;
  GemmProblem<Sum> problem{out.extent(0),
                           out.extent(1),
                           a.extent(1),
                           {a.data(), sizeof(AType), a.stride(0), a.stride(1), load_elements<Sum, AType>, std::is_same_v<Sum, AType>},
                           {b.data(), sizeof(BType), b.stride(1), b.stride(0), load_elements<Sum, BType>, std::is_same_v<Sum, BType>},
                           {out.data(), sizeof(OutType), out.stride(0), out.stride(1), static_cast<Sum>(options.alpha),
                            static_cast<Sum>(options.beta), nullptr, nullptr, load_elements<Sum, OutType>, store_elements<Sum, OutType>}};
  const auto run = [&] {
    if (!GemmEngine::template multiply<AType, BType, OutType>(context, problem)) multiply_own<AType, BType>(context, problem);
  };
  if constexpr (std::is_same_v<Bias, None>) {
    run();
  } else {
    auto row = context.scratch<Sum>(bias.size());
    for (index_t i = 0; i < bias.size(); ++i) row[i] = static_cast<Sum>(bias(i));
    problem.out.column_bias = row.data();
    run();
  }
}

}  // namespace MEZZO_GEMM_NAMESPACE

template <class Out, class In>
void expects_not_same_memory(const Out& out, const In& in, message_at message) {
  const bool is_same = static_cast<const void*>(out.data()) == static_cast<const void*>(in.data()) && !out.is_empty() && !in.is_empty();
  expects<option_error>(!is_same, message);
}

}  // namespace detail

inline namespace MEZZO_GEMM_NAMESPACE {

/// What multiplies matrices here: "onednn", "cblas" or "own". Products that the library does not do, such as those of half, are
/// mezzo's own under each.
constexpr const char* gemm_engine() { return detail::GemmEngine::name; }

/// out = alpha a b + beta out + bias, for a [m, k], b [k, n], out [m, n] and bias [n] or `none`. A transposed operand is a transposed
/// view; strides are free. Dtypes are free too, but for double, which multiplies double alone: products are summed in fp32 (double for
/// double), and alpha, beta and the bias applied in it, before the one rounding to the dtype of out. With k = 0 the product is 0.
/// The bits do not depend on the number of threads, but on the engine and the CPU's instructions; products of bfloat16 may take
/// subnormal elements for zero. Throws shape_error, option_error where out is the memory of a or b.
template <Context C, class Out, class A, class B, class Bias>
requires(Viewable<const Bias> || std::is_same_v<Bias, None>) void gemm(C& context, Out&& out, const A& a, const B& b, const Bias& bias,
                                                                       const GemmOptions& options = {}) {
  const auto out_view = detail::output_view<C>(out);
  const auto a_view = detail::input_view<C>(a);
  const auto b_view = detail::input_view<C>(b);
  using OutView = std::remove_const_t<decltype(out_view)>;
  using AView = std::remove_const_t<decltype(a_view)>;
  using BView = std::remove_const_t<decltype(b_view)>;
  using AType = typename AView::value_type;
  using BType = typename BView::value_type;
  static_assert(OutView::rank == 2 && AView::rank == 2 && BView::rank == 2, "mezzo: gemm multiplies matrices; reshape() other ranks");
  static_assert(FloatingPoint<AType> && FloatingPoint<BType> && FloatingPoint<typename OutView::value_type>,
                "mezzo: gemm takes floating-point dtypes");
  static_assert(std::is_same_v<AType, double> == std::is_same_v<BType, double>,
                "mezzo: gemm multiplies double with double alone; cast() one of them");

  expects<shape_error>(a_view.extent(1) == b_view.extent(0), "gemm: inner extents differ, a is {} and b is {}", a_view.extents(),
                       b_view.extents());
  const Extents<2> product(a_view.extent(0), b_view.extent(1));
  expects<shape_error>(out_view.extents() == product, "gemm: out is {}, but a b is {}", out_view.extents(), product);
  detail::expects_not_same_memory(out_view, a_view, "gemm: out and a are the same memory; write to another tensor");
  detail::expects_not_same_memory(out_view, b_view, "gemm: out and b are the same memory; write to another tensor");
  if constexpr (std::is_same_v<Bias, None>) {
    detail::run_gemm(context, out_view, a_view, b_view, none, options);
  } else {
    const auto bias_view = detail::input_view<C>(bias);
    static_assert(decltype(bias_view)::rank == 1, "mezzo: a bias has rank 1");
    expects<shape_error>(bias_view.extent(0) == product[1], "gemm: bias is {}, but out is {}", bias_view.extents(), product);
    detail::run_gemm(context, out_view, a_view, b_view, bias_view, options);
  }
}

template <Context C, class Out, class A, class B>
void gemm(C& context, Out&& out, const A& a, const B& b, const GemmOptions& options = {}) {
  gemm(context, out, a, b, none, options);
}

}  // namespace MEZZO_GEMM_NAMESPACE

}  // namespace mezzo
