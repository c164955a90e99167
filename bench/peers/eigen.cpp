#include "peers.hpp"

#if MEZZO_BENCH_EIGEN
#include <Eigen/Core>
#include <type_traits>
#endif

namespace bench::peers::eigen {

#if MEZZO_BENCH_EIGEN
namespace {

template <class T>
using eigen_type =
    std::conditional_t<std::is_same_v<T, half>, Eigen::half, std::conditional_t<std::is_same_v<T, bfloat16>, Eigen::bfloat16, T>>;
template <class T>
using Row = Eigen::Map<Eigen::Array<T, 1, Eigen::Dynamic>>;
template <class T>
using ConstRow = Eigen::Map<const Eigen::Array<T, 1, Eigen::Dynamic>>;
using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

volatile float sink;

}  // namespace

template <class Out, class In>
Contestant cast(Out* to, const In* from, std::size_t size) {
  using A = eigen_type<Out>;
  using B = eigen_type<In>;
  return [=] {
    const auto length = static_cast<Eigen::Index>(size);
    Row<A>(reinterpret_cast<A*>(to), length) = ConstRow<B>(reinterpret_cast<const B*>(from), length).template cast<A>();
  };
}
Contestant norm(const float* data, std::size_t size) {
  return [=] { sink = ConstRow<float>(data, static_cast<Eigen::Index>(size)).matrix().norm(); };
}
Contestant gemm(const GemmArguments& p) {
  return [p] {
    Eigen::Map<Matrix>(static_cast<float*>(p.out), p.m, p.n).noalias() =
        Eigen::Map<const Matrix>(static_cast<const float*>(p.a), p.m, p.k) *
        Eigen::Map<const Matrix>(static_cast<const float*>(p.b), p.k, p.n);
  };
}
Contestant softmax(float* out, const float* in, std::size_t rows, std::size_t columns) {
  return [=] {
    for (std::size_t i = 0; i < rows; ++i) {
      const ConstRow<float> x(in + i * columns, static_cast<Eigen::Index>(columns));
      Row<float> y(out + i * columns, static_cast<Eigen::Index>(columns));
      y = (x - x.maxCoeff()).exp();
      y /= y.sum();
    }
  };
}
#else
template <class Out, class In>
Contestant cast(Out*, const In*, std::size_t) {
  return {};
}
Contestant norm(const float*, std::size_t) { return {}; }
Contestant gemm(const GemmArguments&) { return {}; }
Contestant softmax(float*, const float*, std::size_t, std::size_t) { return {}; }
#endif

#include "casts.inl"

}  // namespace bench::peers::eigen
