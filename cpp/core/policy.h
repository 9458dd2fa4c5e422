// HashPolicy: the weight of every move code the search has learned something about.
//
// A policy maps a 64-bit code to a weight w (0, or what Adapt gave it) and keeps exp(w / t) beside it, so that a
// playout never computes an exponential. Any code is legal, 0 too, and two codes never share a weight. Codes below 2^16
// stand in a dense table, others are hashed: that index only points into `cells_`, where the whole code is compared.
//
// Entries are numbered in the order in which they came, from 1; entry 0 stands for every unknown code and has weight 0
// and value 1. The numbers are stable: they survive growth, and in a copy the entries of the original keep theirs.
// A recorded playout can therefore carry entry numbers instead of codes (search/recording.h), from a level to the level
// above too, whose policy the lower one began as a copy of.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/archive.h"
#include "core/random.h"

namespace playout {

// Thrown when a policy would grow beyond HashPolicy::kMaxEntries.
struct PolicyFull : std::length_error {
  using std::length_error::length_error;
};

class HashPolicy {
 public:
  using Entry = std::uint32_t;
  static constexpr Entry kUnknown = 0;
  static constexpr std::size_t kMaxEntries = std::size_t{1} << 22;  // about 170 MB

  HashPolicy() { clear(); }

  // One more than the number of codes known: entries below size() can be asked for.
  Entry size() const { return static_cast<Entry>(cells_.size()); }

  // The entry of a code, or kUnknown.
  Entry find(std::uint64_t code) const {
    if (code < direct_.size()) return direct_[code];
    for (std::size_t i = home(code);; i = (i + 1) & mask_) {
      const Entry entry = index_[i];
      if (entry == kUnknown || cells_[entry].code == code) return entry;
    }
  }

  // The entry of a code; a new one with that weight and value if the code is unknown.
  Entry find_or_insert(std::uint64_t code, double weight, double value) {
    const Entry known = find(code);
    return known != kUnknown ? known : insert(code, weight, value);
  }

  double value(Entry entry) const { return cells_[entry].value; }
  double weight(Entry entry) const { return weights_[entry]; }
  void set(Entry entry, double weight, double value) {
    weights_[entry] = weight;
    cells_[entry].value = value;
  }

  void clear() {
    cells_.assign(1, {0, 1.0});
    weights_.assign(1, 0.0);
    direct_.clear();
    hashed_ = 0;
    rebuild_index(2);
  }

  void serialise(Writer& out) const {
    out.put<std::uint64_t>(size() - 1);
    for (Entry entry = 1; entry < size(); entry++) {
      out.put(cells_[entry].code);
      out.put(weights_[entry]);
      out.put(cells_[entry].value);
    }
  }

  void deserialise(Reader& in) {
    clear();
    for (std::size_t left = in.get_count(3 * sizeof(double)); left > 0; left--) {
      const auto code = in.get<std::uint64_t>();
      const auto weight = in.get<double>();
      insert(code, weight, in.get<double>());
    }
  }

 private:
  static constexpr std::uint64_t kDirect = 1 << 16;       // codes below have a place in the dense table
  static constexpr std::size_t kSmallestIndex = 1 << 12;  // once a code is hashed

  struct Cell {  // what a playout reads
    std::uint64_t code;
    double value;
  };

  std::size_t home(std::uint64_t code) const { return (code ^ code >> 32) * kGolden >> shift_; }

  Entry insert(std::uint64_t code, double weight, double value) {
    if (cells_.size() > kMaxEntries)
      throw PolicyFull("the policy of one level knows " + std::to_string(kMaxEntries) +
                       " move codes, the most it may hold; use fewer iterations, or codes that more moves share");
    cells_.push_back({code, value});
    weights_.push_back(weight);
    if (code < kDirect) {
      if (code >= direct_.size()) direct_.resize(std::bit_ceil(code + 1), kUnknown);
      direct_[code] = size() - 1;
    } else if (2 * ++hashed_ > index_.size()) {
      rebuild_index(std::max(2 * index_.size(), kSmallestIndex));
    } else {
      place(size() - 1);
    }
    return size() - 1;
  }

  void place(Entry entry) {
    std::size_t i = home(cells_[entry].code);
    while (index_[i] != kUnknown) i = (i + 1) & mask_;
    index_[i] = entry;
  }

  void rebuild_index(std::size_t size) {
    index_.assign(size, kUnknown);
    mask_ = size - 1;
    shift_ = 64;
    for (; size > 1; size /= 2) shift_--;
    for (Entry entry = 1; entry < this->size(); entry++)
      if (cells_[entry].code >= kDirect) place(entry);
  }

  std::vector<Cell> cells_;
  std::vector<double> weights_;
  std::vector<Entry> direct_;  // by code; as long as the largest small code so far needs
  std::vector<Entry> index_;   // of the other codes: a power of two, at most half full, linear probing
  std::size_t hashed_ = 0;     // how many those are
  std::size_t mask_ = 0;
  int shift_ = 0;
};

}  // namespace playout
