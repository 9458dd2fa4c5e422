// Run: a search on a thread of its own, watched from another.
//
// The worker never calls back: whoever started the run asks for its progress, waits, or stops it. All members may be
// called from any thread. The run ends by itself when its playouts are spent, when the target score is reached or when
// the search throws; a stop request is obeyed after the playout under way, and not before the first.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "search/search.h"

namespace playout {

class Run {
 public:
  struct Improvement {
    double seconds;
    std::uint64_t playouts;
    double score;
  };

  struct Progress {
    double seconds = 0;
    Best best;
    std::vector<Improvement> history;
  };

  // Owns the search. Without a limit or a target, pass the largest values of their types.
  Run(std::unique_ptr<AnySearch> search, std::uint64_t playouts, double target)
      : playouts_(playouts), target_(target), search_(std::move(search)) {
    if (has_found_something()) note_improvement();
    worker_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
  }

  // Waits until the run is over, at most that long; true if it is. Rethrows what the search threw.
  bool wait(std::chrono::duration<double> at_most) {
    std::unique_lock lock(mutex_);
    over_changed_.wait_for(lock, at_most, [&] { return over_; });
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    return over_;
  }

  // Asks the worker to end and waits for it.
  void stop() {
    worker_.request_stop();
    const std::scoped_lock lock(join_mutex_);
    if (worker_.joinable()) worker_.join();
  }

  Progress progress() const {
    const std::scoped_lock lock(mutex_);
    Progress now = progress_;
    if (!over_) now.seconds = seconds();
    return now;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr double kChunkSeconds = 0.01;  // how often progress is published

  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
  bool has_found_something() const { return search_->best().score > -std::numeric_limits<double>::infinity(); }
  bool spent() const { return search_->best().playouts >= playouts_ || search_->best().score >= target_; }

  void work(const std::stop_token& stop) {
    std::exception_ptr error;
    try {
      if (!spent()) advance(1, {});  // whatever happens, something has been found
      std::uint64_t chunk = 1;
      while (!spent() && !stop.stop_requested()) chunk = next_chunk(chunk, advance(chunk, stop));
    } catch (...) {
      error = std::current_exception();
    }
    const std::scoped_lock lock(mutex_);
    progress_.seconds = seconds();
    progress_.best.playouts = search_->best().playouts;
    error_ = error;
    over_ = true;
    over_changed_.notify_all();
  }

  // One chunk of the search, published; returns how long it took.
  double advance(std::uint64_t chunk, const std::stop_token& stop) {
    const double before = seconds(), score = search_->best().score;
    search_->advance(std::min(chunk, playouts_ - search_->best().playouts), stop);
    const std::scoped_lock lock(mutex_);
    progress_.best.playouts = search_->best().playouts;
    if (search_->best().score > score) note_improvement();
    return seconds() - before;
  }

  static std::uint64_t next_chunk(std::uint64_t chunk, double took) {
    if (took < kChunkSeconds / 2) return std::min<std::uint64_t>(2 * chunk, 1 << 20);
    return took > 2 * kChunkSeconds ? std::max<std::uint64_t>(chunk / 2, 1) : chunk;
  }

  void note_improvement() {
    progress_.best = search_->best();
    progress_.history.push_back({seconds(), progress_.best.playouts, progress_.best.score});
  }

  // Constant during the run.
  const std::uint64_t playouts_;
  const double target_;
  const Clock::time_point begin_ = Clock::now();

  // The worker's alone.
  std::unique_ptr<AnySearch> search_;

  // Shared, under the mutex.
  mutable std::mutex mutex_;
  std::condition_variable over_changed_;
  Progress progress_;
  std::exception_ptr error_;
  bool over_ = false;

  std::mutex join_mutex_;
  std::jthread worker_;  // last, so that it ends before anything it uses
};

}  // namespace playout
