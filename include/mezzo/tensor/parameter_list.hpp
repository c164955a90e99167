// Parameters in memory that the user already has: what an optimizer needs to know of them, without an arena.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <mezzo/tensor/parameter_arena.hpp>

namespace mezzo {

/// Views of weights and gradients that the user owns, allocates and fills. Weights are Master; a 16-bit copy of them is kept in Weight
/// where that is another type.
/// Every listed gradient counts as filled, unless its view is null.
template <Context C, class Master = float, class Weight = Master, class Gradient = Weight>
class ParameterList {
 public:
  using context_type = C;
  using master_type = Master;
  using weight_type = Weight;
  using gradient_type = Gradient;
  using segment_type = ParameterSegment<Master, Weight, Gradient>;
  static constexpr MemorySpace space = C::memory_space;
  static constexpr bool has_copies = !std::is_same_v<Master, Weight>;

  /// Adds a weight that is its own master. Throws shape_error for shapes that differ or views with gaps.
  template <int Rank>
  void add(std::string_view name, const TensorView<Master, Rank, space>& weight, const TensorView<Gradient, Rank, space>& gradient,
           const ParameterOptions& options = {}) requires(!has_copies) {
    add_segment(name, weight, static_cast<Weight*>(nullptr), gradient, options);
  }

  /// Adds a master with its 16-bit copy.
  template <int Rank>
  void add(std::string_view name, const TensorView<Master, Rank, space>& master, const TensorView<Weight, Rank, space>& weight,
           const TensorView<Gradient, Rank, space>& gradient, const ParameterOptions& options = {}) requires has_copies {
    expects<shape_error>(master.extents() == weight.extents(), "ParameterList: master {} and weight {} differ in shape", master.extents(),
                         weight.extents());
    expects<shape_error>(weight.is_contiguous(), "ParameterList: the weight '{}' has gaps", std::string(name));
    add_segment(name, master, weight.data(), gradient, options);
  }

  bool is_sealed() const { return true; }
  index_t flat_size() const { return m_size; }
  int group_count() const { return static_cast<int>(m_groups.size()); }
  int find_group(std::string_view name) const {
    for (std::size_t i = 0; i < m_groups.size(); ++i) {
      if (m_groups[i] == name) return static_cast<int>(i);
    }
    return -1;
  }

  template <class Function>
  void for_each_segment(const Function& f) const {
    for (const Entry& entry : m_entries) {
      if (entry.segment.gradient != nullptr && entry.segment.size > 0) f(entry.segment);
    }
  }

  NonfiniteGradient name_element(index_t offset, float value) const {
    std::size_t i = m_entries.size() - 1;
    while (m_entries[i].segment.offset > offset) --i;
    return {m_entries[i].name, offset - m_entries[i].segment.offset, value};
  }

  /// The user's own backward pass decides what is overwritten: nothing to mark.
  void zero_grad() {}

 private:
  struct Entry {
    std::string name;
    segment_type segment;
  };

  template <int Rank>
  void add_segment(std::string_view name, const TensorView<Master, Rank, space>& master, Weight* weight,
                   const TensorView<Gradient, Rank, space>& gradient, const ParameterOptions& options) {
    expects<shape_error>(gradient.data() == nullptr || master.extents() == gradient.extents(),
                         "ParameterList: weight {} and gradient {} differ in shape", master.extents(), gradient.extents());
    expects<shape_error>(master.is_contiguous() && gradient.is_contiguous(), "ParameterList: '{}' has gaps", std::string(name));
    int group = find_group(options.group);
    if (group < 0) {
      group = static_cast<int>(m_groups.size());
      m_groups.emplace_back(options.group);
    }
    m_entries.push_back({std::string(name), {master.data(), weight, gradient.data(), m_size, master.size(), group}});
    m_size += master.size();
  }

  std::vector<Entry> m_entries;
  std::vector<std::string> m_groups{std::string()};
  index_t m_size = 0;
};

}  // namespace mezzo
