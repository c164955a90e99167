// The benchmark program: options, rounds, and the table. Google Benchmark filters the cases and writes the JSON.
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <random>

#include "cases.hpp"

#include <mezzo/context/capabilities.hpp>
#include <mezzo/ops/gemm.hpp>

namespace bench {

namespace {

Settings g_settings;

using clock = std::chrono::steady_clock;
double seconds_since(clock::time_point begin) { return std::chrono::duration<double>(clock::now() - begin).count(); }

double median(std::vector<double> values) {
  const std::size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle), values.end());
  return values[middle];
}

/// Calls that one measurement consists of: enough for a millisecond, so that the clock and cold caches do not count.
int calls_per_round(const std::function<void()>& run) {
  run();
  for (int calls = 1;; calls *= 2) {
    const auto begin = clock::now();
    for (int i = 0; i < calls; ++i) run();
    const double seconds = seconds_since(begin);
    if (seconds > 5e-4 || calls > (1 << 24)) return std::max(1, static_cast<int>(1e-3 / (seconds / calls)));
  }
}

}  // namespace

const Settings& settings() { return g_settings; }

void Comparison::run(benchmark::State& state) {
  std::vector<int> calls;
  for (auto& contestant : m_contestants) calls.push_back(calls_per_round(contestant.run));
  const auto begin = clock::now();
  constexpr int least_rounds = 5, most_rounds = 1000;
  std::vector<std::size_t> order(m_contestants.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::minstd_rand random(1);
  int rounds = 0;
  for (; rounds < least_rounds || (rounds < most_rounds && seconds_since(begin) < g_settings.seconds_per_case); ++rounds) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order) {
      auto& contestant = m_contestants[i];
      if (calls[i] > 1) contestant.run();  // brings its data back into the caches
      const auto round_begin = clock::now();
      for (int call = 0; call < calls[i]; ++call) contestant.run();
      contestant.seconds.push_back(seconds_since(round_begin) / calls[i]);
    }
  }
  for (const Best& best : m_bests) {
    Contestant row{best.name, {}, {}};
    for (const auto& contestant : m_contestants) {
      if (std::find(best.of.begin(), best.of.end(), contestant.name) == best.of.end()) continue;
      if (row.seconds.empty()) row.seconds.assign(contestant.seconds.size(), HUGE_VAL);
      for (std::size_t i = 0; i < row.seconds.size(); ++i) row.seconds[i] = std::min(row.seconds[i], contestant.seconds[i]);
    }
    if (!row.seconds.empty()) m_contestants.push_back(std::move(row));
  }

  const auto& own = m_contestants.front().seconds;
  state.counters["rounds"] = rounds;
  for (const auto& contestant : m_contestants) {
    state.counters["seconds:" + contestant.name] = median(contestant.seconds);
    if (&contestant == &m_contestants.front()) continue;
    std::vector<double> ratios;
    for (std::size_t i = 0; i < own.size(); ++i) ratios.push_back(contestant.seconds[i] / own[i]);
    const double ratio = median(ratios);
    for (double& value : ratios) value = std::abs(value - ratio);
    state.counters["ratio:" + contestant.name] = ratio;
    // 1.4826 MAD is a standard deviation, and a median's standard error is 1.2533 of a mean's.
    state.counters["noise:" + contestant.name] = 1.4826 * 1.2533 * median(ratios) / std::sqrt(static_cast<double>(rounds)) / ratio;
  }
  for (const Target& target : m_targets) state.counters["target:" + target.peer] = target.least;
  const double seconds = median(own);
  if (m_work > 0) state.counters[std::string("rate:") + m_unit] = m_work / seconds;
  state.SetIterationTime(seconds);
}

void add_case(const std::string& name, std::function<void(Comparison&)> fill) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [fill](benchmark::State& state) {
                                 for ([[maybe_unused]] auto once : state) {
                                   Comparison comparison;
                                   fill(comparison);
                                   comparison.run(state);
                                 }
                               })
      ->Iterations(1)
      ->UseManualTime();
}

void expect_same(const char* what, const void* a, const void* b, std::size_t bytes) {
  if (std::memcmp(a, b, bytes) == 0) return;
  std::fprintf(stderr, "bench: %s: other bits than mezzo's\n", what);
  std::exit(1);
}
void expect_close(const char* what, double a, double b, double tolerance) {
  if (std::abs(a - b) <= tolerance) return;
  std::fprintf(stderr, "bench: %s: %g is not within %g of %g\n", what, a, tolerance, b);
  std::exit(1);
}

