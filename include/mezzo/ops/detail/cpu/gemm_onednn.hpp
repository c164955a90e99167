// gemm by oneDNN: fp32, and bfloat16 where the CPU multiplies it. Its bfloat16 products are summed in fp32 and
// rounded once: by oneDNN where nothing follows, else finished as mezzo's own are.
#pragma once

#include <dnnl.h>
#include <dnnl_debug.h>

#include <type_traits>

#include <mezzo/ops/detail/cpu/gemm_library.hpp>

extern "C" {
[[gnu::weak]] void omp_set_num_threads(int);
[[gnu::weak]] int omp_get_max_threads();
}

namespace mezzo::detail {

inline void expects_dnnl(dnnl_status_t status, message_at message) {
  expects<unsupported_error>(status == dnnl_success, message, dnnl_status2str(status));
}

/// Keeps OpenMP, and so oneDNN, from threads of its own when called from this thread; then sets their number back.
class SingleThreadedOpenMp {
 public:
  SingleThreadedOpenMp() : m_threads(omp_set_num_threads != nullptr && omp_get_max_threads != nullptr ? omp_get_max_threads() : 1) {
    if (m_threads != 1) omp_set_num_threads(1);
  }
  SingleThreadedOpenMp(const SingleThreadedOpenMp&) = delete;
  SingleThreadedOpenMp& operator=(const SingleThreadedOpenMp&) = delete;
  ~SingleThreadedOpenMp() {
    if (m_threads != 1) omp_set_num_threads(m_threads);
  }

 private:
  int m_threads;
};

/// One product of bfloat16 matrices, summed in fp32, prepared for matrices of one shape and layout.
class DnnlMatmul {
 public:
  struct Shape {
    dnnl_dim_t m, n, k, a_row_stride, a_k_stride, b_k_stride, b_column_stride, product_row_stride;
    dnnl_data_type_t product_type;

    friend bool operator==(const Shape&, const Shape&) = default;
  };

  DnnlMatmul() = default;
  DnnlMatmul(const DnnlMatmul&) = delete;
  DnnlMatmul& operator=(const DnnlMatmul&) = delete;
  ~DnnlMatmul() { clear(); }

  const Shape& shape() const { return m_shape; }

  /// Whether oneDNN does this product on this CPU.
  bool prepare(dnnl_engine_t engine, const Shape& shape) {
    clear();
    const Descriptor a({shape.m, shape.k}, {shape.a_row_stride, shape.a_k_stride}, dnnl_bf16);
    const Descriptor b({shape.k, shape.n}, {shape.b_k_stride, shape.b_column_stride}, dnnl_bf16);
    const Descriptor product({shape.m, shape.n}, {shape.product_row_stride, 1}, shape.product_type);
    dnnl_primitive_desc_t description = nullptr;
#if DNNL_VERSION_MAJOR >= 3
    const dnnl_status_t status = dnnl_matmul_primitive_desc_create(&description, engine, a.get(), b.get(), nullptr, product.get(), nullptr);
#else
    dnnl_matmul_desc_t matmul;
    expects_dnnl(dnnl_matmul_desc_init(&matmul, a.get(), b.get(), nullptr, product.get()), "gemm: oneDNN describes no matmul, {}");
    const dnnl_status_t status = dnnl_primitive_desc_create(&description, &matmul, nullptr, engine, nullptr);
#endif
    if (status == dnnl_unimplemented) return false;
    expects_dnnl(status, "gemm: oneDNN describes no matmul, {}");
    const dnnl_status_t created = dnnl_primitive_create(&m_primitive, description);
    dnnl_primitive_desc_destroy(description);
    expects_dnnl(created, "gemm: oneDNN makes no matmul, {}");
    const Descriptor* const descriptors[] = {&a, &b, &product};
    for (int i = 0; i < 3; ++i) {
      expects_dnnl(dnnl_memory_create(&m_memories[i], descriptors[i]->get(), engine, DNNL_MEMORY_NONE),
                   "gemm: oneDNN makes no memory object, {}");
    }
    m_shape = shape;
    return true;
  }

