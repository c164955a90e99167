#include <doctest/doctest.h>

#include <mezzo/train/progress.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <termios.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

using namespace mezzo;

namespace {

double seconds = 0;
double clock_of_test() { return seconds; }

/// An environment variable for the length of a test; nullptr removes it.
class Environment {
 public:
  Environment(const char* name, const char* value)
      : m_name(name), m_had(std::getenv(name) != nullptr), m_before(m_had ? std::getenv(name) : "") {
    value != nullptr ? setenv(name, value, 1) : unsetenv(name);
  }
  ~Environment() { m_had ? setenv(m_name, m_before.c_str(), 1) : unsetenv(m_name); }

 private:
  const char* m_name;
  bool m_had;
  std::string m_before;
};

/// The action of a signal for the length of a test.
class Action {
 public:
  Action(int signal, void (*handler)(int)) : m_signal(signal) {
    struct sigaction action {};
    action.sa_handler = handler;
    sigaction(signal, &action, &m_before);
  }
  ~Action() { sigaction(m_signal, &m_before, nullptr); }

 private:
  int m_signal;
  struct sigaction m_before {};
};

bool has_handler(int signal, void (*handler)(int)) {
  struct sigaction action {};
  sigaction(signal, nullptr, &action);
  return action.sa_handler == handler;
}

/// A pseudo terminal that passes on what is written to it, byte for byte.
class Terminal {
 public:
  explicit Terminal(unsigned short columns) : m_master(posix_openpt(O_RDWR | O_NOCTTY)) {
    REQUIRE(m_master >= 0);
    REQUIRE(grantpt(m_master) == 0);
    REQUIRE(unlockpt(m_master) == 0);
    const int slave = open(ptsname(m_master), O_RDWR | O_NOCTTY);
    REQUIRE(slave >= 0);
    termios mode{};
    tcgetattr(slave, &mode);
    mode.c_oflag &= static_cast<tcflag_t>(~OPOST);
    tcsetattr(slave, TCSANOW, &mode);
    stream = fdopen(slave, "w");
    resize(columns);
  }
  ~Terminal() {
    std::fclose(stream);
    close(m_master);
  }

  void resize(unsigned short columns) const {
    winsize size{};
    size.ws_col = columns;
    REQUIRE(ioctl(m_master, TIOCSWINSZ, &size) == 0);
  }

  /// What has been written since the last call; waits up to `milliseconds` for the first of it.
  std::string read(int milliseconds = 0) const {
    std::string result;
    pollfd wanted{m_master, POLLIN, 0};
    while (poll(&wanted, 1, result.empty() ? milliseconds : 0) > 0 && (wanted.revents & POLLIN) != 0) {
      char bytes[4096];
      const auto count = ::read(m_master, bytes, sizeof bytes);
      if (count <= 0) break;
      result.append(bytes, static_cast<std::size_t>(count));
    }
    return result;
  }

  std::FILE* stream;

 private:
  int m_master;
};

/// What a person sees: the lines, after carriage returns and erasures; and the widest that a line has ever been.
struct Screen {
  explicit Screen(const std::string& bytes) {
    std::size_t column = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (bytes[i] == '\r') {
        column = 0;
      } else if (bytes[i] == '\n') {
        lines.emplace_back();
        column = 0;
      } else if (bytes.compare(i, 3, "\033[K") == 0) {
        lines.back().resize(column, ' ');
        i += 2;
      } else {
        has_escape = has_escape || static_cast<unsigned char>(bytes[i]) < 0x20;
        if ((static_cast<unsigned char>(bytes[i]) & 0xC0) != 0x80) ++column;  // the rest of a UTF-8 character takes no room
        lines.back().resize(std::max(lines.back().size(), column), ' ');
        lines.back()[column - 1] = bytes[i];
        widest = std::max(widest, column);
      }
    }
  }

  std::vector<std::string> lines{std::string()};
  std::size_t widest = 0;
  bool has_escape = false;  // another control sequence than carriage return and erase to the end of the line
};

