// Improver: gives the best sequences of a search to the problem's local search, where it has one and the settings say
// so.
#pragma once

#include <vector>

#include "core/policy.h"
#include "search/playout.h"
#include "search/recording.h"
#include "search/search.h"
#include "search/softmax.h"

namespace playout {

template <Problem P>
class Improver {
 public:
  Improver(const Softmax& softmax, bool on) : softmax_(softmax), on_(on) {}

  // Makes a recorded playout better, once, and lets `best` know; true if that is better than all before.
  bool improve(const P& problem, Workspace<P>& work, Recording& recording, Best& best) {
    if constexpr (Improvable<P>) {
      if (!on_ || recording.improved) return false;
      sequence_ = recording.moves;
      const bool better = problem.improve(sequence_);
      // Recorded with nothing known: Adapt looks the codes up.
      if (better) record_sequence(problem, sequence_, nothing_, softmax_, work, recording);
      recording.improved = true;
      return better && best.improve(recording.score, recording.moves);
    }
    return false;
  }

 private:
  Softmax softmax_;
  bool on_;
  HashPolicy nothing_;
  std::vector<Move> sequence_;
};

}  // namespace playout
