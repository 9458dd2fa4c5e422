// A Go board: stones, chains and liberties, kept up to date from move to move.
//
// Points. The board lies in an array with a border around it, row by row from the bottom; a row is kStride wide, and
// the border at the right of a row is that at the left of the next. A board smaller than Side has more border.
//
// Chains. The stones of a chain are a ring (next_), and each knows the chain's head (head_). An empty point is a ring
// and a head of its own.
//
// Liberties. Each head has one word that adds up word_of(l) over all pairs of a stone of the chain and an empty
// neighbour l of it: how many pairs, the sum of the l and the sum of their squares. Empty points have it too, for the
// stone that may come there. A chain is captured when its word is 0. All pairs have the same l, so the chain is in
// atari, if and only if count * squares == sum * sum. A stone that comes or goes changes the words around it by one
// subtraction or addition, whatever is there; the border has words as well, which nobody asks for.
//
// The list of empty points. At first all points in order; a stone that is put takes its point out, and the last of the
// list comes in its place; captured stones are appended, chain by chain in the order of neighbours (below, left, right,
// above) and within a chain along the ring from the head on. When two chains are joined the larger keeps its head, of
// equals the one that does not have the new stone; a stone is joined with its neighbours in the same order. If the
// rings were A0 A1 A2... and B0 B1 B2..., A the one that keeps its head, the new one is A0 B1 B2... B0 A1 A2...
// Rollouts draw from this list, which is why its order is defined here.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "core/random.h"

namespace playout {

enum GoColour : std::uint8_t { kEmpty, kBlack, kWhite, kBorder };

template <int Side>
class GoBoard {
 public:
  static constexpr int kStride = Side + 1, kSize = (Side + 1) * (Side + 2) + 1;
  static constexpr std::array<int, 4> kSides = {-kStride, -1, 1, kStride};
  static constexpr std::array<int, 4> kCorners = {-kStride - 1, -kStride + 1, kStride - 1, kStride + 1};
  // All eight neighbours, around the point: from below to the right and on.
  static constexpr std::array<int, 8> kRing = {-kStride, -kStride + 1, 1,  kStride + 1,
                                               kStride,  kStride - 1,  -1, -kStride - 1};
  using Point = std::conditional_t<kSize <= 256, std::uint8_t, std::uint16_t>;

  static constexpr int point(int column, int row) { return (row + 1) * kStride + column + 1; }

  // An empty board.
  GoBoard(int width, int height) {
    if (width < 1 || width > Side || height < 1 || height > Side)
      throw std::invalid_argument("no such size of a board");
    std::memset(colour_, kBorder, sizeof colour_);
    std::memset(around_, 0, sizeof around_);
    for (int row = 0; row < height; row++) {
      for (int column = 0; column < width; column++) {
        colour_[point(column, row)] = kEmpty;
        append(point(column, row));
      }
    }
    for (int p = 0; p < kSize; p++) {
      head_[p] = next_[p] = static_cast<Point>(p), size_[p] = 1;
      liberties_[p] = 0;
      if (colour_[p] == kBorder) continue;
      for (const int side : kSides) {
        if (colour_[p + side] == kBorder)
          around_[p] += kOne[0] + kOne[1];
        else
          liberties_[p] += word_of(p + side);
      }
    }
  }

  int colour(int p) const { return colour_[p]; }
  bool is_stone(int p) const { return colour_[p] == kBlack || colour_[p] == kWhite; }
  std::uint64_t hash() const { return hash_; }  // of the stones
  int ko() const { return ko_; }                // the point that must not be retaken now, or 0
  void lift_ko() { ko_ = 0; }
  int margin() const { return margin_; }  // black stones less white ones

  int empty_count() const { return count_; }
  int empty(int i) const { return list_[i]; }
  void swap_empty(int i, int j) {
    const Point a = list_[i], b = list_[j];
    list_[i] = b, list_[j] = a;
    place_[b] = static_cast<Point>(i), place_[a] = static_cast<Point>(j);
  }

  bool has_empty_neighbour(int p) const { return liberties_[head_[p]] != 0; }  // of an empty point

  // Whether all neighbours of a point are the player's stones or border.
  bool is_surrounded(int p, int player) const { return (around_[p] >> 4 * player & 15) == 4; }

  // Whether a point that is_surrounded is an eye: at most one hostile stone at its corners, none at the edge.
  bool is_eye(int p, int player) const {
    const int enemy = kWhite - player;
    int hostile = 0, edge = 0;
    for (const int corner : kCorners) {
      hostile += colour_[p + corner] == enemy;
      edge |= colour_[p + corner] == kBorder;
    }
    return hostile + edge < 2;
  }

  // Whether the chain of a stone has one liberty only, and which it is then.
  bool in_atari(int p) const { return is_one_point(liberties_[head_[p]]); }
  int liberty(int p) const {
    const std::uint64_t word = liberties_[head_[p]];
    return static_cast<int>((word >> 11 & 0x1FFFFF) / (word & 0x7FF));
  }

