// Run: jobs on threads of their own, watched from another.
//
// A job is a search; the jobs of a run are independent of each other (root parallelization), and the best of all is the
// run's. Threads form crews: a crew takes a job, moves it on for a moment with all its threads (parallel/team.h), puts
// it back and takes the next, so that jobs may outnumber crews. How many playouts each job gets is the portfolio's
// business (parallel/portfolio.h), and does not depend on who was faster: with a budget of playouts the outcome is the
// same for any number of threads and crews. Of jobs with equal scores the first wins.
//
// The workers never call back: whoever started the run asks for its progress, waits, or stops it. All members may be
// called from any thread. The run ends by itself when its playouts are spent, when the target score is reached, when no
// search has anything more to find or when one throws; a stop request is obeyed after the playouts under way, and not
// before the first.
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
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/archive.h"
#include "parallel/portfolio.h"
#include "parallel/team.h"
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

  using Jobs = std::vector<std::unique_ptr<AnySearch>>;

  // Without a target, pass infinity. At least one job and one crew, and no more crews than threads. With a state that
  // serialise() gave, of a run of equal jobs, goes on from there; throws Damaged.
  Run(Jobs jobs, Portfolio portfolio, double target, int threads, int crews, std::string_view state = {})
      : target_(target), portfolio_(std::move(portfolio)) {
    jobs_.reserve(jobs.size());
    for (auto& search : jobs) jobs_.push_back({std::move(search)});
    if (!state.empty()) deserialise(state);
    gather_best();
    if (progress_.best.score > -std::numeric_limits<double>::infinity()) note_improvement();
    stopping_ = progress_.best.score >= target_;
    const bool first = !stopping_ && progress_.best.playouts == 0;
    if (first) take(jobs_[0]);  // whatever happens, something will be found
    leaders_ = crews;
    const int processors = static_cast<int>(std::thread::hardware_concurrency());
    try {
      for (int crew = 0; crew < crews; crew++) {
        const Turn turn = first && crew == 0 ? Turn{jobs_.data(), 1, {}} : Turn{};
        const int size = threads / crews + (crew < threads % crews);
        const int share = processors / crews + (crew < processors % crews);
        threads_.emplace_back([=, this] { lead(size, share, turn); });
      }
    } catch (...) {  // the system has no more threads to give
      stop();
      throw;
    }
  }

  ~Run() { stop(); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // Waits until the run is over, at most that long; true if it is. Rethrows what a search threw.
  bool wait(std::chrono::duration<double> at_most) {
    std::unique_lock lock(mutex_);
    over_changed_.wait_for(lock, at_most, [&] { return over_; });
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    return over_;
  }

  // Asks the workers to end.
  void request_stop() {
    const std::scoped_lock lock(mutex_);
    end();
  }

  // Waits until the run is over, at most that long; true if it is.
  bool is_over_within(std::chrono::duration<double> at_most) {
    std::unique_lock lock(mutex_);
    return over_changed_.wait_for(lock, at_most, [&] { return over_; });
  }

  // Asks the workers to end and waits for them.
  void stop() {
    request_stop();
    const std::scoped_lock lock(join_mutex_);
    threads_.clear();
  }

  Progress progress() const {
    const std::scoped_lock lock(mutex_);
    Progress now = progress_;
    if (!over_) now.seconds = seconds();
    return now;
  }

  // Does something while no job moves on; the run then continues.
  template <class Function>
  void while_paused(Function function) {
    const std::scoped_lock one_at_a_time(pause_mutex_);
    std::unique_lock lock(mutex_);
    paused_ = true;
    halt_.request_stop();
    job_changed_.wait(lock, [&] { return busy_ == 0; });
    const GoOn go_on{*this};
    function();
  }

  // The same, unless the playouts under way take longer than that; false then, and nothing is done.
  template <class Function>
  bool while_paused_within(std::chrono::duration<double> at_most, Function function) {
    const std::scoped_lock one_at_a_time(pause_mutex_);
    std::unique_lock lock(mutex_);
    paused_ = true;
    halt_.request_stop();
    const GoOn go_on{*this};
    if (!job_changed_.wait_for(lock, at_most, [&] { return busy_ == 0; })) return false;
    function();
    return true;
  }

  // The state of all jobs as bytes.
  std::string serialise() {
    Writer out;
    while_paused([&] {
      portfolio_.serialise(out);
      for (const Job& job : jobs_) job.search->serialise(out);
    });
    return out.take();
  }

  // Whether a search threw. Its state may be half changed: nobody should go on from there.
  bool failed() const {
    const std::scoped_lock lock(mutex_);
    return failed_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr double kChunkSeconds = 0.01;  // how often progress is published

  struct Job {
    std::unique_ptr<AnySearch> search;  // the crew's that has taken the job
    bool busy = false;                  // whether one has
    std::uint64_t chunk = 1;            // the crew's: how many playouts take about kChunkSeconds
    std::uint64_t playouts = 0;         // when it was last put back
  };

  // What a crew does next: moves a job on by at most so many playouts.
  struct Turn {
    Job* job = nullptr;
    std::uint64_t playouts = 0;
    std::stop_token stop;
  };

  // Ends a pause, whatever happened in it; under the mutex.
  struct GoOn {
    Run& run;
    ~GoOn() {
      run.paused_ = false;
      if (!run.stopping_) run.halt_ = std::stop_source();
      run.job_changed_.notify_all();
    }
  };

  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  void deserialise(std::string_view state) {
    Reader in(state);
    portfolio_.deserialise(in);
    for (std::size_t i = 0; i < jobs_.size(); i++) {
      jobs_[i].search->deserialise(in);
      jobs_[i].playouts = jobs_[i].search->best().playouts;
      if (jobs_[i].playouts < portfolio_.quota_before(i)) throw Damaged();
    }
    in.expect_end();
  }

  // What a crew's leader does, its first turn given.
  void lead(int crew_size, int processors, Turn turn) {
    std::exception_ptr error;
    try {
      Team team(crew_size, std::max(processors, 1));
      if (turn.job == nullptr) turn = next_turn();
      while (turn.job != nullptr) {
        move_on(turn, team);
        turn = next_turn();
      }
    } catch (...) {
      error = std::current_exception();
    }
    const std::scoped_lock lock(mutex_);
    if (turn.job != nullptr) put_down(*turn.job);
    if (error) {
      if (!failed_) error_ = std::exchange(error, nullptr);  // whoever waits has the last of it
      failed_ = true;
      end();
    }
    if (--leaders_ == 0) finish();
  }

  void move_on(Turn& turn, Team& team) {
    Job& job = *std::exchange(turn.job, nullptr);
    const std::uint64_t chunk = std::clamp<std::uint64_t>(job.chunk, team.size(), kMostPlayouts);
    const std::uint64_t played = job.search->best().playouts;
    const double before = seconds();
    try {
      job.search->advance(std::min(chunk, turn.playouts), turn.stop, team);
    } catch (...) {
      put_back(job);
      throw;
    }
    const double took = seconds() - before;
    const bool whole = job.search->best().playouts - played >= chunk;  // and not cut short by an improvement
    if (whole && took < kChunkSeconds / 2) job.chunk = std::min(2 * chunk, kMostPlayouts);
    if (took > 2 * kChunkSeconds) job.chunk = std::max<std::uint64_t>(chunk / 2, 1);
    put_back(job);
  }

  // Waits for a job that may be moved on, and takes it; no job once the run ends.
  Turn next_turn() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      if (!paused_) {
        if (const int i = ready_job(); i >= 0) return take_turn(i);
        if (busy_ == 0 && !portfolio_.begin_round(scores())) end();
        if (busy_ == 0) continue;
      }
      job_changed_.wait(lock);
    }
    return {};
  }

  // The next job in turn that is free and has playouts to play, or -1. From here on under the mutex.
  int ready_job() {
    for (std::size_t i = 0; i < jobs_.size(); i++) {
      const std::size_t index = (next_job_ + i) % jobs_.size();
      const Job& job = jobs_[index];
      if (!job.busy && job.playouts < portfolio_.quota(index) && !job.search->done()) return static_cast<int>(index);
    }
    return -1;
  }

  Turn take_turn(int index) {
    Job& job = jobs_[index];
    next_job_ = index + 1;
    take(job);
    return {&job, portfolio_.quota(index) - job.playouts, halt_.get_token()};
  }

  void take(Job& job) {
    job.busy = true;
    busy_++;
  }

  void put_down(Job& job) {
    job.busy = false;
    busy_--;
    job_changed_.notify_all();
  }

  void put_back(Job& job) {
    const std::scoped_lock lock(mutex_);
    put_down(job);
    const Best& best = job.search->best();
    progress_.best.playouts += best.playouts - std::exchange(job.playouts, best.playouts);
    if (best.score > progress_.best.score) {
      progress_.best.score = best.score;
      progress_.best.moves = best.moves;
      note_improvement();
      if (best.score >= target_) end();
    }
  }

  std::vector<double> scores() const {
    std::vector<double> list;
    list.reserve(jobs_.size());
    for (const Job& job : jobs_) list.push_back(job.search->best().score);
    return list;
  }

  void note_improvement() { progress_.history.push_back({seconds(), progress_.best.playouts, progress_.best.score}); }

  // The best of all jobs, the first of equals, whoever found it first.
  void gather_best() {
    progress_.best = {};
    for (const Job& job : jobs_) {
      progress_.best.playouts += job.playouts;
      progress_.best.improve(job.search->best().score, job.search->best().moves);
    }
  }

  void end() {
    stopping_ = true;
    halt_.request_stop();
    job_changed_.notify_all();
  }

  void finish() {
    gather_best();
    progress_.seconds = seconds();
    over_ = true;
    over_changed_.notify_all();
  }

  static constexpr std::uint64_t kMostPlayouts = 1 << 20;

  // Constant during the run.
  const double target_;
  const Clock::time_point begin_ = Clock::now();

  // Shared, under the mutex.
  mutable std::mutex mutex_;
  std::condition_variable over_changed_, job_changed_;
  std::vector<Job> jobs_;
  Portfolio portfolio_;
  Progress progress_;
  std::size_t next_job_ = 0;
  int busy_ = 0, leaders_ = 0;
  bool paused_ = false, stopping_ = false, failed_ = false, over_ = false;
  std::stop_source halt_;  // of the playouts under way
  std::exception_ptr error_;

  std::mutex pause_mutex_, join_mutex_;
  std::vector<std::jthread> threads_;  // last, so that they end before anything they use
};

}  // namespace playout
