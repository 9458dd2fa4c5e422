// The board of SameGame as bit planes.
//
// A column is one word of four planes, each with one bit per row, the bottom row lowest: bit r of plane k is bit k of
// the colour at row r; colour 0 is empty. Two columns are compared in all rows at once, a column with itself moved by
// one row tells which cells equal the one above, and a run of cells is removed by two masks and a shift. A word has
// room for 16 rows (64 bits) or 32 (128 bits; at most 20 are used).
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace playout {

__extension__ typedef unsigned __int128 uint128_t;

using Rows = std::uint32_t;  // a set of rows of one column

inline int lowest(Rows rows) { return std::countr_zero(rows); }
inline int highest(Rows rows) { return 31 - std::countl_zero(rows); }
inline Rows below(int row) { return (Rows{1} << row) - 1; }  // the rows under this one, for row < 32

template <int kRows>
class SameGameBoard {
 public:
  static constexpr int kMaxWidth = 20, kMaxHeight = kRows == 16 ? 16 : 20, kMaxCells = kMaxWidth * kMaxHeight;
  using Column = std::conditional_t<kRows == 16, std::uint64_t, uint128_t>;

  bool empty() const { return column_[0] == 0; }

  void put(int column, int row, int colour) {
    for (int plane = 0; plane < 4; plane++)
      column_[column] |= static_cast<Column>(colour >> plane & 1) << (plane * kRows + row);
  }

  int colour(int column, int row) const {
    const Column x = column_[column] >> row & spread(1);
    if constexpr (kRows == 16) {
      return static_cast<int>(x * 0x0001000200040008 >> 48 & 15);  // the four bits side by side
    } else {
      return static_cast<int>((x | x >> (kRows - 1) | x >> (2 * kRows - 2) | x >> (3 * kRows - 3)) & 15);
    }
  }

  int width() const {
    int c = 0;
    while (column_[c] != 0) c++;
    return c;
  }

  // A column full of one colour.
  static Column full_of(int colour) {
    Column x = 0;
    for (int plane = 0; plane < 4; plane++)
      if (colour >> plane & 1) x |= static_cast<Column>(kAll) << plane * kRows;
    return x;
  }

  // The rows in which a column has cells equal to those of a word, to the one above, or to the one at the right.
  Rows equal_to(int column, Column x) const { return equal(column_[column], x); }
  Rows equal_above(int column) const {
    const Column x = column_[column];
    return equal(x, x >> 1 & spread(kAll >> 1));
  }
  Rows equal_right(int column) const { return equal(column_[column], column_[column + 1]); }

  // Removes some rows of a column; what is above falls. True if the column is empty now, and close() must follow.
  bool remove(int column, Rows rows) {
    Column x = column_[column];
    while (rows != 0) {  // from the top, so that the rows below stay where they are
      const int end = highest(rows) + 1, begin = highest(~rows & below(end)) + 1;
      x = (x & spread(below(begin))) | (x >> (end - begin) & spread(kAll >> (end - begin) & ~below(begin)));
      rows &= below(begin);
    }
    column_[column] = x;
    return x == 0;
  }

  // Closes empty columns, from that one on, to the left.
  void close(int from) {
    int to = from;
    for (int c = from; c < kMaxWidth; c++) {
      const Column x = column_[c];
      column_[c] = 0;
      column_[to] = x;
      to += x != 0;
    }
  }

 private:
  static constexpr Rows kAll = static_cast<Rows>((std::uint64_t{1} << kRows) - 1);

  // The same rows in each plane.
  static Column spread(Rows rows) {
    if constexpr (kRows == 16) {
      return rows * std::uint64_t{0x0001000100010001};
    } else {
      const Column half = rows * std::uint64_t{0x0000000100000001};
      return half << 64 | half;
    }
  }

  // The rows in which any plane has a bit.
  static Rows any(Column x) {
    x |= x >> 2 * kRows;
    return static_cast<Rows>(x | x >> kRows) & kAll;
  }

  static Rows equal(Column x, Column y) { return any(x) & ~any(x ^ y); }

  Column column_[kMaxWidth + 1] = {};  // closed to the left; the last is always empty
};

}  // namespace playout
