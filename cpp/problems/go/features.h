// What a move in Go looks like: a set of features, each of which it has or has not. The learned weights are of these.
//
// A pass is a feature, and a pass that answers one is another; passes have no others. Of a stone on a point:
//
//   capture saves        takes a chain off that touches an own chain in atari; of the kinds of captures here and in the
//                        next three the first that fits
//   capture last         ... the chain of the last move
//   capture free         ... a chain that is not caught in a ladder if its owner moves instead, after a pass
//   capture caught       ... others
//   capture 2, 5         takes off 2 to 4 stones in all; 5 or more
//   takes ko             makes a ko that must not be retaken at once
//   extend, extend caught    is the liberty of an own chain in atari; the stone's chain cannot be caught in a
//                        ladder then, or can (with fewer than two liberties it can, with more than two it cannot)
//   atari ladder, atari  is one of two liberties of an enemy chain; for one of them the ladder works then, or for none
//   atari ko             either, while a ko must not be retaken
//   defend, defend caught    is a liberty of an own chain with two that can be caught in a ladder, after a pass; the
//                        stone's chain cannot then, or can
//   self-atari 1, 2, 5   the stone's chain has at most one liberty then, and 1 stone, 2 to 4, or more
//   liberties 2, 3       ... so many
//   press                is one of three liberties of an enemy chain
//   connect 2, 3         touches two own chains; more
//   cut 2, 3             touches two enemy chains; more
//   own eye, false eye   all neighbours are own stones or the edge; it is an eye as in rollouts, or not
//   own sides 1 to 4     so many own stones on the four neighbours
//   enemy sides 1 to 4, own corners 1 to 4, enemy corners 1 to 4     likewise; corners are the diagonal neighbours
//   open line 1 to 5     that line from the nearest edge (5: or higher), and no stone within two columns and two rows
//   line 1 to 5          the same, with one there
//   last 2 to 17         so far from the last move, dx + dy + max(dx, dy) (2: or nearer, 17: or farther); none if
//                        it was a pass
//   before 2 to 17       so far from the move before
//   shape ........       that neighbourhood of eight points (neighbourhood.h)
//
// "Then" is after the stone and what it captures. Suicide has of all these self-atari (by its stones), own and enemy
// sides and corners, eyes, lines, distances and its shape. Ladders are those of ladder.h: what they find may depend on
// how the board lies where they hit their bound; all else does not.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "problems/go/board.h"
#include "problems/go/ladder.h"
#include "problems/go/neighbourhood.h"

namespace playout {

enum GoFeature : std::uint8_t {
  kPass,
  kPassAgain,
  kCaptureSaves,
  kCaptureLast,
  kCaptureFree,
  kCaptureCaught,
  kCapture2,
  kCapture5,
  kTakesKo,
  kExtend,
  kExtendCaught,
  kAtariLadder,
  kAtari,
  kAtariKo,
  kDefend,
  kDefendCaught,
  kSelfAtari1,
  kSelfAtari2,
  kSelfAtari5,
  kLiberties2,
  kLiberties3,
  kPress,
  kConnect2,
  kConnect3,
  kCut2,
  kCut3,
  kOwnEye,
  kFalseEye,
  kOwnSides,
};
// The first of those that are many, and how many there are in all.
inline constexpr int kEnemySides = kOwnSides + 4, kOwnCorners = kEnemySides + 4, kEnemyCorners = kOwnCorners + 4;
inline constexpr int kOpenLine = kEnemyCorners + 4, kLine = kOpenLine + 5;
inline constexpr int kLast = kLine + 5, kBefore = kLast + 16;
inline constexpr int kShape = kBefore + 16, kGoFeatures = kShape + GoNeighbourhoods::kCount;

inline std::vector<std::string> go_feature_names() {
  std::vector<std::string> names = {
      "pass",      "pass again",    "capture saves", "capture last",  "capture free", "capture caught", "capture 2",
      "capture 5", "takes ko",      "extend",        "extend caught", "atari ladder", "atari",          "atari ko",
      "defend",    "defend caught", "self-atari 1",  "self-atari 2",  "self-atari 5", "liberties 2",    "liberties 3",
      "press",     "connect 2",     "connect 3",     "cut 2",         "cut 3",        "own eye",        "false eye"};
  const auto add = [&](const char* name, int from, int to) {
    for (int i = from; i <= to; i++) names.push_back(name + (' ' + std::to_string(i)));
  };
  for (const char* name : {"own sides", "enemy sides", "own corners", "enemy corners"}) add(name, 1, 4);
  for (const char* name : {"open line", "line"}) add(name, 1, 5);
  for (const char* name : {"last", "before"}) add(name, 2, 17);
  for (const std::string& name : GoNeighbourhoods::names()) names.push_back("shape " + name);
  return names;
}

// The features of the moves of one position; made once for all of them.
template <int Side>
class GoFeatures {
 public:
  using Board = GoBoard<Side>;
  using Ladder = GoLadder<Side>;

