// Every error that mezzo throws, and the one way to throw it: expects<kind>(condition, message, values...).
#pragma once

#include <concepts>
#include <cstdio>
#include <stdexcept>
#include <string>

#include <mezzo/core/source_location.hpp>

namespace mezzo {

/// Root of all errors. what() names the function and the values at fault, where() the line that noticed.
class error : public std::runtime_error {
 public:
  error(const std::string& message, source_location where) : std::runtime_error(message), m_where(where) {}

  source_location where() const noexcept { return m_where; }

 private:
  source_location m_where;
};

/// An option outside its documented range.
class option_error : public error {
  using error::error;
};

/// Extents, strides, indices or sizes that do not fit together.
class shape_error : public error {
  using error::error;
};

/// A data type that the operation does not take.
class dtype_error : public error {
  using error::error;
};

/// A call out of order, such as two steps without an update between them.
class state_error : public error {
  using error::error;
};

/// Something that this machine, build or library cannot do.
class unsupported_error : public error {
  using error::error;
};

/// A file or stream that could not be read or written, or does not hold what it claims.
class io_error : public error {
  using error::error;
};

/// A deadline that passed.
class timeout_error : public error {
  using error::error;
};

/// A message with one {} per value, and the line that wrote it.
struct message_at {
  const char* text;
  source_location where;

  constexpr message_at(const char* message, source_location here = source_location::current()) : text(message), where(here) {}
};

namespace detail {

inline std::string describe(std::integral auto value) { return std::to_string(value); }
inline std::string describe(std::floating_point auto value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", static_cast<double>(value));
  return text;
}
inline std::string describe(const char* text) { return text; }
inline std::string describe(const std::string& text) { return text; }

/// `text` with each {} replaced by the next of `values`.
inline std::string format_message(const char* text, const std::string* values) {
  std::string result;
  for (; *text != '\0'; ++text) {
    if (text[0] == '{' && text[1] == '}') {
      result += *values++;
      ++text;
    } else {
      result += *text;
    }
  }
  return result;
}

/// Throws Error. Class types bring their own `describe` as a friend.
template <class Error, class... Values>
[[noreturn, gnu::cold, gnu::noinline]] void fail(const message_at& message, const Values&... values) {
  const std::string texts[] = {describe(values)..., std::string()};
  throw Error(format_message(message.text, texts), message.where);
}

}  // namespace detail

/// Throws Error unless `condition` holds. Values are formatted only on failure.
template <class Error, class... Values>
constexpr void expects(bool condition, message_at message, const Values&... values) {
  if (!condition) detail::fail<Error>(message, values...);
}

}  // namespace mezzo
