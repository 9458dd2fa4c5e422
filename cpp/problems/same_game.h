// SameGame: remove groups of equal neighbours, the larger the better.
//
// Rules. A move removes a group of n >= 2 orthogonally connected cells of one colour and scores (n - 2)^2. Cells fall,
// empty columns close to the left. Clearing the board scores 1000 more. A penalty for cells left over is an option.
//
// Selective policy (section 6.1 of "Generalized NRPA"): moves of the tabu colour are left out, except those of size two
// once more than ten moves have been played, and unless nothing else is legal.
// Bias: min(n - 2 - t, 8), with t = 1 for a move of size two of the tabu colour.
// Code: the exclusive or of one 64-bit number for each (colour, column, row) removed (Zobrist hashing), so codes are
// equal if and only if cells and colour are, and do not depend on the size of the board.
//
// Representation. A column is one word of four-bit cells, the bottom one lowest; 0 is empty, colours are 1 to 9. Column
// is uint64_t for boards up to 16 high and a 128-bit word above. Vertical neighbours are equal where x and x >> 4
// agree, horizontal ones where two columns do; groups are found by union-find over vertical runs, and removing a run is
// two shifts. Runs, and so groups, come in order of column, then row: a group is named by its leftmost, then lowest
// cell, which is the first cell of its first run.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "core/exp.h"
#include "core/random.h"
#include "problems/problem.h"

namespace playout {

__extension__ typedef unsigned __int128 uint128_t;

inline int lowest_bit(std::uint64_t x) { return std::countr_zero(x); }
inline int lowest_bit(uint128_t x) {
  const auto low = static_cast<std::uint64_t>(x);
  return low ? lowest_bit(low) : 64 + lowest_bit(static_cast<std::uint64_t>(x >> 64));
}

enum class Leftover { none, total, per_colour };

template <class Column>
class SameGame {
 public:
  static constexpr int kMaxWidth = 20, kMaxColours = 9;
  static constexpr int kMaxHeight = sizeof(Column) == 8 ? 16 : 20;
  static constexpr int kMaxCells = kMaxWidth * kMaxHeight, kMaxGroups = kMaxCells / 2;
  static constexpr int kMoveBase = 32;  // a move is column * kMoveBase + row
  static constexpr int kNoTabu = 0;

  struct State {
    Column column[kMaxWidth + 1];  // closed to the left; the last is always empty
    std::int32_t score, played;
  };

  class Moves {
   public:
    int count = 0;
    std::uint64_t code(int i) const { return code_[i]; }
    double bias(int i) const { return bias_class_[i] - 1; }
    double exp_bias(int i) const { return kExpBias[bias_class_[i]]; }
    Move move(int i) const {
      const Run& run = runs_[first_run_[i]];
      return run.column * kMoveBase + run.begin / 4;
    }
    int size(int i) const { return size_[i]; }

   private:
    friend class SameGame;
    struct Run {  // the cells [begin, end) of a column, in bits
      std::uint8_t column, begin, end;
      std::uint16_t label;
    };

    std::uint16_t find(std::uint16_t label) const {
      while (parent_[label] != label) label = parent_[label];
      return label;
    }

    // The moves.
    std::uint64_t code_[kMaxGroups];
    std::uint16_t size_[kMaxGroups], first_run_[kMaxGroups];
    std::uint8_t bias_class_[kMaxGroups];  // bias + 1
    // The runs of all groups, and the union-find forest over their labels; a root is the smallest label of its group.
    Run runs_[kMaxCells];
    std::uint16_t parent_[kMaxCells], cells_[kMaxCells], run_of_[kMaxCells];
    std::uint64_t hash_[kMaxCells];
    std::uint8_t colour_[kMaxCells];
    int runs_count_, labels_;
  };