  // `last` and `before` are points, 0 for passes. The board must outlive this.
  GoFeatures(const Board& board, int width, int height, int player, int last, int before)
      : board_(board),
        width_(width),
        height_(height),
        player_(player),
        own_(kBlack + player),
        enemy_(kWhite - player),
        last_(last),
        before_(before) {
    for (int row = 0; row < height; row++)
      for (int column = 0; column < width; column++) look_at(column, row);
    mark_saving();
    for (int row = 0; row < height; row++) {
      std::uint32_t near = 0;
      for (int r = std::max(0, row - 2); r <= std::min(height - 1, row + 2); r++) near |= stones_[r];
      near_[row] = near | near << 1 | near << 2 | near >> 1 | near >> 2;
    }
  }

  // Calls add(feature) for each feature of a stone on an empty point.
  template <class Add>
  void find(int p, Add add) const {
    add_place(p, add);
    add_neighbours(p, add);
    add_tactics(p, add);
  }

 private:
  // What is known of a chain, at its head.
  struct Chain {
    std::uint8_t liberties = 0;  // 4: or more
    bool saves = false;          // an enemy chain: touches an own one in atari
    bool threatened = false;     // an own chain with two liberties: can be caught
  };

  static int column_of(int p) { return p % Board::kStride - 1; }
  static int row_of(int p) { return p / Board::kStride - 1; }

  void look_at(int column, int row) {
    const int p = Board::point(column, row);
    if (board_.colour(p) == kEmpty) return;
    stones_[row] |= 1U << column;
    if (board_.head(p) != p) return;
    std::array<int, 4> liberties;
    Chain& chain = chains_[p];
    chain.liberties = static_cast<std::uint8_t>(board_.template find_liberties<4>(p, liberties));
    if (board_.colour(p) != own_) return;
    if (chain.liberties == 1) in_atari_[atari_count_++] = static_cast<typename Board::Point>(p);
    if (chain.liberties == 2 && !(runs(liberties[0], player_) && runs(liberties[1], player_)))
      chain.threatened = Ladder::can_catch(passed(), p);
  }

  // Whether a chain with two liberties is out by a stone on this one after atari on the other, without reading: it
  // would have four now, and captures none that the atari might save.
  bool runs(int p, int player) const {
    return !board_.captures(p, player) && board_.template count_liberties_after<4>(p, player) == 4;
  }

  Board passed() const {
    Board board = board_;
    board.lift_ko();
    return board;
  }
  Board after(int p) const {
    Board board = board_;
    board.template put<false>(p, player_);
    return board;
  }

  void mark_saving() {
    for (int i = 0; i < atari_count_; i++) {
      board_.each_stone(in_atari_[i], [&](int stone) {
        for (const int side : Board::kSides)
          if (board_.colour(stone + side) == enemy_) chains_[board_.head(stone + side)].saves = true;
      });
    }
  }

  template <class Add>
  void add_place(int p, Add add) const {
    const int column = column_of(p), row = row_of(p);
    const int line = std::min({column, width_ - 1 - column, row, height_ - 1 - row, 4});
    add((near_[row] >> column & 1 ? kLine : kOpenLine) + line);
    if (last_ != 0) add(kLast + distance(column, row, last_));
    if (before_ != 0) add(kBefore + distance(column, row, before_));
  }
  static int distance(int column, int row, int from) {
    const int dx = std::abs(column - column_of(from)), dy = std::abs(row - row_of(from));
    return std::clamp(dx + dy + std::max(dx, dy), 2, 17) - 2;
  }

  template <class Add>
  void add_neighbours(int p, Add add) const {
    add(kShape + GoNeighbourhoods::number(GoNeighbourhoods::code(board_, p, player_)));
    add_counts(p, Board::kSides, kOwnSides, add);
    add_counts(p, Board::kCorners, kOwnCorners, add);
    if (board_.is_surrounded(p, player_)) add(board_.is_eye(p, player_) ? kOwnEye : kFalseEye);
  }
  template <class Add>
  void add_counts(int p, const std::array<int, 4>& around, int first, Add add) const {
    std::array<int, 4> counts{};
    for (const int step : around) counts[board_.colour(p + step)]++;
    if (counts[own_] > 0) add(first + counts[own_] - 1);
    if (counts[enemy_] > 0) add(first + 4 + counts[enemy_] - 1);
  }

