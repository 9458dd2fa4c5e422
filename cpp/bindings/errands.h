// Errands: calls of Python that worker threads need, made by the thread that waits for the run.
//
// The engine's threads never touch Python. Where a problem is Python itself, or its score is, a worker hands the call
// over and waits; the thread that waits for the run (register_parallel.cpp) does what is handed over, one call at a
// time. What a call raises goes to the worker, ends its search, and reaches the caller with its traceback.
#pragma once

#include <nanobind/nanobind.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace playout::bindings {

class Errands {
 public:
  using Errand = std::function<void()>;

  // Has the errand done, with the interpreter's lock, and throws what it throws. A thread of Python's does it itself.
  void run(const Errand& errand) {
    if (PyGILState_GetThisThreadState() != nullptr) {
      const nanobind::gil_scoped_acquire acquire;
      errand();
      return;
    }
    std::unique_lock lock(mutex_);
    Request request{&errand};
    waiting_.push_back(&request);
    handed_over_.notify_all();
    done_.wait(lock, [&] { return request.done; });
    if (request.error) std::rethrow_exception(request.error);
  }

  // Does errands while another thread does the work, and throws what it throws. Without the interpreter's lock.
  template <class Work>
  void run_while(Work work) {
    bool over = false;
    std::exception_ptr error;
    const std::jthread worker([&] {
      try {
        work();
      } catch (...) {
        error = std::current_exception();
      }
      const std::scoped_lock lock(mutex_);
      over = true;
      handed_over_.notify_all();
    });
    std::unique_lock lock(mutex_);
    while (true) {
      handed_over_.wait(lock, [&] { return over || !waiting_.empty(); });
      if (over) break;
      Request& request = *waiting_.front();
      waiting_.pop_front();
      lock.unlock();
      std::exception_ptr raised = attempt(*request.errand);
      lock.lock();
      request.error = std::move(raised);
      request.done = true;
      done_.notify_all();
    }
    lock.unlock();
    if (error) std::rethrow_exception(error);
  }

 private:
  struct Request {
    const Errand* errand;
    bool done = false;
    std::exception_ptr error{};
  };

  static std::exception_ptr attempt(const Errand& errand) {
    try {
      const nanobind::gil_scoped_acquire acquire;
      errand();
      return nullptr;
    } catch (...) {
      return std::current_exception();
    }
  }

  std::mutex mutex_;
  std::condition_variable handed_over_, done_;
  std::deque<Request*> waiting_;
};

}  // namespace playout::bindings
