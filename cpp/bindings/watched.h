// Watched: threads at work, whose owner does the errands of their problem while it waits for them.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <memory>
#include <utility>

#include "bindings/errands.h"

namespace playout::bindings {

// `Work` is a Run or a Forest: something to stop, and to wait for.
template <class Work>
class Watched {
 public:
  template <class Make>
  Watched(Make make, std::shared_ptr<Errands> errands) : errands_(std::move(errands)) {
    wait_for([&] { work_ = make(); });
  }
  ~Watched() {
    if (!abandoned_) {
      wait_for([this] { work_->stop(); });
      return;
    }
    [[maybe_unused]] const Work* left = work_.release();  // its threads may never end; nobody waits for them
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  Work& operator*() const { return *work_; }
  bool abandoned() const { return abandoned_; }

  // Ends the work. A playout under way may take long, or for ever: who waits hears signals, and a handler that raises
  // (the second Ctrl-C) leaves the work to itself.
  void stop() {
    work_->request_stop();
    bool over = false;
    while (!over) {
      wait_for([&] { over = work_->is_over_within(std::chrono::milliseconds(100)); });
      if (over || PyErr_CheckSignals() == 0) continue;
      abandoned_ = true;
      throw nanobind::python_error();
    }
    wait_for([this] { work_->stop(); });
  }

  // Something that may fail for a while, because of a playout under way; again until it succeeds.
  template <class Try>
  void insist(Try attempt) const {
    bool done = false;
    while (!done) {
      wait_for([&] { done = attempt(std::chrono::milliseconds(100)); });
      if (!done && PyErr_CheckSignals() != 0) throw nanobind::python_error();
    }
  }

  // Something that takes as long as the workers need, without the interpreter's lock.
  template <class Job>
  void wait_for(Job job) const {
    const nanobind::gil_scoped_release release;
    if (errands_)
      errands_->run_while(job);
    else
      job();
  }

 private:
  std::shared_ptr<Errands> errands_;
  std::unique_ptr<Work> work_;
  bool abandoned_ = false;
};

}  // namespace playout::bindings
