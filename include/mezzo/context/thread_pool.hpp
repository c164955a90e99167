// The threads of one CpuContext. A small pool of mezzo's own: an OpenMP runtime would change inline bodies between users'
// translation units and blind thread sanitizer.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include <mezzo/core/extents.hpp>

namespace mezzo {

/// Runs numbered tasks on `threads` threads, the caller's among them. Which thread runs which task is left to chance; results
/// that must not depend on it belong to the task, not to the thread.
class ThreadPool {
 public:
  explicit ThreadPool(int threads) {
    try {
      for (int i = 1; i < threads; ++i) m_workers.emplace_back([this] { work(); });
    } catch (...) {
      stop();
      throw;
    }
  }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool() { stop(); }

  int threads() const { return static_cast<int>(m_workers.size()) + 1; }

  /// Calls function(task) for every task in [0, tasks) and returns when all are done. When one throws, no further task starts
  /// and one of the exceptions reaches the caller. A call from inside a task, or while another thread uses the pool, runs its
  /// tasks one after the other on the calling thread.
  template <class Function>
  void run(index_t tasks, const Function& function) {
    // One pointer for both ways to run: the function is compiled once.
    run_tasks(
        tasks, [](const void* argument, index_t task) { (*static_cast<const Function*>(argument))(task); }, &function);
  }

 private:
  using TaskFunction = void (*)(const void* argument, index_t task);

  struct Job {
    TaskFunction function;
    const void* argument;
    index_t tasks;
    std::atomic<index_t> next{0};
    std::mutex exception_lock{};
    std::exception_ptr exception{};

    void take_tasks() {
      for (index_t task = next.fetch_add(1, std::memory_order_relaxed); task < tasks; task = next.fetch_add(1, std::memory_order_relaxed)) {
        try {
          function(argument, task);
        } catch (...) {
          next.store(tasks, std::memory_order_relaxed);
          std::lock_guard lock(exception_lock);
          if (!exception) exception = std::current_exception();
        }
      }
    }
  };

  void run_tasks(index_t tasks, TaskFunction function, const void* argument) {
    if (tasks <= 1 || m_workers.empty() || m_is_busy.test_and_set(std::memory_order_acquire)) {
      for (index_t task = 0; task < tasks; ++task) function(argument, task);
      return;
    }
    Job job{function, argument, tasks};
    run_job(job);
    m_is_busy.clear(std::memory_order_release);
    if (job.exception) std::rethrow_exception(job.exception);
  }

  void run_job(Job& job) {
    {
      std::lock_guard lock(m_lock);
      m_job = &job;
      m_generation.fetch_add(1, std::memory_order_release);
    }
    m_wake.notify_all();
    job.take_tasks();
    std::unique_lock lock(m_lock);
    m_job = nullptr;
    m_idle.wait(lock, [this] { return m_running == 0; });
  }

  void work() {
    unsigned seen = 0;
    for (;;) {
      // A step is many short loops: looking for the next one for a moment costs less than being woken.
      for (int i = 0; i < spins && m_generation.load(std::memory_order_acquire) == seen; ++i) pause();
      std::unique_lock lock(m_lock);
      m_wake.wait(lock, [&] { return m_is_stopping || m_generation.load(std::memory_order_relaxed) != seen; });
      if (m_is_stopping) return;
      seen = m_generation.load(std::memory_order_relaxed);
      Job* job = m_job;
      if (job == nullptr) continue;
      ++m_running;
      lock.unlock();
      job->take_tasks();
      lock.lock();
      if (--m_running == 0) m_idle.notify_one();
    }
  }

  void stop() {
    {
      std::lock_guard lock(m_lock);
      m_is_stopping = true;
      m_generation.fetch_add(1, std::memory_order_release);
    }
    m_wake.notify_all();
    for (auto& worker : m_workers) worker.join();
  }

  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  static constexpr int spins = 2000;

  std::vector<std::thread> m_workers;
  std::mutex m_lock;
  std::condition_variable m_wake, m_idle;
  std::atomic<unsigned> m_generation{0};
  std::atomic_flag m_is_busy;
  Job* m_job = nullptr;
  int m_running = 0;
  bool m_is_stopping = false;
};

}  // namespace mezzo
