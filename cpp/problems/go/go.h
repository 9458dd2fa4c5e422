// Go, on boards of any width and height up to Side (board.h).
//
// Player 0 is Black, 1 is White. A move is a point, row * width + column with row 0 at the bottom, or the pass, width *
// height. Two passes in a row end the game. The score is the area of Black less that of White, less komi; an empty
// region belongs to a colour if it touches no stone of the other.
//
// Ko. Simple: a stone that takes a single one must not be taken at once if that makes the board what it was. With
// superko no move may repeat an earlier position, of the board (positional) or of the board and who moves next
// (situational); what the simple rule forbids both forbid too. A pass is always legal.
//
// Suicide, where allowed: a chain that is without liberties when nothing is captured is taken off. If it is a single
// stone the board is as before: the positional superko forbids that always, the situational one if the other had been
// to move there before, and with simple ko it is a move that changes nothing, not even counted as a pass.
//
// Rollout. The player draws below(n) among the first n of the list of empty points (board.h), at first all. A point
// that cannot be played is swapped with the n-th and n becomes n - 1; so until a point can be played or none is left,
// when the player passes. What can be played is what simple ko allows, without suicide, but not an own eye
// (GoBoard::is_eye). The end are two passes in a row, or 3 * width * height moves and passes. The score is then local:
// stones, and empty points all of whose neighbours are stones of one colour, less komi. No other points are left after
// two passes but those of a seki. A heavy rollout looks for answers to the last moves first (heavy.h).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "core/random.h"
#include "problems/game.h"
#include "problems/go/board.h"
#include "problems/go/features.h"
#include "problems/go/heavy.h"
#include "problems/go/priors.h"

namespace playout {

enum class Ko { simple, positional, situational };

struct GoSettings {
  double komi = 0;
  Ko ko = Ko::positional;
  bool suicide = false;
  std::vector<int> black, white;  // stones that are there at the start
  int first = 0;                  // who moves first
  bool heavy = false;             // rollouts, and priors in the tree
};

template <int Side>
class Go {
 public:
  using Board = GoBoard<Side>;
  using Point = typename Board::Point;
  using Moves = GameMoves<Side * Side + 1>;
  static constexpr bool kFirstPlayCounts = true;
  static constexpr int kMaxWidth = Side, kMaxHeight = Side, kMoveLimit = Side * Side + 1;

  struct State {
    Board board;
    std::int8_t player = 0, passes = 0;
    Point last = 0, before = 0;                     // the last two moves, 0 if passes
    std::array<std::uint8_t, Board::kSize> past{};  // superko: the colours that have been on a point, 1 and 2
    std::vector<std::uint64_t> history;             // superko: the positions so far, this one too
  };

  Go(int width, int height, const GoSettings& settings)
      : width_(width), height_(height), settings_(settings), start_{Board(width, height), 0, 0, 0, 0, {}, {}} {
    for (int row = 0; row < height; row++) {
      for (int column = 0; column < width; column++) {
        const int p = Board::point(column, row);
        points_[row * width + column] = static_cast<Point>(p);
        moves_[p] = static_cast<std::uint16_t>(row * width + column);
      }
    }
    for (int player = 0; player < 2; player++) {
      for (const int move : player == 0 ? settings.black : settings.white) {
        if (move < 0 || move >= pass() || start_.board.colour(points_[move]) != kEmpty)
          throw std::invalid_argument("no room for a stone");
        start_.board.put(points_[move], player);
        start_.past[points_[move]] |= kBlack + player;
      }
    }
    start_.board.lift_ko();
    start_.player = static_cast<std::int8_t>(settings.first);
    remember(start_);
  }

  int width() const { return width_; }
  int height() const { return height_; }
  int pass() const { return width_ * height_; }
  const GoSettings& settings() const { return settings_; }

  State initial() const { return start_; }
  int max_moves() const { return pass() + 1; }
  int player(const State& state) const { return state.player; }
  int cell(const State& state, int column, int row) const {
    return column < width_ && row < height_ ? state.board.colour(Board::point(column, row)) : 0;
  }
  bool is_finished(const State& state) const { return state.passes >= 2; }

