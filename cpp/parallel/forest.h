// Forest: the trees of a player of games. One, or several that grow independently (root parallelization): their roots'
// statistics are added up, and the decision is taken from the sum.
//
// Thinking is a Run (parallel/run.h) that borrows the trees. They stay when it ends: the next thinking goes on with
// them. While it goes on, who wants to look has it paused for a moment: as long as the playouts under way take, so that
// looks take a time after which they are given up. All members are for one thread but request_stop.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "parallel/run.h"
#include "parallel/tree_uct.h"

namespace playout {

class Forest {
 public:
  using Trees = std::vector<std::unique_ptr<AnyTree>>;
  using Time = std::chrono::duration<double>;

  explicit Forest(Trees trees) : trees_(std::move(trees)) {}
  ~Forest() { stop(); }
  Forest(const Forest&) = delete;
  Forest& operator=(const Forest&) = delete;

  // Starts to think, for so many playouts in all. With one tree it may be enough earlier.
  void begin(std::uint64_t playouts, int threads) {
    stop();
    Run::Jobs jobs;
    const int count = static_cast<int>(trees_.size());
    for (const auto& tree : trees_) {
      tree->begin(count == 1 ? playouts : 0);
      jobs.push_back(std::make_unique<Borrowed>(*tree));
    }
    if (count == 1 && trees_[0]->ends_by_itself()) playouts = std::numeric_limits<std::uint64_t>::max();
    set_run(std::make_shared<Run>(std::move(jobs), Portfolio(count, count, playouts),
                                  std::numeric_limits<double>::infinity(), threads, std::min(threads, count)));
  }

  bool wait(std::chrono::duration<double> at_most) { return !run_ || run_->wait(at_most); }
  bool is_over_within(std::chrono::duration<double> at_most) { return !run_ || run_->is_over_within(at_most); }
  void request_stop() {
    std::shared_ptr<Run> run;
    {
      const std::scoped_lock lock(run_mutex_);
      run = run_;
    }
    if (run) run->request_stop();
  }

  // Ends the thinking and waits for it.
  void stop() {
    if (!run_) return;
    run_->stop();
    const Run::Progress end = run_->progress();
    set_run(nullptr);
    playouts_ = 0, seconds_ = end.seconds;
    for (const auto& tree : trees_) {
      tree->end_thinking();
      playouts_ += tree->best().playouts;
    }
  }

  // Playouts and seconds of this thinking, or of the last.
  std::pair<std::uint64_t, double> spent() const {
    if (!run_) return {playouts_, seconds_};
    const Run::Progress now = run_->progress();
    return {now.best.playouts, now.seconds};
  }

  // Does something with the trees while nobody else does; false if that cannot be within a time.
  template <class Function>
  bool look(Function function, Time at_most) const {
    if (run_) return run_->while_paused_within(at_most, function);
    function();
    return true;
  }

  // Whether the most visited move, of those that are not proven losses, stays that in so many more simulations.
  // Nobody knows while playouts take long.
  bool is_decided(std::uint64_t more) const {
    TreeReport sum;
    if (!look([&] { sum = report(); }, kGlance)) return false;
    if (sum.bounds.solved()) return true;
    std::uint64_t first = 0, second = 0;
    for (const ActionReport& one : sum.actions) {
      if (is_lost(one.bounds, sum.player)) continue;
      second = std::max(second, std::min(first, one.visits));
      first = std::max(first, one.visits);
    }
    return first - second > more;
  }

  // What the trees know together. In a look, as the next.
  TreeReport report() const {
    TreeReport sum = trees_[0]->report();
    for (std::size_t i = 1; i < trees_.size(); i++) add(sum, trees_[i]->report());
    return sum;
  }

  // The best line after a first move, of the tree that knows it best.
  std::vector<Move> variation(Move first, Decision decision) const {
    std::vector<Move> line;
    for (const auto& tree : trees_) {
      std::vector<Move> other = tree->variation(first, decision);
      if (other.size() > line.size()) line = std::move(other);
    }
    return line;
  }

  void play(Move move) {
    stop();
    for (const auto& tree : trees_) tree->play(move);
  }
  void go_to(const std::vector<Move>& moves) {
    stop();
    for (const auto& tree : trees_) tree->go_to(moves);
  }

  AnyTree& tree() const { return *trees_[0]; }

 private:
  // A tree as a job of a run.
  class Borrowed final : public AnySearch {
   public:
    explicit Borrowed(AnyTree& tree) : tree_(tree) {}
    void advance(std::uint64_t playouts, const std::stop_token& stop, Workers& workers) override {
      tree_.advance(playouts, stop, workers);
    }
    void start_from(const std::vector<Move>& sequence, int times) override { tree_.start_from(sequence, times); }
    const Best& best() const override { return tree_.best(); }
    bool done() const override { return tree_.done(); }
    std::unique_ptr<AnySearch> copy() const override { return tree_.copy(); }
    void serialise(Writer& out) const override { tree_.serialise(out); }
    void deserialise(Reader& in) override { tree_.deserialise(in); }

   private:
    AnyTree& tree_;
  };

  static void add(TreeReport& sum, const TreeReport& other) {
    for (const ActionReport& one : other.actions) {
      const auto same = std::ranges::find(sum.actions, one.move, &ActionReport::move);
      if (same == sum.actions.end()) {
        sum.actions.push_back(one);
        continue;
      }
      same->visits += one.visits, same->wins += one.wins;
      same->amaf_visits += one.amaf_visits, same->amaf_wins += one.amaf_wins;
      same->bounds = both(same->bounds, one.bounds);
    }
    sum.bounds = both(sum.bounds, other.bounds);
    sum.visits += other.visits, sum.nodes += other.nodes;
    sum.bytes += other.bytes, sum.most_bytes += other.most_bytes;
    sum.full = sum.full && other.full;
  }

  static constexpr Time kGlance{0.01};

  void set_run(std::shared_ptr<Run> run) {
    const std::scoped_lock lock(run_mutex_);
    run_.swap(run);
  }

  Trees trees_;
  std::mutex run_mutex_;
  std::shared_ptr<Run> run_;  // only request_stop may have it for a moment, too
  std::uint64_t playouts_ = 0;
  double seconds_ = 0;
};

}  // namespace playout
