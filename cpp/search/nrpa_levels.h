// NrpaLevels: the calls of NRPA that are under way, a stack of levels from a lowest to a highest.
//
// A call of level l > 0 takes a policy, makes N calls of level l - 1 and returns the best sequence they found; after
// each call its own copy of the policy is adapted to its best sequence so far (search/adapt.h). A call of level 0 is a
// playout. A sequence as good as the best replaces it. (Algorithm 3 of "Generalized NRPA"; NRPA is GNRPA with
// temperature 1 and no bias. Weights start at 0; one of the papers says random.)
//
// There is no recursion: whoever owns the stack makes the calls below the lowest level, alone (search/nrpa.h) or
// several at once (parallel/node.h), and gives it what they found. The stack knows nothing of playouts and problems.
//
// Two later improvements, both off by default:
//  - stabilised NRPA (Cazenave, Sevestre, Toulemont, "Stabilized Nested Rollout Policy Adaptation", 2021):
//    with playouts_per_call = P a call of level 1 is the best of P playouts of its caller's policy, which it does not
//    adapt. Less is learned from each playout, and what is learned is steadier.
//  - limited repetitions (Cazenave, "Generalized Nested Rollout Policy Adaptation with Limited Repetitions", 2024):
//    with repetitions = R a level ends once its best sequence has been found again more than R times: its policy has
//    become so sure of one sequence that more calls would find little else.
//
// A problem may have a local search. Then a level's best sequence can be improved before it is learned and before it is
// given to the level above: `improve` below, which does nothing to a sequence that it has seen.
//
// The last Adapt of a call is not computed: its policy is thrown away.
#pragma once

#include <utility>
#include <vector>

#include "core/archive.h"
#include "core/policy.h"
#include "search/adapt.h"
#include "search/recording.h"
#include "search/softmax.h"

namespace playout {

struct NrpaSettings {
  int level = 4;
  int iterations = 100;  // N
  double alpha = 1;
  Softmax softmax;
  int playouts_per_call = 0;  // P of stabilised NRPA; 0: off
  int repetitions = -1;       // R of limited repetitions; negative: off
  bool improve = false;       // whether the problem's local search improves the best sequences

  // Whether a call of that level has a policy of its own, and how many calls it makes.
  bool adapts(int level) const { return level > 1 || playouts_per_call == 0; }
  int calls_of(int level) const { return adapts(level) ? iterations : playouts_per_call; }
};

class NrpaLevels {
 public:
  // No levels at all if the highest is below the lowest.
  NrpaLevels(const NrpaSettings& settings, int lowest, int highest)
      : settings_(settings), lowest_(lowest), levels_(highest < lowest ? 0 : highest - lowest + 1) {}

  bool empty() const { return levels_.empty(); }
  int lowest() const { return lowest_; }
  int highest() const { return lowest_ + static_cast<int>(levels_.size()) - 1; }

  // Begins a call of the highest level with its caller's policy and, for a call that does not start from nothing, a
  // best sequence; it makes so many calls of the level below, or as many as the settings say.
  void begin(const HashPolicy& callers, const Recording* best = nullptr, int calls = 0) {
    if (empty()) return;
    begin(levels_.back());
    if (best != nullptr) levels_.back().best = *best;
    calls_of_highest_ = calls > 0 ? calls : settings_.calls_of(highest());
    if (settings_.adapts(highest())) levels_.back().policy = callers;
    begin_below(highest());
  }

  // The policy that calls below the lowest level are given; the caller's of the highest where no level has its own.
  const HashPolicy& policy(const HashPolicy& callers) const {
    for (int level = lowest_; level <= highest(); level++)
      if (settings_.adapts(level)) return at(level).policy;
    return callers;  // NOLINT(bugprone-return-const-ref-from-parameter), the caller's outlives the call
  }
  HashPolicy& policy(HashPolicy& callers) { return const_cast<HashPolicy&>(std::as_const(*this).policy(callers)); }

  // The calls the lowest level still makes.
  int calls_left() const { return calls_of(lowest_) - at(lowest_).calls; }

  // Takes what a call below the lowest level found. It may take `found` away and leave something else there.
  void consider(Recording& found) {
    if (!empty()) consider(at(lowest_), found);
  }

