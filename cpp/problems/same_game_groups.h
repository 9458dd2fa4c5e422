// The groups of a SameGame board, kept from move to move.
//
// A group is found from its first cell, in order of column, then row: the cells of the next column it reaches are one
// mask, filled up and down along the runs of that column by a few operations on whole masks.
//
// After a move most groups are as they were. Where a column lost cells, everything from its lowest removed row up has
// moved, and the cell below has a new one above it; in the columns at its sides, cells from that row up have new
// neighbours. These cells are *touched*. Two equal neighbours are always of one group, so a group without a touched
// cell has neither lost nor gained anything and is kept. Of a group that has one, the cells that did not move are
// marked, and so are all touched cells that have an equal neighbour; what is marked is then whole groups, and is found
// anew. Where a column empties, everything from the one before it on is touched.
//
// The tabu colour is left out of this: its groups are large and touched by almost every move, while a playout wants
// only its pairs, which are found afresh on whole columns, and at the end, when nothing else is left, all of it.
//
// What is done for every group at every step works on a Ticket, one word that sorts by the group's first cell, and is
// written without branches: a processor guesses wrong as often as not which group a move touches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "core/random.h"
#include "problems/same_game_board.h"

namespace playout {

// A group in one word. Tickets compare as their groups' first cells do, by column, then row.
class Ticket {
 public:
  Ticket() = default;
  Ticket(int first, int row, int last, int number, int item)
      : bits_(static_cast<std::uint64_t>(first) << 59 | static_cast<std::uint64_t>(row) << 54 |
              static_cast<std::uint64_t>(last) << 48 | static_cast<std::uint64_t>(number) << 40 |
              static_cast<std::uint64_t>(item)) {}
  static Ticket after_all() { return {31, 31, 31, 255, 0}; }

  int first() const { return static_cast<int>(bits_ >> 59); }  // column
  int row() const { return static_cast<int>(bits_ >> 54 & 31); }
  int last() const { return static_cast<int>(bits_ >> 48 & 31); }     // column
  int number() const { return static_cast<int>(bits_ >> 40 & 255); }  // of its cells
  int item() const { return static_cast<int>(bits_ & 0xFFFFFFFF); }

  // Merges two lists in order, each with after_all() at its end, into a third, likewise; returns its length.
  static int merge(const Ticket* one, int ones, const Ticket* two, int twos, Ticket* out) {
    if (twos == 0) std::copy(one, one + ones, out);
    for (int i = twos == 0 ? ones : 0; i < ones + twos; i++) {
      const std::uint64_t a = one->bits_, b = two->bits_;
      const bool from_two = b < a;
      out[i].bits_ = a ^ ((a ^ b) & -static_cast<std::uint64_t>(from_two));
      two += from_two;
      one += !from_two;
    }
    out[ones + twos] = after_all();
    return ones + twos;
  }

 private:
  std::uint64_t bits_;
};

template <int kRows>
class SameGameGroups {
 public:
  using Board = SameGameBoard<kRows>;

  struct Item {  // what stays true of a group as long as it is there
    std::uint64_t hash;
    std::uint16_t size;
    bool is_tabu_pair;
  };
  enum class Tabu { none, pairs, all };

  // Every group found since find() has a number of its own here.
  const std::vector<Item>& items() const { return items_; }

  // Finds all groups of a board but those of the tabu colour.
  void find(const Board& board, int tabu) {
    tabu_ = tabu;
    full_of_tabu_ = Board::full_of(tabu);
    items_.clear();
    finds_++;
    for (int i = 0; i < kMaxGroups; i++) free_[i] = static_cast<std::uint8_t>(i);
    free_count_ = kMaxGroups;
    count_ = tabu_numbers_ = 0;
    width_ = board.width();
    compare_columns(board, 0, kMaxWidth);
    for (int c = 0; c < kColumns; c++) marked_[c] = static_cast<Mask>(linked(c) & ~tabu_cells_[c]);
    merge(0, find_marked(board));
  }

  // Removes a group's cells from a board.
  void remove_cells(Board& board, Ticket ticket) const {
    bool emptied = false;
    for (int c = ticket.first(); c <= ticket.last(); c++) emptied |= board.remove(c, rows_of(ticket, c));
    if (emptied) board.close(ticket.first());
  }

