// SameGame: remove groups of equal neighbours, the larger the better.
//
// Rules. A move removes a group of n >= 2 orthogonally connected cells of one colour and scores (n - 2)^2. Cells fall,
// empty columns close to the left. Clearing the board scores 1000 more. A penalty for cells left over is an option.
//
// Selective policy (section 6.1 of "Generalized NRPA"): moves of the tabu colour are left out, except those of size two
// once more than ten moves have been played, and unless nothing else is legal.
// Bias: min(n - 2 - t, 8), with t = 1 for a move of size two of the tabu colour.
// Code: the exclusive or of one 64-bit number for each (colour, column, row) removed (Zobrist hashing). Equal cells of
// equal colour have equal codes, on boards of any size; two others clash with a chance of 2^-64.
//
// Groups are kept from move to move (problems/same_game_groups.h): a move touches a few columns, and only the groups
// that reach into those or their neighbours are found anew.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "core/exp.h"
#include "problems/problem.h"
#include "problems/same_game_groups.h"

namespace playout {

enum class Leftover { none, total, per_colour };

// kRows is 16 or 32: how many cells a column's word has room for.
template <int kRows>
class SameGame {
 public:
  using Board = SameGameBoard<kRows>;
  using Groups = SameGameGroups<kRows>;
  static constexpr int kMaxWidth = Board::kMaxWidth, kMaxHeight = Board::kMaxHeight, kMaxColours = 9;
  static constexpr int kMoveBase = 32;  // a move is column * kMoveBase + row

  struct State {
    Board board;
    std::int32_t score, played;
  };

  class Moves {
   public:
    int count = 0;
    Move move(int i) const { return list_[i].first() * kMoveBase + list_[i].row(); }
    int item(int i) const { return list_[i].item(); }
    int items() const { return static_cast<int>(groups_.items().size()); }
    std::uint64_t code(int item) const { return groups_.items()[item].hash; }
    double bias(int item) const { return bias_class(item) - 1; }
    double exp_bias(int item) const { return kExpBias[bias_class(item)]; }

   private:
    friend class SameGame;
    int bias_class(int item) const {  // bias + 1
      const auto& group = groups_.items()[item];
      return std::min(group.size - 1 - group.is_tabu_pair, 9);
    }

    Groups groups_;
    Ticket list_[Groups::kMaxGroups + 1];  // the groups that are moves
  };

  // Cells are colours 1 to 9, row by row from the bottom, each row from the left.
  SameGame(int width, int height, std::span<const std::uint8_t> cells, int tabu, Leftover leftover)
      : tabu_(tabu), leftover_(leftover) {
    if (width < 1 || width > kMaxWidth || height < 1 || height > kMaxHeight ||
        cells.size() != static_cast<std::size_t>(width) * height)
      throw std::invalid_argument("the board is " + std::to_string(width) + " x " + std::to_string(height) +
                                  ", allowed is 1 x 1 to 20 x 20");
    if (tabu < 0 || tabu > kMaxColours) throw std::invalid_argument("the tabu colour is outside 0 to 9");
    for (int row = 0; row < height; row++)
      for (int column = 0; column < width; column++) {
        const int colour = cells[row * width + column];
        if (colour < 1 || colour > kMaxColours) throw std::invalid_argument("a colour is outside 1 to 9");
        initial_.board.put(column, row, colour);
      }
  }

  State initial() const { return initial_; }
  int max_moves() const { return Groups::kMaxGroups; }

  void find_moves(const State& state, Moves& moves) const {
    moves.groups_.find(state.board, tabu_);
    select(state, moves);
  }

  void find_all_moves(const State& state, Moves& moves) const { list(state, moves, Groups::Tabu::all); }

  void play(State& state, const Moves& moves, int i) const {
    const Ticket ticket = moves.list_[i];
    moves.groups_.remove_cells(state.board, ticket);
    score_move(state, moves, ticket);
  }

  void play_and_find_moves(State& state, Moves& moves, int i) const {
    const Ticket ticket = moves.list_[i];
    score_move(state, moves, ticket);
    moves.groups_.remove(state.board, ticket);
    select(state, moves);
  }

  double score(const State& state) const {
    if (state.board.empty()) return state.score + 1000;
    if (leftover_ == Leftover::none) return state.score;
    std::array<int, kMaxColours + 1> left{};
    for (int column = 0; column < kMaxWidth; column++)
      for (int row = 0; row < kMaxHeight; row++) left[cell(state, column, row)]++;
    const auto penalty = [](int n) { return n == 0 ? 0 : (n - 2) * (n - 2); };
    int sum = 0, off = 0;
    for (int colour = 1; colour <= kMaxColours; colour++) sum += left[colour], off += penalty(left[colour]);
    return state.score - (leftover_ == Leftover::total ? penalty(sum) : off);
  }

  // The colour at a cell, 0 where it is empty.
  int cell(const State& state, int column, int row) const { return state.board.colour(column, row); }

 private:
  static inline const std::array<double, 10> kExpBias = [] {
    std::array<double, 10> table{};
    for (int i = 0; i < 10; i++) table[i] = exp_factor(i - 1);
    return table;
  }();

  static void score_move(State& state, const Moves& moves, Ticket ticket) {
    const int n = moves.groups_.items()[ticket.item()].size - 2;
    state.score += n * n;
    state.played++;
  }

  static void select(const State& state, Moves& moves) {
    list(state, moves, state.played > 10 ? Groups::Tabu::pairs : Groups::Tabu::none);
    if (moves.count == 0) list(state, moves, Groups::Tabu::all);
  }

  static void list(const State& state, Moves& moves, typename Groups::Tabu tabu) {
    moves.count = moves.groups_.list(state.board, tabu, moves.list_);
  }

  State initial_{};
  int tabu_;
  Leftover leftover_;
};

using SameGame16 = SameGame<16>;
using SameGame20 = SameGame<32>;
static_assert(Problem<SameGame16> && Problem<SameGame20>);

}  // namespace playout
