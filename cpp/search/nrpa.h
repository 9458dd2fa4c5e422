// Nrpa: Nested Rollout Policy Adaptation, NRPA and GNRPA, on one thread (the algorithm is in search/nrpa_levels.h).
//
// Once the top level has made its N calls it starts afresh with an empty policy, and the best of all is kept. The
// search is a value: a stack of levels that `advance` moves on by some playouts. It can be copied between any two
// playouts and both copies go on alike.
#pragma once

#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

#include "core/random.h"
#include "search/adapt.h"
#include "search/improver.h"
#include "search/nrpa_levels.h"
#include "search/playout.h"
#include "search/recording.h"
#include "search/search.h"

namespace playout {

template <Problem P>
class Nrpa {
 public:
  Nrpa(std::shared_ptr<const P> problem, const NrpaSettings& settings, const StreamKey& key)
      : problem_(std::move(problem)),
        settings_(settings),
        key_(key),
        work_(*problem_),
        adapter_(settings.softmax),
        improver_(settings.softmax, settings.improve),
        levels_(settings, 1, settings.level) {
    levels_.begin(root_);
  }

  // Plays at most that many playouts, and returns early once the best has improved or a stop is requested.
  void advance(std::uint64_t playouts, const std::stop_token& stop) {
    for (; playouts > 0 && !stop.stop_requested(); playouts--) {
      play_out(*problem_, levels_.policy(root_), settings_.softmax, key_.stream(best_.playouts++), work_, found_);
      bool better = best_.improve(found_.score, found_.moves);
      levels_.consider(found_);
      const auto improve = [&](Recording& best) { better |= improver_.improve(*problem_, work_, best, best_); };
      if (levels_.finish(1, adapter_, improve)) begin_afresh();
      if (better) return;
    }
  }

  // Makes a sequence the top level's best so far and adapts its policy to it, `times` times. Before the first playout.
  void start_from(const std::vector<Move>& sequence, int times) {
    record_sequence(*problem_, sequence, root_, settings_.softmax, work_, found_);
    best_.improve(found_.score, found_.moves);
    improver_.improve(*problem_, work_, found_, best_);
    if (settings_.level == 0) return;
    for (int i = 0; i < times; i++) adapter_.adapt(root_, found_, settings_.alpha);
    levels_.begin(root_, &found_);
  }

  const Best& best() const { return best_; }

  void serialise(Writer& out) const {
    playout::serialise(best_, out);
    root_.serialise(out);
    levels_.serialise(out);
  }

  void deserialise(Reader& in) {
    playout::deserialise(best_, in);
    root_.deserialise(in);
    levels_.deserialise(in);
    if (!levels_.empty() && levels_.calls_left() == 0) throw Damaged();
  }

  // For inspection: what a level has found since it began.
  const Recording& best_of_level(int level) const { return levels_.best_of_level(level); }
  const HashPolicy& policy_of_level(int level) const { return levels_.policy_of_level(level); }

 private:
  void begin_afresh() {
    if (levels_.empty()) return;
    root_.clear();
    levels_.begin(root_);
  }

  std::shared_ptr<const P> problem_;
  NrpaSettings settings_;
  StreamKey key_;
  Workspace<P> work_;
  Adapter adapter_;
  Improver<P> improver_;
  HashPolicy root_;  // what the top level begins with: empty, or adapted to a given start
  NrpaLevels levels_;
  Recording found_;
  Best best_;
};

}  // namespace playout
