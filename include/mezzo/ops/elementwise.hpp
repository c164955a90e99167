// Arithmetic on corresponding elements. An operation never casts in secret: all views have one dtype, unless a policy says which
// one a mixture gives.
#pragma once

#include <mezzo/core/scalar.hpp>
#include <mezzo/kernels/transform.hpp>
#include <mezzo/ops/detail/checks.hpp>

namespace mezzo {

namespace detail {

struct Add {
  template <class Y, class A, class B>
  MEZZO_HOST_DEVICE constexpr void operator()(Y& y, A a, B b) const {
    y = static_cast<Y>(a + b);
  }
};

struct Subtract {
  template <class Y, class A, class B>
  MEZZO_HOST_DEVICE constexpr void operator()(Y& y, A a, B b) const {
    y = static_cast<Y>(a - b);
  }
};

struct Multiply {
  template <class Y, class A, class B>
  MEZZO_HOST_DEVICE constexpr void operator()(Y& y, A a, B b) const {
    y = static_cast<Y>(a * b);
  }
};

struct Divide {
  template <class Y, class A, class B>
  MEZZO_HOST_DEVICE constexpr void operator()(Y& y, A a, B b) const {
    y = static_cast<Y>(a / b);
  }
};

template <class V>
struct Scale {
  V factor;
  MEZZO_HOST_DEVICE constexpr void operator()(V& y, V x) const { y = static_cast<V>(x * factor); }
};

template <class V>
struct AddScaled {
  V factor;
  MEZZO_HOST_DEVICE constexpr void operator()(V& y, V a, V b) const { y = static_cast<V>(a + factor * b); }
};

template <class V>
struct Fill {
  V value;
  MEZZO_HOST_DEVICE constexpr void operator()(V& y) const { y = value; }
};

template <class C, class Functor, class Out, class A, class B>
void run_mixed(C& context, const Functor& functor, Out& out, const A& a, const B& b, message_at message) {
  const auto y = output_view<C>(out);
  const auto first = input_view<C>(a);
  const auto second = input_view<C>(b);
  expects_same_shape(y, first, message);
  expects_same_shape(y, second, message);
  transform(context, functor, write(y), read(first), read(second));
}

template <class C, class Functor, class Out, class A, class B>
void run_binary(C& context, const Functor& functor, Out& out, const A& a, const B& b, message_at message) {
  require_same_dtype<view_type_t<Out>, view_type_t<const A>>();
  require_same_dtype<view_type_t<Out>, view_type_t<const B>>();
  run_mixed(context, functor, out, a, b, message);
}

/// A functor of one scalar, which is read where the work runs, once for each launch.
template <template <class> class Functor, class V, MemorySpace Space>
struct WithScalar {
  Scalar<V, Space> scalar;
  MEZZO_HOST_DEVICE constexpr Functor<V> resolved() const { return {scalar.resolve()}; }
};

/// What the scalars of an operation on views of V are given in.
template <class V, class C>
using scalar_of = std::type_identity_t<Scalar<compute_type_t<value_type_t<V>>, C::memory_space>>;

}  // namespace detail

/// out = a + b, of one shape and dtype; `out` may be `a` or `b`. Throws shape_error, as all operations here.
template <Context C, class Out, class A, class B>
void add(C& context, Out&& out, const A& a, const B& b) {
  detail::run_binary(context, detail::Add{}, out, a, b, "add: shapes {} and {} differ");
}
/// The same on inputs of different dtypes; `out` has the one that the policy computes in (half with bfloat16 gives float).
template <PrecisionPolicy Policy, Context C, class Out, class A, class B>
void add(C& context, Out&& out, const A& a, const B& b) {
  detail::require_policy_dtype<Policy, op::add, Out, A, B>();
  detail::run_mixed(context, detail::Add{}, out, a, b, "add: shapes {} and {} differ");
}

/// out = a - b.
template <Context C, class Out, class A, class B>
void subtract(C& context, Out&& out, const A& a, const B& b) {
  detail::run_binary(context, detail::Subtract{}, out, a, b, "subtract: shapes {} and {} differ");
}
template <PrecisionPolicy Policy, Context C, class Out, class A, class B>
void subtract(C& context, Out&& out, const A& a, const B& b) {
  detail::require_policy_dtype<Policy, op::add, Out, A, B>();
  detail::run_mixed(context, detail::Subtract{}, out, a, b, "subtract: shapes {} and {} differ");
}

/// out = a * b, element by element.
template <Context C, class Out, class A, class B>
void multiply(C& context, Out&& out, const A& a, const B& b) {
  detail::run_binary(context, detail::Multiply{}, out, a, b, "multiply: shapes {} and {} differ");
}
template <PrecisionPolicy Policy, Context C, class Out, class A, class B>
void multiply(C& context, Out&& out, const A& a, const B& b) {
  detail::require_policy_dtype<Policy, op::multiply, Out, A, B>();
  detail::run_mixed(context, detail::Multiply{}, out, a, b, "multiply: shapes {} and {} differ");
}

/// out = a / b of floating-point views.
template <Context C, class Out, class A, class B>
void divide(C& context, Out&& out, const A& a, const B& b) {
  detail::require_floating_point<view_type_t<Out>>();
  detail::run_binary(context, detail::Divide{}, out, a, b, "divide: shapes {} and {} differ");
}
template <PrecisionPolicy Policy, Context C, class Out, class A, class B>
void divide(C& context, Out&& out, const A& a, const B& b) {
  detail::require_floating_point<view_type_t<const A>, view_type_t<const B>>();
  detail::require_policy_dtype<Policy, op::multiply, Out, A, B>();
  detail::run_mixed(context, detail::Divide{}, out, a, b, "divide: shapes {} and {} differ");
}

/// out = in * factor, with the factor in the compute type (float for 16-bit views) and one rounding.
template <Context C, class Out, class In>
void scale(C& context, Out&& out, const In& in, const detail::scalar_of<Out, C>& factor) {
  const auto y = detail::output_view<C>(out);
  const auto x = detail::input_view<C>(in);
  detail::require_same_dtype<decltype(y), decltype(x)>();
  detail::expects_same_shape(y, x, "scale: shapes {} and {} differ");
  using V = compute_type_t<value_type_t<Out>>;
  transform(context, detail::WithScalar<detail::Scale, V, C::memory_space>{factor}, write(y), read(x));
}

/// out = a + factor * b, rounded once for 16-bit views.
template <Context C, class Out, class A, class B>
void add_scaled(C& context, Out&& out, const A& a, const B& b, const detail::scalar_of<Out, C>& factor) {
  using V = compute_type_t<value_type_t<Out>>;
  detail::run_binary(context, detail::WithScalar<detail::AddScaled, V, C::memory_space>{factor}, out, a, b,
                     "add_scaled: shapes {} and {} differ");
}

/// Every element of `out` becomes `value`, rounded to its dtype.
template <Context C, class Out>
void fill(C& context, Out&& out, const detail::scalar_of<Out, C>& value) {
  using V = compute_type_t<value_type_t<Out>>;
  transform(context, detail::WithScalar<detail::Fill, V, C::memory_space>{value}, write(detail::output_view<C>(out)));
}

}  // namespace mezzo