  std::uint64_t key(const State& state) const {
    return fold(state.board.hash(), state.board.ko() << 3 | state.passes << 1 | state.player);
  }

  // Legal moves by points, the pass last.
  void find_moves(const State& state, Moves& moves) const {
    moves.clear();
    list_moves(state, moves, [&](int p) { return is_new(state, p); });
  }
  void find_all_moves(const State& /*state*/, Moves& /*moves*/) const {}
  void find_board_moves(const State& state, Moves& moves) const {
    moves.clear();
    list_moves(state, moves, [](int) { return true; });
  }
  bool is_allowed(const State& state, Move move) const { return move == pass() || is_new(state, points_[move]); }

  // Calls add(i, feature) for each feature of the i-th move.
  template <class Add>
  void find_features(const State& state, const Moves& moves, Add add) const {
    const GoFeatures<Side> features(state.board, width_, height_, state.player, state.last, state.before);
    for (int i = 0; i < moves.count; i++) {
      if (moves.move(i) != pass())
        features.find(points_[moves.move(i)], [&](int feature) { add(i, feature); });
      else
        add(i, state.passes == 0 ? kPass : kPassAgain);
    }
  }

  bool has_priors() const { return settings_.heavy; }
  void find_priors(const State& state, const Moves& moves, Prior* out) const {
    if (is_finished(state)) return;
    std::array<int, kMoveLimit> sums{};
    find_features(state, moves, [&](int i, int feature) { sums[i] += kGoWeights[feature]; });
    make_go_priors(sums.data(), moves.count, out);
  }

  void play_move(State& state, Move move) const {
    if (move == pass()) {
      state.board.lift_ko();
      state.passes++;
    } else {
      state.board.put(points_[move], state.player);
      state.past[points_[move]] |= kBlack + state.player;
      state.passes = 0;
    }
    state.before = state.last;
    state.last = move == pass() ? Point{0} : points_[move];
    state.player ^= 1;
    if (move != pass() || settings_.ko == Ko::situational) remember(state);
  }
  void play(State& state, const Moves& moves, int i) const { play_move(state, moves.move(i)); }
  void play_and_find_moves(State& state, Moves& moves, int i) const {
    play(state, moves, i);
    moves.first += moves.count, moves.count = 0;
    list_moves(state, moves, [&](int p) { return is_new(state, p); });
  }

  double score(const State& state) const {
    const Board& board = state.board;
    std::array<bool, Board::kSize> seen{};
    std::array<Point, Side * Side> region;
    int margin = board.margin();
    for (int i = 0; i < board.empty_count(); i++) {
      if (seen[board.empty(i)]) continue;
      int count = 0, touches = 0;
      const auto add = [&](int p) {
        if (!seen[p]) seen[p] = true, region[count++] = static_cast<Point>(p);
      };
      add(board.empty(i));
      for (int j = 0; j < count; j++) {
        for (const int side : Board::kSides) {
          const int p = region[j] + side, colour = board.colour(p);
          if (colour == kEmpty)
            add(p);
          else if (colour != kBorder)
            touches |= colour;
        }
      }
      if (touches == kBlack) margin += count;
      if (touches == kWhite) margin -= count;
    }
    return margin - settings_.komi;
  }

  template <class Each>
  double rollout(State& state, Stream& random, Each each) const {
    if (is_finished(state)) return score(state);
    play_to_end(state, random, each);
    const Board& board = state.board;
    int margin = board.margin();
    for (int i = 0; i < board.empty_count(); i++) margin += owner(board, board.empty(i));
    return margin - settings_.komi;
  }

  // Adds to each point, in the order of moves, 1 if it is Black's at the end of a rollout, and takes 1 if it is
  // White's. A finished game goes on.
  void add_owners(State& state, Stream& random, std::vector<int>& owners) const {
    state.passes = 0;
    play_to_end(state, random, [](int, Move) {});
    for (int move = 0; move < pass(); move++) owners[move] += owner(state.board, points_[move]);
  }

