// NodeNrpa: NRPA whose calls at one level are made several at once: node parallelization, and leaf parallelization
// where that level is 1 ("Distributed Nested Rollout Policy Adaptation for SameGame", section 3.2).
//
// At the wide level L, M calls that do not depend on each other make a round:
//  - shared policy (Algorithm 4): M calls of level L - 1 on the policy of level L; then the best sequence so far, then
//    one Adapt with alpha times the number of calls in the round. (The listing has Adapt inside the loop over the
//    calls; the text is right.) When M does not divide N the last round is smaller. Where level 1 is stabilised it
//    does not adapt: its P playouts make rounds of any size, and M does not matter.
//  - local policies (Algorithm 5): a call of level L is a round of M workers. Each has a copy of the policy that the
//    call was given, begins with no best sequence, makes N / M calls of level L - 1, the first N mod M workers one
//    more, and adapts its copy. The best worker's sequence, the first of equals, is the result of the call; the
//    caller's policy stays as it was. (The listing gives a worker a best score of infinity, where minus infinity is
//    meant. The "parent policy" that the best local one replaces is that of the call itself, which ends with it.)
//  - local policies that exchange the best: after each of their calls of level L - 1 the workers wait for each other.
//    Then all of them take the best sequence so far, the first worker's of equals, and adapt to it.
// With M = 1 all of these are plain NRPA, bit for bit.
//
// M is part of the algorithm. How many threads do the work (Workers) is not, and neither is how a number of playouts is
// cut into calls of `advance`: a playout's random numbers come from its index in the search, every call of a round has
// its indices reserved, and playouts are given to the calls of a round in turn, so that after any number of them each
// call has played a number that depends on nothing else.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "core/random.h"
#include "search/adapt.h"
#include "search/improver.h"
#include "search/nrpa_levels.h"
#include "search/playout.h"
#include "search/search.h"

namespace playout {

struct NodeSettings {
  int level = 1;  // the wide one
  int width = 1;  // M
  bool local = false;
  bool exchange_best = false;  // of local policies
};

template <Problem P>
class NodeNrpa {
 public:
  // 1 <= node.level <= settings.level; local policies need a wide level that adapts, and at most N workers.
  NodeNrpa(std::shared_ptr<const P> problem, const NrpaSettings& settings, const NodeSettings& node,
           const StreamKey& key)
      : problem_(std::move(problem)),
        settings_(settings),
        node_(node),
        key_(key),
        upper_(settings, node.local ? node.level + 1 : node.level, settings.level) {
    desks_.emplace_back(*problem_, settings_);
    upper_.begin(root_);
    begin_round();
  }

  void advance(std::uint64_t playouts, const std::stop_token& stop, Workers& workers) {
    while (static_cast<int>(desks_.size()) < workers.size()) desks_.emplace_back(*problem_, settings_);
    const double score = best_.score;
    while (playouts > 0 && !stop.stop_requested() && best_.score == score) {
      const std::uint64_t before = best_.playouts;
      share_out(std::min(playouts, kSlice * in_round_));
      workers.run(static_cast<int>(shares_.size()), [this](int task, int worker) {
        const auto [call, share] = shares_[task];
        play(calls_[call], share, desks_[worker]);
      });
      note_best();
      playouts -= best_.playouts - before;
      if (std::ranges::any_of(round(), &Call::plays)) continue;
      if (std::ranges::any_of(round(), &Call::waits))
        meet();
      else
        end_round();
    }
  }

  // Makes a sequence the top level's best so far and adapts its policy to it, `times` times. Before the first playout.
  void start_from(const std::vector<Move>& sequence, int times) {
    record_sequence(*problem_, sequence, root_, settings_.softmax, own().work, root_best_);
    before_round_.improve(root_best_.score, root_best_.moves);
    own().improver.improve(*problem_, own().work, root_best_, before_round_);
    for (int i = 0; i < times; i++) own().adapter.adapt(root_, root_best_, settings_.alpha);
    upper_.begin(root_, &root_best_);
    begin_round();
    note_best();
  }

  const Best& best() const { return best_; }

  void serialise(Writer& out) const {
    playout::serialise(before_round_, out);
    out.put(next_index_);
    root_.serialise(out);
    root_best_.serialise(out);
    upper_.serialise(out);
    for (const Call& call : round()) {
      playout::serialise(call.best, out);
      out.put(static_cast<std::uint8_t>(call.phase));
      if (node_.exchange_best) out.put(call.met_at);
      if (call.best.playouts == 0) continue;
      if (call.levels.empty())
        call.found.serialise(out);
      else
        call.levels.serialise(out);
    }
  }