  // Cells are colours 1 to 9, row by row from the bottom, each row from the left.
  SameGame(int width, int height, std::span<const std::uint8_t> cells, int tabu, Leftover leftover)
      : height_(height), tabu_(tabu), leftover_(leftover) {
    if (width < 1 || width > kMaxWidth || height < 1 || height > kMaxHeight ||
        cells.size() != static_cast<std::size_t>(width) * height)
      throw std::invalid_argument("the board is " + std::to_string(width) + " x " + std::to_string(height) +
                                  ", allowed is 1 x 1 to 20 x 20");
    for (int row = 0; row < height; row++)
      for (int c = 0; c < width; c++) {
        const int colour = cells[row * width + c];
        if (colour < 1 || colour > kMaxColours) throw std::invalid_argument("a colour is outside 1 to 9");
        initial_.column[c] |= static_cast<Column>(colour) << 4 * row;
      }
    for (int colour = 1; colour <= kMaxColours; colour++)
      for (int c = 0; c < kMaxWidth; c++)
        for (int row = 0; row < kMaxHeight; row++)
          zobrist_[colour - 1][c][row + 1] = zobrist_[colour - 1][c][row] ^ cell_code(colour, c, row);
  }

  State initial() const { return initial_; }
  int max_moves() const { return kMaxGroups; }

  void find_moves(const State& state, Moves& moves) const {
    find_groups(state, moves);
    select(moves, [&](bool tabu, int size) { return !tabu || (size == 2 && state.played > 10); });
    if (moves.count == 0 && moves.labels_ > 0) select(moves, [](bool, int) { return true; });
  }

  void find_all_moves(const State& state, Moves& moves) const {
    find_groups(state, moves);
    select(moves, [](bool, int) { return true; });
  }

  void play(State& state, const Moves& moves, int i) const {
    const int first = moves.first_run_[i];
    const std::uint16_t label = moves.runs_[first].label;
    const int leftmost = moves.runs_[first].column;
    bool closes = false;
    for (int r = moves.runs_count_ - 1; r >= first; r--) {  // from the top, so that the bits below stay where they are
      const auto& run = moves.runs_[r];
      if (moves.find(run.label) != label) continue;
      Column& x = state.column[run.column];
      const Column above = run.end < kBits ? x >> run.end << run.begin : 0;
      x = (x & ((Column{1} << run.begin) - 1)) | above;
      closes |= x == 0;
    }
    if (closes) close(state, leftmost);
    const int n = moves.size_[i] - 2;
    state.score += n * n;
    state.played++;
  }

  double score(const State& state) const {
    if (state.column[0] == 0) return state.score + 1000;
    if (leftover_ == Leftover::none) return state.score;
    std::array<int, kMaxColours + 1> left{};
    for (int c = 0; state.column[c] != 0; c++)
      for (Column x = state.column[c]; x != 0; x >>= 4) left[static_cast<int>(x & 15)]++;
    const auto penalty = [](int n) { return n == 0 ? 0 : (n - 2) * (n - 2); };
    int sum = 0, off = 0;
    for (const int n : left) sum += n, off += penalty(n);
    return state.score - (leftover_ == Leftover::total ? penalty(sum) : off);
  }

  // The colour at a cell, 0 where it is empty.
  int cell(const State& state, int column, int row) const {
    return static_cast<int>(state.column[column] >> 4 * row & 15);
  }
  int height() const { return height_; }

 private:
  static constexpr int kBits = 8 * sizeof(Column);
  static constexpr Column low_bits() {  // the lowest bit of each cell
    Column x = 0;
    for (int i = 0; i < kBits; i += 4) x |= Column{1} << i;
    return x;
  }
  static constexpr Column kLow = low_bits();
  static inline const std::array<double, 10> kExpBias = [] {
    std::array<double, 10> table{};
    for (int i = 0; i < 10; i++) table[i] = exp_factor(i - 1);
    return table;
  }();

  static constexpr std::uint64_t cell_code(int colour, int column, int row) {
    return mix((static_cast<std::uint64_t>(colour) * 32 + column) * 32 + row + 0x53616D6547616D65);
  }
  static constexpr Column non_empty(Column x) { return (x | x >> 1 | x >> 2 | x >> 3) & kLow; }