 private:
  template <class Each>
  void play_to_end(State& state, Stream& random, Each each) const {
    if (settings_.heavy)
      play_on<true>(state, random, each);
    else
      play_on<false>(state, random, each);
  }
  template <bool kHeavy, class Each>
  void play_on(State& state, Stream& random, Each each) const {
    Board& board = state.board;
    int player = this->player(state), passes = static_cast<std::uint8_t>(state.passes);
    int last = state.last, before = state.before;
    for (int left = 3 * pass(); left > 0 && passes < 2; left--, player ^= 1) {
      int p = kHeavy ? GoHeavy<Side>::find(board, random, player, last, before) : 0;
      if (p == 0) p = draw<kHeavy>(board, random, player);
      before = last, last = p;
      each(player, p == 0 ? pass() : moves_[p]);
      if (p == 0) {
        board.lift_ko();
        passes++;
      } else {
        board.template put<false>(p, player);
        passes = 0;
      }
    }
  }

  // Whose a point is, without a look further than its neighbours: 1 Black's, -1 White's, 0 nobody's.
  static int owner(const Board& board, int p) {
    if (board.colour(p) != kEmpty) return board.colour(p) == kBlack ? 1 : -1;
    return board.is_surrounded(p, 0) - board.is_surrounded(p, 1);
  }

  // Whether the board allows a stone of the one to move on an empty point; the history may not.
  bool fits(const State& state, int p) const {
    return settings_.suicide ? p != state.board.ko() : state.board.may_play(p, state.player);
  }

  // Whether the position after a move is none of the history. One with a stone where no stone of its colour has ever
  // been is new; only suicide, that leaves no stone, is not seen by that.
  bool is_new(const State& state, int p) const {
    if (settings_.ko == Ko::simple) return true;
    const bool seen = state.past[p] & (kBlack + state.player);
    if (!seen && (!settings_.suicide || state.board.has_empty_neighbour(p))) return true;
    const std::uint64_t hash = position(state.board.hash_after(p, state.player), state.player ^ 1);
    return std::find(state.history.rbegin(), state.history.rend(), hash) == state.history.rend();
  }

  // What superko forbids to repeat.
  std::uint64_t position(std::uint64_t stones, int player) const {
    return settings_.ko == Ko::situational && player == 1 ? ~stones : stones;
  }
  void remember(State& state) const {
    if (settings_.ko != Ko::simple) state.history.push_back(position(state.board.hash(), state.player));
  }

  template <class Allowed>
  void list_moves(const State& state, Moves& moves, Allowed allowed) const {
    if (is_finished(state)) return;
    for (int move = 0; move < pass(); move++) {
      const int p = points_[move];
      if (state.board.colour(p) == kEmpty && fits(state, p) && allowed(p)) moves.add(move);
    }
    moves.add(pass());
  }

  // A point for a rollout, or 0.
  template <bool kHeavy>
  static int draw(Board& board, Stream& random, int player) {
    for (int n = board.empty_count(); n > 0; n--) {
      const int i = static_cast<int>(random.below(n)), p = board.empty(i);
      bool good = board.has_empty_neighbour(p);
      if (!good) {
        const bool eye = board.is_surrounded(p, player) && board.is_eye(p, player);
        good = !eye && p != board.ko() && !board.is_suicide(p, player);
      }
      if constexpr (kHeavy) {
        if (good && GoHeavy<Side>::is_self_atari(board, p, player)) good = random.below(100) >= GoHeavy<Side>::kReject;
      }
      if (good) return p;
      board.swap_empty(i, n - 1);
    }
    return 0;
  }

  int width_, height_;
  GoSettings settings_;
  std::array<Point, Side * Side> points_{};
  std::array<std::uint16_t, Board::kSize> moves_{};
  State start_;
};

}  // namespace playout