std::string size_name(std::size_t bytes) {
  return bytes >= (1 << 20) ? std::to_string(bytes >> 20) + "MiB" : std::to_string(bytes >> 10) + "KiB";
}

/// One line for each case: mezzo's time and rate, then how many times as fast as each peer it is.
class Table : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      std::string name = run.benchmark_name();
      name = name.substr(0, name.find("/iterations:"));
      if (run.error_occurred) {
        std::printf("%-40s %s\n", name.c_str(), run.error_message.c_str());
        continue;
      }
      std::string line, peers;
      char text[160];
      for (const auto& [key, counter] : run.counters) {
        if (key.starts_with("rate:")) {
          std::snprintf(text, sizeof text, "%8.2f G%s/s ", counter.value / 1e9, key.substr(5).c_str());
          line = text;
        } else if (key.starts_with("ratio:")) {
          const std::string peer = key.substr(6);
          const auto target = run.counters.find("target:" + peer);
          const bool has_target = target != run.counters.end();
          std::snprintf(text, sizeof text, "  %s %.2f", peer.c_str(), counter.value);
          peers += text;
          if (has_target) {
            std::snprintf(text, sizeof text, " (%s %.2f)", counter.value >= target->second.value ? ">=" : "MISSES", target->second.value);
            peers += text;
          }
        }
      }
      std::printf("%-40s %10.3f us %s%s\n", name.c_str(), run.real_accumulated_time * 1e6, line.c_str(), peers.c_str());
      std::fflush(stdout);
    }
  }
};

/// As /proc/cpuinfo names it.
std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}
std::string cpu_features() {
  std::string result = mezzo::describe(mezzo::best_isa());
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512bf16")) result += ", avx512_bf16";
#endif
  return result;
}

cpu_set_t g_all_cores, g_chosen_cores;

/// Threads stay on the first cores, each benchmark on the same ones.
void pin(int threads) {
  sched_getaffinity(0, sizeof g_all_cores, &g_all_cores);
  CPU_ZERO(&g_chosen_cores);
  for (int cpu = 0, left = threads; cpu < CPU_SETSIZE && left > 0; ++cpu) {
    if (!CPU_ISSET(cpu, &g_all_cores)) continue;
    CPU_SET(cpu, &g_chosen_cores);
    --left;
  }
  sched_setaffinity(0, sizeof g_chosen_cores, &g_chosen_cores);
}

AllCores::AllCores() { sched_setaffinity(0, sizeof g_all_cores, &g_all_cores); }
AllCores::~AllCores() { sched_setaffinity(0, sizeof g_chosen_cores, &g_chosen_cores); }

}  // namespace bench

int main(int argc, char** argv) {
  std::vector<char*> rest;
  for (int i = 0; i < argc; ++i) {
    if (std::strncmp(argv[i], "--threads=", 10) == 0) {
      bench::g_settings.threads = std::atoi(argv[i] + 10);
    } else if (std::strncmp(argv[i], "--seconds=", 10) == 0) {
      bench::g_settings.seconds_per_case = std::atof(argv[i] + 10);
    } else {
      rest.push_back(argv[i]);
    }
  }
  bench::pin(bench::g_settings.threads);
  bench::peers::set_threads(bench::g_settings.threads);
  bench::add_cast_cases();
  bench::add_gradient_cases();
  bench::add_step_cases();
  bench::add_gemm_cases();
  bench::add_row_cases();
  bench::add_isa_cases();
  bench::add_thread_cases();
  bench::add_growth_cases();
  int count = static_cast<int>(rest.size());
  benchmark::Initialize(&count, rest.data());
  if (benchmark::ReportUnrecognizedArguments(count, rest.data())) return 2;
  benchmark::AddCustomContext("cpu", bench::cpu_name());
  benchmark::AddCustomContext("cpu_features", bench::cpu_features());
  benchmark::AddCustomContext("isa", mezzo::describe(mezzo::default_isa()));
  benchmark::AddCustomContext("threads", std::to_string(bench::g_settings.threads));
  benchmark::AddCustomContext("gemm_engine", mezzo::gemm_engine());
  benchmark::AddCustomContext("peers", bench::peers::versions());
  bench::Table table;
  benchmark::RunSpecifiedBenchmarks(&table);
}
