// m,n,k games: on a board m wide and n high, who first has k in a row, across, up or diagonally, wins; a full board is
// a draw. Tic-tac-toe is 3,3,3.
//
// A move is row * width + column, row 0 at the bottom. Moves are listed in that order. The stones of each player are a
// bitboard with one column more than the board: it stays empty, so that no line runs from one row into the next.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>

#include "core/random.h"
#include "problems/game.h"

namespace playout {

// With bitboards of that many words: one where the board fits, six for 19 x 19.
template <int Words>
class Mnk {
 public:
  static constexpr int kMaxWidth = 19, kMaxHeight = 19;
  static constexpr int kMoveLimit = Words == 1 ? 64 : kMaxWidth * kMaxHeight;
  using Moves = GameMoves<kMoveLimit>;

  struct State {
    std::array<std::array<std::uint64_t, Words>, 2> stones{};
    std::uint16_t left = 0;  // empty cells, or 0 once somebody has won
    std::int8_t player = 0, score = 0;
  };

  static bool fits(int width, int height) { return (width + 1) * height <= 64 * Words; }

  Mnk(int width, int height, int k) : width_(width), height_(height), k_(k) {
    if (width < 1 || width > kMaxWidth || height < 1 || height > kMaxHeight || !fits(width, height) || k < 1)
      throw std::invalid_argument("no such m,n,k game");
    for (int move = 0; move < width * height; move++)
      bits_[move] = static_cast<std::uint16_t>(move / width * (width + 1) + move % width);
  }

  State initial() const {
    State state;
    state.left = static_cast<std::uint16_t>(width_ * height_);
    return state;
  }

  void find_moves(const State& state, Moves& moves) const {
    moves.clear();
    list(state, moves);
  }
  static bool is_finished(const State& state) { return state.left == 0; }
  static void find_all_moves(const State& /*state*/, Moves& /*moves*/) {}

  void play(State& state, const Moves& moves, int i) const { play_move(state, moves.move(i)); }
  void play_and_find_moves(State& state, Moves& moves, int i) const {
    play(state, moves, i);
    moves.start_next();
    list(state, moves);
  }

  void play_move(State& state, Move move) const {
    const int bit = bits_[move];
    state.stones[state.player][bit / 64] |= std::uint64_t{1} << bit % 64;
    state.left--;
    if (wins(state.stones[state.player], bit)) {
      state.left = 0;
      state.score = state.player == 0 ? 1 : -1;
    }
    state.player ^= 1;
  }

  // The empty cells stand in a list, in the order of moves. Each step draws i = random.below(count), plays the i-th,
  // and puts the last of the list in its place.
  template <class Each>
  double rollout(State& state, Stream& random, const Each& each) const {
    Moves moves;
    find_moves(state, moves);
    while (state.left > 0) {
      const std::uint32_t i = random.below(moves.count);
      const Move move = moves.take(i);
      each(int{state.player}, move);
      play_move(state, move);
    }
    return state.score;
  }

  static double score(const State& state) { return state.score; }
  int max_moves() const { return width_ * height_; }
  static int player(const State& state) { return state.player; }

  // Whose turn it is follows from the number of stones.
  std::uint64_t key(const State& state) const {
    std::uint64_t key = 0;
    for (const auto& words : state.stones)
      for (const std::uint64_t next : words) key = fold(key, next);
    return key;
  }

  // 0 empty, 1 player 0, 2 player 1.
  int cell(const State& state, int column, int row) const {
    if (column >= width_ || row >= height_) return 0;
    const int bit = bits_[row * width_ + column];
    return int{has(state.stones[0], bit)} + 2 * int{has(state.stones[1], bit)};
  }

 private:
  using Stones = std::array<std::uint64_t, Words>;

  static bool has(const Stones& stones, int bit) { return (stones[bit / 64] >> bit % 64 & 1) != 0; }

  void list(const State& state, Moves& moves) const {
    if (is_finished(state)) return;
    for (int move = 0; move < width_ * height_; move++) {
      const int bit = bits_[move];
      moves.list[moves.count] = static_cast<std::uint16_t>(move);
      moves.count += !has(state.stones[0], bit) && !has(state.stones[1], bit);
    }
  }

  // Whether a line of k goes through a cell.
  bool wins(const Stones& stones, int bit) const {
    const int stride = width_ + 1, end = stride * height_;
    for (const int step : {1, stride - 1, stride, stride + 1}) {
      int length = 1;
      for (int b = bit + step; b < end && has(stones, b); b += step) length++;
      for (int b = bit - step; b >= 0 && has(stones, b); b -= step) length++;
      if (length >= k_) return true;
    }
    return false;
  }

  int width_, height_, k_;
  std::array<std::uint16_t, kMoveLimit> bits_{};  // of each move
};

using SmallMnk = Mnk<1>;
using LargeMnk = Mnk<6>;
static_assert(BoardGame<SmallMnk> && BoardGame<LargeMnk>);

}  // namespace playout
