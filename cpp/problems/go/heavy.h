// Heavy playouts: what a player looks for around the last moves before one is drawn at random.
//
// A chain is near a move if it has a stone on its point or on one of the eight around it.
//
// The steps, in this order; below(100) is drawn for each, and it is left out if that is not below the step's number.
// The first that finds moves ends the search for one: below(n) is drawn of the n that it found, in the order of the
// points, if they are two or more.
//
//   atari   kAtari. Of the chains near the last two moves, the other's that are in atari are captured; own ones are
//           rescued, by capturing a chain in atari next to them or by extending at the liberty, if that gives two or
//           more.
//   two     kTwo. A chain with two liberties is in danger if a stone on one of them, not where a ko must not be retaken
//           now, would not be in atari itself and would leave the chain with no more than two liberties when it extends
//           at the other. Of the chains near the last move, the other's that are in danger are attacked there; own
//           ones are defended, on those of their liberties that give three or more, or by capturing a chain in atari
//           next to them.
//   nakade  kNakade. An empty region of 3 to 6 points next to the last stone that has only stones of one colour around
//           it, and a shape with one vital point: that point.
//   shapes  kShapes. Points around the last stone and the one before that have a shape (shapes.h), but not if the stone
//           would be in atari there and capture nothing.
//
// What is drawn at random, if no step has found anything, is as in a light playout, with one thing more: a point where
// the stone would be in atari, and would capture nothing, is turned down if below(100) is below kReject.
//
// Moves that simple ko forbids, and suicide, are never found.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/random.h"
#include "problems/go/board.h"
#include "problems/go/neighbourhood.h"
#include "problems/go/shapes.h"

namespace playout {

template <int Side>
class GoHeavy {
 public:
  using Board = GoBoard<Side>;
  using Point = typename Board::Point;
  static constexpr std::uint32_t kAtari = 90, kTwo = 90, kNakade = 95, kShapes = 95, kReject = 50;

  // A move that answers the last two, which are points or 0; 0 if there is none.
  static int find(const Board& board, Stream& random, int player, int last, int before) {
    Found found;
    if (random.below(100) < kAtari) answer_atari(board, player, Chains(board, last, before), found);
    if (found.count == 0 && random.below(100) < kTwo) answer_two(board, player, Chains(board, last, 0), found);
    if (found.count == 0 && random.below(100) < kNakade && last != 0) find_nakade(board, player, last, found);
    if (found.count == 0 && random.below(100) < kShapes) {
      if (last != 0) find_shapes(board, player, last, found);
      if (before != 0) find_shapes(board, player, before, found);
    }
    if (found.count < 2) return found.count == 0 ? 0 : found.list[0];
    return found.list[random.below(static_cast<std::uint32_t>(found.count))];
  }

  // Whether a stone on an empty point would be in atari, or suicide, and capture nothing.
  static bool is_self_atari(const Board& board, int p, int player) {
    return board.template count_liberties_after<2>(p, player) < 2 && !board.captures(p, player);
  }

 private:
  // Points in their order, each once.
  struct Found {
    int count = 0;
    std::array<Point, Side * Side> list;

    void add(int p) {
      int i = count;
      while (i > 0 && list[i - 1] > p) i--;
      if (i > 0 && list[i - 1] == p) return;
      std::copy_backward(list.begin() + i, list.begin() + count, list.begin() + count + 1);
      list[i] = static_cast<Point>(p), count++;
    }
  };

  // The chains near two moves, which are points or 0.
  class Chains {
   public:
    Chains(const Board& board, int last, int before) {
      for (const int move : {last, before}) {
        if (move == 0) continue;
        add(board, move);
        for (const int way : Board::kRing) add(board, move + way);
      }
    }
    template <class Function>
    void each(Function function) const {
      std::for_each(heads_.begin(), heads_.begin() + count_, function);
    }

   private:
    void add(const Board& board, int p) {
      if (!board.is_stone(p)) return;
      const int head = board.head(p);
      if (std::find(heads_.begin(), heads_.begin() + count_, head) == heads_.begin() + count_) heads_[count_++] = head;
    }