/// The lines that a run writes into a file.
template <class Run>
std::vector<std::string> plain_lines(ProgressOptions options, Run run) {
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  seconds = 100;
  options.stream = file;
  options.now = clock_of_test;
  {
    Progress progress(options);
    run(progress);
  }
  std::rewind(file);
  std::vector<std::string> lines(1);
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) {
    CHECK((c == '\n' || c >= 0x20));
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += static_cast<char>(c);
    }
  }
  std::fclose(file);
  CHECK(lines.back().empty());  // the last line was ended
  lines.pop_back();
  return lines;
}

void ticks(Progress& progress, int count, double each = 1) {
  for (int i = 0; i < count; ++i) {
    seconds += each;
    progress.tick({.loss = 0.5f, .samples = 32});
  }
}

volatile std::sig_atomic_t signals_seen = 0;
void count_signal(int) { signals_seen = signals_seen + 1; }

/// Runs `body` in a child process, sends it `signal` once its bar is on screen, and returns how it ended and what it wrote.
/// A stopped terminal (Ctrl-S) takes no more output.
template <class Body>
std::pair<int, std::string> interrupted(const Terminal& terminal, int signal, bool is_stopped, Body body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // ends a child that the signal does not
    body();
    _exit(3);
  }
  REQUIRE(child > 0);
  std::string written = terminal.read(20000);
  if (is_stopped) tcflow(fileno(terminal.stream), TCOOFF);
  kill(child, signal);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return {status, written + terminal.read()};
}

constexpr float infinity = std::numeric_limits<float>::infinity(), not_a_number = std::numeric_limits<float>::quiet_NaN();
const Environment usual_terminal("TERM", "xterm");

}  // namespace

TEST_CASE("without a terminal: plain lines, the first, the last and every tenth") {
  const auto lines = plain_lines({.steps = 100, .label = "AmpFp16"}, [](Progress& progress) { ticks(progress, 100, 0.5); });
  REQUIRE(lines.size() == 11);
  CHECK(lines[0] == "AmpFp16  step 1/100 (1%)  loss 0.5  scale 1  64 samples/s  ETA 0:50");
  for (int i = 1; i < 10; ++i) CHECK(lines[static_cast<std::size_t>(i)].starts_with("AmpFp16  step " + std::to_string(10 * i) + "/100"));
  CHECK(lines[10] == "AmpFp16  step 100/100 (100%)  loss 0.5  scale 1  64 samples/s  in 0:50");
}

TEST_CASE("without a terminal: a slow run says something every ten seconds") {
  const auto lines = plain_lines({.steps = 1000}, [](Progress& progress) { ticks(progress, 30); });
  REQUIRE(lines.size() == 4);
  CHECK(lines[1].starts_with("step 11/1000 (1%)"));
  CHECK(lines[2].starts_with("step 21/1000 (2%)"));
  CHECK(lines[3].starts_with("step 30/1000 (3%)"));  // from the destructor
}

TEST_CASE("rates and times follow the clock that was given") {
  using Lines = std::vector<std::string>;
  CHECK(plain_lines({.steps = 10000}, [](Progress& progress) { ticks(progress, 1, 0.001); }) ==
        Lines{"step 1/10000 (0%)  loss 0.5  scale 1  32000 samples/s  ETA 0:10"});
  CHECK(plain_lines({.steps = 2}, [](Progress& progress) {
          seconds += 3700;
          progress.tick({.loss = 2});
        }) == Lines{"step 1/2 (50%)  loss 2  scale 1  0.00027 steps/s  ETA 1:01:40"});
  CHECK(plain_lines({.steps = 4, .first_step = 2, .samples_per_step = 8}, [](Progress& progress) {
          seconds += 2;
          progress.tick({.loss = 2});
        }) == Lines{"step 3/4 (75%)  loss 2  scale 1  4 samples/s  ETA 0:02"});
  CHECK(plain_lines({}, [](Progress& progress) {
          seconds += 1;
          progress.tick({.loss = 2});
        }) == Lines{"step 1  loss 2  scale 1  1 steps/s  in 0:01"});
  CHECK(plain_lines({.steps = 1}, [](Progress& progress) { progress.tick({.loss = 2}); }) == Lines{"step 1/1 (100%)  loss 2  scale 1"});
}

