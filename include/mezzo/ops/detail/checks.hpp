// What the compiler checks of an operation's dtypes, each with one readable line.
#pragma once

#include <type_traits>

#include <mezzo/numeric/float_traits.hpp>
#include <mezzo/numeric/policy.hpp>
#include <mezzo/tensor/viewable.hpp>

namespace mezzo::detail {

/// The output has the dtype in which Policy computes Op on these inputs.
template <class Policy, class Op, class Out, class... In>
constexpr void require_policy_dtype() {
  static_assert(std::is_same_v<value_type_t<Out>, compute_t<Policy, Op, value_type_t<const In>...>>,
                "mezzo: the policy asks for another dtype of this output; make it compute_t<Policy, Op, In...>");
}

/// The same for a loss, which is kept in float even where Policy computes in 16 bits throughout.
template <class Policy, class Op, class Loss, class... In>
constexpr void require_policy_loss() {
  using computed = compute_t<Policy, Op, value_type_t<const In>...>;
  static_assert(std::is_same_v<value_type_t<Loss>, std::conditional_t<sizeof(computed) < sizeof(float), float, computed>>,
                "mezzo: the policy asks for another dtype of this loss; make it float, or double for inputs of double");
}

template <class... Views>
constexpr void require_floating_point() {
  static_assert((FloatingPoint<typename Views::value_type> && ...),
                "mezzo: this operation takes floating-point views; cast() integers first");
}

template <class View>
constexpr void require_rows() {
  static_assert(View::rank > 0, "mezzo: this operation goes along the last dimension, which a scalar lacks");
}

/// A sum or loss keeps at least fp32.
template <class View>
constexpr void require_wide_scalar() {
  static_assert(View::rank == 0, "mezzo: this result is a scalar; give it a view of rank 0");
  static_assert(std::is_same_v<typename View::value_type, float> || std::is_same_v<typename View::value_type, double>,
                "mezzo: this result is kept in float or double");
}

/// What several inputs are computed in together: double if one of them is double, else float.
template <class... T>
using joint_compute_t = std::conditional_t<(std::is_same_v<T, double> || ...), double, float>;

}  // namespace mezzo::detail
