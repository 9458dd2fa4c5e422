// Team: threads that do the tasks of short rounds together, again and again.
//
// A round of leaf parallelization is some playouts of 20 microseconds, so a round must begin and end in about one.
// Nobody is handed anything: the number of open tasks is one atomic word, and whoever is awake, the leader that called
// run() included, claims the next. A helper that sleeps, or that the system has put aside, misses the round and delays
// nobody; the leader waits only for tasks that others have claimed.
//
// Who has nothing to do spins for a moment, in case the next round is about to begin, and then sleeps. The leader wakes
// no more helpers than there are tasks for, nor more than there are processors for the team: where threads outnumber
// processors the others sleep on instead of taking turns with those that work.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "search/search.h"

namespace playout {

class Team final : public Workers {
 public:
  // So many threads on so many processors; the thread that calls run() is one of them.
  Team(int size, int processors) : useful_helpers_(std::min(size, processors) - 1) {
    try {
      for (int worker = 1; worker < size; worker++) helpers_.emplace_back([this, worker] { help(worker); });
    } catch (...) {  // the system has no more threads to give
      end();
      throw;
    }
  }

  ~Team() override { end(); }

  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const override { return static_cast<int>(helpers_.size()) + 1; }

  // One round. If tasks throw, all are done all the same, and what the lowest of them threw is thrown on.
  void run(int tasks, const Task& task) override {
    if (helpers_.empty() || tasks < 2) {
      Workers::run(tasks, task);
      return;
    }
    task_ = &task;
    tasks_ = tasks;
    unfinished_.store(tasks, std::memory_order_relaxed);
    open_.store(tasks);
    wake(tasks - 1);
    work(0);
    wait_for_others();
    if (error_) {
      failed_task_ = 0;
      std::rethrow_exception(std::exchange(error_, nullptr));
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::microseconds kSpin{50};

  // The threads are joined after this, before what they use is gone: they are the last member.
  void end() {
    {
      const std::scoped_lock lock(mutex_);
      ending_ = true;
    }
    open_changed_.notify_all();
  }

  // Does tasks until none is open. Whoever lowers `open_` from n to n - 1 has claimed a task, and the round cannot end
  // before it is done: only then is it safe to look at the round.
  void work(int worker) {
    int open = open_.load(std::memory_order_acquire);
    while (open > 0) {
      if (!open_.compare_exchange_weak(open, open - 1, std::memory_order_acq_rel, std::memory_order_acquire)) continue;
      attempt(tasks_ - open, worker);
      if (unfinished_.fetch_sub(1) == 1 && leader_sleeps_.load()) {
        const std::scoped_lock lock(mutex_);
        finished_.notify_one();
      }
      open = open_.load(std::memory_order_acquire);
    }
  }

  void attempt(int task, int worker) {
    try {
      (*task_)(task, worker);
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      if (!error_ || task < failed_task_) {
        error_ = std::current_exception();
        failed_task_ = task;
      }
    }
  }

  void help(int worker) {
    while (!ending_.load(std::memory_order_relaxed)) {
      work(worker);
      if (!spin_until([&] { return open_.load(std::memory_order_relaxed) > 0; })) sleep_until_open();
    }
  }

  template <class Condition>
  static bool spin_until(Condition condition) {
    const Clock::time_point end = Clock::now() + kSpin;
    do {
      for (int i = 0; i < 16; i++) {
        if (condition()) return true;
        pause();
      }
    } while (Clock::now() < end);
    return false;
  }

  static void pause() {
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
  }

  // A sleeper is counted before it looks once more, and the leader opens tasks before it looks at the count: one of the
  // two sees the other.
  void sleep_until_open() {
    std::unique_lock lock(mutex_);
    asleep_.fetch_add(1);
    open_changed_.wait(lock, [&] { return open_.load() > 0 || ending_.load(); });
    asleep_.fetch_sub(1);
  }

  void wake(int wanted) {
    const int awake = static_cast<int>(helpers_.size()) - asleep_.load();
    int missing = std::min(wanted, useful_helpers_) - awake;
    if (missing <= 0) return;
    const std::scoped_lock lock(mutex_);
    for (; missing > 0; missing--) open_changed_.notify_one();
  }

  void wait_for_others() {
    if (spin_until([&] { return unfinished_.load(std::memory_order_acquire) == 0; })) return;
    std::unique_lock lock(mutex_);
    leader_sleeps_ = true;
    finished_.wait(lock, [&] { return unfinished_.load() == 0; });
    leader_sleeps_ = false;
  }

  const int useful_helpers_;

  // The round: written by the leader while no task is open, read by those who have claimed a task.
  const Task* task_ = nullptr;
  int tasks_ = 0;

  // Everybody's; each on a cache line of its own.
  alignas(64) std::atomic<int> open_{0};        // tasks that nobody has claimed
  alignas(64) std::atomic<int> unfinished_{0};  // tasks that are not done
  alignas(64) std::atomic<int> asleep_{0};      // helpers that sleep
  std::atomic<bool> leader_sleeps_{false};
  std::atomic<bool> ending_{false};

  // Under the mutex.
  std::mutex mutex_;
  std::condition_variable open_changed_, finished_;
  std::exception_ptr error_;
  int failed_task_ = 0;

  std::vector<std::jthread> helpers_;
};

}  // namespace playout
