// TreeUct: one search tree for many threads.
//
// Tree parallelization (Algorithm 4 of "The Parallelization of Monte-Carlo Planning"): every thread makes simulations
// in the same tree, without locks. While one is under way the others see it, so that they do not all go the same way:
// as so many lost visits (a virtual loss; with 1 that is the visit "Parallel Monte-Carlo Tree Search for HPC Systems"
// counts when an action is selected, the reward being added later), or in the exploration term alone. What comes out
// depends on who was faster. One thread alone searches as the sequential code does: it is the same code.
//
// Leaf parallelization: one thread goes down the tree, and `width` playouts begin where it ends. The result does not
// depend on the number of threads. Only whole rounds are played: a budget is rounded up to a multiple of the width. A
// round has the indices of so many simulations: the first goes down the tree and is the first playout's, too. Where the
// outcome is known it counts as often as there would be playouts.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "search/search.h"
#include "search/uct.h"

namespace playout {

// What whoever plays games asks of a tree, besides what it asks of a search.
class AnyTree : public AnySearch {
 public:
  virtual void begin(std::uint64_t playouts) = 0;
  virtual bool is_decided(std::uint64_t more) const = 0;
  virtual void play(Move move) = 0;
  virtual void go_to(const std::vector<Move>& moves) = 0;
  virtual std::vector<Move> legal_moves() const = 0;
  virtual int player() const = 0;
  virtual double score() const = 0;
  virtual TreeReport report() const = 0;
  virtual std::vector<Move> variation(Move first, Decision decision) const = 0;
  virtual std::vector<NodeReport> walk() const = 0;

  // Whether a thinking is over when `done` says so, and not when this tree has made a number of playouts.
  virtual bool ends_by_itself() const { return false; }
  // A thinking has ended, and nobody searches any more. Does not throw.
  virtual void end_thinking() {}
};

// What a tree that shares what it learns with those of other ranks (cluster/member.h) asks besides; between two
// advances.
class GrowingTree : public AnyTree {
 public:
  virtual GameTree* game_tree() = 0;  // nullptr of a puzzle
  virtual Link root() const = 0;
  virtual std::uint32_t action_of(Move move) const = 0;
  virtual void collect() = 0;
  // Whether simulations are written down from now on; all that were so far, for `take_over` of another tree with the
  // same root, which says how many there were.
  virtual void keep_journal(bool keep) = 0;
  virtual std::string take_journal() = 0;
  virtual std::uint64_t take_over(const std::vector<std::string_view>& journals, Workers& workers) = 0;
};

template <Problem P, bool Wins>
class TreeUct final : public GrowingTree {
 public:
  // With a width above 0, leaf parallelization.
  TreeUct(std::shared_ptr<const P> problem, const UctSettings& settings, const StreamKey& key, int width)
      : key_(key),
        width_(width),
        uct_(std::move(problem), with_width(settings, width), key),
        leader_(uct_.new_desk()) {}

  void advance(std::uint64_t playouts, const std::stop_token& stop, Workers& workers) override {
    add_desks(workers.size());
    if (width_ > 0)
      advance_by_leaves(playouts, stop, workers);
    else if (workers.size() > 1)
      advance_together(playouts, stop, workers);
    else
      advance_alone(playouts, stop);
  }

  void start_from(const std::vector<Move>& sequence, int times) override { uct_.start_from(sequence, times); }
  const Best& best() const override { return uct_.best(); }
  bool done() const override { return uct_.done(); }
  std::unique_ptr<AnySearch> copy() const override {
    auto other = std::make_unique<TreeUct>(*this);
    other->keep_journal(false);  // and no desks: those are this one's
    return other;
  }
  void serialise(Writer& out) const override { uct_.serialise(out); }
  void deserialise(Reader& in) override { uct_.deserialise(in); }

  void begin(std::uint64_t playouts) override { uct_.begin(playouts); }
  bool is_decided(std::uint64_t more) const override { return uct_.is_decided(more); }
  void play(Move move) override { uct_.play(move); }
  void go_to(const std::vector<Move>& moves) override { uct_.go_to(moves); }
  std::vector<Move> legal_moves() const override { return uct_.legal_moves(); }
  int player() const override { return uct_.player(); }
  double score() const override { return uct_.score(); }
  TreeReport report() const override { return uct_.report(); }
  std::vector<Move> variation(Move first, Decision decision) const override { return uct_.variation(first, decision); }
  std::vector<NodeReport> walk() const override { return uct_.walk(); }

  GameTree* game_tree() override {
    if constexpr (Wins)
      return &uct_.tree();
    else
      return nullptr;
  }
  Link root() const override { return uct_.root(); }
  std::uint32_t action_of(Move move) const override { return uct_.action_of(move); }
  void collect() override { uct_.collect(); }