  // After so many calls below the lowest level, each considered: adapts it, or, where its call is complete, gives its
  // result to the level above, and so on; then the levels below the one that goes on begin anew. Several calls of the
  // same policy are adapted to at once, with alpha times their number. True once the highest level's call is complete.
  // Before all this a level's best is given to improve(recording). With `wait` it is true, and the highest level does
  // not adapt, after each call that the highest level has made: until go_on.
  template <class Improve>
  bool finish(int calls, Adapter& adapter, Improve&& improve, bool wait = false) {
    for (int level = lowest_; level <= highest(); level++, calls = 1) {
      Level& here = at(level);
      here.calls += calls;
      improve(here.best);
      if (wait && level == highest()) return true;
      if (!is_complete(level)) {
        if (settings_.adapts(level)) adapter.adapt(here.policy, here.best, settings_.alpha * calls);
        begin_below(level);
        return false;
      }
      if (level < highest()) consider(at(level + 1), here.best);
    }
    return true;
  }

  // Whether the highest level's call is complete.
  bool is_complete() const { return is_complete(highest()); }

  // Makes the best sequence of another stack the highest level's. Its entries are those of the other's policies.
  void take(const Recording& best) {
    Level& here = levels_.back();
    if (here.best.moves == best.moves) return;
    here.best = best;
    here.best.forget_entries();
    here.repetitions = 0;
  }

  // After a wait: the highest level adapts, and its next call begins.
  void go_on(Adapter& adapter) {
    adapter.adapt(levels_.back().policy, levels_.back().best, settings_.alpha);
    begin_below(highest());
  }

  // What the highest level has found since it began; and any level, for inspection.
  Recording& best() { return levels_.back().best; }
  const Recording& best() const { return levels_.back().best; }
  const Recording& best_of_level(int level) const { return levels_.at(level - lowest_).best; }
  const HashPolicy& policy_of_level(int level) const { return levels_.at(level - lowest_).policy; }

  void serialise(Writer& out) const {
    out.put(calls_of_highest_);
    for (const Level& level : levels_) {
      level.policy.serialise(out);
      level.best.serialise(out);
      out.put(level.calls), out.put(level.repetitions);
    }
  }

  void deserialise(Reader& in) {
    calls_of_highest_ = in.get<int>();
    if (!empty() && (calls_of_highest_ < 0 || calls_of_highest_ > settings_.calls_of(highest()))) throw Damaged();
    for (Level& level : levels_) {
      level.policy.deserialise(in);
      level.best.deserialise(in);
      level.calls = in.get<int>(), level.repetitions = in.get<int>();
    }
    for (int level = lowest_; level <= highest(); level++)
      if (at(level).calls < 0 || at(level).calls > calls_of(level) || at(level).repetitions < 0 ||
          at(level).repetitions > at(level).calls)
        throw Damaged();
  }

 private:
  struct Level {
    HashPolicy policy;
    Recording best;
    int calls = 0, repetitions = 0;
  };

  Level& at(int level) { return levels_[level - lowest_]; }
  const Level& at(int level) const { return levels_[level - lowest_]; }
  int calls_of(int level) const { return level == highest() ? calls_of_highest_ : settings_.calls_of(level); }

  bool is_complete(int level) const {
    return at(level).calls >= calls_of(level) ||
           (settings_.repetitions >= 0 && at(level).repetitions > settings_.repetitions);
  }

  static void consider(Level& here, Recording& found) {
    if (found.score == here.best.score && found.moves == here.best.moves) {
      here.repetitions++;  // the sequence in hand stays: it may be resolved already
    } else if (found.score >= here.best.score) {
      std::swap(found, here.best);
      here.best.resolved = false;
      here.repetitions = 0;
    }
  }

  void begin_below(int level) {
    for (int below = level - 1; below >= lowest_; below--) {
      begin(at(below));
      if (settings_.adapts(below)) at(below).policy = at(below + 1).policy;
    }
  }

  static void begin(Level& level) {
    level.best.clear();
    level.calls = level.repetitions = 0;
  }

  NrpaSettings settings_;
  int lowest_;
  int calls_of_highest_ = 0;
  std::vector<Level> levels_;
};

}  // namespace playout
