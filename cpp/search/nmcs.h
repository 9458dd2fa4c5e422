// Nmcs: Nested Monte Carlo Search (Cazenave, IJCAI 2009), on one thread.
//
// A call of level l > 0 starts from a state and plays a whole game: before each of its moves it tries every legal one
// with a call of level l - 1 from the state after it, remembers the best sequence seen since it began, and plays that
// sequence's next move. A call of level 0 is a playout of uniformly random moves (of those the problem's selective
// policy leaves). A sequence as good as the best replaces it, as in NRPA. Once the top level has played its game it
// starts again with other random numbers, and the best of all is kept.
//
// Like every search this is a value: an explicit stack of levels that `advance` moves on by some playouts. Sequences
// are kept whole, from the initial state.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

#include "core/random.h"
#include "search/playout.h"
#include "search/search.h"

namespace playout {

template <Problem P>
class Nmcs {
 public:
  Nmcs(std::shared_ptr<const P> problem, int level, const StreamKey& key)
      : problem_(std::move(problem)), key_(key), levels_(level + 1) {
    begin_afresh();
  }

  // Plays at most that many playouts, and returns early once the best has improved or a stop is requested.
  void advance(std::uint64_t playouts, const std::stop_token& stop) {
    for (; playouts > 0 && !stop.stop_requested(); playouts--) {
      if (play_one()) return;
    }
  }

  // Makes a sequence the top level's best so far: its moves are played until something better is found. Before the
  // first playout.
  void start_from(const std::vector<Move>& sequence, int /*times*/) {
    const HashPolicy none;
    Workspace<P> work(*problem_);
    Recording recording;
    record_sequence(*problem_, sequence, none, Softmax{}, work, recording);
    best_.improve(recording.score, sequence);
    if (!root_is_over()) take(levels_.back(), recording.score, sequence);
  }

  const Best& best() const { return best_; }

  // A level is its path, how many moves it has tried after it, and its best sequence; the rest is played again.
  void serialise(Writer& out) const {
    playout::serialise(best_, out);
    out.put(active_);
    for (int l = std::max(active_, 1); l <= top(); l++) {
      const Level& level = levels_[l];
      out.put(level.path), out.put(level.tried), out.put(level.best_score), out.put(level.best);
    }
  }

  void deserialise(Reader& in) {
    playout::deserialise(best_, in);
    active_ = in.get_below<int>(top() + 1);
    if (top() > 0 && active_ == 0) throw Damaged();
    for (int l = std::max(active_, 1); l <= top(); l++) {
      Level& level = levels_[l];
      in.get(level.path);
      replay(level);
      level.tried = in.get_below<int>(std::max(level.moves.count, 1));
      level.best_score = in.get_number();
      in.get(level.best);
      if (!is_sound(level)) throw Damaged();
    }
    for (int l = std::max(active_, 1); l < top(); l++)
      if (!is_below(levels_[l], levels_[l + 1])) throw Damaged();
  }

 private:
  struct Level {
    typename P::State state;  // after `path`
    std::vector<Move> path;
    typename P::Moves moves;  // legal in `state`
    int tried = 0;            // how many of them
    double best_score = -std::numeric_limits<double>::infinity();
    std::vector<Move> best;
  };

  int top() const { return static_cast<int>(levels_.size()) - 1; }

  bool root_is_over() const { return top() == 0 || levels_.back().moves.count == 0; }

  // One playout and all that follows from it; true if the best of all improved.
  bool play_one() {
    const double score = root_is_over() ? play_from_root() : play_below();
    const bool better = best_.improve(score, sequence_);
    if (!root_is_over()) hand_up(score);
    return better;
  }

  double play_from_root() {
    sequence_.clear();
    return play_uniformly(*problem_, problem_->initial(), next_stream(), levels_[0].moves, sequence_);
  }

