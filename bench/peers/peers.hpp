// What the peers do, each behind functions of plain pointers, so that their headers meet neither mezzo's nor each other's. A function
// returns a contestant that is ready to run: everything is allocated beforehand. It returns an empty one where the peer is not in this
// build or does not do such work.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include <mezzo/numeric/bfloat16.hpp>
#include <mezzo/numeric/half.hpp>

namespace bench::peers {

using mezzo::bfloat16;
using mezzo::half;
using Contestant = std::function<void()>;

/// Names and versions of the peers in this build.
std::string versions();
void set_threads(int threads);

struct AdamWState {
  float *weights, *first_moments, *second_moments, *gradients;
  void* copies;  ///< 16-bit weights
  std::size_t size;
};
struct GemmArguments {
  const void *a, *b;
  void* out;
  int m, n, k;
};

/// Loops in plain C++, compiled for the machine at hand at -O3: the traffic twins, and what a composition of passes costs.
namespace plain {
Contestant copy(void* to, const void* from, std::size_t bytes);
Contestant copy_nontemporal(void* to, const void* from, std::size_t bytes);
Contestant cast_traffic(void* to, const void* from, std::size_t to_bytes, std::size_t from_bytes);  ///< a non-temporal cast's streams
Contestant scale(float* data, std::size_t size);
Contestant scale_then_check(float* data, std::size_t size);
Contestant scale_then_check_then_norm(float* data, std::size_t size);
Contestant sum(const float* data, std::size_t size);  ///< reads once
template <class T>
Contestant adamw_traffic(const AdamWState& state);  ///< AdamW's streams with trivial arithmetic
template <class T>
Contestant adamw(const AdamWState& state);
template <class T>
Contestant step_passes(const AdamWState& state);  ///< check, norm, unscale and clip, AdamW, copy-out: a pass each
}  // namespace plain

namespace highway {
template <class Out, class In>
Contestant cast(Out* to, const In* from, std::size_t size);
}
namespace eigen {
template <class Out, class In>
Contestant cast(Out* to, const In* from, std::size_t size);
Contestant norm(const float* data, std::size_t size);
Contestant gemm(const GemmArguments& arguments);
Contestant softmax(float* out, const float* in, std::size_t rows, std::size_t columns);
}  // namespace eigen
namespace imath {
Contestant to_half(half* to, const float* from, std::size_t size);
Contestant to_float(float* to, const half* from, std::size_t size);
}  // namespace imath
namespace onednn {
template <class Out, class In>
Contestant cast(Out* to, const In* from, std::size_t size);
template <class T>
Contestant gemm(const GemmArguments& arguments);
Contestant softmax(float* out, const float* in, std::size_t rows, std::size_t columns);
Contestant layer_norm(float* out, const float* in, const float* scale, const float* shift, std::size_t rows, std::size_t columns);
}  // namespace onednn
namespace openblas {
Contestant gemm(const GemmArguments& arguments);
}
namespace torch {
template <class Out, class In>
Contestant cast(Out* to, const In* from, std::size_t size);
Contestant norm(const float* data, std::size_t size);
Contestant unscale_check_norm(float* const* data, const std::size_t* sizes, std::size_t count);
template <class T>
Contestant adamw(const AdamWState& state);
template <class T>
Contestant step(const AdamWState* states, std::size_t count);  ///< unscale, check, clip_grad_norm_, AdamW, copy-out
template <class T>
Contestant gemm(const GemmArguments& arguments);
Contestant softmax(float* out, const float* in, std::size_t rows, std::size_t columns);
Contestant layer_norm(float* out, const float* in, const float* scale, const float* shift, std::size_t rows, std::size_t columns);
Contestant cross_entropy(const float* logits, const int* labels, std::size_t rows, std::size_t columns);  ///< forward and backward
}  // namespace torch

}  // namespace bench::peers
