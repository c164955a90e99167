// Several micro-batches, one optimizer step.
#pragma once

#include <mezzo/core/error.hpp>
#include <mezzo/core/extents.hpp>

namespace mezzo {

struct AccumulationWindowOptions {
  index_t length = 1;         ///< micro-batches a step
  index_t micro_batches = 0;  ///< in an epoch, so that its last window may be shorter; 0: unknown, close() ends a short window
};

/// Counts micro-batches and what their losses were summed over. GradScaler::step with a window waits until it is full, divides the
/// gradients by divisor(), and update() starts the next one. A window with an overflow is dropped whole.
class AccumulationWindow {
 public:
  /// Throws option_error for a length below 1 or a negative number of micro-batches.
  explicit AccumulationWindow(const AccumulationWindowOptions& options) : m_options(options) {
    expects<option_error>(options.length > 0, "AccumulationWindow: length must be positive, is {}", options.length);
    expects<option_error>(options.micro_batches >= 0, "AccumulationWindow: micro_batches must not be negative, is {}",
                          options.micro_batches);
  }

  /// Says that a micro-batch has gone backward. `count` is what its loss still has to be divided by: 1 for a mean, the number of
  /// samples or tokens for a sum; then the step is weighted by samples or tokens. Throws state_error when the window is full already.
  void add(index_t count = 1) {
    expects<option_error>(count >= 0, "AccumulationWindow::add: count must not be negative, is {}", count);
    expects<state_error>(!is_full(), "AccumulationWindow::add: the window is full; call GradScaler::step and update first");
    ++m_filled;
    ++m_seen;
    m_divisor += count;
  }

  /// Ends the window with the micro-batches that it has.
  void close() { m_is_closed = m_filled > 0; }

  bool is_full() const {
    return m_is_closed || m_filled == m_options.length ||
           (m_filled > 0 && m_options.micro_batches > 0 && m_seen == m_options.micro_batches);
  }

  /// The sum of the counts.
  index_t divisor() const { return m_divisor; }
  /// Micro-batches in the window so far.
  index_t size() const { return m_filled; }

  /// Begins the next window; after the last micro-batch of an epoch, the next epoch.
  void restart() {
    if (m_options.micro_batches > 0 && m_seen >= m_options.micro_batches) m_seen = 0;
    m_filled = 0;
    m_divisor = 0;
    m_is_closed = false;
  }

 private:
  AccumulationWindowOptions m_options;
  index_t m_filled = 0;
  index_t m_seen = 0;
  index_t m_divisor = 0;
  bool m_is_closed = false;
};

}  // namespace mezzo
