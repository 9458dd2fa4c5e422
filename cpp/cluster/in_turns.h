// InTurns: all ranks of a split tree (treesplit.h) in one thread, each a package or a simulation in turn, with a
// network that has a seed between them (in_process.h). What it finds is the same each time, however long it takes and
// however its work is cut into pieces: for experiments and tests, and for trying ranks out. To others it is one tree.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <iterator>
#include <limits>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

#include "cluster/in_process.h"
#include "cluster/treesplit.h"

namespace playout {

class InTurns final : public RankTree {
 public:
  InTurns(std::vector<std::unique_ptr<SplitTree>> ranks, std::shared_ptr<Network> network)
      : ranks_(std::move(ranks)), network_(std::move(network)) {}

  void begin(std::uint64_t playouts) override {
    const std::uint64_t all = playouts == 0 ? std::numeric_limits<std::uint64_t>::max() : playouts;
    const std::uint64_t count = ranks_.size();
    std::exception_ptr error;
    for (std::uint64_t rank = 0; rank < count; rank++) {
      try {
        ranks_[rank]->begin_part(all / count + (rank < all % count));
      } catch (...) {  // all of them begin the same thinkings
        error = std::current_exception();
      }
    }
    count_playouts();
    if (error) std::rethrow_exception(error);
  }
  bool ends_by_itself() const override { return true; }
  bool done() const override {
    return std::ranges::all_of(ranks_, [](const auto& rank) { return rank->done(); });
  }

  void advance(std::uint64_t playouts, const std::stop_token& stop, Workers& /*workers*/) override {
    const std::uint64_t goal =
        best_.playouts + std::min(playouts, std::numeric_limits<std::uint64_t>::max() - best_.playouts);
    while (best_.playouts < goal && !done() && !stop.stop_requested()) take_turns();
  }

  // What is under way is taken back: a playout may take long, or throw.
  void end_thinking() override {
    for (const auto& rank : ranks_) rank->abandon();
    while (!done()) take_turns();
  }
  bool finish(std::chrono::duration<double> /*at_most*/) override { return done(); }

  void play(Move move) override {
    for (const auto& rank : ranks_) rank->play(move);
  }
  void go_to(const std::vector<Move>& moves) override {
    for (const auto& rank : ranks_) rank->go_to(moves);
  }

  const Best& best() const override { return best_; }
  bool is_decided(std::uint64_t more) const override { return first().is_decided(more); }
  std::vector<Move> legal_moves() const override { return first().legal_moves(); }
  int player() const override { return first().player(); }
  double score() const override { return first().score(); }
  TreeReport report() const override {
    TreeReport out = first().report();
    out.nodes = out.bytes = out.most_bytes = out.playouts = 0;
    for (const auto& rank : ranks_) {
      const SplitWord word = rank->word();
      out.nodes += word.nodes, out.bytes += word.bytes, out.most_bytes += word.most_bytes;
      out.playouts += word.playouts;
    }
    return out;
  }
  std::vector<Move> variation(Move move, Decision decision) const override { return first().variation(move, decision); }
  SharingReport sharing() const override { return first().sharing(); }
  // Of all ranks, one after the other.
  std::vector<NodeReport> walk() const override {
    std::vector<NodeReport> all;
    for (const auto& rank : ranks_) std::ranges::move(rank->walk(), std::back_inserter(all));
    return all;
  }

 private:
  const SplitTree& first() const { return *ranks_[0]; }

  void take_turns() {
    for (const auto& rank : ranks_) rank->step();
    network_->deliver();
    count_playouts();
  }
  void count_playouts() {
    best_.playouts = 0;
    for (const auto& rank : ranks_) best_.playouts += rank->best().playouts;
  }

  const std::vector<std::unique_ptr<SplitTree>> ranks_;
  const std::shared_ptr<Network> network_;
  Best best_;
};

}  // namespace playout
