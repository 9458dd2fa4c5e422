// What all searches have in common: the best found, who does the work, and AnySearch, a search whose type is forgotten.
#pragma once

#include <cstdint>
#include <functional>
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

  void clear() {
    playouts = 0;
    score = -std::numeric_limits<double>::infinity();
    moves.clear();
  }
};

inline void serialise(const Best& best, Writer& out) {
  out.put(best.playouts);
  out.put(best.score);
  out.put(best.moves);
}

inline void deserialise(Best& best, Reader& in) {
  best.playouts = in.get<std::uint64_t>();
  best.score = in.get_number();
  in.get(best.moves);
}

// Who does the tasks of a search that has several at once: here the caller, one after the other. parallel/team.h has
// threads. Each task is done once, by some worker from 0 to size() - 1, and all are done when run() returns.
class Workers {
 public:
  using Task = std::function<void(int task, int worker)>;

  virtual ~Workers() = default;
  virtual int size() const { return 1; }
  virtual void run(int tasks, const Task& task) {
    for (int i = 0; i < tasks; i++) task(i, 0);
  }
};

// One virtual call for thousands of playouts: what the parallel strategies and the bindings hold.
//
// `advance` plays at most that many playouts, and returns early once the best has improved or a stop is requested.
// However a number of playouts is cut into calls of it, and whoever works, the search comes out the same.
class AnySearch {
 public:
  virtual ~AnySearch() = default;
  virtual void advance(std::uint64_t playouts, const std::stop_token& stop, Workers& workers) = 0;
  virtual void start_from(const std::vector<Move>& sequence, int times) = 0;
  virtual const Best& best() const = 0;
  virtual bool done() const { return false; }  // whether there is nothing more to find
  virtual std::unique_ptr<AnySearch> copy() const = 0;
  virtual void serialise(Writer& out) const = 0;
  virtual void deserialise(Reader& in) = 0;  // into a search of the same problem and settings; throws Damaged
};

template <class Search>
class SearchOf : public AnySearch {
 public:
  explicit SearchOf(Search search) : search_(std::move(search)) {}
  void advance(std::uint64_t playouts, const std::stop_token& stop, Workers& workers) override {
    if constexpr (requires { search_.advance(playouts, stop, workers); })
      search_.advance(playouts, stop, workers);
    else
      search_.advance(playouts, stop);
  }
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