TEST_CASE("the loss is smoothed; one that is not finite is shown, and then forgotten") {
  const auto lines = plain_lines({.steps = 5}, [](Progress& progress) {
    for (float loss : {not_a_number, 1.0f, 2.0f, infinity, -infinity}) progress.tick({.loss = loss});
  });
  REQUIRE(lines.size() == 5);
  CHECK(lines[0].find("loss nan  ") != std::string::npos);
  CHECK(lines[1].find("loss 1  ") != std::string::npos);
  CHECK(lines[2].find("loss 1.1  ") != std::string::npos);
  CHECK(lines[3].find("loss inf  ") != std::string::npos);
  CHECK(lines[4].find("loss -inf  ") != std::string::npos);
}

TEST_CASE("the loss scale and skipped steps, also from a report") {
  struct Report {
    float scale;
    bool is_skipped;
    float loss_scale() const { return scale; }
    bool skipped() const { return is_skipped; }
  };
  const auto lines = plain_lines({.steps = 5}, [](Progress& progress) {
    progress.tick(1.0f, Report{0x1p32f, false});
    progress.tick(1.0f, Report{65536, true});
    progress.tick(1.0f, Report{0x1p-24f, true});
    progress.tick(1.0f, Report{1000, false});
    progress.tick(1.0f, Report{0.75f, false});
  });
  REQUIRE(lines.size() == 5);
  CHECK(lines[0].ends_with("scale 2^32"));
  CHECK(lines[1].ends_with("scale 65536  1 skipped"));
  CHECK(lines[2].ends_with("scale 2^-24  2 skipped"));
  CHECK(lines[3].ends_with("scale 1000  2 skipped"));
  CHECK(lines[4].ends_with("scale 0.75  2 skipped"));
}

TEST_CASE("nothing is written on another rank, without a step, or after the end") {
  CHECK(plain_lines({.steps = 10, .rank = 1}, [](Progress& progress) { ticks(progress, 10); }).empty());
  CHECK(plain_lines({.steps = 10}, [](Progress&) {}).empty());
  CHECK(plain_lines({.steps = 10}, [](Progress& progress) {
          ticks(progress, 1);
          progress.finish();
          progress.finish();
          ticks(progress, 9);
        }).size() == 1);
  const Terminal terminal(80);
  const Action usual(SIGINT, count_signal);
  Progress progress({.steps = 10, .rank = 1, .stream = terminal.stream, .now = clock_of_test});
  ticks(progress, 10);
  CHECK(has_handler(SIGINT, count_signal));
  progress.finish();
  CHECK(terminal.read().empty());
}

TEST_CASE("into a pipe, as a log collector has it") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  std::FILE* stream = fdopen(ends[1], "w");
  {
    Progress progress({.steps = 2, .stream = stream, .now = clock_of_test});
    ticks(progress, 1);
    char bytes[256];
    const auto count = ::read(ends[0], bytes, sizeof bytes);  // would block if the line were still in the stream's buffer
    REQUIRE(count > 0);
    CHECK(std::string(bytes, static_cast<std::size_t>(count)).starts_with("step 1/2"));
  }
  std::fclose(stream);
  close(ends[0]);
}

TEST_CASE("on a terminal: one line that grows, and ends with the run") {
  const Terminal terminal(100);
  seconds = 0;
  std::string bytes;
  {
    Progress progress({.steps = 20, .label = "AmpFp16", .stream = terminal.stream, .now = clock_of_test});
    ticks(progress, 10);
    bytes = terminal.read();
    const Screen half(bytes);
    REQUIRE(half.lines.size() == 1);
    CHECK(half.lines[0] == "AmpFp16   50% [##############..............]  step 10/20  loss 0.5  scale 1  32 samples/s  ETA 0:10");
    ticks(progress, 10);
  }
  bytes += terminal.read();
  const Screen screen(bytes);
  REQUIRE(screen.lines.size() == 2);
  CHECK(screen.lines[0].starts_with("AmpFp16  100% [#############################]  step 20/20  loss 0.5"));
  CHECK(screen.lines[1].empty());
  CHECK_FALSE(screen.has_escape);  // no colour, no hidden cursor
}