  void keep_journal(bool keep) override {
    keeps_journal_ = keep;
    leader_.journal = keep ? &own_journal_ : nullptr;
    desks_.clear(), journals_.clear();
    uct_.keep_journal(leader_.journal);
  }
  std::string take_journal() override {
    std::string all = own_journal_.take();
    own_journal_ = Writer();
    for (const auto& one : journals_) {
      all += one->bytes();
      *one = Writer();
    }
    return all;
  }
  std::uint64_t take_over(const std::vector<std::string_view>& journals, Workers& workers) override {
    std::atomic<std::uint64_t> count = 0;
    if constexpr (!Wins) throw std::logic_error("simulations of puzzles are not shared");
    add_desks(workers.size());
    const bool together = workers.size() > 1 && journals.size() > 1;
    if (!together && std::exchange(together_, false)) uct_.recount();
    together_ |= together;
    const auto take = [&]<class Access>(Access, std::string_view journal, typename Search::Desk& desk) {
      Reader in(journal);
      const Silence silence(desk);
      if constexpr (Wins) count += uct_.template take_over<Access>(in, desk);
    };
    if (together)
      workers.run(static_cast<int>(journals.size()),
                  [&](int i, int worker) { take(Shared(), journals[i], *desks_[worker]); });
    else
      for (const std::string_view journal : journals) take(Plain(), journal, *desks_[0]);
    return count;
  }

 private:
  using Search = Uct<P, Wins>;

  // Others' simulations are not written down.
  struct Silence {
    explicit Silence(typename Search::Desk& of) : desk(of), journal(std::exchange(of.journal, nullptr)) {}
    ~Silence() { desk.journal = journal; }
    typename Search::Desk& desk;
    Writer* journal;
  };

  static UctSettings with_width(UctSettings settings, int width) {
    settings.width = static_cast<std::uint32_t>(std::max(width, 1));
    return settings;
  }

  // One for each worker, and a journal with each if there are any: those of several would mix.
  void add_desks(int workers) {
    while (static_cast<int>(desks_.size()) < workers) {
      desks_.push_back(std::make_shared<typename Search::Desk>(uct_.new_desk()));
      if (!keeps_journal_) continue;
      journals_.push_back(std::make_shared<Writer>());
      desks_.back()->journal = journals_.back().get();
    }
  }

  void advance_alone(std::uint64_t playouts, const std::stop_token& stop) {
    if (std::exchange(together_, false)) uct_.recount();
    uct_.advance(playouts, stop);
  }

  void advance_together(std::uint64_t playouts, const std::stop_token& stop, Workers& workers) {
    together_ = true;
    const double score = uct_.best().score;
    const std::uint64_t first = uct_.simulations(), end = first + playouts;
    // A few simulations are claimed at a time: threads that meet at a counter less often.
    const std::uint64_t claim = std::clamp<std::uint64_t>(playouts / (8 * workers.size()), 1, 16);
    std::atomic<std::uint64_t> next = first, made = 0;
    workers.run(workers.size(), [&](int, int worker) {
      std::uint64_t mine = 0, index = 0, claimed = 0;
      while (!uct_.done() && !uct_.is_better_than(score) && !stop.stop_requested()) {
        if (index == claimed) {
          index = next.fetch_add(claim, std::memory_order_relaxed);
          claimed = std::min(index + claim, end);
          if (index >= end) break;
        }
        mine += uct_.template simulate<Shared>(index++, *desks_[worker]);
      }
      made += mine;
    });
    uct_.simulations() = std::min<std::uint64_t>(next, end);
    uct_.count_playouts(made);
  }

  void advance_by_leaves(std::uint64_t playouts, const std::stop_token& stop, Workers& workers) {
    const double score = uct_.best().score;
    playouts_.resize(width_);
    for (std::uint64_t made = 0; made < playouts && !uct_.done() && uct_.best().score == score; made += width_) {
      if (stop.stop_requested()) return;
      const std::uint64_t first = uct_.simulations();
      Stream random = key_.stream(first);
      uct_.template descend<Plain>(random, leader_);
      workers.run(width_, [&](int task, int worker) {
        auto& desk = *desks_[worker];
        desk.state = leader_.state, desk.moves = leader_.moves;
        desk.finished = leader_.finished, desk.outcome = leader_.outcome;
        Stream own = task == 0 ? random : key_.stream(first + task);  // with a width of 1, as without
        uct_.play_out(desk, own, playouts_[task]);
      });
      for (const auto& playout : playouts_) uct_.template update<Plain>(leader_, playout);
      uct_.simulations() += width_;
      uct_.count_playouts(width_);
    }
  }

  StreamKey key_;
  int width_;
  bool together_ = false;  // whether several threads searched last
  Search uct_;
  typename Search::Desk leader_;
  std::vector<std::shared_ptr<typename Search::Desk>> desks_;  // one for each worker
  std::vector<typename Search::Playout> playouts_;
  bool keeps_journal_ = false;
  Writer own_journal_;                             // of one thread alone, and of the leader
  std::vector<std::shared_ptr<Writer>> journals_;  // of the workers
};

}  // namespace playout