  void deserialise(Reader& in) {
    playout::deserialise(before_round_, in);
    next_index_ = in.get<std::uint64_t>();
    root_.deserialise(in);
    root_best_.deserialise(in);
    upper_.deserialise(in);
    if (!upper_.empty() && upper_.calls_left() == 0) throw Damaged();
    begin_round();
    for (Call& call : round()) {
      playout::deserialise(call.best, in);
      call.phase = static_cast<Phase>(in.get_below<std::uint8_t>(node_.exchange_best ? 4 : 2));
      if (node_.exchange_best) call.met_at = in.get<std::uint64_t>();
      if (call.best.playouts == 0) continue;
      if (call.levels.empty())
        call.found.deserialise(in);
      else
        call.levels.deserialise(in);
    }
    if (!is_sound()) throw Damaged();
    best_ = before_round_;
    note_best();
  }

 private:
  static constexpr std::uint64_t kMostPlayouts = std::uint64_t{1} << 40;
  static constexpr std::uint64_t kSlice = 128;  // playouts of each call between two looks at what has been found
  static constexpr int kMostCalls = 1024;       // at once, where nothing is adapted and any number would do

  // Where a call is. With local policies that exchange the best it waits for the others, and then has an Adapt to do.
  enum class Phase : std::uint8_t { plays, over, waits, adapts };

  // A call of a round: with a shared policy the levels below the wide one; with local policies the wide one too.
  struct alignas(64) Call {
    NrpaLevels levels;
    std::uint64_t first = 0;   // the index of its first playout in the search
    int calls = 0;             // that its highest level makes; 0: the usual number
    Recording found{};         // the last playout; where there are no levels this is the result
    Best best{};               // of its playouts
    std::uint64_t met_at = 0;  // how many of them were played when the workers last met
    Phase phase = Phase::plays;

    bool plays() const { return phase == Phase::plays || phase == Phase::adapts; }
    bool waits() const { return phase == Phase::waits; }
    std::uint64_t played() const { return best.playouts - met_at; }
    Recording& result() { return levels.empty() ? found : levels.best(); }
  };

  // What one worker works with.
  struct alignas(64) Desk {
    Desk(const P& problem, const NrpaSettings& settings)
        : work(problem), adapter(settings.softmax), improver(settings.softmax, settings.improve) {}
    Workspace<P> work;
    Adapter adapter;
    Improver<P> improver;
  };

  // For what is done between rounds.
  Desk& own() { return desks_.front(); }

  std::span<Call> round() { return {calls_.data(), static_cast<std::size_t>(in_round_)}; }
  std::span<const Call> round() const { return {calls_.data(), static_cast<std::size_t>(in_round_)}; }

  int highest_of_call() const { return node_.local ? node_.level : node_.level - 1; }

  int calls_in_round() const {
    if (node_.local) return node_.width;
    return std::min(settings_.adapts(node_.level) ? node_.width : kMostCalls, upper_.calls_left());
  }

  // How many iterations of its highest level a worker with a local policy makes.
  int iterations_of(int worker) const {
    return settings_.iterations / node_.width + (worker < settings_.iterations % node_.width);
  }

  // The most playouts that many calls of that level play; past a million million nobody counts.
  std::uint64_t playouts_of(int level, int calls = 1) const {
    auto product = static_cast<std::uint64_t>(calls);
    for (; level > 0 && product < kMostPlayouts; level--) product *= settings_.calls_of(level);
    return std::min(product, kMostPlayouts);
  }

  void begin_round() {
    in_round_ = calls_in_round();
    while (static_cast<int>(calls_.size()) < in_round_) calls_.push_back({NrpaLevels(settings_, 1, highest_of_call())});
    std::uint64_t first = next_index_;
    for (int i = 0; i < in_round_; i++) {
      Call& call = calls_[i];
      call.first = first;
      call.calls = node_.local ? iterations_of(i) : 0;
      call.best.clear();
      call.met_at = 0;
      call.phase = Phase::plays;
      first += playouts_of(node_.level - 1, node_.local ? call.calls : 1);
    }
  }

  // Gives the next playouts to the calls under way, in turn: those that have played least first.
  void share_out(std::uint64_t playouts) {
    std::uint64_t least = ~std::uint64_t{0}, under_way = 0, behind = 0;
    for (const Call& call : round()) {
      if (!call.plays()) continue;
      under_way++;
      if (call.played() < least) least = call.played(), behind = 0;
      behind += call.played() == least;
    }
    shares_.clear();
    const std::uint64_t even = playouts > behind ? (playouts - behind) / under_way + 1 : 0;
    std::uint64_t odd = playouts > behind ? (playouts - behind) % under_way : playouts;
    for (int i = 0; i < in_round_; i++) {
      if (!calls_[i].plays()) continue;
      const bool is_behind = calls_[i].played() == least;
      std::uint64_t share = even > 0 && !is_behind ? even - 1 : even;
      if (odd > 0 && (even > 0 || is_behind)) share++, odd--;
      if (share > 0) shares_.emplace_back(i, share);
    }
  }