TEST_CASE("on a terminal: ten times a second at most, but always the last step") {
  const Terminal terminal(80);
  seconds = 0;
  Progress progress({.steps = 1000, .stream = terminal.stream, .now = clock_of_test});
  const auto redraws = [&] {
    int count = 0;
    for (char c : terminal.read()) count += c == '\r';
    return count;
  };
  ticks(progress, 1, 0);
  CHECK(redraws() == 1);
  ticks(progress, 12, 1.0 / 128);
  CHECK(redraws() == 0);
  ticks(progress, 40, 1.0 / 128);
  CHECK(redraws() == 4);
  ticks(progress, 946, 0);
  CHECK(redraws() == 0);
  ticks(progress, 1, 0);
  CHECK(redraws() == 1);
  progress.finish();
  CHECK(terminal.read() == "\n");
}

TEST_CASE("on a terminal: no line reaches its width, whatever it is") {
  for (const unsigned short columns : std::initializer_list<unsigned short>{1, 2, 5, 20, 40, 60, 79, 80, 81, 132, 500}) {
    for (const char* label :
         {"", "AmpFp16", "fünf größere Übungen", "a label so long that it takes a terminal's width by itself, and more than that"}) {
      CAPTURE(columns);
      CAPTURE(label);
      const Terminal terminal(columns);
      seconds = 0;
      Progress progress({.steps = 1000000, .label = label, .stream = terminal.stream, .now = clock_of_test});
      seconds = 1;
      for (int i = 0; i < 3; ++i, seconds += 1)
        progress.tick({.loss = -1.2345e-30f, .loss_scale = 0x1p-24f, .samples = 123456, .skipped = true});
      progress.finish();
      const Screen screen(terminal.read());
      CHECK(screen.widest < columns);
      CHECK(screen.lines.size() == 2);
    }
  }
}

TEST_CASE("the less important numbers leave a narrow terminal first") {
  const Terminal terminal(200);
  seconds = 0;
  Progress progress({.steps = 100, .stream = terminal.stream, .now = clock_of_test});
  const auto line_at = [&](unsigned short columns) {
    terminal.resize(columns);
    ticks(progress, 1);
    return Screen(terminal.read()).lines[0];
  };
  CHECK(line_at(80) == "  1% [.................]  step 1/100  loss 0.5  scale 1  32 samples/s  ETA 1:39");
  CHECK(line_at(70) == "  2% [...................]  loss 0.5  scale 1  32 samples/s  ETA 1:38");
  CHECK(line_at(57) == "  3% [................]  loss 0.5  scale 1  32 samples/s");
  CHECK(line_at(40) == "  4% [.............]  loss 0.5  scale 1");
  CHECK(line_at(30) == "  5% [............]  loss 0.5");
  CHECK(line_at(20) == "  6%  loss 0.5");
  CHECK(line_at(10) == "  7%  los");
}

TEST_CASE("the width comes from COLUMNS where the terminal does not know it") {
  const Terminal terminal(0);
  const Environment columns("COLUMNS", "31");
  Progress progress({.steps = 100, .stream = terminal.stream, .now = clock_of_test});
  ticks(progress, 1);
  progress.finish();
  CHECK(Screen(terminal.read()).widest <= 30);
}

TEST_CASE("a dumb terminal has plain lines") {
  const Terminal terminal(80);
  const Environment dumb("TERM", "dumb");
  seconds = 0;
  {
    Progress progress({.steps = 2, .stream = terminal.stream, .now = clock_of_test});
    ticks(progress, 2);
  }
  CHECK(terminal.read() ==
        "step 1/2 (50%)  loss 0.5  scale 1  32 samples/s  ETA 0:01\nstep 2/2 (100%)  loss 0.5  scale 1  32 samples/s  in 0:02\n");
}

TEST_CASE("a label cannot break the line") {
  const Terminal terminal(80);
  Progress progress({.steps = 100, .label = "a\nb\033[2J", .stream = terminal.stream, .now = clock_of_test});
  ticks(progress, 1);
  progress.finish();
  const Screen screen(terminal.read());
  CHECK(screen.lines.size() == 2);
  CHECK(screen.lines[0].starts_with("a?b?[2J  "));
}

