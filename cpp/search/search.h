// What all searches have in common: the best found, and AnySearch, a search whose type is forgotten.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

#include "core/archive.h"
#include "problems/problem.h"

namespace playout {

// The best playout of a search so far, and how many there were.
struct Best {
  std::uint64_t playouts = 0;
  double score = -std::numeric_limits<double>::infinity();
  std::vector<Move> moves;

  bool improve(double found, const std::vector<Move>& sequence) {
    if (!(found > score)) return false;
    score = found;
    moves = sequence;
    return true;
  }
};

inline void serialise(const Best& best, Writer& out) {
  out.put(best.playouts);
  out.put(best.score);
  out.put(best.moves);
}

inline void deserialise(Best& best, Reader& in) {
  best.playouts = in.get<std::uint64_t>();
  best.score = in.get<double>();
  in.get(best.moves);
}

// One virtual call for thousands of playouts: what the parallel strategies and the bindings hold.
class AnySearch {
 public:
  virtual ~AnySearch() = default;
  virtual void advance(std::uint64_t playouts, const std::stop_token& stop) = 0;
  virtual void start_from(const std::vector<Move>& sequence, int times) = 0;
  virtual const Best& best() const = 0;
  virtual std::unique_ptr<AnySearch> copy() const = 0;
  virtual void serialise(Writer& out) const = 0;
  virtual void deserialise(Reader& in) = 0;  // into a search of the same problem and settings; throws Damaged
};

template <class Search>
class SearchOf final : public AnySearch {
 public:
  explicit SearchOf(Search search) : search_(std::move(search)) {}
  void advance(std::uint64_t playouts, const std::stop_token& stop) override { search_.advance(playouts, stop); }
  void start_from(const std::vector<Move>& sequence, int times) override { search_.start_from(sequence, times); }
  const Best& best() const override { return search_.best(); }
  std::unique_ptr<AnySearch> copy() const override { return std::make_unique<SearchOf>(*this); }
  void serialise(Writer& out) const override { search_.serialise(out); }
  void deserialise(Reader& in) override { search_.deserialise(in); }
  const Search& search() const { return search_; }

 private:
  Search search_;
};

}  // namespace playout
