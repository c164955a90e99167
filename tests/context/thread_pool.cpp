#include <doctest/doctest.h>

#include <mezzo/context/thread_pool.hpp>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

using mezzo::index_t;
using mezzo::ThreadPool;

TEST_CASE("every task runs once, for any number of threads and tasks") {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    CHECK(pool.threads() == threads);
    for (index_t tasks : {index_t{0}, index_t{1}, index_t{2}, index_t{7}, index_t{1000}}) {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(tasks));
      pool.run(tasks, [&](index_t task) { ++runs[static_cast<std::size_t>(task)]; });
      for (const auto& count : runs) CHECK(count == 1);
    }
  }
}

TEST_CASE("tasks run on several threads") {
  ThreadPool pool(2);
  std::atomic<int> waiting{0};
  pool.run(2, [&](index_t) {  // each task waits for the other, which one thread could not do
    ++waiting;
    while (waiting < 2) std::this_thread::yield();
  });
  CHECK(waiting == 2);
}

TEST_CASE("nested calls run their tasks inside the task") {
  ThreadPool pool(3);
  std::atomic<int> runs{0};
  pool.run(20, [&](index_t) { pool.run(5, [&](index_t) { pool.run(2, [&](index_t) { ++runs; }); }); });
  CHECK(runs == 200);
}

TEST_CASE("an exception reaches the caller and the pool goes on") {
  ThreadPool pool(3);
  for (index_t bad : {index_t{0}, index_t{57}, index_t{99}}) {
    CHECK_THROWS_WITH_AS(pool.run(100,
                                  [&](index_t task) {
                                    if (task == bad) throw std::runtime_error("task failed");
                                  }),
                         "task failed", std::runtime_error);
    std::atomic<int> runs{0};
    pool.run(10, [&](index_t) { ++runs; });
    CHECK(runs == 10);
  }
}

TEST_CASE("when every task throws, one exception is enough") {
  ThreadPool pool(3);
  std::atomic<int> started{0};
  CHECK_THROWS_AS(pool.run(1000,
                           [&](index_t) {
                             ++started;
                             throw std::runtime_error("all fail");
                           }),
                  std::runtime_error);
  CHECK(started <= 3);
}

TEST_CASE("two threads may use one pool") {
  ThreadPool pool(2);
  std::atomic<int> runs{0};
  const auto use = [&] {
    for (int i = 0; i < 200; ++i) pool.run(10, [&](index_t) { ++runs; });
  };
  std::thread other(use);
  use();
  other.join();
  CHECK(runs == 4000);
}

TEST_CASE("pools come and go") {
  for (int i = 0; i < 50; ++i) {
    ThreadPool pool(4);
    if (i % 2 == 0) pool.run(4, [](index_t) {});
  }
}