  // The chains around a point: heads of either colour.
  struct Around {
    int own_count = 0, enemy_count = 0;
    std::array<int, 4> own, enemy;
  };
  Around around(int p) const {
    Around chains;
    board_.each_chain_around(p, [&](int head) {
      if (board_.colour(head) == own_)
        chains.own[chains.own_count++] = head;
      else
        chains.enemy[chains.enemy_count++] = head;
    });
    return chains;
  }

  template <class Add>
  void add_tactics(int p, Add add) const {
    const Around chains = around(p);
    bool captures = false, gives_atari = false, presses = false, extends = false, defends = false;
    for (int i = 0; i < chains.enemy_count; i++) {
      const int liberties = chains_[chains.enemy[i]].liberties;
      captures |= liberties == 1, gives_atari |= liberties == 2, presses |= liberties == 3;
    }
    // Only captures can give a friend's chain liberties that do not touch the stone.
    const int liberties =
        captures ? after(p).template count_liberties<4>(p) : board_.template count_liberties_after<4>(p, player_);
    add_liberties(chains, liberties, add);
    if (liberties == 0) return;
    if (chains.own_count >= 2) add(chains.own_count == 2 ? kConnect2 : kConnect3);
    if (chains.enemy_count >= 2) add(chains.enemy_count == 2 ? kCut2 : kCut3);
    for (int i = 0; i < chains.own_count; i++) {
      const Chain& chain = chains_[chains.own[i]];
      extends |= chain.liberties == 1, defends |= chain.threatened;
    }
    if (captures) add_capture(p, chains, add);
    if (gives_atari) add_atari(p, chains, add);
    if (presses) add(kPress);
    if (!extends && !defends) return;
    const bool caught = liberties < 2 || (liberties == 2 && Ladder::can_catch(after(p), p));
    if (extends) add(caught ? kExtendCaught : kExtend);
    if (defends) add(caught ? kDefendCaught : kDefend);
  }

  template <class Add>
  void add_liberties(const Around& chains, int liberties, Add add) const {
    if (liberties == 2 || liberties == 3) add(kLiberties2 + liberties - 2);
    if (liberties >= 2) return;
    int size = 1;
    for (int i = 0; i < chains.own_count; i++) size += board_.chain_size(chains.own[i]);
    if (size == 1)
      add(kSelfAtari1);
    else
      add(size < 5 ? kSelfAtari2 : kSelfAtari5);
  }

  template <class Add>
  void add_capture(int p, const Around& chains, Add add) const {
    int size = 0;
    bool saves = false, takes_last = false, is_free = false;
    for (int i = 0; i < chains.enemy_count; i++) {
      const int head = chains.enemy[i];
      if (chains_[head].liberties != 1) continue;
      size += board_.chain_size(head);
      saves |= chains_[head].saves;
      takes_last |= last_ != 0 && board_.head(last_) == head;
    }
    for (int i = 0; i < chains.enemy_count && !saves && !takes_last && !is_free; i++)
      is_free = chains_[chains.enemy[i]].liberties == 1 && !Ladder::is_caught(passed(), chains.enemy[i]);
    if (saves || takes_last)
      add(saves ? kCaptureSaves : kCaptureLast);
    else
      add(is_free ? kCaptureFree : kCaptureCaught);
    if (size >= 2) add(size < 5 ? kCapture2 : kCapture5);
    if (size == 1 && after(p).ko() != 0) add(kTakesKo);
  }

  template <class Add>
  void add_atari(int p, const Around& chains, Add add) const {
    bool caught = false;
    for (int i = 0; i < chains.enemy_count && !caught; i++)
      caught = chains_[chains.enemy[i]].liberties == 2 && is_caught_by(p, chains.enemy[i]);
    add(caught ? kAtariLadder : kAtari);
    if (board_.ko() != 0) add(kAtariKo);
  }
  bool is_caught_by(int p, int head) const {
    std::array<int, 2> liberties;
    board_.template find_liberties<2>(head, liberties);
    if (runs(liberties[0] == p ? liberties[1] : liberties[0], 1 - player_)) return false;
    return Ladder::is_caught(after(p), head);
  }

  const Board& board_;
  int width_, height_, player_, own_, enemy_, last_, before_;
  int atari_count_ = 0;
  std::array<Chain, Board::kSize> chains_;
  std::array<typename Board::Point, Side * Side> in_atari_;
  std::array<std::uint32_t, Side> stones_{}, near_{};  // by rows, a bit for a column: a stone; one near
};

}  // namespace playout
