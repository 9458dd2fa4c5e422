// Connect Four: a stone falls to the lowest empty cell of its column; who first has four in a row, across, up or
// diagonally, wins; a full board is a draw.
//
// A move is a column, 0 at the left; moves are listed in that order. The stones of each player are bits of one word,
// column after column from the bottom, with one row more than the board: it stays empty, so that no line runs from one
// column into the next.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>

#include "core/random.h"
#include "problems/game.h"

namespace playout {

class ConnectFour {
 public:
  static constexpr int kMaxWidth = 20, kMaxHeight = 20;
  static constexpr int kMoveLimit = kMaxWidth;
  using Moves = GameMoves<kMoveLimit>;

  struct State {
    std::array<std::uint64_t, 2> stones{};
    std::int8_t player = 0, score = 0;
    bool over = false;
  };

  ConnectFour(int width, int height) : width_(width), height_(height), stride_(height + 1) {
    if (width < 1 || height < 1 || width > kMaxWidth || height > kMaxHeight || width * stride_ > 64)
      throw std::invalid_argument("no such board");
    for (int column = 0; column < width; column++) {
      bottom_ |= bit(column, 0);
      top_ |= bit(column, height - 1);
    }
  }

  static State initial() { return {}; }

  void find_moves(const State& state, Moves& moves) const {
    moves.clear();
    list(state, moves);
  }
  static bool is_finished(const State& state) { return state.over; }
  static void find_all_moves(const State& /*state*/, Moves& /*moves*/) {}

  void play(State& state, const Moves& moves, int i) const { play_move(state, moves.move(i)); }
  void play_and_find_moves(State& state, Moves& moves, int i) const {
    play(state, moves, i);
    moves.start_next();
    list(state, moves);
  }

  void play_move(State& state, Move move) const {
    // Adding 1 at the bottom of a column carries to its lowest empty cell.
    const std::uint64_t stones = state.stones[0] | state.stones[1];
    const std::uint64_t column = ((std::uint64_t{1} << height_) - 1) << move * stride_;
    put(state, (stones + bit(static_cast<int>(move), 0)) & column & ~stones);
    state.over = state.score != 0 || is_full(state);
  }

  // The columns that are not full stand in a list, from the left. Each step draws i = random.below(count) and plays the
  // i-th; once that is full, the last of the list takes its place.
  template <class Each>
  double rollout(State& state, Stream& random, const Each& each) const {
    Moves moves;
    find_moves(state, moves);
    std::array<std::uint64_t, kMaxWidth> landing;  // the lowest empty cell of each column
    const std::uint64_t lowest = (state.stones[0] | state.stones[1]) + bottom_;
    for (int i = 0; i < moves.count; i++) {
      const int column = moves.list[i];
      landing[column] = lowest & (((std::uint64_t{1} << height_) - 1) << column * stride_);
    }
    while (moves.count > 0) {
      const std::uint32_t i = random.below(moves.count);
      const int column = moves.list[i];
      each(int{state.player}, Move{column});
      const std::uint64_t cell = landing[column];
      landing[column] = cell << 1;
      if ((cell & top_) != 0) moves.take(i);
      put(state, cell);
      if (state.score != 0) break;
    }
    state.over = true;
    return state.score;
  }

  static double score(const State& state) { return state.score; }
  int max_moves() const { return width_; }
  static int player(const State& state) { return state.player; }

  // Whose turn it is follows from the number of stones.
  static std::uint64_t key(const State& state) { return fold(fold(0, state.stones[0]), state.stones[1]); }

  // 0 empty, 1 player 0, 2 player 1.
  int cell(const State& state, int column, int row) const {
    if (column >= width_ || row >= height_) return 0;
    const int shift = column * stride_ + row;
    return static_cast<int>((state.stones[0] >> shift & 1) + 2 * (state.stones[1] >> shift & 1));
  }

 private:
  std::uint64_t bit(int column, int row) const { return std::uint64_t{1} << (column * stride_ + row); }

  bool is_full(const State& state) const { return ((state.stones[0] | state.stones[1]) & top_) == top_; }

  void list(const State& state, Moves& moves) const {
    if (is_finished(state)) return;
    const std::uint64_t stones = state.stones[0] | state.stones[1];
    for (int column = 0; column < width_; column++)
      if ((stones & bit(column, height_ - 1)) == 0) moves.add(column);
  }

  void put(State& state, std::uint64_t cell) const {
    const std::uint64_t stones = state.stones[state.player] |= cell;
    if (has_four(stones)) state.score = state.player == 0 ? 1 : -1;
    state.player ^= 1;
  }

  bool has_four(std::uint64_t stones) const {
    const auto along = [stones](int step) {
      const std::uint64_t pairs = stones & stones >> step;
      return pairs & pairs >> 2 * step;
    };
    return (along(1) | along(stride_ - 1) | along(stride_) | along(stride_ + 1)) != 0;
  }

  int width_, height_, stride_;
  std::uint64_t bottom_ = 0, top_ = 0;  // the lowest and the highest row
};

static_assert(BoardGame<ConnectFour>);

}  // namespace playout
