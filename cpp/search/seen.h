// Seen: what AMAF asks of a simulation.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/archive.h"
#include "core/random.h"
#include "problems/game.h"

namespace playout {

// The moves of a simulation, to be asked which player played which.
template <class P>
class Seen {
 public:
  void begin() {
    if (codes_.empty()) codes_.resize(kLeast);
    if (3 * used_ > codes_.size()) codes_.resize(2 * codes_.size());
    std::ranges::fill(codes_, 0);
    used_ = 0;
  }
  void add(std::uint32_t player, std::uint64_t code) { insert(name(player, code)); }
  bool has(std::uint32_t player, std::uint64_t code) const { return codes_[find(name(player, code))] != 0; }

  // All of them, for another rank; `read` throws Damaged.
  void write(Writer& out) const {
    out.put_varint(used_);
    for (const std::uint64_t name : codes_)
      if (name != 0) out.put(name);
  }
  void read(Reader& in) {
    begin();
    for (std::size_t left = in.get_small_count(sizeof(std::uint64_t)); left > 0; left--) {
      const auto name = in.get<std::uint64_t>();
      if ((name & 1) == 0) throw Damaged();
      insert(name);
    }
  }
  static constexpr std::uint64_t kLimit = 0;  // codes are any numbers

 private:
  static constexpr std::size_t kLeast = 256;

  void insert(std::uint64_t name) {
    if (2 * (used_ + 1) > codes_.size()) grow();
    std::uint64_t& place = codes_[find(name)];
    if (place == 0) used_++;
    place = name;
  }

  // Not 0, which is an empty place. Two plays clash with a chance of 2^-63, and then AMAF counts one too many.
  static std::uint64_t name(std::uint32_t player, std::uint64_t code) { return mix(code + player * kGolden) | 1; }

  std::size_t find(std::uint64_t name) const {
    std::size_t i = (name >> 1) & (codes_.size() - 1);
    while (codes_[i] != 0 && codes_[i] != name) i = (i + 1) & (codes_.size() - 1);
    return i;
  }
  void grow() {
    const std::vector<std::uint64_t> before = std::exchange(codes_, std::vector<std::uint64_t>(2 * codes_.size()));
    for (const std::uint64_t name : before)
      if (name != 0) codes_[find(name)] = name;
  }

  std::vector<std::uint64_t> codes_;
  std::size_t used_ = 0;
};

// The same where moves are small numbers. Moves are added from the last to the first: of a game in which the first play
// counts (game.h) each hides the same move of the other, who made it later.
template <BoardGame P>
class Seen<P> {
 public:
  void begin() {
    if (++now_ == 0) when_ = {}, now_ = 1;
  }
  void add(std::uint32_t player, std::uint64_t move) {
    when_[player][move] = now_;
    if constexpr (FirstPlayCounts<P>) when_[1 - player][move] = now_ - 1;
  }
  bool has(std::uint32_t player, std::uint64_t move) const { return when_[player][move] == now_; }

  // Two bits a move, for another rank: who has played it.
  static constexpr std::uint64_t kLimit = P::kMoveLimit;
  void write(Writer& out) const {
    for (std::uint64_t first = 0; first < kLimit; first += 4) {
      std::uint32_t byte = 0;
      for (std::uint64_t move = first; move < std::min(first + 4, kLimit); move++)
        byte |= (has(0, move) | has(1, move) << 1) << (2 * (move - first));
      out.put(static_cast<std::uint8_t>(byte));
    }
  }
  void read(Reader& in) {
    begin();
    for (std::uint64_t first = 0; first < kLimit; first += 4) {
      const auto byte = in.get<std::uint8_t>();
      for (std::uint64_t move = first; move < std::min(first + 4, kLimit); move++)
        for (const std::uint32_t player : {0U, 1U})
          if (byte >> (2 * (move - first) + player) & 1) when_[player][move] = now_;
    }
  }

 private:
  std::uint32_t now_ = 0;
  std::array<std::array<std::uint32_t, P::kMoveLimit>, 2> when_{};
};

}  // namespace playout
