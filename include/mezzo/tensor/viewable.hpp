// What operations take: views, and whatever has one. It lets a user pass a tensor or a parameter where a view is meant, and turns
// a wrong memory space into one readable line.
#pragma once

#include <concepts>
#include <type_traits>

#include <mezzo/context/context.hpp>
#include <mezzo/core/tensor_view.hpp>
#include <mezzo/tensor/tensor.hpp>

namespace mezzo {

template <class T, int Rank, MemorySpace Space>
constexpr TensorView<T, Rank, Space> view_of(const TensorView<T, Rank, Space>& view) {
  return view;
}
template <class Owner>
requires requires(Owner& owner) { requires is_tensor_view<std::remove_cvref_t<decltype(owner.view())>>; }
constexpr auto view_of(Owner& owner) { return owner.view(); }

/// A TensorView, or an owner with a member view() such as Tensor.
template <class V>
concept Viewable = requires(V& v) {
  view_of(v);
};

template <Viewable V>
using view_type_t = std::remove_cvref_t<decltype(view_of(std::declval<V&>()))>;

/// The element type of a view or owner, without const.
template <Viewable V>
using value_type_t = typename view_type_t<V>::value_type;

namespace detail {

/// The view of an argument that an operation on a C reads.
template <Context C, class V>
constexpr auto input_view(const V& v) {
  static_assert(Viewable<const V>, "mezzo: this argument has no view");
  static_assert(view_type_t<const V>::space == C::memory_space,
                "mezzo: this view lies in another memory space than the context computes in; copy() it over first");
  return view_of(v);
}

/// The view of an argument that an operation on a C writes.
template <Context C, class V>
constexpr auto output_view(V& v) {
  static_assert(Viewable<V>, "mezzo: this argument has no view");
  static_assert(view_type_t<V>::space == C::memory_space,
                "mezzo: this view lies in another memory space than the context computes in; copy() it over first");
  static_assert(!std::is_const_v<typename view_type_t<V>::element_type>, "mezzo: a view of const elements cannot be written");
  return view_of(v);
}

template <class A, class B>
constexpr void require_same_rank() {
  static_assert(A::rank == B::rank, "mezzo: these views differ in rank; select() or reshape() one of them");
}
template <class A, class B>
constexpr void require_same_dtype() {
  static_assert(std::is_same_v<typename A::value_type, typename B::value_type>, "mezzo: these views differ in dtype; cast() one of them");
}

/// Throws shape_error unless `a` and `b` have one shape. The message has two {}.
template <class A, class B>
constexpr void expects_same_shape(const A& a, const B& b, message_at message) {
  require_same_rank<A, B>();
  expects<shape_error>(a.extents() == b.extents(), message, a.extents(), b.extents());
}

}  // namespace detail

}  // namespace mezzo