  void run(dnnl_stream_t stream, const void* a, const void* b, void* product) const {
    void* const data[] = {const_cast<void*>(a), const_cast<void*>(b), product};
    for (int i = 0; i < 3; ++i) expects_dnnl(dnnl_memory_set_data_handle(m_memories[i], data[i]), "gemm: oneDNN takes no memory, {}");
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, m_memories[0]}, {DNNL_ARG_WEIGHTS, m_memories[1]}, {DNNL_ARG_DST, m_memories[2]}};
    expects_dnnl(dnnl_primitive_execute(m_primitive, stream, 3, arguments), "gemm: oneDNN's matmul failed, {}");
    expects_dnnl(dnnl_stream_wait(stream), "gemm: oneDNN's matmul failed, {}");
  }

  void clear() noexcept {
    m_shape = {};
    for (dnnl_memory_t& memory : m_memories) {
      if (memory != nullptr) dnnl_memory_destroy(memory);
      memory = nullptr;
    }
    if (m_primitive != nullptr) dnnl_primitive_destroy(m_primitive);
    m_primitive = nullptr;
  }

 private:
  class Descriptor {
   public:
    Descriptor(const dnnl_dims_t& extents, const dnnl_dims_t& strides, dnnl_data_type_t type) {
#if DNNL_VERSION_MAJOR >= 3
      expects_dnnl(dnnl_memory_desc_create_with_strides(&m_descriptor, 2, extents, type, strides), "gemm: oneDNN describes no matrix, {}");
#else
      expects_dnnl(dnnl_memory_desc_init_by_strides(&m_descriptor, 2, extents, type, strides), "gemm: oneDNN describes no matrix, {}");
#endif
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
#if DNNL_VERSION_MAJOR >= 3
    ~Descriptor() { dnnl_memory_desc_destroy(m_descriptor); }
    const_dnnl_memory_desc_t get() const { return m_descriptor; }
#else
    const dnnl_memory_desc_t* get() const { return &m_descriptor; }
#endif

   private:
    dnnl_memory_desc_t m_descriptor;
  };

  Shape m_shape{};
  dnnl_primitive_t m_primitive = nullptr;
  dnnl_memory_t m_memories[3] = {};
};

/// What one thread keeps of oneDNN: a stream, and the products of its last shapes.
class DnnlThread {
 public:
  DnnlThread() {
    expects_dnnl(dnnl_engine_create(&m_engine, dnnl_cpu, 0), "gemm: oneDNN makes no engine, {}");
    const dnnl_status_t status = dnnl_stream_create(&m_stream, m_engine, dnnl_stream_default_flags);
    if (status != dnnl_success) dnnl_engine_destroy(m_engine);
    expects_dnnl(status, "gemm: oneDNN makes no stream, {}");
  }
  DnnlThread(const DnnlThread&) = delete;
  DnnlThread& operator=(const DnnlThread&) = delete;
  ~DnnlThread() {
    for (DnnlMatmul& product : m_products) product.clear();
    dnnl_stream_destroy(m_stream);
    dnnl_engine_destroy(m_engine);
  }

  static DnnlThread& current() {
    static thread_local DnnlThread thread;
    return thread;
  }

  /// Whether oneDNN multiplied.
  bool multiply(const DnnlMatmul::Shape& shape, const void* a, const void* b, void* product) {
    for (const DnnlMatmul& known : m_products) {
      if (!(known.shape() == shape)) continue;
      known.run(m_stream, a, b, product);
      return true;
    }
    DnnlMatmul& oldest = m_products[m_next++ % capacity];
    if (!oldest.prepare(m_engine, shape)) return false;
    oldest.run(m_stream, a, b, product);
    return true;
  }

 private:
  static constexpr unsigned capacity = 32;

  dnnl_engine_t m_engine = nullptr;
  dnnl_stream_t m_stream = nullptr;
  DnnlMatmul m_products[capacity];
  unsigned m_next = 0;
};

