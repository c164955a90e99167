// Batches out of data in memory. The order follows from the seed and the epoch alone, so that every machine, and a run that was
// stopped and resumed, sees the same batches.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

#include <mezzo/core/error.hpp>
#include <mezzo/core/tensor_view.hpp>
#include <mezzo/tensor/viewable.hpp>

namespace mezzo {

/// How a DataLoader cuts an epoch into batches.
struct DataLoaderOptions {
  index_t batch_size = 0;  ///< samples per batch; has no default
  bool shuffle = false;    ///< a new order in each epoch
  std::uint64_t seed = 0;
  bool drop_last = false;  ///< leave out a last batch that is not full
};

/// Where a DataLoader stands, to be saved and loaded. A batch counts from the moment it is handed out.
struct DataLoaderState {
  std::uint64_t seed = 0;
  index_t epoch = 0;
  index_t position = 0;  ///< samples of the epoch that have been handed out

  friend constexpr bool operator==(const DataLoaderState&, const DataLoaderState&) = default;
};

/// One batch, whose views are valid until the loader moves on. Contiguous, with the sample in dimension 0.
template <class T, int Rank, class Label, int LabelRank>
struct Batch {
  TensorView<const T, Rank> inputs;
  TensorView<const Label, LabelRank> labels;
};

namespace detail {

/// The next number of SplitMix64. Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators".
constexpr std::uint64_t split_mix(std::uint64_t& state) {
  std::uint64_t z = state += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/// Uniform in [0, bound), without bias: the incomplete last range of multiples of `bound` is drawn again.
constexpr std::uint64_t split_mix_below(std::uint64_t& state, std::uint64_t bound) {
  while (true) {
    const std::uint64_t drawn = split_mix(state), result = drawn % bound;
    if (drawn - result <= 0 - bound) return result;
  }
}

/// Writes a permutation of 0 ... count - 1 that depends on seed and epoch only (Fisher-Yates).
constexpr void shuffle_samples(index_t* order, index_t count, std::uint64_t seed, index_t epoch) {
  std::uint64_t state = seed;
  state = split_mix(state) ^ static_cast<std::uint64_t>(epoch);
  for (index_t i = 0; i < count; ++i) order[i] = i;
  for (index_t i = count - 1; i > 0; --i) {
    const auto other = static_cast<index_t>(split_mix_below(state, static_cast<std::uint64_t>(i) + 1));
    std::swap(order[i], order[other]);
  }
}

/// Copies the elements of `from` in row-major order to `to` and returns the end of what was written.
template <class T, int Rank>
T* pack(T* to, const TensorView<const T, Rank>& from) {
  if (from.is_empty()) return to;
  if (from.is_contiguous()) {
    std::memcpy(to, from.data(), static_cast<std::size_t>(from.size()) * sizeof(T));
    return to + from.size();
  }
  if constexpr (Rank > 0) {
    for (index_t i = 0; i < from.extent(0); ++i) to = pack(to, from.select(0, i));
  }
  return to;
}

/// Memory for batches of up to `batch_size` samples of a data set.
template <class T, int Rank>
class BatchBuffer {
  static_assert(Rank > 0, "mezzo: a data set has the sample in dimension 0");
  static_assert(std::is_trivially_copyable_v<T>, "mezzo: a data set holds plain values");

 public:
  BatchBuffer(const TensorView<const T, Rank>& samples, index_t batch_size)
      : m_samples(samples), m_data(std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(shape(batch_size).size()))) {}

  index_t samples() const { return m_samples.extent(0); }

  void put(index_t slot, index_t sample) {
    const auto one = m_samples.select(0, sample);
    pack(m_data.get() + slot * one.size(), one);
  }

  TensorView<const T, Rank> view(index_t count) const { return {m_data.get(), shape(count)}; }

 private:
  Extents<Rank> shape(index_t count) const {
    index_t lengths[Rank];
    for (int i = 0; i < Rank; ++i) lengths[i] = i == 0 ? count : m_samples.extent(i);
    return lengths;
  }

  TensorView<const T, Rank> m_samples;
  std::unique_ptr<T[]> m_data;
};

}  // namespace detail

/// Hands out a data set batch by batch: `for (auto [inputs, labels] : loader)`. Views the data, which must outlive it, and copies one
/// batch at a time into memory of its own. A loop hands out what is left of the epoch and then begins the next one; after a break,
/// or a load(), the next loop goes on with the following batch. The batches before a smaller last one have batch_size samples.
template <class T, int Rank, class Label, int LabelRank>
class DataLoader {
 public:
  using batch_type = Batch<T, Rank, Label, LabelRank>;