  // Removes a group from a board, and finds the groups that are there then, but those of the tabu colour.
  void remove(Board& board, Ticket ticket) {
    const int first = ticket.first(), last = ticket.last();
    Touch touch;
    bool emptied = false;
    for (int c = first; c <= last; c++) {
      const Rows rows = rows_of(ticket, c);
      touch.remove_from(c, lowest(rows));
      emptied |= board.remove(c, rows);
    }
    release_tabu();
    if (emptied) {
      touch.shift_from(first);
      board.close(first);
    }
    compare_columns(board, std::max(first - 1, 0), emptied ? width_ : last + 1);
    if (emptied) width_ = board.width();
    const int kept = mark_groups(touch.touched + 1);
    for (int c = 0; c < kColumns; c++)
      marked_[c] =
          static_cast<Mask>(linked(c) & ~tabu_cells_[c] & ((marked_[c] & touch.stay[c]) | touch.touched[c + 1]));
    merge(kept, find_marked(board));
  }

  // Lists the groups, in order, with none, the pairs or all of the tabu colour; returns how many. The list has room for
  // kMaxGroups + 1.
  int list(const Board& board, Tabu tabu, Ticket* out) {
    release_tabu();
    int count = 0;
    if (tabu == Tabu::pairs) count = find_tabu_pairs();
    if (tabu == Tabu::all) count = tabu_numbers_ = find_tabu_groups(board);
    tabu_tickets_[count] = Ticket::after_all();
    return Ticket::merge(tickets_, count_, tabu_tickets_, count, out);
  }

  static constexpr int kMaxGroups = Board::kMaxCells / 2;

 private:
  static constexpr int kPair = 255;  // the number of a pair of the tabu colour: its ticket says all of its cells
  static constexpr int kMaxWidth = Board::kMaxWidth;
  static constexpr int kColumns = 24;  // more than there are, for whole vectors
  using Mask = std::conditional_t<kRows == 16, std::uint16_t, std::uint32_t>;
  struct Cells {
    Mask rows[kColumns];
  };

  struct Touch {                      // what a move does to the cells of each column
    Mask touched[kColumns + 1] = {};  // by column + 1
    Mask stay[kColumns];              // those that do not move

    Touch() { std::fill_n(stay, kColumns, static_cast<Mask>(~0)); }
    void remove_from(int column, int lowest_row) {
      const auto from_here = static_cast<Mask>(~below(lowest_row));
      touched[column] |= from_here;
      touched[column + 1] |= static_cast<Mask>(from_here | from_here >> 1);
      touched[column + 2] |= from_here;
      stay[column] = static_cast<Mask>(below(lowest_row));
    }
    void shift_from(int column) {
      std::fill_n(touched + column, kColumns + 1 - column, static_cast<Mask>(~0));
      std::fill_n(stay + column, kColumns - column, Mask{0});
    }
  };

  // prefix[colour - 1][column][row] is the exclusive or of the numbers of the cells below row, so that a run of any
  // length takes two of them.
  struct Zobrist {
    std::uint64_t prefix[9][kMaxWidth][32] = {};
    Zobrist() {
      for (std::uint64_t colour = 1; colour <= 9; colour++)
        for (std::uint64_t column = 0; column < kMaxWidth; column++)
          for (std::uint64_t row = 0; row < Board::kMaxHeight; row++) {
            auto& sums = prefix[colour - 1][column];
            sums[row + 1] = sums[row] ^ mix((colour * 32 + column) * 32 + row + 0x53616D6547616D65);
          }
    }
  };
  static inline const Zobrist kZobrist;

  Rows above(int column) const { return above_[column]; }
  Rows right(int column) const { return right_[column + 1]; }
  Rows left(int column) const { return right_[column]; }

  // The last numbers taken were those of the tabu colour.
  void release_tabu() {
    free_count_ += tabu_numbers_;
    tabu_numbers_ = 0;
  }
  void release(Ticket ticket) { free_[free_count_++] = static_cast<std::uint8_t>(ticket.number()); }

  int new_item(std::uint64_t hash, int size, bool tabu) {
    items_.push_back({hash, static_cast<std::uint16_t>(size), tabu && size == 2});
    return static_cast<int>(items_.size()) - 1;
  }

  // Compares columns with themselves, with the one at their right, and with the tabu colour.
  void compare_columns(const Board& board, int from, int end) {
    for (int c = from; c < end; c++) {
      above_[c] = static_cast<Mask>(board.equal_above(c));
      right_[c + 1] = static_cast<Mask>(board.equal_right(c));
      tabu_cells_[c] = static_cast<Mask>(board.equal_to(c, full_of_tabu_));
    }
  }

  // The cells of a column that have an equal neighbour.
  Rows linked(int c) const { return above(c) | above(c) << 1 | right(c) | left(c); }

