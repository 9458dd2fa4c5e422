// Hex: a rhombus of hexagons; player 0 connects the top to the bottom row, player 1 the left to the right column, and
// exactly one of them does on every full board.
//
// A move is row * side + column, row 0 at the top; moves are listed in that order. Cell (row, column) touches those to
// its left and right, (row - 1, column), (row - 1, column + 1), (row + 1, column - 1) and (row + 1, column).
//
// The stones of a player are lines of bits from the edge it starts from to the one it wants to reach: the rows for
// player 0, the columns for player 1. Exchanging rows and columns leaves the neighbours as they are, so that one
// function finds the connections of both.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>

#include "core/random.h"
#include "problems/game.h"

namespace playout {

class Hex {
 public:
  static constexpr int kMaxWidth = 19, kMaxHeight = 19;
  static constexpr int kMoveLimit = kMaxWidth * kMaxHeight;
  using Moves = GameMoves<kMoveLimit>;
  using Lines = std::array<std::uint32_t, kMaxHeight>;

  struct State {
    std::array<Lines, 2> stones{};
    std::int8_t player = 0, score = 0;
  };

  explicit Hex(int side) : side_(side) {
    if (side < 1 || side > kMaxWidth) throw std::invalid_argument("no such board");
    for (int move = 0; move < side * side; move++)
      cells_[move] = {static_cast<std::uint8_t>(move / side), static_cast<std::uint8_t>(move % side)};
  }

  static State initial() { return {}; }

  void find_moves(const State& state, Moves& moves) const {
    moves.clear();
    list(state, moves);
  }
  static bool is_finished(const State& state) { return state.score != 0; }
  static void find_all_moves(const State& /*state*/, Moves& /*moves*/) {}

  void play(State& state, const Moves& moves, int i) const { play_move(state, moves.move(i)); }
  void play_and_find_moves(State& state, Moves& moves, int i) const {
    play(state, moves, i);
    moves.start_next();
    list(state, moves);
  }

  void play_move(State& state, Move move) const {
    put(state, move);
    const int mover = state.player ^ 1;
    if (connects(state.stones[mover])) state.score = mover == 0 ? 1 : -1;
  }

  // The empty cells stand in a list, in the order of moves. Each step draws i = random.below(count), plays the i-th,
  // and puts the last of the list in its place. The board is filled to the last cell, since moves after the decision do
  // not change who wins: `each` is called for those too.
  template <class Each>
  double rollout(State& state, Stream& random, const Each& each) const {
    Moves moves;
    find_moves(state, moves);
    if (moves.count == 0) return state.score;
    while (moves.count > 0) {
      const std::uint32_t i = random.below(moves.count);
      const Move move = moves.take(static_cast<int>(i));
      each(int{state.player}, move);
      put(state, move);
    }
    return state.score = connects(state.stones[0]) ? 1 : -1;
  }

  static double score(const State& state) { return state.score; }
  int max_moves() const { return side_ * side_; }
  static int player(const State& state) { return state.player; }

  // Whose turn it is follows from the number of stones.
  std::uint64_t key(const State& state) const {
    std::uint64_t key = 0;
    for (int line = 0; line < side_; line++)
      key = fold(key, std::uint64_t{state.stones[0][line]} << 32 | state.stones[1][line]);
    return key;
  }

  // 0 empty, 1 player 0, 2 player 1.
  static int cell(const State& state, int column, int row) {
    return static_cast<int>((state.stones[0][row] >> column & 1) + 2 * (state.stones[1][column] >> row & 1));
  }

 private:
  struct Cell {
    std::uint8_t row, column;
  };

  // A move without asking whether it wins.
  void put(State& state, Move move) const {
    const Cell cell = cells_[move];
    if (state.player == 0)
      state.stones[0][cell.row] |= std::uint32_t{1} << cell.column;
    else
      state.stones[1][cell.column] |= std::uint32_t{1} << cell.row;
    state.player ^= 1;
  }

  void list(const State& state, Moves& moves) const {
    if (is_finished(state)) return;
    for (int move = 0; move < side_ * side_; move++) {
      const Cell cell = cells_[move];
      const std::uint32_t taken = state.stones[0][cell.row] >> cell.column | state.stones[1][cell.column] >> cell.row;
      moves.list[moves.count] = static_cast<std::uint16_t>(move);
      moves.count += static_cast<int>(~taken & 1);
    }
  }

  // Whether stones lead from the first line to the last: what is reached grows down the lines, up, and down again,
  // until nothing is new.
  bool connects(const Lines& stones) const {
    Lines reached{};
    reached[0] = stones[0];
    for (bool grown = true; grown;) {
      grown = false;
      for (int line = 1; line < side_; line++) {
        const std::uint32_t above = reached[line - 1];
        reached[line] = along(reached[line] | (above | above >> 1), stones[line]);
      }
      if (reached[side_ - 1] != 0) return true;
      for (int line = side_ - 2; line > 0; line--) {
        const std::uint32_t below = reached[line + 1];
        const std::uint32_t now = along(reached[line] | (below | below << 1), stones[line]);
        grown |= now != reached[line];
        reached[line] = now;
      }
    }
    return false;
  }

  // The stones of a line that are in a row with one of these, of up to 19: in steps of 1, 2, 4, 8 and 16 to both sides.
  static std::uint32_t along(std::uint32_t from, std::uint32_t stones) {
    from &= stones;
    std::uint32_t left = stones, right = stones, up = from, down = from;
    for (int step = 1; step < kMaxWidth; step *= 2) {
      up |= left & up << step, left &= left << step;
      down |= right & down >> step, right &= right >> step;
    }
    return up | down;
  }

  int side_;
  std::array<Cell, kMoveLimit> cells_{};
};

static_assert(BoardGame<Hex>);

}  // namespace playout