  /// `inputs` and `labels` are host views or tensors with the sample in dimension 0. Throws shape_error unless they have the same number
  /// of samples, option_error unless batch_size is positive and leaves at least one batch of a data set that is not empty.
  template <class Inputs, class Labels>
  DataLoader(const Inputs& inputs, const Labels& labels, const DataLoaderOptions& options)
      : m_options(validated(view_of(inputs).extent(0), view_of(labels).extent(0), options)),
        m_inputs(view_of(inputs), buffer_size(view_of(inputs).extent(0), options)),
        m_labels(view_of(labels), buffer_size(view_of(inputs).extent(0), options)) {
    if (options.shuffle) m_order = std::make_unique_for_overwrite<index_t[]>(static_cast<std::size_t>(samples()));
  }

  /// Batches per epoch.
  index_t size() const { return samples() / m_options.batch_size + (m_options.drop_last || samples() % m_options.batch_size == 0 ? 0 : 1); }

  index_t samples() const { return m_inputs.samples(); }
  index_t epoch() const { return m_epoch; }

  /// Goes to the beginning of an epoch. Throws option_error if it is negative.
  void set_epoch(index_t epoch) { load({.seed = m_options.seed, .epoch = epoch}); }

  DataLoaderState state() const { return {m_options.seed, m_epoch, m_position}; }

  /// Goes on where `state` was taken, with the rest of that epoch; the batch size may be another. Throws option_error for an epoch or
  /// position that this data set does not have.
  void load(const DataLoaderState& state) {
    expects<option_error>(state.epoch >= 0, "DataLoader: epoch must not be negative, is {}", state.epoch);
    expects<option_error>(state.position >= 0 && state.position <= samples(),
                          "DataLoader: position {} lies outside the {} samples; was the state saved with another data set?", state.position,
                          samples());
    m_options.seed = state.seed;
    m_epoch = state.epoch;
    m_position = state.position;
    m_is_ordered = false;
  }

  struct sentinel {};

  /// Input iterator; all iterators of a loader share its position.
  class iterator {
   public:
    explicit iterator(DataLoader& loader) : m_loader(&loader), m_count(loader.fetch()) {}

    batch_type operator*() const { return {m_loader->m_inputs.view(m_count), m_loader->m_labels.view(m_count)}; }

    iterator& operator++() {
      m_count = m_loader->fetch();
      return *this;
    }

    friend bool operator==(const iterator& at, sentinel) { return at.m_count == 0; }

   private:
    DataLoader* m_loader;
    index_t m_count;
  };

  iterator begin() { return iterator(*this); }
  sentinel end() { return {}; }

 private:
  static index_t buffer_size(index_t samples, const DataLoaderOptions& options) {
    return options.batch_size < samples ? options.batch_size : samples;
  }

  static const DataLoaderOptions& validated(index_t samples, index_t labels, const DataLoaderOptions& options) {
    expects<shape_error>(samples == labels, "DataLoader: {} samples but {} labels; dimension 0 must be the same", samples, labels);
    expects<option_error>(options.batch_size > 0, "DataLoader: batch_size must be positive, is {}", options.batch_size);
    expects<option_error>(!options.drop_last || samples == 0 || samples >= options.batch_size,
                          "DataLoader: drop_last leaves no batch, since batch_size {} exceeds the {} samples", options.batch_size, samples);
    return options;
  }

  /// Copies the next batch and returns its number of samples; 0 at the end of the epoch, when the next one begins.
  index_t fetch() {
    const index_t left = samples() - m_position, wanted = m_options.batch_size;
    const index_t count = left >= wanted ? wanted : m_options.drop_last ? 0 : left;
    if (count == 0) {
      ++m_epoch;
      m_position = 0;
      m_is_ordered = false;
      return 0;
    }
    if (m_options.shuffle && !m_is_ordered) {
      detail::shuffle_samples(m_order.get(), samples(), m_options.seed, m_epoch);
      m_is_ordered = true;
    }
    for (index_t i = 0; i < count; ++i) {
      const index_t sample = m_options.shuffle ? m_order[static_cast<std::size_t>(m_position + i)] : m_position + i;
      m_inputs.put(i, sample);
      m_labels.put(i, sample);
    }
    m_position += count;
    return count;
  }

  DataLoaderOptions m_options;
  detail::BatchBuffer<T, Rank> m_inputs;
  detail::BatchBuffer<Label, LabelRank> m_labels;
  std::unique_ptr<index_t[]> m_order;
  bool m_is_ordered = false;
  index_t m_epoch = 0;
  index_t m_position = 0;
};

template <class Inputs, class Labels>
DataLoader(const Inputs&, const Labels&, const DataLoaderOptions&)
    -> DataLoader<value_type_t<const Inputs>, view_type_t<const Inputs>::rank, value_type_t<const Labels>, view_type_t<const Labels>::rank>;

}  // namespace mezzo