    int count_ = 0;
    std::array<int, 18> heads_;
  };

  // The captures of chains in atari next to an own chain.
  static void capture_around(const Board& board, int chain, Found& found) {
    board.each_capture_around(chain, [&](int p) {
      if (p != board.ko()) found.add(p);
    });
  }

  static void answer_atari(const Board& board, int player, const Chains& near, Found& found) {
    near.each([&](int chain) {
      if (!board.in_atari(chain)) return;
      const int p = board.liberty(chain);
      const bool own = board.colour(chain) == kBlack + player;
      if (own) capture_around(board, chain, found);
      if (p != board.ko() && (!own || board.template count_liberties_after<2>(p, player) > 1)) found.add(p);
    });
  }

  // Whether a chain of two liberties that loses one is hardly better off when it extends at the other. (One more is
  // counted then, that of the attack.)
  static bool is_danger(const Board& board, int owner, int attack, int rest) {
    return attack != board.ko() && board.template count_liberties_after<2>(attack, 1 - owner) > 1 &&
           board.template count_liberties_after<4>(rest, owner) < 4;
  }

  static void answer_two(const Board& board, int player, const Chains& near, Found& found) {
    near.each([&](int chain) {
      std::array<int, 3> at;
      if (board.template find_liberties<3>(chain, at) != 2) return;
      const int owner = board.colour(chain) - kBlack;
      const auto danger = [&](int i) { return is_danger(board, owner, at[i], at[1 - i]); };
      if (owner == player) {
        if (danger(0) || danger(1)) defend(board, player, chain, at, found);
        return;
      }
      for (const int i : {0, 1})
        if (danger(i)) found.add(at[i]);
    });
  }
  static void defend(const Board& board, int player, int chain, const std::array<int, 3>& at, Found& found) {
    capture_around(board, chain, found);
    for (const int i : {0, 1})
      if (at[i] != board.ko() && board.template count_liberties_after<3>(at[i], player) > 2) found.add(at[i]);
  }

  // The vital point of the empty region of a point, or 0.
  static int vital_point(const Board& board, int p) {
    static constexpr int kLargest = 6;
    std::array<int, kLargest> region{p};
    int count = 1, colours = 0;
    for (int i = 0; i < count; i++) {
      for (const int side : Board::kSides) {
        const int q = region[i] + side, colour = board.colour(q);
        if (colour != kEmpty) {
          if (colour != kBorder) colours |= colour;
          if (colours == (kBlack | kWhite)) return 0;
        } else if (std::find(region.begin(), region.begin() + count, q) == region.begin() + count) {
          if (count == kLargest) return 0;
          region[count++] = q;
        }
      }
    }
    if (count < 3 || colours == 0) return 0;
    std::array<int, 5> degrees{};  // how many points have so many neighbours in the region
    int most = 0, vital = 0;
    for (int i = 0; i < count; i++) {
      const int degree = board.empty_neighbours(region[i]);
      degrees[degree]++;
      if (degree > most) most = degree, vital = region[i];
    }
    const bool three = count == 3, pyramid = count == 4 && most == 3, cross = count == 5 && most == 4;
    const bool bulky = count == 5 && most == 3 && degrees[2] == 3, rabbit = count == 6 && most == 4 && degrees[2] == 3;
    return three || pyramid || cross || bulky || rabbit ? vital : 0;
  }

  static void find_nakade(const Board& board, int player, int last, Found& found) {
    for (const int side : Board::kSides) {
      if (board.colour(last + side) != kEmpty) continue;
      const int p = vital_point(board, last + side);
      if (p != 0 && board.may_play(p, player)) found.add(p);
    }
  }

  static void find_shapes(const Board& board, int player, int around, Found& found) {
    for (const int way : Board::kRing) {
      const int p = around + way;
      if (board.colour(p) != kEmpty || !GoShapes::has(GoNeighbourhoods::code(board, p, player))) continue;
      if (p != board.ko() && !is_self_atari(board, p, player)) found.add(p);
    }
  }
};

}  // namespace playout
