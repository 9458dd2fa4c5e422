// Shapes: 3 x 3 neighbourhoods in which the middle is a good move, as is well known: hane, cuts, and what happens at
// the edge.
//
// A shape is drawn as it lies, the middle a dot that is to be played:
//
//   x, o   a stone of one colour, of the other: either may be the player's
//   .      an empty point              #   the edge of the board
//   !x     not a stone of x's: empty, o's or the edge; !o likewise
//   ?      anything
//
// It may lie in any of the eight ways. What is around a point is known by its code (neighbourhood.h).
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>

#include "problems/go/neighbourhood.h"

namespace playout {

class GoShapes {
 public:
  static constexpr int kCount = 13;

  // Whether some shape has its middle here.
  static bool has(std::uint32_t code) { return all()[code]; }

 private:
  // Eight words around the middle, from below on against the clock: below, below right, right, above right, ...
  using Shape = std::array<const char*, 8>;
  static constexpr std::array<Shape, kCount> kShapes = {{
      // Hane: the end of the other's stones is bent around.
      {"?", "?", ".", "x", "o", "x", ".", "?"},   // from both sides
      {".", "?", ".", ".", "o", "x", ".", "?"},   // from one, with room
      {"!o", "?", ".", "?", "o", "x", "x", "?"},  // around a corner
      {".", ".", ".", ".", "o", ".", "x", "."},   // two stones at an angle, alone
      // Cuts.
      {"!o", "?", "!o", "?", "o", "x", "o", "?"},   // two diagonal stones, with no help behind
      {"?", "?", "x", "?", "o", "x", "o", "?"},     // the same, with a stone that waits there
      {"!x", "!x", "o", "?", "x", "?", "o", "!x"},  // through between two
      {"?", "?", "o", "?", "x", "o", "!x", "?"},    // between stones a knight's move apart
      // At the edge, which is below.
      {"#", "#", "?", "?", ".", "x", "o", "#"},    // a stone is run after along the edge
      {"#", "#", "o", "?", "x", "o", "x", "#"},    // blocked and cut
      {"#", "#", "o", "?", "x", "?", "!o", "#"},   // a way along the edge is closed
      {"#", "#", "!o", "o", "x", "?", "!o", "#"},  // down to the edge
      {"#", "#", "o", "x", "o", "?", "x", "#"},    // cut on the second line
  }};

  // Whether a word allows what is there: 0 empty, 1 own, 2 the other's, 3 edge; x is own or the other's.
  static bool allows(const char* word, unsigned there, unsigned x) {
    switch (word[0]) {
      case '?':
        return true;
      case '.':
        return there == 0;
      case '#':
        return there == 3;
      case '!':
        return there != (word[1] == 'x' ? x : 3 - x);
      default:
        return there == (word[0] == 'x' ? x : 3 - x);
    }
  }

  static bool fits(const Shape& shape, std::uint32_t code, int turn, bool mirror, unsigned x) {
    for (int i = 0; i < 8; i++) {
      const int at = (mirror ? turn - i : turn + i) & 7;
      if (!allows(shape[i], code >> 2 * at & 3, x)) return false;
    }
    return true;
  }

  static bool is_shape(std::uint32_t code) {
    return std::ranges::any_of(kShapes, [&](const Shape& shape) {
      for (int way = 0; way < 16; way++)
        if (fits(shape, code, way / 4 * 2, (way & 1) != 0, (way & 2) != 0 ? 2 : 1)) return true;
      return false;
    });
  }

  // Made once, at the first use. Each neighbourhood is looked at in one of its ways only: all codes, most of which no
  // board has, took 700 million instructions.
  static const std::bitset<1 << 16>& all() {
    static const std::bitset<1 << 16> made = [] {
      std::bitset<GoNeighbourhoods::kCount> shaped;
      for (int i = 0; i < GoNeighbourhoods::kCount; i++) shaped[i] = is_shape(GoNeighbourhoods::least(i));
      std::bitset<1 << 16> all;
      for (std::uint32_t code = 0; code < 1 << 16; code++) all[code] = shaped[GoNeighbourhoods::number(code)];
      return all;
    }();
    return made;
  }
};

}  // namespace playout
