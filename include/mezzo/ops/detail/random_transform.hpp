// The element-wise loop beside random numbers: what random.hpp and dropout.hpp have in common. Numbers are made where they are used,
// 256 at a time, and never stored.
#pragma once

#include <cstdint>

#include <mezzo/kernels/transform.hpp>
#include <mezzo/numeric/philox.hpp>

namespace mezzo::detail {

struct PhiloxLanes {
  RandomState state;
  [[gnu::always_inline]] MEZZO_HOST_DEVICE constexpr void operator()(std::uint32_t& a, std::uint32_t& b, std::uint32_t& c, std::uint32_t& d,
                                                                     std::uint32_t lane) const {
    const PhiloxBlock block = random_block(state, lane);
    a = block.word[0];
    b = block.word[1];
    c = block.word[2];
    d = block.word[3];
  }
};

struct LaneNumbers {
  std::uint32_t at[random_lanes];
};

constexpr LaneNumbers make_lane_numbers() {
  LaneNumbers result{};
  for (index_t i = 0; i < random_lanes; ++i) result.at[i] = static_cast<std::uint32_t>(i);
  return result;
}

inline constexpr LaneNumbers lane_numbers = make_lane_numbers();

/// A source of random numbers: 32 bits for each element.
struct RandomBits {
  using value_type = std::uint32_t;

  static void fill(Isa isa, const RandomState& state, std::uint32_t* to) {
    transform_range(isa, PhiloxLanes{state}, random_lanes, write(to), write(to + random_lanes), write(to + 2 * random_lanes),
                    write(to + 3 * random_lanes), read(lane_numbers.at));
  }
};

/// A group of elements of one argument, gathered before and scattered after the loop unless they lie side by side.
template <class A>
class StagedGroup {
 public:
  using range_type = typename A::range_type;

  StagedGroup(const A& access, index_t begin, index_t count)
      : m_view(access.view), m_begin(begin), m_count(count), m_is_contiguous(access.view.is_contiguous()) {
    if constexpr (range_type::is_read) {
      if (!m_is_contiguous) for_each_element([&](index_t i, const auto& element) { m_buffer[i] = element; });
    }
  }

  range_type range() { return {m_is_contiguous ? m_view.data() + m_begin : m_buffer}; }

  void finish() {
    if constexpr (range_type::is_written) {
      if (!m_is_contiguous) for_each_element([&](index_t i, auto& element) { element = m_buffer[i]; });
    }
  }

 private:
  template <class Function>
  void for_each_element(const Function& function) const {
    constexpr int last = A::view_type::rank - 1;
    if constexpr (last >= 0) {  // a scalar is contiguous
      const index_t width = m_view.extent(last);
      index_t row = m_begin / width, column = m_begin % width;
      for (index_t i = 0; i < m_count; ++row, column = 0) {
        auto* elements = m_view.data() + row_offset(m_view, row);
        for (; column < width && i < m_count; ++column, ++i) function(i, elements[column * m_view.stride(last)]);
      }
    }
  }

  typename A::view_type m_view;
  index_t m_begin, m_count;
  bool m_is_contiguous;
  std::remove_const_t<typename A::element_type> m_buffer[random_group];
};

template <class Source, class Functor, class... Groups>
void transform_group(Isa isa, const RandomState& state, const Functor& functor, index_t count, Groups... groups) {
  alignas(64) typename Source::value_type numbers[random_group];
  Source::fill(isa, state, numbers);
  transform_range(isa, functor, count, groups.range()..., read(static_cast<const typename Source::value_type*>(numbers)));
  (groups.finish(), ...);
}

/// functor(a, b, ..., number) over corresponding elements of views of one shape, where `number` is what Source makes of an element's
/// random bits. Which bits an element gets depends on `state` and on its row-major index alone.
template <class Source, class Functor, class First, class... Rest>
void random_transform(CpuContext& context, const RandomState& state, const Functor& functor, const First& first, const Rest&... rest) {
  static_assert(chunk_size % random_group == 0);
  const Isa isa = context.isa();
  const index_t size = first.view.size();
  context.parallel_for(ceil_divide(size, chunk_size), [&](index_t task) {
    const index_t end = smaller(size, (task + 1) * chunk_size);
    for (index_t begin = task * chunk_size; begin < end; begin += random_group) {
      const index_t count = smaller(random_group, end - begin);
      transform_group<Source>(isa, random_group_state(state, begin / random_group), functor, count, StagedGroup<First>(first, begin, count),
                              StagedGroup<Rest>(rest, begin, count)...);
    }
  });
}

}  // namespace mezzo::detail
