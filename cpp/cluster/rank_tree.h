// RankTree: the tree of one rank of several that search the same state together, as the rank that leads sees it: each a
// tree of its own that shares what it learns (member.h), or a part of one tree (treesplit.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <vector>

#include "parallel/tree_uct.h"

namespace playout {

// What sharing has cost.
struct SharingReport {
  std::uint64_t exchanges = 0;        // that this rank has begun
  std::uint64_t nodes = 0;            // that are shared
  std::uint64_t told = 0, heard = 0;  // statistics of actions (averaging), or simulations (broadcast)
  std::uint64_t lost = 0;       // of these, what could not be used: of a position left behind, or beyond what is kept
  double seconds = 0;           // processor time of the searching thread for it
  double worked = 0, idle = 0;  // of a split tree: seconds of all workers, and of these without anything to do
};

// Processor time of a thread.
inline double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

class RankTree : public AnyTree {
 public:
  // Tells the others everything, takes in what they have told, and waits at most that long for the last of them; true
  // once nothing is missing. After the search has ended.
  virtual bool finish(std::chrono::duration<double> at_most) = 0;
  virtual SharingReport sharing() const = 0;

  // What puzzles need, and nobody asks of ranks.
  void start_from(const std::vector<Move>& /*sequence*/, int /*times*/) override { refuse(); }
  std::unique_ptr<AnySearch> copy() const override { refuse(); }
  void serialise(Writer& /*out*/) const override { refuse(); }
  void deserialise(Reader& /*in*/) override { refuse(); }

 private:
  [[noreturn]] static void refuse() { throw std::logic_error("the tree of a rank is neither copied nor kept"); }
};

}  // namespace playout
