// Ladders: whether a chain with one or two liberties can be caught by one atari after the other.
//
// The attacker plays on one of the chain's two liberties; the owner answers on the last one, or captures a chain in
// atari that touches his; with three liberties he is out, with one or none caught, with two the attacker goes on. Both
// try all that, by points from the bottom left. No move is suicide or retakes a ko at once; superko is not looked at.
// At most kStones stones are put: whoever is not caught by then is out. All but that bound is the same for a board that
// is turned or mirrored.
#pragma once

#include <algorithm>
#include <array>

#include "problems/go/board.h"

namespace playout {

template <int Side>
class GoLadder {
 public:
  using Board = GoBoard<Side>;
  static constexpr int kStones = 100;

  // Whether a chain is caught if its owner is to move: of one liberty.
  static bool is_caught(Board board, int stone) { return GoLadder().fails_to_defend(board, stone); }

  // Whether it is caught if the other player is to move. One with a single liberty is, one with three is not.
  static bool can_catch(Board board, int stone) { return GoLadder().attacks(board, stone); }

 private:
  // The owner's moves in order: the chain's liberty, and those of chains in atari around it.
  struct Defences {
    int count = 0;
    std::array<typename Board::Point, Side * Side> list;

    Defences(const Board& board, int stone) {
      add(board.liberty(stone));
      board.each_capture_around(stone, [&](int p) { add(p); });
      std::sort(list.begin(), list.begin() + count);
    }
    void add(int p) {
      if (std::find(list.begin(), list.begin() + count, p) == list.begin() + count)
        list[count++] = static_cast<typename Board::Point>(p);
    }
  };

  bool fails_to_defend(Board& board, int stone) {
    const int owner = board.colour(stone) - kBlack;
    const Defences moves(board, stone);
    for (int i = 0; i < moves.count; i++) {
      if (!board.may_play(moves.list[i], owner)) continue;
      if (i + 1 < moves.count ? !fails_on_copy(board, stone, moves.list[i]) : !fails_by(board, stone, moves.list[i]))
        return false;
    }
    return true;
  }
  bool fails_by(Board& board, int stone, int p) {
    if (++stones_ > kStones) return false;
    board.template put<false>(p, board.colour(stone) - kBlack);
    return attacks(board, stone);
  }

  bool attacks(Board& board, int stone) {
    std::array<int, 3> liberties;
    const int count = board.template find_liberties<3>(stone, liberties);
    if (count != 2) return count < 2;
    if (liberties[0] > liberties[1]) std::swap(liberties[0], liberties[1]);
    const int attacker = kWhite - board.colour(stone);
    if (board.may_play(liberties[0], attacker) && attacks_on_copy(board, stone, liberties[0])) return true;
    return board.may_play(liberties[1], attacker) && attacks_by(board, stone, liberties[1]);
  }
  bool attacks_by(Board& board, int stone, int p) {
    if (++stones_ > kStones) return false;
    board.template put<false>(p, kWhite - board.colour(stone));
    return fails_to_defend(board, stone);
  }

  // Of several moves all but the last are tried on copies. Functions of their own: a copy takes kilobytes of stack.
  [[gnu::noinline]] bool fails_on_copy(const Board& board, int stone, int p) {
    Board copy = board;
    return fails_by(copy, stone, p);
  }
  [[gnu::noinline]] bool attacks_on_copy(const Board& board, int stone, int p) {
    Board copy = board;
    return attacks_by(copy, stone, p);
  }

  int stones_ = 0;
};

}  // namespace playout