  static void close(State& state, int from) {
    int to = from;
    for (int c = from; c < kMaxWidth; c++) {
      const Column x = state.column[c];
      state.column[c] = 0;
      if (x != 0) state.column[to++] = x;
    }
  }

  // Fills the runs and the forest of labels; afterwards each root has the hash and the size of its whole group.
  void find_groups(const State& state, Moves& m) const {
    std::uint16_t labels_at[2][kMaxHeight];  // of the previous column and of this one
    Column left = 0;                         // cells equal to their left neighbour
    int runs = 0, labels = 0;
    for (int c = 0; state.column[c] != 0; c++) {
      const Column x = state.column[c], filled = non_empty(x);
      const Column up = filled & ~non_empty(x ^ x >> 4);
      const Column right = filled & ~non_empty(x ^ state.column[c + 1]);
      const Column tops = ~up & kLow;  // cells that end a run
      Column todo = (up | up << 4 | left | right) & filled;
      const std::uint16_t* previous = labels_at[c & 1];
      std::uint16_t* current = labels_at[~c & 1];
      while (todo != 0) {
        const int begin = lowest_bit(todo), end = begin + lowest_bit(tops >> begin) + 4;
        const Column mask = (end < kBits ? Column{1} << end : 0) - (Column{1} << begin);
        todo &= ~mask;
        const int colour = static_cast<int>(x >> begin & 15);
        const auto& prefix = zobrist_[colour - 1][c];
        const std::uint64_t hash = prefix[end / 4] ^ prefix[begin / 4];
        const int cells = (end - begin) / 4;
        std::uint16_t label;
        if (Column links = left & mask; links != 0) {
          label = m.find(previous[lowest_bit(links) / 4]);
          for (links &= links - 1; links != 0; links &= links - 1) {
            std::uint16_t other = m.find(previous[lowest_bit(links) / 4]);
            if (other < label) std::swap(other, label);
            m.parent_[other] = label;
          }
          m.hash_[label] ^= hash;
          m.cells_[label] += cells;
        } else {
          label = labels++;
          m.parent_[label] = label;
          m.hash_[label] = hash;
          m.cells_[label] = cells;
          m.colour_[label] = colour;
          m.run_of_[label] = runs;
        }
        for (int row = begin / 4; row < end / 4; row++) current[row] = label;
        m.runs_[runs++] = {static_cast<std::uint8_t>(c), static_cast<std::uint8_t>(begin),
                           static_cast<std::uint8_t>(end), label};
      }
      left = right;
    }
    for (int label = labels - 1; label >= 0; label--)
      if (const int parent = m.parent_[label]; parent != label) {
        m.hash_[parent] ^= m.hash_[label];
        m.cells_[parent] += m.cells_[label];
      }
    m.runs_count_ = runs;
    m.labels_ = labels;
  }

  // Makes moves of the groups that `allowed(is tabu, size)` lets through.
  template <class Allowed>
  void select(Moves& m, Allowed allowed) const {
    int count = 0;
    for (int label = 0; label < m.labels_; label++) {
      const bool tabu = m.colour_[label] == tabu_;
      const int size = m.cells_[label];
      if (m.parent_[label] != label || !allowed(tabu, size)) continue;
      m.code_[count] = m.hash_[label];
      m.size_[count] = size;
      m.bias_class_[count] = std::min(size - 2 - (tabu && size == 2), 8) + 1;
      m.first_run_[count] = m.run_of_[label];
      count++;
    }
    m.count = count;
  }

  State initial_{};
  int height_, tabu_;
  Leftover leftover_;
  // zobrist_[colour - 1][column][row] is the exclusive or of the numbers of the cells below row.
  std::uint64_t zobrist_[kMaxColours][kMaxWidth][kMaxHeight + 1] = {};
};

using SameGame16 = SameGame<std::uint64_t>;
using SameGame20 = SameGame<uint128_t>;
static_assert(Problem<SameGame16> && Problem<SameGame20>);

}  // namespace playout