  void play(Call& call, std::uint64_t playouts, Desk& desk) {
    const HashPolicy& callers = std::as_const(upper_).policy(root_);
    if (call.best.playouts == 0) call.levels.begin(callers, start_of_call(), call.calls);
    if (call.phase == Phase::adapts) {
      call.levels.go_on(desk.adapter);
      call.phase = Phase::plays;
    }
    for (; playouts > 0 && call.plays(); playouts--) {
      const Stream random = key_.stream(call.first + call.best.playouts++);
      play_out(*problem_, call.levels.policy(callers), settings_.softmax, random, desk.work, call.found);
      call.best.improve(call.found.score, call.found.moves);
      call.levels.consider(call.found);
      const auto improve = [&](Recording& best) { desk.improver.improve(*problem_, desk.work, best, call.best); };
      if (!call.levels.finish(1, desk.adapter, improve, node_.exchange_best)) continue;
      call.phase = node_.exchange_best && !call.levels.is_complete() ? Phase::waits : Phase::over;
    }
  }

  // What a worker begins with where its call is the whole search: nothing, or the start that the search was given.
  const Recording* start_of_call() const { return node_.local && upper_.empty() ? &root_best_ : nullptr; }

  void meet() {
    const Recording& best = best_worker().result();
    for (Call& call : round()) {
      if (!call.waits()) continue;
      call.levels.take(best);
      call.met_at = call.best.playouts;
      call.phase = Phase::adapts;
    }
  }

  // The best of all: of the rounds before, then of the calls of this one, the first of equals.
  void note_best() {
    const Best* winner = &before_round_;
    best_.playouts = before_round_.playouts;
    for (const Call& call : round()) {
      best_.playouts += call.best.playouts;
      if (call.best.score > winner->score) winner = &call.best;
    }
    if (winner->score == best_.score && winner == &before_round_) return;
    best_.score = winner->score;
    best_.moves = winner->moves;
  }

  void end_round() {
    if (best_.score > before_round_.score) before_round_ = best_;
    before_round_.playouts = best_.playouts;
    next_index_ = round().back().first + round().back().best.playouts;
    if (node_.local ? take_best_worker() : take_all_calls()) begin_afresh();
    begin_round();
    note_best();
  }

  bool take_all_calls() {
    for (Call& call : round()) upper_.consider(call.result());
    return finish_upper(in_round_);
  }

  Call& best_worker() {
    return *std::ranges::max_element(round(), {}, [](Call& call) { return call.result().score; });
  }

  bool take_best_worker() {
    upper_.consider(best_worker().result());
    return finish_upper(1);
  }

  bool finish_upper(int calls) {
    return upper_.finish(calls, own().adapter,
                         [&](Recording& best) { own().improver.improve(*problem_, own().work, best, before_round_); });
  }

  void begin_afresh() {
    root_.clear();
    root_best_.clear();
    upper_.begin(root_);
  }

  // Whether calls that were read are as playing in turn leaves them: else some would never be given a playout.
  bool is_sound() const {
    std::uint64_t least = ~std::uint64_t{0}, most = 0;
    for (const Call& call : round()) {
      if (call.best.playouts > playouts_of(settings_.level) || call.met_at > call.best.playouts) return false;
      if (call.phase != Phase::plays && call.best.playouts == 0) return false;
      if (!call.plays()) continue;
      least = std::min(least, call.played()), most = std::max(most, call.played());
      if (call.best.playouts == 0) continue;
      if (call.levels.empty()) return false;
      if (call.phase == Phase::adapts ? call.levels.is_complete() : call.levels.calls_left() == 0) return false;
    }
    return least <= most && most - least <= 1;
  }

  std::shared_ptr<const P> problem_;
  NrpaSettings settings_;
  NodeSettings node_;
  StreamKey key_;
  HashPolicy root_;      // what the top level begins with: empty, or adapted to a given start
  Recording root_best_;  // likewise: nothing, or that start
  NrpaLevels upper_;     // from the wide level upwards; with local policies from the one above it
  Best before_round_;
  std::uint64_t next_index_ = 0;  // of the playout that comes next when a round begins
  int in_round_ = 0;
  std::vector<Call> calls_;  // those of the round, and more, kept for the next
  Best best_;

  // Buffers.
  std::vector<Desk> desks_;                            // at least one
  std::vector<std::pair<int, std::uint64_t>> shares_;  // (call, playouts)
};

}  // namespace playout