struct OnednnGemmEngine {
  static constexpr const char* name = "onednn";

  template <class A, class B, class Out>
  static bool multiply(CpuContext& context, const GemmProblem<gemm_sum_t<A, B>>& p) {
    if constexpr (std::is_same_v<A, bfloat16> && std::is_same_v<B, bfloat16>) {
      if (!suits_library(p) || context.isa() != Isa::avx512 || !multiplies_bfloat16()) return false;
      constexpr bool is_known = std::is_same_v<Out, float> || std::is_same_v<Out, bfloat16>;
      constexpr dnnl_data_type_t type = std::is_same_v<Out, float> ? dnnl_f32 : dnnl_bf16;
      const bool is_plain = p.out.alpha == 1 && p.out.beta == 0 && p.out.column_bias == nullptr && p.out.row_bias == nullptr &&
                            p.out.column_stride == 1 && p.out.row_stride >= p.n;
      if (is_known && is_plain) {
        for_each_library_block(context, p, [&](const GemmProblem<float>& block) { call_plain(context, block, type); });
      } else {
        for_each_library_block(context, p, [&](const GemmProblem<float>& block) { call_bfloat16(context, block); });
      }
      return true;
    } else if constexpr (std::is_same_v<A, float> && std::is_same_v<B, float> && std::is_same_v<Out, float>) {
      const BlasMatrix out = blas_matrix(p.m, p.n, p.out.row_stride, p.out.column_stride);
      if (!suits_library(p) || !out.is_suitable) return false;
      for_each_library_block(context, out.is_transposed ? p.transposed() : p, [isa = context.isa()](const GemmProblem<float>& block) {
        call_sgemm(block);
        add_bias(isa, block);
      });
      return true;
    } else {
      return false;
    }
  }

 private:
  static bool multiplies_bfloat16() {
    static const bool result =
        (static_cast<int>(dnnl_get_effective_cpu_isa()) & dnnl_cpu_isa_avx512_core_bf16) == dnnl_cpu_isa_avx512_core_bf16;
    return result;
  }

  static void call_sgemm(const GemmProblem<float>& p) {
    const BlasMatrix a = blas_matrix(p.m, p.k, p.a.stride, p.a.k_stride), b = blas_matrix(p.k, p.n, p.b.k_stride, p.b.stride);
    const SingleThreadedOpenMp guard;
    expects_dnnl(dnnl_sgemm(a.is_transposed ? 'T' : 'N', b.is_transposed ? 'T' : 'N', p.m, p.n, p.k, p.out.alpha,
                            static_cast<const float*>(p.a.data), a.leading, static_cast<const float*>(p.b.data), b.leading, p.out.beta,
                            static_cast<float*>(p.out.data), p.out.row_stride),
                 "gemm: oneDNN's sgemm failed, {}");
  }

  /// Whether oneDNN multiplied.
  static bool call_matmul(const GemmProblem<float>& p, void* product, index_t row_stride, dnnl_data_type_t type) {
    const SingleThreadedOpenMp guard;
    return DnnlThread::current().multiply({p.m, p.n, p.k, p.a.stride, p.a.k_stride, p.b.k_stride, p.b.stride, row_stride, type}, p.a.data,
                                          p.b.data, product);
  }

  /// oneDNN rounds the sums to the result, as there is nothing else to do with them.
  static void call_plain(CpuContext& context, const GemmProblem<float>& p, dnnl_data_type_t type) {
    if (!call_matmul(p, p.out.data, p.out.row_stride, type)) multiply_own<bfloat16, bfloat16>(context, p);
  }

  static void call_bfloat16(CpuContext& context, const GemmProblem<float>& p) {
    auto product = context.scratch<float>(p.m * p.n);
    if (!call_matmul(p, product.data(), p.n, dnnl_f32)) return multiply_own<bfloat16, bfloat16>(context, p);
    finish_tile(context.isa(), p.out, 0, 0, p.m, p.n, product.data(), p.n);
  }
};

}  // namespace mezzo::detail