  // The chain of a stone: one of its stones that names it, and how many they are.
  int head(int p) const { return head_[p]; }
  int chain_size(int p) const { return size_[head_[p]]; }
  template <class Function>
  void each_stone(int p, Function function) const {
    int stone = p;
    do {
      function(stone);
      stone = next_[stone];
    } while (stone != p);
  }

  // How many of the neighbours of an empty point are empty.
  int empty_neighbours(int p) const { return static_cast<int>(liberties_[p] & 0x7FF); }

  // The liberties of the chain of a stone, along the ring from this stone on and by kSides; no more than N are looked
  // for. Returns how many were found.
  template <int N>
  int find_liberties(int p, std::array<int, N>& found) const {
    int count = 0, stone = p;
    do {
      for (const int side : kSides) {
        const int q = stone + side;
        if (colour_[q] != kEmpty || std::find(found.begin(), found.begin() + count, q) != found.begin() + count)
          continue;
        found[count++] = q;
        if (count == N) return N;
      }
      stone = next_[stone];
    } while (stone != p);
    return count;
  }
  template <int N>
  int count_liberties(int p) const {
    std::array<int, N> found;
    return find_liberties<N>(p, found);
  }

  // The chains around a point, by their heads, each once.
  template <class Function>
  void each_chain_around(int p, Function function) const {
    std::array<int, 4> seen;
    int count = 0;
    for (const int side : kSides) {
      if (!is_stone(p + side)) continue;
      const int head = head_[p + side];
      if (std::find(seen.begin(), seen.begin() + count, head) != seen.begin() + count) continue;
      seen[count++] = head;
      function(head);
    }
  }

  // Where the owner of a stone's chain can capture chains in atari around it; some points come more than once.
  template <class Function>
  void each_capture_around(int p, Function function) const {
    const int enemy = kBlack + kWhite - colour_[p];
    each_stone(p, [&](int stone) {
      for (const int side : kSides)
        if (colour_[stone + side] == enemy && in_atari(stone + side)) function(liberty(stone + side));
    });
  }

  // Whether a stone of the player on an empty point would capture.
  bool captures(int p, int player) const {
    return std::ranges::any_of(kSides,
                               [&](int side) { return colour_[p + side] == kWhite - player && in_atari(p + side); });
  }

  // Whether the player to move may put a stone on an empty point: by simple ko, and without suicide.
  bool may_play(int p, int player) const { return p != ko_ && (has_empty_neighbour(p) || !is_suicide(p, player)); }

  // How many liberties a stone of the player on an empty point would have with its chain, up to N. What it captures
  // counts by its stones that touch the new one; those that touch a friend's chain alone are not seen.
  template <int N>
  int count_liberties_after(int p, int player) const {
    if (empty_neighbours(p) >= N) return N;
    const int own = kBlack + player, enemy = kWhite - player;
    std::array<int, N> found;
    int count = 0;
    const auto add = [&](int q) {
      if (q == p || std::find(found.begin(), found.begin() + count, q) != found.begin() + count) return false;
      found[count++] = q;
      return count == N;
    };
    for (const int side : kSides) {
      const int q = p + side;
      if ((colour_[q] == kEmpty || (colour_[q] == enemy && in_atari(q))) && add(q)) return N;
    }
    for (const int side : kSides) {
      const int q = p + side;
      if (colour_[q] != own) continue;
      int stone = q;
      do {
        for (const int around : kSides)
          if (colour_[stone + around] == kEmpty && add(stone + around)) return N;
        stone = next_[stone];
      } while (stone != q);
    }
    return count;
  }

  // Whether a stone of the player on this point, which has no empty neighbour, would be taken off with its chain.
  bool is_suicide(int p, int player) const {
    const int own = kBlack + player, enemy = kWhite - player;
    bool lives = false;
    for (const int side : kSides) {
      const bool atari = in_atari(p + side);
      lives |= colour_[p + side] == (atari ? enemy : own);
    }
    return !lives;
  }

  // What hash() would be after a move.
  std::uint64_t hash_after(int p, int player) const {
    const int own = kBlack + player, enemy = kWhite - player;
    std::uint64_t hash = hash_ ^ kHashes[player][p];
    if (!has_empty_neighbour(p) && is_suicide(p, player)) {
      hash ^= kHashes[player][p];
      each_stone_in_atari(p, own, [&](int stone) { hash ^= kHashes[player][stone]; });
    } else {
      each_stone_in_atari(p, enemy, [&](int stone) { hash ^= kHashes[1 - player][stone]; });
    }
    return hash;
  }

