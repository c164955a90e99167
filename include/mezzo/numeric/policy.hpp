// In what precision: autocast as a compile-time trait. An operation names what it is by a tag, a policy decides the type; there is
// no thread-local state, so worker threads and replicas compute as their caller does.
#pragma once

#include <concepts>
#include <type_traits>

#include <mezzo/numeric/bfloat16.hpp>
#include <mezzo/numeric/float_traits.hpp>
#include <mezzo/numeric/half.hpp>

namespace mezzo {

/// `low`: fast and safe in 16 bits, such as matrix products. `full`: needs the range or accuracy of fp32, such as softmax, norms,
/// losses and reductions. `widest`: the widest type among the inputs, such as element-wise arithmetic.
enum class OpCategory { low, full, widest };

/// Tags of mezzo's operations, in the categories that PyTorch's autocast documents. A tag of the user's own is a struct with a
/// `category`.
namespace op {

struct gemm {
  static constexpr auto category = OpCategory::low;
};
struct linear {
  static constexpr auto category = OpCategory::low;
};
struct convolution {
  static constexpr auto category = OpCategory::low;
};
struct attention {
  static constexpr auto category = OpCategory::low;
};
struct embedding {
  static constexpr auto category = OpCategory::low;
};

struct exp {
  static constexpr auto category = OpCategory::full;
};
struct log {
  static constexpr auto category = OpCategory::full;
};
struct pow {
  static constexpr auto category = OpCategory::full;
};
struct sum {
  static constexpr auto category = OpCategory::full;
};
struct mean {
  static constexpr auto category = OpCategory::full;
};
struct norm {
  static constexpr auto category = OpCategory::full;
};
struct softmax {
  static constexpr auto category = OpCategory::full;
};
struct log_softmax {
  static constexpr auto category = OpCategory::full;
};
struct layer_norm {
  static constexpr auto category = OpCategory::full;
};
struct cross_entropy {
  static constexpr auto category = OpCategory::full;
};
struct mse_loss {
  static constexpr auto category = OpCategory::full;
};

struct add {
  static constexpr auto category = OpCategory::widest;
};
struct multiply {
  static constexpr auto category = OpCategory::widest;
};
struct relu {
  static constexpr auto category = OpCategory::widest;
};
struct gelu {
  static constexpr auto category = OpCategory::widest;
};
struct dropout {
  static constexpr auto category = OpCategory::widest;
};

}  // namespace op

/// The category of an operation; specialise it to move an operation of somebody else's.
template <class Op>
inline constexpr OpCategory op_category = Op::category;

/// A policy is a struct with these members: what `low` operations compute in, what `full` operations compute in, and what holds
/// the weights that the optimizer updates (float: masters beside 16-bit copies).
template <class P>
concept PrecisionPolicy = requires {
  typename P::low_type;
  typename P::full_type;
  typename P::master_type;
  { P::name } -> std::convertible_to<const char*>;
};

/// Everything in fp32.
struct Fp32 {
  using low_type = float;
  using full_type = float;
  using master_type = float;
  static constexpr const char* name = "Fp32";
};

/// Matrix products in half, the rest in fp32 where it matters, fp32 masters. Wants loss scaling.
struct AmpFp16 {
  using low_type = half;
  using full_type = float;
  using master_type = float;
  static constexpr const char* name = "AmpFp16";
};

/// Matrix products in bfloat16, the rest in fp32 where it matters, fp32 masters.
struct AmpBf16 {
  using low_type = bfloat16;
  using full_type = float;
  using master_type = float;
  static constexpr const char* name = "AmpBf16";
};

/// Everything stored as T, weights included; sums are still accumulated in fp32. Without masters small updates round away.
template <FloatingPoint T>
struct Pure {
  using low_type = T;
  using full_type = T;
  using master_type = T;
  static constexpr const char* name = "Pure";
};

namespace detail {

template <class A, class B>
struct promote {
  using type = float;
};
template <class A>
struct promote<A, A> {
  using type = A;
};
template <class A>
requires(!std::same_as<A, double>) struct promote<A, double> {
  using type = double;
};
template <class B>
requires(!std::same_as<B, double>) struct promote<double, B> {
  using type = double;
};

/// The widest of the floating-point types among In, or void when there is none.
template <class... In>
struct widest {
  using type = void;
};
template <class First, class... Rest>
struct widest<First, Rest...> {
  using rest = typename widest<Rest...>::type;
  using type = typename std::conditional_t<!FloatingPoint<First>, std::type_identity<rest>,
                                           std::conditional_t<std::is_void_v<rest>, std::type_identity<First>, promote<First, rest>>>::type;
};

template <class Policy, OpCategory Category, class Widest, class... In>
struct compute_type;
template <class Policy, OpCategory Category, class... In>
requires(Category != OpCategory::widest) struct compute_type<Policy, Category, void, In...> : std::common_type<In...> {
};
template <class Policy, class... In>
struct compute_type<Policy, OpCategory::widest, void, In...> : std::common_type<In...> {};
template <class Policy, OpCategory Category>
struct compute_type<Policy, Category, void> {
  using type = std::conditional_t<Category == OpCategory::full, typename Policy::full_type, typename Policy::low_type>;
};
template <class Policy, class Widest, class... In>
requires(!std::is_void_v<Widest>) struct compute_type<Policy, OpCategory::low, Widest, In...> {
  using type = std::conditional_t<std::same_as<Widest, double>, double, typename Policy::low_type>;
};
template <class Policy, class Widest, class... In>
requires(!std::is_void_v<Widest>) struct compute_type<Policy, OpCategory::full, Widest, In...> {
  using type = std::conditional_t<std::same_as<Widest, double>, double, typename Policy::full_type>;
};
template <class Policy, class Widest, class... In>
requires(!std::is_void_v<Widest>) struct compute_type<Policy, OpCategory::widest, Widest, In...> {
  using type = Widest;
};

}  // namespace detail

/// The type in which Op computes on inputs of types In (const is ignored). double and all-integer inputs are left as they are;
/// half with bfloat16 is float. Without inputs, the type of the category itself.
template <PrecisionPolicy Policy, class Op, class... In>
using compute_t = typename detail::compute_type<Policy, op_category<Op>, typename detail::widest<std::remove_cv_t<In>...>::type,
                                                std::remove_cv_t<In>...>::type;

/// Weights, activations and gradients of `low` operations have 16 bits, and half alone of the two needs its loss scaled.
template <PrecisionPolicy Policy>
inline constexpr bool wants_loss_scaling = std::same_as<typename Policy::low_type, half>;

}  // namespace mezzo
