// How things are compared: mezzo and its peers do the same work in turns, many rounds over, so that a machine whose speed drifts bends
// all of them alike. A ratio is the median of the rounds' own ratios.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <mezzo/context/host_memory.hpp>
#include <mezzo/core/tensor_view.hpp>

namespace bench {

/// What the command line says.
struct Settings {
  int threads = 1;
  double seconds_per_case = 1.0;
};
const Settings& settings();

/// One case. Filled by its function, then run.
class Comparison {
 public:
  /// What the work amounts to, for the rates in the tables: bytes read and written, or floating-point operations.
  void work(double amount, const char* unit) {
    m_work = amount;
    m_unit = unit;
  }

  /// A contestant; the first one is mezzo. One without a function is a peer that this build does without.
  void add(std::string name, std::function<void()> run) {
    if (run) m_contestants.push_back({std::move(name), std::move(run), {}});
  }

  /// Keeps memory until the case is over.
  void keep(std::shared_ptr<void> memory) { m_memory.push_back(std::move(memory)); }

  /// Another row: the best of these in each round.
  void add_best(std::string name, std::vector<std::string> of) { m_bests.push_back({std::move(name), std::move(of)}); }

  /// mezzo is to be `least` times as fast as `peer`, which a case without that peer cannot say.
  void target(const std::string& peer, double least) { m_targets.push_back({peer, least}); }

  /// Runs all rounds and reports medians as counters: "seconds:<name>", "ratio:<peer>" (above 1, mezzo is faster), "noise:<peer>" (the
  /// ratio's standard error, relative), "target:<peer>".
  void run(benchmark::State& state);

 private:
  struct Contestant {
    std::string name;
    std::function<void()> run;
    std::vector<double> seconds;  // one for each round
  };
  struct Best {
    std::string name;
    std::vector<std::string> of;
  };
  struct Target {
    std::string peer;
    double least;
  };

  std::vector<Contestant> m_contestants;
  std::vector<Best> m_bests;
  std::vector<Target> m_targets;
  std::vector<std::shared_ptr<void>> m_memory;
  double m_work = 0;
  const char* m_unit = "";
};

/// Registers a case; `fill` makes its buffers and contestants, and is destroyed with them after the run.
void add_case(const std::string& name, std::function<void(Comparison&)> fill);

/// Memory in transparent huge pages, touched: blocks from this size on get them.
inline constexpr std::size_t least_buffer = 4 << 20;

template <class T>
class Buffer {
 public:
  explicit Buffer(std::size_t size)
      : m_data(static_cast<T*>(mezzo::allocate_host_memory(std::max(size * sizeof(T), least_buffer)))), m_size(size) {
    std::memset(static_cast<void*>(m_data), 0, size * sizeof(T));
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { mezzo::free_host_memory(m_data); }

  T* data() { return m_data; }
  std::size_t size() const { return m_size; }
  mezzo::HostView<T, 1> view() { return {m_data, {static_cast<mezzo::index_t>(m_size)}}; }
  mezzo::HostView<T, 2> view(mezzo::index_t rows, mezzo::index_t columns) { return {m_data, {rows, columns}}; }

 private:
  T* m_data;
  std::size_t m_size;
};

/// A buffer that several contestants share: what std::function can hold.
template <class T>
std::shared_ptr<Buffer<T>> make_buffer(std::size_t size) {
  return std::make_shared<Buffer<T>>(size);
}

/// As make_buffer, with numbers in [-1, 1], the same each time.
template <class T>
std::shared_ptr<Buffer<T>> make_numbers(std::size_t size, std::uint32_t seed = 1) {
  auto result = make_buffer<T>(size);
  std::uint32_t state = seed * 2654435761u;
  for (std::size_t i = 0; i < size; ++i) {
    state = state * 1664525u + 1013904223u;
    result->data()[i] = static_cast<T>(static_cast<float>(state >> 8) * 0x1p-23f - 1.0f);
  }
  return result;
}

/// Contestants must agree before they are timed: these end the program where they do not.
void expect_same(const char* what, const void* a, const void* b, std::size_t bytes);
void expect_close(const char* what, double a, double b, double tolerance);
template <class T>
void expect_close(const char* what, const T* a, const T* b, std::size_t size, float tolerance) {
  for (std::size_t i = 0; i < size; ++i)
    expect_close(what, static_cast<double>(a[i]), static_cast<double>(b[i]), static_cast<double>(tolerance));
}

/// Lets threads that are started in its scope use every core: the program itself is pinned.
class AllCores {
 public:
  AllCores();
  AllCores(const AllCores&) = delete;
  AllCores& operator=(const AllCores&) = delete;
  ~AllCores();
};

/// "256KiB", "64MiB".
std::string size_name(std::size_t bytes);

}  // namespace bench
