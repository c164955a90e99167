// The memory of a model's parameters: weights, fp32 masters and gradients, each one flat buffer, so that whole-model operations run
// over one range and gradient buckets and optimizer shards are slices.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <mezzo/numeric/convert.hpp>
#include <mezzo/numeric/policy.hpp>
#include <mezzo/tensor/gradient_sink.hpp>
#include <mezzo/tensor/tensor.hpp>

namespace mezzo {

struct ParameterOptions {
  std::string_view group = {};  ///< parameters of one group share optimizer options; empty: the default group
};

/// A run of parameters of one group, all with a gradient: what one pass of an optimizer goes over. `weight` is the 16-bit copy of
/// `master`, null where there is none; `offset` is the place in the optimizer's own flat buffers.
template <class Master, class Weight, class Gradient>
struct ParameterSegment {
  Master* master;
  Weight* weight;
  Gradient* gradient;
  index_t offset;
  index_t size;
  int group;
};

/// What an optimizer and a checkpoint know of one parameter. `offset` and `size` are its place in the flat buffers.
struct ParameterRecord {
  std::string name;
  std::vector<index_t> extents;
  index_t offset;
  index_t size;
  int group;
  bool is_filled;
};

/// The first gradient element that is not finite.
struct NonfiniteGradient {
  std::string parameter;
  index_t index;  ///< row-major, within the parameter
  float value;
};

/// Parameters are declared by constructing Parameter on the arena; seal() then allocates. Stays where it is: parameters point to it.
/// Gradients accumulate in fp32 unless Gradient is a 16-bit type, which then allows one write per window.
template <PrecisionPolicy Policy, Context C, class Gradient = float>
class ParameterArena {
 public:
  using policy_type = Policy;
  using context_type = C;
  using master_type = typename Policy::master_type;
  using weight_type = typename Policy::low_type;
  using gradient_type = Gradient;
  using segment_type = ParameterSegment<master_type, weight_type, gradient_type>;
  static constexpr MemorySpace space = C::memory_space;
  /// Weights are 16-bit copies of masters; otherwise the masters are the weights.
  static constexpr bool has_copies = !std::is_same_v<master_type, weight_type>;

  explicit ParameterArena(C& context) : m_context(context) {}
  ParameterArena(const ParameterArena&) = delete;
  ParameterArena& operator=(const ParameterArena&) = delete;

  /// Registers a parameter and gives its number. Throws state_error after seal(), option_error for a name taken or empty.
  [[gnu::cold]] index_t declare(std::string_view name, std::vector<index_t> extents, index_t size, const ParameterOptions& options) {
    const std::string text(name);
    expects<state_error>(!m_is_sealed, "ParameterArena: '{}' is declared after seal()", text);
    expects<option_error>(!text.empty(), "ParameterArena: a parameter needs a name");
    for (const auto& record : m_records) {
      expects<option_error>(record.name != text, "ParameterArena: two parameters are named '{}'", text);
    }
    m_records.push_back({text, std::move(extents), m_size, size, group_number(options.group), false});
    m_size += (size + alignment - 1) / alignment * alignment;
    return static_cast<index_t>(m_records.size()) - 1;
  }

  /// Allocates. Weights, masters and gradients are zero until something writes them.
  [[gnu::cold]] void seal() {
    expects<state_error>(!m_is_sealed, "ParameterArena: seal() is called twice");
    m_masters = make_tensor<master_type>(m_context, {m_size});
    if constexpr (has_copies) m_weights = make_tensor<weight_type>(m_context, {m_size});
    m_gradients = make_tensor<gradient_type>(m_context, {m_size});
    m_context.fill_zero(m_masters.data(), static_cast<std::size_t>(m_size) * sizeof(master_type));
    if constexpr (has_copies) m_context.fill_zero(m_weights.data(), static_cast<std::size_t>(m_size) * sizeof(weight_type));
    m_context.fill_zero(m_gradients.data(), static_cast<std::size_t>(m_size) * sizeof(gradient_type));
    m_is_sealed = true;
  }

