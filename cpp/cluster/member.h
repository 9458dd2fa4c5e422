// Member: the tree of one rank of several that search the same state together, each its own tree (averaging.h,
// broadcast.h). It is a tree like any other, and a forest (parallel/forest.h) thinks with it; while it does, it tells
// the others what it learns and takes in what they have learned.
//
// A thinking is an epoch; all ranks begin and end the same ones, in the same order, and play the same moves between.
// One that has ended its search, or was told to, rests: it has told everything, and what the others still tell waits
// until `finish` takes it in. A rank may be told to go on before the others have finished; nothing of theirs is lost by
// that, unless it is of a position that the game has left.
//
// `advance` is the search's; `serve` comes from the transport, on another thread; all else from whoever leads the
// forest, while nobody searches.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <stop_token>
#include <utility>
#include <vector>

#include "cluster/rank_tree.h"
#include "cluster/transport.h"
#include "parallel/tree_uct.h"

namespace playout {

struct SharingSettings {
  bool broadcast = false;         // or averaging
  double interval = 0.1;          // seconds between two exchanges; infinity: at the end alone
  std::uint64_t simulations = 0;  // if not 0, of this rank between two exchanges, whose end it waits for
  // Of averaging: which nodes are shared besides the root. Those so many moves from it or less, with at least so many
  // simulations, and with such a share of the root's.
  std::uint32_t depth = 0;
  std::uint64_t min_visits = 0;
  double min_share = 0;
};

class Member : public RankTree, public Server {
 public:
  Member(std::unique_ptr<GrowingTree> tree, std::shared_ptr<Port> port, const SharingSettings& settings)
      : tree_(std::move(tree)), port_(std::move(port)), settings_(settings) {}

  SharingReport sharing() const override {
    const std::scoped_lock lock(mutex_);
    return sharing_;
  }

  // A tree ends its search by itself once its move is decided; of a member only all ranks together know.
  void begin(std::uint64_t playouts) override {
    tree_->begin(0);
    const std::scoped_lock lock(mutex_);
    budget_ = playouts == 0 ? std::numeric_limits<std::uint64_t>::max() : playouts;
    epoch_++;
    thought_at_ = position_;
    resting_ = false;
    made_ = 0;
    due_ = Clock::now() + period();
  }

  const Best& best() const override { return tree_->best(); }
  bool done() const override { return tree_->done(); }
  bool is_decided(std::uint64_t more) const override { return tree_->is_decided(more); }
  void play(Move move) override {
    tree_->play(move);
    if (tree_->game_tree()->is_graph()) tree_->collect();  // what is given back cannot come back with others' visits
    leave();
  }
  void go_to(const std::vector<Move>& moves) override {
    tree_->go_to(moves);
    leave();
  }
  std::vector<Move> legal_moves() const override { return tree_->legal_moves(); }
  int player() const override { return tree_->player(); }
  double score() const override { return tree_->score(); }
  std::vector<Move> variation(Move first, Decision decision) const override {
    return tree_->variation(first, decision);
  }
  std::vector<NodeReport> walk() const override { return tree_->walk(); }

 protected:
  using Clock = std::chrono::steady_clock;

  // While it lives, what is done counts as sharing.
  class Cost {
   public:
    explicit Cost(Member& member) : member_(member), begin_(thread_seconds()) {}
    ~Cost() {
      const std::scoped_lock lock(member_.mutex_);
      member_.sharing_.seconds += thread_seconds() - begin_;
    }
    Cost(const Cost&) = delete;
    Cost& operator=(const Cost&) = delete;

   private:
    Member& member_;
    double begin_;
  };

  // In step with others: makes simulations until the next exchange, or so many; returns how many.
  std::uint64_t advance_to_exchange(std::uint64_t playouts, const std::stop_token& stop, Workers& workers) {
    const std::uint64_t before = tree_->best().playouts;
    const std::uint64_t left = made_ < settings_.simulations ? settings_.simulations - made_ : 1;
    tree_->advance(std::min(playouts, left), stop, workers);
    const std::uint64_t made = tree_->best().playouts - before;
    made_ += made;
    return made;
  }

  Clock::duration period() const {
    const std::chrono::duration<double> a_year = std::chrono::hours(24 * 365);
    return std::chrono::duration_cast<Clock::duration>(
        std::min(a_year, std::chrono::duration<double>(settings_.interval)));
  }
  void leave() {
    const std::scoped_lock lock(mutex_);
    position_++;
  }
  // Whether what is known of this thinking is of the position that the tree is at; under the mutex.
  bool is_of_this_position() const { return thought_at_ == position_; }

  // Whether this rank has no more to search in this thinking.
  bool is_spent() const { return tree_->done() || tree_->best().playouts >= budget_; }

  const std::unique_ptr<GrowingTree> tree_;
  const std::shared_ptr<Port> port_;
  const SharingSettings settings_;

  // Whoever leads, and the search.
  std::uint64_t budget_ = 0;  // playouts of this thinking
  std::uint64_t made_ = 0;    // simulations since the last exchange
  Clock::time_point due_;     // when the next exchange is

  // Under the mutex.
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::uint64_t epoch_ = 0;                      // thinkings so far
  std::uint64_t position_ = 0, thought_at_ = 0;  // positions so far, and that of the last thinking
  bool resting_ = true;
  SharingReport sharing_;
};

}  // namespace playout