  // Opens the levels below the active one, each after the move the level above it tries, down to a playout. A call of
  // any level from a finished game is a playout of no moves.
  double play_below() {
    for (; active_ > 1; active_--) {
      Level& below = levels_[active_ - 1];
      begin(below, levels_[active_]);
      if (below.moves.count > 0) continue;
      best_.playouts++;
      sequence_ = below.path;
      return problem_->score(below.state);
    }
    const Level& level = levels_[1];
    auto state = level.state;
    problem_->play(state, level.moves, level.tried);
    sequence_ = level.path;
    sequence_.push_back(level.moves.move(level.tried));
    return play_uniformly(*problem_, state, next_stream(), levels_[0].moves, sequence_);
  }

  Stream next_stream() { return key_.stream(best_.playouts++); }

  // Gives a result to the active level; where that level has then finished its game, its own goes to the one above.
  void hand_up(double score) {
    take(levels_[active_], score, sequence_);
    levels_[active_].tried++;
    while (!has_move_to_try(levels_[active_])) {
      if (active_ == top()) return begin_afresh();
      const Level& over = levels_[active_++];
      take(levels_[active_], over.best_score, over.best);
      levels_[active_].tried++;
    }
  }

  static void take(Level& level, double score, const std::vector<Move>& sequence) {
    if (score < level.best_score) return;
    level.best_score = score;
    level.best = sequence;
  }

  // Plays the best sequence's next move whenever all moves of the state have been tried; false at the end of the game.
  bool has_move_to_try(Level& level) {
    if (level.tried < level.moves.count) return true;
    play_move(level, level.best[level.path.size()]);
    return level.moves.count > 0;
  }

  // False if the move is not legal.
  bool play_move(Level& level, Move move) {
    int i = index_of(level.moves, move);
    if (i == level.moves.count) {  // only a given start sequence plays what the selective policy leaves out
      problem_->find_all_moves(level.state, level.moves);
      i = index_of(level.moves, move);
      if (i == level.moves.count) return false;
    }
    problem_->play_and_find_moves(level.state, level.moves, i);
    level.path.push_back(move);
    level.tried = 0;
    return true;
  }

  void begin(Level& level, const Level& above) {
    level.state = above.state;
    level.path = above.path;
    level.path.push_back(above.moves.move(above.tried));
    problem_->play(level.state, above.moves, above.tried);
    restart(level);
  }

  void restart(Level& level) {
    problem_->find_moves(level.state, level.moves);
    level.tried = 0;
    level.best_score = -std::numeric_limits<double>::infinity();
    level.best.clear();
  }

  // Plays a level's path from the initial state.
  void replay(Level& level) {
    const std::vector<Move> path = std::exchange(level.path, {});
    level.state = problem_->initial();
    problem_->find_moves(level.state, level.moves);
    for (const Move move : path)
      if (!play_move(level, move)) throw Damaged();
  }

  // Whether a level that was read has a move to try, and a best sequence, if any, that can be played to the end.
  bool is_sound(Level level) {
    if (level.moves.count == 0) return level.path.empty() && level.best.empty();
    if (level.best.empty()) return level.tried == 0 && level.best_score == -std::numeric_limits<double>::infinity();
    if (!begins_with(level.best, level.path)) return false;
    while (level.moves.count > 0)
      if (level.path.size() == level.best.size() || !play_move(level, level.best[level.path.size()])) return false;
    return level.path.size() == level.best.size();
  }

  // Whether a level that was read plays after the move that the level above tries.
  static bool is_below(const Level& level, const Level& above) {
    return level.path.size() > above.path.size() && begins_with(level.path, above.path) &&
           level.path[above.path.size()] == above.moves.move(above.tried);
  }

  static bool begins_with(const std::vector<Move>& sequence, const std::vector<Move>& beginning) {
    return sequence.size() >= beginning.size() && std::equal(beginning.begin(), beginning.end(), sequence.begin());
  }

  void begin_afresh() {
    Level& level = levels_.back();
    level.state = problem_->initial();
    level.path.clear();
    restart(level);
    active_ = top();
  }

  std::shared_ptr<const P> problem_;
  StreamKey key_;
  std::vector<Level> levels_;  // level 0 uses `moves` alone
  int active_ = 0;             // the lowest level whose game is under way
  std::vector<Move> sequence_;
  Best best_;
};

}  // namespace playout
