// Counts of what is known about small boards, to test the board with: positions, moves between them, games.
//
// Either colour may move at any time, nobody passes, and a move that changes nothing is none.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "problems/go/board.h"

namespace playout {

class GoCounter {
 public:
  using Board = GoBoard<9>;

  GoCounter(int width, int height, bool suicide) : width_(width), height_(height), suicide_(suicide) {}

  // Colourings of the points in which every chain has a liberty. One that has none on the way has none at the end.
  std::uint64_t count_legal() const { return count_from(Board(width_, height_), 0); }

  // The positions that can be reached, and for each which others by one move.
  std::vector<std::vector<int>> graph() const {
    std::vector<Board> positions = {Board(width_, height_)};
    std::unordered_map<std::uint64_t, int> index = {{positions[0].hash(), 0}};
    std::vector<std::vector<int>> next;
    for (std::size_t i = 0; i < positions.size(); i++) {
      const Board before = positions[i];
      std::vector<int> after;
      for (int move = 0; move < 2 * before.empty_count(); move++) {
        const int p = before.empty(move / 2), player = move % 2;
        if (!suicide_ && !before.has_empty_neighbour(p) && before.is_suicide(p, player)) continue;
        Board board = before;
        board.put(p, player);
        if (board.hash() == before.hash()) continue;
        const auto [found, is_new] = index.try_emplace(board.hash(), static_cast<int>(positions.size()));
        if (is_new) positions.push_back(board);
        after.push_back(found->second);
      }
      next.push_back(std::move(after));
    }
    return next;
  }

  // Games from the empty board that repeat no position, unfinished ones too.
  std::uint64_t count_games() const {
    std::vector<std::uint64_t> next;
    for (const std::vector<int>& after : graph()) {
      std::uint64_t set = 0;
      for (const int i : after) {
        if (i >= 64) throw std::invalid_argument("too many positions");
        set |= std::uint64_t{1} << i;
      }
      next.push_back(set);
    }
    return count_paths(next, 0, 1);
  }

 private:
  std::uint64_t count_from(const Board& board, int place) const {
    if (place == width_ * height_) return 1;
    const int p = Board::point(place % width_, place / width_);
    std::uint64_t count = count_from(board, place + 1);
    for (int player = 0; player < 2; player++) {
      Board after = board;
      after.put(p, player);
      if (after.empty_count() == board.empty_count() - 1) count += count_from(after, place + 1);
    }
    return count;
  }

  static std::uint64_t count_paths(const std::vector<std::uint64_t>& next, int at, std::uint64_t seen) {
    std::uint64_t count = 1;
    for (std::uint64_t left = next[at] & ~seen; left != 0; left &= left - 1)
      count += count_paths(next, std::countr_zero(left), seen | (left & -left));
    return count;
  }

  int width_, height_;
  bool suicide_;
};

}  // namespace playout
