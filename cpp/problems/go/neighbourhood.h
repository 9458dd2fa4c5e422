// What is on the eight points around one, and all that can be there, numbered.
//
// A code has two bits a point (0 empty, 1 own, 2 the other's, 3 edge) in the order of GoBoard::kRing. Codes that become
// each other when the board is turned or mirrored are one neighbourhood, known by the least of them; neighbourhoods are
// numbered by that. An edge takes up a side and both corners there.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "problems/go/board.h"

namespace playout {

class GoNeighbourhoods {
 public:
  // 954 without an edge, 135 at one, 18 in a corner; 10 on boards one point wide.
  static constexpr int kCount = 1117;

  template <int Side>
  static std::uint32_t code(const GoBoard<Side>& board, int p, int player) {
    std::uint32_t code = 0;
    for (int i = 0; i < 8; i++) code |= static_cast<std::uint32_t>(board.colour(p + GoBoard<Side>::kRing[i])) << 2 * i;
    return player == 0 ? code : with_colours_swapped(code);
  }

  // The number of the neighbourhood of a code that a board can have, and the least code of a neighbourhood.
  static int number(std::uint32_t code) { return all().numbers[code]; }
  static std::uint32_t least(int number) { return all().least[number]; }

  // Each as eight letters along the ring: . empty, x own, o the other's, # edge.
  static std::vector<std::string> names() {
    std::vector<std::string> names;
    for (const std::uint32_t code : all().least) {
      std::string name;
      for (int i = 0; i < 8; i++) name += ".xo#"[code >> 2 * i & 3];
      names.push_back(name);
    }
    return names;
  }

 private:
  struct All {
    std::array<std::uint16_t, 1 << 16> numbers{};
    std::vector<std::uint32_t> least;
  };

  // Stones are where the two bits differ.
  static std::uint32_t with_colours_swapped(std::uint32_t code) {
    const std::uint32_t stones = (code ^ code >> 1) & 0x5555;
    return code ^ (stones | stones << 1);
  }

  static bool is_edge(std::uint32_t code, int i) { return (code >> 2 * (i & 7) & 3) == 3; }

  // Sides are the even ones.
  static bool is_possible(std::uint32_t code) {
    for (int i = 1; i < 8; i += 2)
      if (is_edge(code, i) != (is_edge(code, i - 1) || is_edge(code, i + 1))) return false;
    return true;
  }

  static std::uint32_t least_of(std::uint32_t code) {
    std::uint32_t least = code;
    for (int way = 0; way < 8; way++) {
      std::uint32_t turned = 0;
      for (int i = 0; i < 8; i++) {
        const int at = way % 2 == 0 ? way + i : way - 1 - i;
        turned |= (code >> 2 * (at & 7) & 3) << 2 * i;
      }
      least = std::min(least, turned);
    }
    return least;
  }

  // Made once, at the first use.
  static const All& all() {
    static const All made = [] {
      All all;
      for (std::uint32_t code = 0; code < 1 << 16; code++) {
        if (!is_possible(code)) continue;
        const std::uint32_t least = least_of(code);
        if (least == code) {
          all.numbers[code] = static_cast<std::uint16_t>(all.least.size());
          all.least.push_back(code);
        } else {
          all.numbers[code] = all.numbers[least];
        }
      }
      return all;
    }();
    return made;
  }
};

}  // namespace playout