  bool is_sealed() const { return m_is_sealed; }
  C& context() const { return m_context; }

  /// The flat buffers, gaps between parameters included (they are zero). After changing masters from outside, refresh_weights().
  TensorView<master_type, 1, space> masters() { return sealed(m_masters); }
  TensorView<weight_type, 1, space> weights() {
    if constexpr (has_copies) {
      return sealed(m_weights);
    } else {
      return sealed(m_masters);
    }
  }
  TensorView<gradient_type, 1, space> gradients() { return sealed(m_gradients); }

  /// Elements in each flat buffer.
  index_t flat_size() const { return m_size; }
  /// Bytes of weights, masters and gradients together.
  index_t bytes() const {
    return m_size * static_cast<index_t>(sizeof(master_type) + (has_copies ? sizeof(weight_type) : 0) + sizeof(gradient_type));
  }

  const std::vector<ParameterRecord>& records() const { return m_records; }

  /// Number of the group, or -1 for a name that no parameter was declared with. The default group, named "", is 0.
  int find_group(std::string_view name) const {
    for (std::size_t i = 0; i < m_groups.size(); ++i) {
      if (m_groups[i] == name) return static_cast<int>(i);
    }
    return -1;
  }
  int group_count() const { return static_cast<int>(m_groups.size()); }

  /// Calls f(segment) for each run of neighbouring parameters of one group that have a gradient.
  template <class Function>
  void for_each_segment(const Function& f) {
    for (std::size_t i = 0; i < m_records.size();) {
      if (!m_records[i].is_filled || m_records[i].size == 0) {
        ++i;
        continue;
      }
      const ParameterRecord& first = m_records[i];
      index_t end = first.offset + first.size;
      for (++i; i < m_records.size() && m_records[i].is_filled && m_records[i].group == first.group; ++i) {
        end = m_records[i].offset + m_records[i].size;
      }
      weight_type* weight = nullptr;
      if constexpr (has_copies) weight = m_weights.data() + first.offset;
      f(segment_type{m_masters.data() + first.offset, weight, m_gradients.data() + first.offset, first.offset, end - first.offset,
                     first.group});
    }
  }

  /// Whether the next write to the gradient of `parameter` adds to it.
  bool is_filled(index_t parameter) const { return m_records[static_cast<std::size_t>(parameter)].is_filled; }
  void mark_filled(index_t parameter) { m_records[static_cast<std::size_t>(parameter)].is_filled = true; }

  /// The parameter and index of one element of the flat buffers.
  NonfiniteGradient name_element(index_t offset, float value) const {
    std::size_t i = m_records.size() - 1;
    while (m_records[i].offset > offset) --i;
    return {m_records[i].name, offset - m_records[i].offset, value};
  }

  /// Ends the window: the next write to each gradient overwrites. No memory is touched.
  void zero_grad() {
    for (auto& record : m_records) record.is_filled = false;
  }

 private:
  static constexpr index_t alignment = 32;  // elements: a cache line of 16-bit weights

  template <class T>
  TensorView<T, 1, space> sealed(Tensor<T, 1, space>& tensor) {
    expects<state_error>(m_is_sealed, "ParameterArena: call seal() after the last parameter and before the first use");
    return tensor.view();
  }

  int group_number(std::string_view name) {
    if (const int found = find_group(name); found >= 0) return found;
    m_groups.emplace_back(name);
    return static_cast<int>(m_groups.size()) - 1;
  }

  C& m_context;
  std::vector<ParameterRecord> m_records;
  std::vector<std::string> m_groups{std::string()};
  index_t m_size = 0;
  bool m_is_sealed = false;
  Tensor<master_type, 1, space> m_masters;
  Tensor<weight_type, 1, space> m_weights;
  Tensor<gradient_type, 1, space> m_gradients;
};

}  // namespace mezzo