  // The rows of a group in one of its columns.
  Rows rows_of(Ticket ticket, int column) const {
    if (ticket.number() != kPair) return cells_[ticket.number()].rows[column];
    return Rows{ticket.first() == ticket.last() ? 3U : 1U} << ticket.row();
  }

  // Takes the groups that have any of these cells off the list, and marks all theirs; returns how many are left.
  int mark_groups(const Mask* touched) {
    int kept = 0, hits = 0;
    for (int i = 0; i < count_; i++) {
      const Ticket ticket = tickets_[i];
      const bool hit = intersect(cells_[ticket.number()].rows, touched);
      kept_[kept] = found_[hits] = ticket;
      kept += !hit;
      hits += hit;
    }
    for (int i = 0; i < hits; i++) {
      const Mask* rows = cells_[found_[i].number()].rows;
      for (int c = 0; c < kColumns; c++) marked_[c] |= rows[c];
      release(found_[i]);
    }
    return kept;
  }

  void merge(int kept, int found) {
    kept_[kept] = found_[found] = Ticket::after_all();
    count_ = Ticket::merge(kept_, kept, found_, found, tickets_);
  }

  // Makes groups of the marked cells, which are whole groups; returns how many.
  int find_marked(const Board& board) {
    int found = 0;
    for (Rows columns = columns_with_cells(marked_); columns != 0;)
      found_[found++] = follow(board, lowest(columns), columns);
    return found;
  }

#ifdef __SSE2__
  static __m128i load(const Mask* cells) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(cells)); }
  static __m128i is_zero(__m128i x) { return _mm_cmpeq_epi16(x, _mm_setzero_si128()); }
