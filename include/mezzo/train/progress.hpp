// How far a training run is: a bar on a terminal, a line now and then elsewhere. Whatever ends the run, the terminal stays usable: the
// cursor is never hidden, and a signal finds the line ended.
#pragma once

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <string>

#include <mezzo/core/error.hpp>
#include <mezzo/core/extents.hpp>
#include <mezzo/numeric/is_finite.hpp>

namespace mezzo {

/// Seconds on a clock that never goes back.
inline double monotonic_seconds() {
  std::timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// What a Progress shows, and where.
struct ProgressOptions {
  index_t steps = 0;  ///< of the whole run; 0 if unknown
  std::string label = {};
  index_t first_step = 0;        ///< steps that an earlier run has done, when training resumes
  index_t samples_per_step = 0;  ///< for ticks that do not say how many samples they trained on
  int rank = 0;                  ///< of several processes, only rank 0 prints
  std::FILE* stream = stderr;
  double (*now)() = monotonic_seconds;  ///< the clock, in seconds
};

/// What one step has to show.
struct ProgressSample {
  float loss = 0;
  float loss_scale = 1;
  index_t samples = 0;  ///< that the step trained on
  bool skipped = false;
};

namespace detail {

/// Ends the line of a bar on SIGINT and SIGTERM, then lets the signal do what it would have done. Signals that were ignored stay so.
class BarSignals {
 public:
  /// A bar appears on the terminal `descriptor`.
  static void add(int descriptor) {
    const std::lock_guard lock(s_mutex);
    s_descriptor = descriptor;
    if (++s_bars == 1) arm();
  }

  /// A bar is drawn again. The program may have survived a signal, whose former handler is then in place.
  static void renew() {
    if (!s_has_fired.load()) return;
    const std::lock_guard lock(s_mutex);
    if (s_has_fired.exchange(false)) arm();
  }

  /// A bar has ended its line.
  static void remove() {
    const std::lock_guard lock(s_mutex);
    if (--s_bars > 0) return;
    s_descriptor = -1;
    for (int i = 0; i < 2; ++i) {
      if (is_ours(s_signals[i])) sigaction(s_signals[i], &s_previous[i], nullptr);
    }
  }

 private:
  static void arm() {
    for (int i = 0; i < 2; ++i) {
      struct sigaction action {};
      sigaction(s_signals[i], nullptr, &action);
      const bool is_ignored = (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_IGN;
      if (is_ignored || is_ours(s_signals[i])) continue;
      s_previous[i] = action;  // before the handler is in place, since it may run at once
      action = {};
      action.sa_handler = handle;
      sigemptyset(&action.sa_mask);
      sigaction(s_signals[i], &action, nullptr);
    }
  }

  static bool is_ours(int signal) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == handle;
  }

  static void handle(int signal) {
    const int saved = errno;
    pollfd terminal{s_descriptor, POLLOUT, 0};
    if (poll(&terminal, 1, 0) == 1 && (terminal.revents & POLLOUT) != 0) {  // a stopped terminal must not keep the program alive
      [[maybe_unused]] const auto written = ::write(terminal.fd, "\n", 1);
    }
    s_has_fired = true;
    sigaction(signal, &s_previous[signal == s_signals[0] ? 0 : 1], nullptr);
    raise(signal);  // arrives when this handler returns
    errno = saved;
  }

  static constexpr int s_signals[2] = {SIGINT, SIGTERM};
  static inline std::mutex s_mutex;
  static inline int s_bars = 0;
  static inline std::atomic<int> s_descriptor{-1};
  static inline std::atomic<bool> s_has_fired{false};
  static inline struct sigaction s_previous[2] = {};
};

/// Characters that `text` takes on a terminal, in UTF-8.
inline int displayed_width(const std::string& text) {
  int width = 0;
  for (char c : text) width += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return width;
}

/// The first `width` characters of `text`.
inline std::string shortened(const std::string& text, int width) {
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    if ((static_cast<unsigned char>(text[end]) & 0xC0) != 0x80 && width-- <= 0) break;
  }
  return text.substr(0, end);
}

inline std::string number(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

inline std::string duration(double seconds) {
  const auto whole = static_cast<long long>(seconds < 1e9 ? seconds + 0.5 : 1e9);
  char text[32];
  if (whole < 3600) {
    std::snprintf(text, sizeof text, "%lld:%02lld", whole / 60, whole % 60);
  } else {
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60, whole % 60);
  }
  return text;
}

}  // namespace detail

/// Shows the steps done, the smoothed loss, the loss scale, skipped steps, samples (or steps) per second and the time left. On a terminal
/// as a bar, drawn at most ten times a second; elsewhere, and where TERM is dumb, as plain lines: after the first and the last step, at
/// every tenth of the run, and when ten seconds have passed without one. Belongs to one thread.
class Progress {
 public:
  /// Throws option_error, naming the option, for a negative number, a stream or a clock that is missing.
  [[gnu::cold]] explicit Progress(const ProgressOptions& options) : m_options(options), m_step(options.first_step) {
    expects<option_error>(options.steps >= 0, "Progress: steps must not be negative, is {}", options.steps);
    expects<option_error>(options.first_step >= 0, "Progress: first_step must not be negative, is {}", options.first_step);
    expects<option_error>(options.samples_per_step >= 0, "Progress: samples_per_step must not be negative, is {}",
                          options.samples_per_step);
    expects<option_error>(options.rank >= 0, "Progress: rank must not be negative, is {}", options.rank);
    expects<option_error>(options.stream != nullptr && options.now != nullptr, "Progress: stream and now must not be null");
    for (char& c : m_options.label) {
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';  // a control character would break the line
    }
    m_start = m_shown_at = options.now();
    if (options.rank != 0) return;
    const char* kind = std::getenv("TERM");
    m_is_terminal = isatty(fileno(options.stream)) != 0 && (kind == nullptr || std::string(kind) != "dumb");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { finish(); }

  /// One step is done.
  void tick(const ProgressSample& sample) {
    if (m_options.rank != 0 || m_is_finished) return;
    ++m_step;
    m_samples += sample.samples > 0 ? sample.samples : m_options.samples_per_step;
    m_skipped += sample.skipped ? 1 : 0;
    m_loss_scale = sample.loss_scale;
    m_last_loss = sample.loss;
    if (is_finite(sample.loss)) {
      m_loss = m_has_loss ? 0.9f * m_loss + 0.1f * sample.loss : sample.loss;
      m_has_loss = true;
    }
    const double now = m_options.now();
    if (is_due(now)) show(now);
  }

  /// The same from a loss and a StepReport.
  template <class Report>
  void tick(float loss, const Report& report, index_t samples = 0) {
    tick({.loss = loss, .loss_scale = report.loss_scale(), .samples = samples, .skipped = report.skipped()});
  }

  /// Shows the last step and ends the line. Later ticks show nothing. Without memory the line may be left out.
  void finish() noexcept {
    if (m_options.rank != 0 || m_is_finished) return;
    m_is_finished = true;
    try {
      if (m_step > m_options.first_step && m_shown_step != m_step) show(m_options.now());
    } catch (...) {
    }
    if (!m_is_on_screen) return;
    std::fputc('\n', m_options.stream);
    std::fflush(m_options.stream);
    detail::BarSignals::remove();
    m_is_on_screen = false;
  }

 private:
  bool is_due(double now) const {
    if (m_step == m_options.first_step + 1 || m_step == m_options.steps) return true;
    if (m_is_terminal) return now - m_shown_at >= 0.1;
    return tenths(m_step) > tenths(m_shown_step) || now - m_shown_at >= 10;
  }

  /// Tenths of the run that `step` completes.
  index_t tenths(index_t step) const {
    return m_options.steps > 0 ? static_cast<index_t>(10 * (static_cast<double>(step) / static_cast<double>(m_options.steps))) : 0;
  }

  [[gnu::cold]] void show(double now) {
    if (m_is_terminal) {
      if (!m_is_on_screen) detail::BarSignals::add(fileno(m_options.stream));
      m_is_on_screen = true;
      detail::BarSignals::renew();
      std::fprintf(m_options.stream, "\r%s\033[K", bar(columns() - 1, now).c_str());
    } else {
      std::fprintf(m_options.stream, "%s\n", join(fields(now)).c_str());
    }
    std::fflush(m_options.stream);
    m_shown_at = now;
    m_shown_step = m_step;
  }

  static constexpr int field_count = 7;
  struct Fields {
    std::string text[field_count];
  };

  [[gnu::cold]] Fields fields(double now) const {
    const double elapsed = now - m_start;
    const auto done = static_cast<double>(m_step - m_options.first_step);
    Fields result;
    result.text[0] = m_options.label;
    result.text[1] = "step " + std::to_string(m_step);
    if (m_options.steps > 0) {
      result.text[1] += "/" + std::to_string(m_options.steps);
      if (!m_is_terminal) result.text[1] += " (" + std::to_string(percent()) + "%)";
    }
    result.text[2] = "loss " + loss();
    result.text[3] = "scale " + scale();
    if (m_skipped > 0) result.text[4] = std::to_string(m_skipped) + " skipped";
    if (elapsed > 0) {
      const double rate = (m_samples > 0 ? static_cast<double>(m_samples) : done) / elapsed;
      result.text[5] = detail::number(rate < 100 ? "%.3g" : "%.0f", rate) + (m_samples > 0 ? " samples/s" : " steps/s");
      if (m_step >= m_options.steps || m_is_finished) {
        result.text[6] = "in " + detail::duration(elapsed);
      } else {
        result.text[6] = "ETA " + detail::duration(elapsed / done * static_cast<double>(m_options.steps - m_step));
      }
    }
    return result;
  }

  int percent() const {
    if (m_step >= m_options.steps) return 100;
    return static_cast<int>(100 * (static_cast<double>(m_step) / static_cast<double>(m_options.steps)));
  }

  /// The running mean of the finite losses; the last loss as it is where that is not finite.
  std::string loss() const {
    if (is_finite(m_last_loss)) return detail::number("%.4g", static_cast<double>(m_loss));
    const auto bits = __builtin_bit_cast(std::uint32_t, m_last_loss);
    return (bits & 0x007FFFFFu) != 0 ? "nan" : (bits >> 31) != 0 ? "-inf" : "inf";
  }

  /// Large and small powers of two as such, since loss scales are powers of two and easier to read so.
  std::string scale() const {
    const auto bits = __builtin_bit_cast(std::uint32_t, m_loss_scale);
    const int exponent = static_cast<int>(bits >> 23) - 127;
    const bool is_power = (bits & 0x007FFFFFu) == 0 && exponent > -127 && exponent < 128;
    if (is_power && (exponent < 0 || exponent > 19)) return "2^" + std::to_string(exponent);
    return detail::number("%g", static_cast<double>(m_loss_scale));
  }

  [[gnu::cold]] static std::string join(const Fields& fields, int first = 0) {
    std::string line;
    for (int i = first; i < field_count; ++i) {
      if (fields.text[i].empty()) continue;
      if (!line.empty()) line += "  ";
      line += fields.text[i];
    }
    return line;
  }

  /// A line of at most `room` characters. Where it is narrow, the less important numbers go first, then the bar.
  [[gnu::cold]] std::string bar(int room, double now) const {
    constexpr int narrowest = 8, widest = 30;
    Fields all = fields(now);
    const std::string label = all.text[0].empty() ? "" : all.text[0] + "  ";
    std::string numbers = join(all, 1);
    if (m_options.steps == 0) return detail::shortened(label + numbers, room);
    std::string share = std::to_string(percent()) + "%";
    share.insert(0, 4 - share.size(), ' ');
    const int fixed = detail::displayed_width(label) + static_cast<int>(share.size()) + 5;  // the frame and three spaces
    for (int dispensable : {1, 6, 5, 4, 3}) {  // the step first, since the share says nearly the same
      if (fixed + narrowest + detail::displayed_width(numbers) <= room) break;
      all.text[dispensable].clear();
      numbers = join(all, 1);
    }
    int cells = room - fixed - detail::displayed_width(numbers);
    if (cells < narrowest) return detail::shortened(label + share + "  " + numbers, room);
    if (cells > widest) cells = widest;
    const int filled =
        m_step >= m_options.steps ? cells : static_cast<int>(cells * (static_cast<double>(m_step) / static_cast<double>(m_options.steps)));
    return label + share + " [" + std::string(static_cast<std::size_t>(filled), '#') +
           std::string(static_cast<std::size_t>(cells - filled), '.') + "]  " + numbers;
  }

  int columns() const {
    winsize size{};
    if (ioctl(fileno(m_options.stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    const char* given = std::getenv("COLUMNS");
    const long from_environment = given == nullptr ? 0 : std::strtol(given, nullptr, 10);
    return from_environment > 0 && from_environment < 10000 ? static_cast<int>(from_environment) : 80;
  }

  ProgressOptions m_options;
  bool m_is_terminal = false, m_is_on_screen = false, m_is_finished = false;
  double m_start = 0, m_shown_at = 0;
  index_t m_step, m_shown_step = 0, m_samples = 0, m_skipped = 0;
  float m_loss = 0, m_last_loss = 0, m_loss_scale = 1;
  bool m_has_loss = false;
};

}  // namespace mezzo
