// Nrpa: Nested Rollout Policy Adaptation, NRPA and GNRPA, on one thread.
//
// A call of level l > 0 takes a policy, makes N calls of level l - 1 and returns the best sequence they found; after
// each call its own copy of the policy is adapted to its best sequence so far (search/adapt.h). A call of level 0 is a
// playout. A sequence as good as the best replaces it. (Algorithm 3 of "Generalized NRPA"; NRPA is GNRPA with
// temperature 1 and no bias. Weights start at 0; one of the papers says random.) Once the top level has made its N
// calls it starts afresh with an empty policy, and the best of all is kept.
//
// The search is a value, not a recursion: a stack of levels, each a policy, a best sequence and counters, that
// `advance` moves on by some playouts. It can be copied between any two playouts and both copies go on alike.
//
// Two later improvements, both off by default:
//  - stabilised NRPA (Cazenave, Sevestre, Toulemont, "Stabilized Nested Rollout Policy Adaptation", 2021):
//    with playouts_per_call = P a call of level 1 is the best of P playouts of its caller's policy, which it does not
//    adapt. Less is learned from each playout, and what is learned is steadier.
//  - limited repetitions (Cazenave, "Generalized Nested Rollout Policy Adaptation with Limited Repetitions", 2024):
//    with repetitions = R a level ends once its best sequence has been found again more than R times: its policy has
//    become so sure of one sequence that more calls would find little else.
//
// The last Adapt of a call is not computed: its policy is thrown away with it, and no result depends on it.
#pragma once

#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

#include "core/random.h"
#include "search/adapt.h"
#include "search/playout.h"
#include "search/recording.h"
#include "search/search.h"

namespace playout {

struct NrpaSettings {
  int level = 4;
  int iterations = 100;  // N
  double alpha = 1;
  Softmax softmax;
  int playouts_per_call = 0;  // P of stabilised NRPA; 0: off
  int repetitions = -1;       // R of limited repetitions; negative: off
};

template <Problem P>
class Nrpa {
 public:
  Nrpa(std::shared_ptr<const P> problem, const NrpaSettings& settings, const StreamKey& key)
      : problem_(std::move(problem)),
        settings_(settings),
        key_(key),
        work_(*problem_),
        adapter_(settings.softmax),
        levels_(settings.level + 1) {}

  // Plays at most that many playouts, and returns early once the best has improved or a stop is requested.
  void advance(std::uint64_t playouts, const std::stop_token& stop) {
    for (; playouts > 0 && !stop.stop_requested(); playouts--) {
      Recording& found = levels_[0].best;
      play_out(*problem_, playing_policy(), settings_.softmax, key_.stream(best_.playouts++), work_, found);
      const bool better = best_.improve(found.score, found.moves);
      hand_up();
      if (better) return;
    }
  }

  // Makes a sequence the top level's best so far and adapts its policy to it, `times` times. Before the first playout.
  void start_from(const std::vector<Move>& sequence, int times) {
    Level& top = levels_.back();
    record_sequence(*problem_, sequence, top.policy, settings_.softmax, work_, top.best);
    best_.improve(top.best.score, top.best.moves);
    if (settings_.level == 0) return;
    for (int i = 0; i < times; i++) adapter_.adapt(top.policy, top.best, settings_.alpha);
    begin_levels_below(settings_.level);
  }

  const Best& best() const { return best_; }

  void serialise(Writer& out) const {
    playout::serialise(best_, out);
    for (const Level& level : levels_) {
      level.policy.serialise(out);
      level.best.serialise(out);
      out.put(level.calls), out.put(level.repetitions);
    }
  }

  void deserialise(Reader& in) {
    playout::deserialise(best_, in);
    for (Level& level : levels_) {
      level.policy.deserialise(in);
      level.best.deserialise(in);
      level.calls = in.get<int>(), level.repetitions = in.get<int>();
    }
    for (int level = 1; level <= settings_.level; level++)
      if (levels_[level].calls < 0 || levels_[level].calls >= calls_of(level)) throw Damaged();
  }

  // For inspection: what a level has found since it began.
  const Recording& best_of_level(int level) const { return levels_.at(level).best; }
  const HashPolicy& policy_of_level(int level) const { return levels_.at(level).policy; }

 private:
  struct Level {  // level 0 uses `best` alone, or `policy` too where it is the top
    HashPolicy policy;
    Recording best;
    int calls = 0, repetitions = 0;
  };

  bool stabilised() const { return settings_.playouts_per_call > 0; }
  bool adapts(int level) const { return level > 1 || !stabilised(); }
  int calls_of(int level) const { return adapts(level) ? settings_.iterations : settings_.playouts_per_call; }

  const HashPolicy& playing_policy() const {
    if (settings_.level == 0) return levels_[0].policy;
    return levels_[settings_.level > 1 && stabilised() ? 2 : 1].policy;
  }

  // The playout at level 0 is over: gives its result to level 1 and, where that ends, so on upwards; then the levels
  // below the one that goes on begin anew.
  void hand_up() {
    for (int level = 1; level <= settings_.level; level++) {
      if (ends_with_result_from_below(level)) continue;
      if (adapts(level)) adapter_.adapt(levels_[level].policy, levels_[level].best, settings_.alpha);
      return begin_levels_below(level);
    }
    begin_afresh();
  }

  // Takes the result of the level below into this one; true once this level's call is complete.
  bool ends_with_result_from_below(int level) {
    Level& here = levels_[level];
    Recording& found = levels_[level - 1].best;
    if (found.score == here.best.score && found.moves == here.best.moves) {
      here.repetitions++;  // the sequence in hand stays: it may be resolved already
    } else if (found.score >= here.best.score) {
      std::swap(found, here.best);
      here.best.resolved = false;
      here.repetitions = 0;
    }
    here.calls++;
    return here.calls == calls_of(level) || (settings_.repetitions >= 0 && here.repetitions > settings_.repetitions);
  }

  void begin_levels_below(int level) {
    for (int below = level - 1; below >= 1; below--) {
      begin(levels_[below]);
      if (adapts(below)) levels_[below].policy = levels_[below + 1].policy;
    }
  }

  void begin_afresh() {
    if (settings_.level == 0) return;
    begin(levels_.back());
    levels_.back().policy.clear();
    begin_levels_below(settings_.level);
  }

  static void begin(Level& level) {
    level.best.clear();
    level.calls = level.repetitions = 0;
  }

  std::shared_ptr<const P> problem_;
  NrpaSettings settings_;
  StreamKey key_;
  Workspace<P> work_;
  Adapter adapter_;
  std::vector<Level> levels_;
  Best best_;
};

}  // namespace playout