  // Puts a stone on an empty point, takes off what it captures, or else itself if it is without liberties. A board
  // that need not be hashed is faster.
  template <bool kHashed = true>
  void put(int p, int player) {
    const int own = kBlack + player, enemy = kWhite - player;
    const bool can_make_ko = is_surrounded(p, 1 - player);
    take_out(p);
    colour_[p] = static_cast<std::uint8_t>(own);
    margin_ += 1 - 2 * player;
    if constexpr (kHashed) hash_ ^= kHashes[player][p];
    const std::uint64_t word = word_of(p);
    unsigned friends = 0, captured = 0;
    for (int i = 0; i < 4; i++) {
      const int q = p + kSides[i];
      around_[q] += kOne[player];
      liberties_[head_[q]] -= word;
      friends |= static_cast<unsigned>(colour_[q] == own) << i;
    }
    for (int i = 0; i < 4; i++) {
      const int q = p + kSides[i];
      captured |= static_cast<unsigned>((colour_[q] == enemy) & (liberties_[head_[q]] == 0)) << i;
    }
    for (; friends != 0; friends &= friends - 1) join(p, p + kSides[__builtin_ctz(friends)]);
    // Ko: one alone takes one alone. To retake takes nothing else: another chain in atari there had no liberty before.
    ko_ = 0;
    if (captured != 0) {
      const int before = count_;
      for (; captured != 0; captured &= captured - 1) {
        const int q = p + kSides[__builtin_ctz(captured)];
        if (colour_[q] == enemy) take_off<kHashed>(head_[q], 1 - player);
      }
      if (can_make_ko && count_ == before + 1) ko_ = list_[before];
    } else if (liberties_[head_[p]] == 0) {
      take_off<kHashed>(head_[p], player);
    }
  }

 private:
  static constexpr std::array<std::uint8_t, 2> kOne = {1, 16};  // a neighbour, in around_

  // Counts below 2^11, sums below 2^21 and squares below 2^31: enough for the 1200 pairs of neighbours of 25 x 25.
  static constexpr std::uint64_t word_of(std::uint64_t p) { return p * p << 32 | p << 11 | 1; }
  static constexpr bool is_one_point(std::uint64_t word) {
    const std::uint64_t count = word & 0x7FF, sum = word >> 11 & 0x1FFFFF, squares = word >> 32;
    return count * squares == sum * sum;
  }

  static constexpr std::array<std::array<std::uint64_t, kSize>, 2> kHashes = [] {
    std::array<std::array<std::uint64_t, kSize>, 2> hashes{};
    for (int player = 0; player < 2; player++)
      for (int p = 0; p < kSize; p++) hashes[player][p] = fold(fold(0x60, player), p);
    return hashes;
  }();

  void append(int p) {
    place_[p] = static_cast<Point>(count_);
    list_[count_++] = static_cast<Point>(p);
  }
  void take_out(int p) {
    const Point i = place_[p], last = list_[--count_];
    list_[i] = last, place_[last] = i;
  }

  // Joins the chains of two stones, if they are two; the new stone is in that of a.
  void join(int a, int b) {
    int big = head_[b], small = head_[a];
    if (big == small) return;
    if (size_[big] < size_[small]) std::swap(big, small);
    liberties_[big] += liberties_[small];
    size_[big] += size_[small];
    int stone = small;
    do {
      head_[stone] = static_cast<Point>(big);
      stone = next_[stone];
    } while (stone != small);
    std::swap(next_[big], next_[small]);
  }

  // Takes off a chain that has no liberties.
  template <bool kHashed>
  void take_off(int head, int player) {
    int stone = head;
    do {
      head_[stone] = static_cast<Point>(stone), size_[stone] = 1;
      colour_[stone] = kEmpty;
      liberties_[stone] = 0;
      stone = next_[stone];
    } while (stone != head);
    do {
      const std::uint64_t word = word_of(stone);
      for (const int side : kSides) {
        around_[stone + side] -= kOne[player];
        liberties_[head_[stone + side]] += word;
      }
      if constexpr (kHashed) hash_ ^= kHashes[player][stone];
      append(stone);
      margin_ -= 1 - 2 * player;
      const int after = next_[stone];
      next_[stone] = static_cast<Point>(stone);
      stone = after;
    } while (stone != head);
  }

  // The stones of a colour's chains in atari around a point.
  template <class Function>
  void each_stone_in_atari(int p, int colour, Function function) const {
    each_chain_around(p, [&](int head) {
      if (colour_[head] == colour && in_atari(head)) each_stone(head, function);
    });
  }

  std::uint64_t liberties_[kSize];
  std::uint64_t hash_ = 0;
  std::int16_t count_ = 0, margin_ = 0;
  Point ko_ = 0;
  std::uint8_t colour_[kSize];
  std::uint8_t around_[kSize];  // black neighbours in the low four bits, white ones above; the border is both
  Point head_[kSize], next_[kSize], size_[kSize];
  Point list_[Side * Side], place_[kSize];
};

}  // namespace playout
