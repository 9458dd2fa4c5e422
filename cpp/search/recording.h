// Recording: a playout with everything Adapt needs to learn it.
//
// Section 5.1 of "Generalized NRPA": the codes of the legal moves are written down while the playout finds them and are
// never computed again. Beside each code stands the policy entry it had (core/policy.h), so that Adapt looks up only
// what the policy did not know.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/policy.h"
#include "problems/problem.h"

namespace playout {

struct Recording {
  double score = -std::numeric_limits<double>::infinity();

  // One per step.
  std::vector<Move> moves;            // the move played
  std::vector<std::uint32_t> chosen;  // where it stands in the lists below
  std::vector<std::uint32_t> end;     // where the step's legal moves end there; the next step's begin

  // One per legal move of a step, all steps one after the other. These four are longer than what is recorded.
  std::vector<std::uint64_t> code;
  std::vector<double> bias, factor;  // the problem's bias, and what exp(w / t) is multiplied by
  std::vector<HashPolicy::Entry> entry;

  // Whether every entry is known to the policy that learns, and if so the entries that occur, each once.
  bool resolved = false;
  std::vector<HashPolicy::Entry> distinct;

  std::size_t steps() const { return moves.size(); }
  std::uint32_t begin(std::size_t step) const { return step == 0 ? 0 : end[step - 1]; }
  std::uint32_t total() const { return end.empty() ? 0 : end.back(); }

  void clear() {
    score = -std::numeric_limits<double>::infinity();
    moves.clear(), chosen.clear(), end.clear();
    resolved = false;
  }

  // Makes room for the legal moves of one more step and returns where they begin.
  std::uint32_t reserve_step(int count) {
    const std::uint32_t first = total();
    if (first + count > code.size()) {
      const std::size_t size = 2 * (first + count);
      code.resize(size), bias.resize(size), factor.resize(size), entry.resize(size);
    }
    return first;
  }

  void finish_step(Move move, std::uint32_t first, int count, int index) {
    moves.push_back(move);
    chosen.push_back(first + index);
    end.push_back(first + count);
  }
};

}  // namespace playout
