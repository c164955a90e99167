// How far a training run is: a bar on a terminal, a line now and then elsewhere.
#pragma once

#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include <mezzo/core/extents.hpp>
#include <mezzo/numeric/is_finite.hpp>

namespace mezzo {

/// Seconds on a clock that never goes back.
inline double monotonic_seconds() {
  std::timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct ProgressOptions {
  index_t steps = 0;                        ///< that will be ticked; has no default
  std::string label = {};
  int rank = 0;                             ///< of several processes; only rank 0 prints
  std::FILE* stream = stderr;
  double (*now)() = monotonic_seconds;      ///< the clock, in seconds
};

/// What one step has to show.
struct ProgressSample {
  float loss = 0.0f;
  float loss_scale = 1.0f;
  index_t samples = 0;  ///< that the step trained on
  bool skipped = false;
};

/// Shows steps done, the smoothed loss, the loss scale, samples per second and the time left. On a terminal as a bar, redrawn at most
/// ten times a second; elsewhere as a line of plain text at every fifth of the run. Ends its line in finish(), when destroyed, and when
/// SIGINT or SIGTERM ends the program.
class Progress {
 public:
  /// Throws option_error unless there are steps.
  explicit Progress(const ProgressOptions& options) : m_options(options), m_start(options.now()), m_drawn(m_start - 1) {
    expects<option_error>(options.steps > 0, "Progress: steps must be positive, is {}", options.steps);
    const char* terminal = std::getenv("TERM");
    m_is_terminal = isatty(fileno(options.stream)) != 0 && (terminal == nullptr || std::string(terminal) != "dumb");
    if (options.rank == 0 && m_is_terminal) m_guards_line = SignalGuard::install(fileno(options.stream));
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { finish(); }

  /// One step is done.
  void tick(const ProgressSample& sample) {
    ++m_done;
    m_samples += sample.samples;
    m_skipped += sample.skipped ? 1 : 0;
    m_loss_scale = sample.loss_scale;
    // A loss that is not finite is shown as it is, and leaves the average as it was.
    m_last_loss = sample.loss;
    if (is_finite(sample.loss)) m_loss = m_has_loss ? 0.9f * m_loss + 0.1f * sample.loss : sample.loss;
    m_has_loss = m_has_loss || is_finite(sample.loss);
    if (m_options.rank != 0) return;
    if (m_is_terminal) {
      const double now = m_options.now();
      if (now - m_drawn < 0.1 && m_done < m_options.steps) return;
      m_drawn = now;
      draw(bar());
    } else if (m_done * 5 / m_options.steps != (m_done - 1) * 5 / m_options.steps) {
      std::fprintf(m_options.stream, "%s\n", text().c_str());
      std::fflush(m_options.stream);
    }
  }
  /// The same from a loss and a StepReport.
  template <class Report>
  void tick(float loss, const Report& report, index_t samples = 0) {
    tick({.loss = loss, .loss_scale = report.loss_scale(), .samples = samples, .skipped = report.skipped()});
  }

  /// Ends the line. Nothing more is shown.
  void finish() noexcept {
    if (m_options.rank == 0 && m_is_terminal && m_is_line_open) {
      std::fputc('\n', m_options.stream);
      std::fflush(m_options.stream);
    }
    m_is_line_open = false;
    if (m_guards_line) SignalGuard::remove();
    m_guards_line = false;
    m_options.rank = -1;
  }

 private:
  /// Ends an open line when a signal ends the program, then lets the signal do what it would have done.
  class SignalGuard {
   public:
    /// False where another bar has the signals already.
    static bool install(int descriptor) {
      if (s_is_installed.exchange(true)) return false;
      s_descriptor = descriptor;
      struct sigaction action {};
      action.sa_handler = handle;
      sigemptyset(&action.sa_mask);
      sigaction(SIGINT, &action, &s_interrupt);
      sigaction(SIGTERM, &action, &s_terminate);
      return true;
    }
    static void remove() {
      sigaction(SIGINT, &s_interrupt, nullptr);
      sigaction(SIGTERM, &s_terminate, nullptr);
      s_is_installed = false;
    }

   private:
    static void handle(int signal) {
      [[maybe_unused]] const auto written = ::write(s_descriptor, "\n", 1);
      sigaction(signal, signal == SIGINT ? &s_interrupt : &s_terminate, nullptr);
      raise(signal);
    }

    static inline std::atomic<bool> s_is_installed{false};
    static inline int s_descriptor = -1;
    static inline struct sigaction s_interrupt {}, s_terminate {};
  };

  int width() const {
    winsize size{};
    if (ioctl(fileno(m_options.stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return 80;
  }

  /// The numbers, without a bar.
  std::string text() const {
    const double elapsed = m_options.now() - m_start;
    const double left = elapsed / static_cast<double>(m_done) * static_cast<double>(m_options.steps - m_done);
    char numbers[160];
    std::snprintf(numbers, sizeof numbers, "%3d %%  loss %-8.4g scale %-8.6g %.0f samples/s  %.0f s left",
                  static_cast<int>(m_done * 100 / m_options.steps), static_cast<double>(is_finite(m_last_loss) ? m_loss : m_last_loss),
                  static_cast<double>(m_loss_scale), elapsed > 0 ? static_cast<double>(m_samples) / elapsed : 0.0, left);
    std::string result = m_options.label.empty() ? numbers : m_options.label + "  " + numbers;
    if (m_skipped > 0) result += "  " + std::to_string(m_skipped) + " skipped";
    return result;
  }

  std::string bar() const {
    const std::string numbers = text();
    const int room = width() - 1;
    const int length = room - static_cast<int>(numbers.size()) - 4;
    if (length < 8) return numbers.substr(0, static_cast<std::size_t>(room));
    const auto cells = static_cast<std::size_t>(length < 40 ? length : 40);
    const std::size_t done = cells * static_cast<std::size_t>(m_done) / static_cast<std::size_t>(m_options.steps);
    return "[" + std::string(done, '#') + std::string(cells - done, '.') + "]  " + numbers;
  }

  void draw(const std::string& line) {
    std::fprintf(m_options.stream, "\r\033[K%s", line.c_str());
    std::fflush(m_options.stream);
    m_is_line_open = true;
  }

  ProgressOptions m_options;
  double m_start, m_drawn;
  index_t m_done = 0, m_samples = 0, m_skipped = 0;
  float m_loss = 0.0f, m_last_loss = 0.0f, m_loss_scale = 1.0f;
  bool m_has_loss = false, m_is_terminal = false, m_is_line_open = false, m_guards_line = false;
};

}  // namespace mezzo
