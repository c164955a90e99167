#include "peers.hpp"

#if MEZZO_BENCH_ONEDNN
#include <dnnl.hpp>
#include <memory>
#include <type_traits>
#endif

namespace bench::peers::onednn {

#if MEZZO_BENCH_ONEDNN
namespace {

using dnnl::memory;

dnnl::engine& engine() {
  static dnnl::engine result(dnnl::engine::kind::cpu, 0);
  return result;
}

template <class T>
constexpr memory::data_type dtype = std::is_same_v<T, half>       ? memory::data_type::f16
                                    : std::is_same_v<T, bfloat16> ? memory::data_type::bf16
                                                                  : memory::data_type::f32;

template <class T>
memory wrap(const memory::dims& dims, const void* data) {
  const auto tag = dims.size() == 1 ? memory::format_tag::a : memory::format_tag::ab;
  return memory({dims, dtype<T>, tag}, engine(), const_cast<void*>(data));
}

/// A primitive with its arguments, made once.
Contestant prepared(const dnnl::primitive& primitive, const std::unordered_map<int, memory>& arguments) {
  auto stream = std::make_shared<dnnl::stream>(engine());
  return [=] {
    primitive.execute(*stream, arguments);
    stream->wait();
  };
}

}  // namespace

std::string version() {
  const dnnl_version_t* const v = dnnl_version();
  return "oneDNN " + std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
}

template <class Out, class In>
Contestant cast(Out* to, const In* from, std::size_t size) {
  try {
    const memory::dims dims{static_cast<memory::dim>(size)};
    const memory source = wrap<In>(dims, from), target = wrap<Out>(dims, to);
    return prepared(dnnl::reorder(source, target), {{DNNL_ARG_FROM, source}, {DNNL_ARG_TO, target}});
  } catch (const dnnl::error&) {
    return {};  // not on this CPU
  }
}

template <class T>
Contestant gemm(const GemmArguments& p) {
  try {
    const memory a = wrap<T>({p.m, p.k}, p.a), b = wrap<T>({p.k, p.n}, p.b), out = wrap<T>({p.m, p.n}, p.out);
#if DNNL_VERSION_MAJOR >= 3
    const dnnl::matmul::primitive_desc description(engine(), a.get_desc(), b.get_desc(), out.get_desc());
#else
    const dnnl::matmul::primitive_desc description({a.get_desc(), b.get_desc(), out.get_desc()}, engine());
#endif
    return prepared(dnnl::matmul(description), {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, out}});
  } catch (const dnnl::error&) {
    return {};
  }
}

Contestant softmax(float* out, const float* in, std::size_t rows, std::size_t columns) {
  const memory::dims dims{static_cast<memory::dim>(rows), static_cast<memory::dim>(columns)};
  const memory source = wrap<float>(dims, in), target = wrap<float>(dims, out);
#if DNNL_VERSION_MAJOR >= 3
  const dnnl::softmax_forward::primitive_desc description(engine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::softmax_accurate,
                                                          source.get_desc(), target.get_desc(), 1);
#else
  const dnnl::softmax_forward::primitive_desc description({dnnl::prop_kind::forward_inference, source.get_desc(), 1}, engine());
#endif
  return prepared(dnnl::softmax_forward(description), {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, target}});
}

Contestant layer_norm(float* out, const float* in, const float* scale, const float* shift, std::size_t rows, std::size_t columns) {
  const memory::dims dims{static_cast<memory::dim>(rows), static_cast<memory::dim>(columns)}, row{static_cast<memory::dim>(columns)};
  const memory source = wrap<float>(dims, in), target = wrap<float>(dims, out);
  const auto flags = dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
#if DNNL_VERSION_MAJOR >= 3
  const dnnl::layer_normalization_forward::primitive_desc description(engine(), dnnl::prop_kind::forward_inference, source.get_desc(),
                                                                      target.get_desc(), 1e-5f, flags);
#else
  const dnnl::layer_normalization_forward::primitive_desc description({dnnl::prop_kind::forward_inference, source.get_desc(), 1e-5f, flags},
                                                                      engine());
#endif
  return prepared(dnnl::layer_normalization_forward(description), {{DNNL_ARG_SRC, source},
                                                                   {DNNL_ARG_DST, target},
                                                                   {DNNL_ARG_SCALE, wrap<float>(row, scale)},
                                                                   {DNNL_ARG_SHIFT, wrap<float>(row, shift)}});
}
#else
std::string version() { return {}; }
template <class Out, class In>
Contestant cast(Out*, const In*, std::size_t) {
  return {};
}
template <class T>
Contestant gemm(const GemmArguments&) {
  return {};
}
Contestant softmax(float*, const float*, std::size_t, std::size_t) { return {}; }
Contestant layer_norm(float*, const float*, const float*, const float*, std::size_t, std::size_t) { return {}; }
#endif

#include "casts.inl"
#include "gemms.inl"

}  // namespace bench::peers::onednn