TEST_CASE("a signal finds the line ended, and ends the program as it would have") {
  for (int signal : {SIGINT, SIGTERM}) {
    for (bool is_stopped : {false, true}) {
      CAPTURE(signal);
      CAPTURE(is_stopped);
      const Terminal terminal(80);
      const auto [status, written] = interrupted(terminal, signal, is_stopped, [&] {
        const Action usual(signal, SIG_DFL);  // a parent may ignore SIGINT
        Progress progress({.steps = 100, .stream = terminal.stream, .now = clock_of_test});
        progress.tick({.loss = 1});
        while (true) pause();
      });
      CHECK(WIFSIGNALED(status));
      CHECK(WTERMSIG(status) == signal);
      CHECK(written.ends_with(is_stopped ? "\033[K" : "\033[K\n"));
      CHECK_FALSE(Screen(written).has_escape);
    }
  }
}

TEST_CASE("an exception that ends the loop leaves the line ended") {
  const Terminal terminal(80);
  try {
    Progress progress({.steps = 100, .stream = terminal.stream, .now = clock_of_test});
    ticks(progress, 3, 0.01);
    throw std::runtime_error("training failed");
  } catch (const std::runtime_error&) {
  }
  const Screen screen(terminal.read());
  CHECK(screen.lines.size() == 2);
  CHECK(screen.lines[0].find("step 3/100") != std::string::npos);
}

TEST_CASE("a program's own handlers are called, and come back") {
  const Terminal terminal(80);
  const Action interrupt(SIGINT, count_signal), terminate(SIGTERM, SIG_IGN);
  signals_seen = 0;
  seconds = 0;
  Progress progress({.steps = 100, .stream = terminal.stream, .now = clock_of_test});
  CHECK(has_handler(SIGINT, count_signal));  // no bar is on screen
  ticks(progress, 1);
  CHECK_FALSE(has_handler(SIGINT, count_signal));
  CHECK(has_handler(SIGTERM, SIG_IGN));  // as under nohup
  for (int i = 1; i <= 2; ++i) {
    terminal.read();
    raise(SIGINT);
    CHECK(signals_seen == i);
    CHECK(terminal.read() == "\n");
    ticks(progress, 1);  // the program goes on, and so does the bar
    CHECK_FALSE(has_handler(SIGINT, count_signal));
  }
  progress.finish();
  CHECK(has_handler(SIGINT, count_signal));
  CHECK(has_handler(SIGTERM, SIG_IGN));
}

TEST_CASE("a handler that was installed under a bar stays") {
  const Terminal terminal(80);
  const Action usual(SIGINT, SIG_DFL);
  Progress progress({.steps = 100, .stream = terminal.stream, .now = clock_of_test});
  ticks(progress, 1);
  const Action later(SIGINT, count_signal);
  progress.finish();
  CHECK(has_handler(SIGINT, count_signal));
}

TEST_CASE("two bars, one inside the other, hand the signals back once") {
  const Terminal terminal(80);
  const Action usual(SIGINT, count_signal);
  Progress outer({.steps = 100, .stream = terminal.stream, .now = clock_of_test});
  ticks(outer, 1);
  {
    Progress inner({.steps = 100, .stream = terminal.stream, .now = clock_of_test});
    ticks(inner, 1);
  }
  CHECK_FALSE(has_handler(SIGINT, count_signal));
  outer.finish();
  CHECK(has_handler(SIGINT, count_signal));
}

TEST_CASE("an option that makes no sense is refused by name") {
  CHECK_THROWS_WITH_AS(Progress({.steps = -1}), "Progress: steps must not be negative, is -1", option_error);
  CHECK_THROWS_WITH_AS(Progress({.first_step = -1}), doctest::Contains("first_step"), option_error);
  CHECK_THROWS_WITH_AS(Progress({.samples_per_step = -1}), doctest::Contains("samples_per_step"), option_error);
  CHECK_THROWS_WITH_AS(Progress({.rank = -1}), doctest::Contains("rank"), option_error);
  CHECK_THROWS_WITH_AS(Progress({.stream = nullptr}), doctest::Contains("stream"), option_error);
}