#endif

  // Which columns have any of these cells: bit c for column c.
  static Rows columns_with_cells(const Mask* cells) {
    Rows columns = 0;
#ifdef __SSE2__
    if constexpr (kRows == 16) {
      const __m128i low = _mm_packs_epi16(is_zero(load(cells)), is_zero(load(cells + 8)));
      const __m128i high = _mm_packs_epi16(is_zero(load(cells + 16)), _mm_setzero_si128());
      columns = static_cast<Rows>(_mm_movemask_epi8(low)) | static_cast<Rows>(_mm_movemask_epi8(high)) << 16;
      return ~columns & below(kMaxWidth);
    }
#endif
    for (int c = 0; c < kMaxWidth; c++) columns |= static_cast<Rows>(cells[c] != 0) << c;
    return columns;
  }

  static bool intersect(const Mask* one, const Mask* two) {
#ifdef __SSE2__
    if constexpr (kRows == 16) {
      const auto both = [&](int c) { return _mm_and_si128(load(one + c), load(two + c)); };
      return _mm_movemask_epi8(is_zero(_mm_or_si128(_mm_or_si128(both(0), both(8)), both(16)))) != 0xFFFF;
    }
#endif
    Rows any = 0;
    for (int c = 0; c < kColumns; c++) any |= one[c] & two[c];
    return any != 0;
  }

  // The cells of the runs that contain any of these cells: upwards a carry does it, downwards steps of 1, 2, 4, ...
  static Rows fill_upwards(Rows above, Rows cells) { return cells | (above ^ (above + (cells & above))); }
  static Rows fill(Rows above, Rows cells) {
    cells = fill_upwards(above, cells);
    for (int step = 1; step < kRows; step *= 2) {
      cells |= above & cells >> step;
      above &= above >> step;
    }
    return cells;
  }

  struct Sum {  // of the cells of a group
    std::uint64_t hash = 0;
    int size = 0;
    void add(const std::uint64_t* prefix, Rows rows) {
      do {
        const int begin = lowest(rows), end = begin + lowest(~(rows >> begin));
        hash ^= prefix[begin] ^ prefix[end];
        size += end - begin;
        rows &= ~below(end);
      } while (rows != 0);
    }
  };

  // Finds the group of the lowest marked cell of a column, the first that has any, and unmarks it.
  Ticket follow(const Board& board, int first, Rows& columns) {
    const int row = lowest(marked_[first]), number = free_[--free_count_], colour = board.colour(first, row);
    const auto* prefix = kZobrist.prefix[colour - 1];
    Cells& cells = cells_[number];
    cells = {};
    Sum sum;
    int last = first;
    for (Rows reached = fill_upwards(above(first), Rows{1} << row);; last++) {
      cells.rows[last] = static_cast<Mask>(reached);
      sum.add(prefix[last], reached);
      unmark(last, reached, columns);
      const Rows links = reached & right(last);
      if (links == 0) break;
      const Rows next = fill(above(last + 1), links);
      if ((next & left(last + 1) & ~reached) != 0) {  // it comes back to this column
        last = complete(cells, first, last);
        sum = {};
        for (int c = first; c <= last; c++) {
          sum.add(prefix[c], cells.rows[c]);
          unmark(c, cells.rows[c], columns);
        }
        break;
      }
      reached = next;
    }
    return {first, row, last, number, new_item(sum.hash, sum.size, colour == tabu_)};
  }

  void unmark(int column, Rows rows, Rows& columns) {
    marked_[column] &= static_cast<Mask>(~rows);
    columns &= ~(static_cast<Rows>(marked_[column] == 0) << column);
  }

  // Goes on with a group that winds, until it has all its cells; returns its last column.
  int complete(Cells& cells, int first, int last) const {
    for (bool grown = true; grown;) {
      grown = false;
      for (int c = first; c <= last; c++) {
        const Rows from_left = c > first ? cells.rows[c - 1] & left(c) : 0;
        const Rows from_right = cells.rows[c + 1] & right(c);
        const Rows rows = fill(above(c), cells.rows[c] | from_left | from_right);
        grown |= rows != cells.rows[c];
        cells.rows[c] = static_cast<Mask>(rows);
        last += c == last && (rows & right(c)) != 0;
      }
    }
    return last;
  }

  int find_tabu_groups(const Board& board) {
    for (int c = 0; c < kMaxWidth; c++)
      marked_[c] = static_cast<Mask>((above(c) | above(c) << 1 | right(c) | left(c)) & tabu_cells_[c]);
    const int found = find_marked(board);
    std::copy(found_, found_ + found, tabu_tickets_);
    return found;
  }

  // A pair is two linked cells of the tabu colour that have no other neighbour of it.
  int find_tabu_pairs() {
    Mask single[kColumns + 1] = {}, upright[kColumns], both[kColumns];
    for (int c = 0; c < kColumns; c++) {  // the cells that have one neighbour of their colour
      const Mask up = above_[c], down = static_cast<Mask>(above_[c] << 1), to_right = right_[c + 1],
                 to_left = right_[c];
      const Mask two = static_cast<Mask>((up & down) | (to_right & to_left));
      single[c] = static_cast<Mask>((up ^ down ^ to_right ^ to_left) & ~two & tabu_cells_[c]);
    }
    for (int c = 0; c < kColumns; c++) {
      upright[c] = static_cast<Mask>(single[c] & single[c] >> 1 & above_[c]);
      both[c] = static_cast<Mask>(upright[c] | (single[c] & single[c + 1] & right_[c + 1]));
    }
    int count = 0;
    for (Rows columns = columns_with_cells(both); columns != 0; columns &= columns - 1) {
      const int c = lowest(columns);
      Rows rows = both[c];
      do {
        const int row = lowest(rows);
        tabu_tickets_[count++] = tabu_pair(c, row, upright[c] >> row & 1);
        rows &= rows - 1;
      } while (rows != 0);
    }
    return count;
  }

  Ticket tabu_pair(int column, int row, bool upright) {
    const int last = column + !upright;
    std::uint64_t& known = pair_items_[upright][column][row];  // when it was last found, and its item then
    if (known >> 24 != finds_) {
      const auto* prefix = kZobrist.prefix[tabu_ - 1];
      const int end = row + upright;
      known =
          finds_ << 24 |
          new_item(prefix[column][row] ^ prefix[column][row + 1] ^ prefix[last][end] ^ prefix[last][end + 1], 2, true);
    }
    return {column, row, last, kPair, static_cast<int>(known & 0xFFFFFF)};
  }

  int tabu_ = 0, width_ = 0, free_count_ = 0;
  typename Board::Column full_of_tabu_ = 0;
  int count_ = 0, tabu_numbers_ = 0;
  Ticket tickets_[kMaxGroups + 1], tabu_tickets_[kMaxGroups + 1];
  Ticket kept_[kMaxGroups + 1], found_[kMaxGroups + 1];
  std::vector<Item> items_;
  std::uint8_t free_[kMaxGroups];  // numbers of cells_ not in use
  Cells cells_[kMaxGroups];
  std::uint64_t pair_items_[2][kMaxWidth][32] = {}, finds_ = 0;
  // Of each column, the cells equal to the one above, equal to the one at the right (by column + 1), of the tabu
  // colour, and those whose group is to be found.
  Mask above_[kColumns] = {}, right_[kColumns + 1] = {}, tabu_cells_[kColumns] = {}, marked_[kColumns] = {};
};

}  // namespace playout
