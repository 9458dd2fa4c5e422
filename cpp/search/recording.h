// Recording: a playout with everything Adapt needs to learn it.
//
// Section 5.1 of "Generalized NRPA": the codes of the legal moves are written down while the playout finds them and are
// never computed again. A move that stays legal for several steps is one item (problems/problem.h); a step is a list of
// items. Beside each item's code stands the policy entry it had (core/policy.h), so that Adapt looks up only what the
// policy did not know.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/archive.h"
#include "core/policy.h"
#include "problems/problem.h"

namespace playout {

struct Recording {
  using Entry = HashPolicy::Entry;

  double score = -std::numeric_limits<double>::infinity();

  // One per step.
  std::vector<Move> moves;            // the move played
  std::vector<std::uint32_t> chosen;  // where it stands in `list`
  std::vector<std::uint32_t> end;     // where the step's legal moves end in `list`; the next step's begin

  // The items of the legal moves, step after step. Longer than what is recorded.
  std::vector<std::uint32_t> list;

  struct Item {
    std::uint64_t code;
    double bias, factor;  // the problem's bias, and what exp(w / t) is multiplied by
    Entry entry;
  };
  std::vector<Item> items;

  // Whether every item's entry is known to the policy that learns. If so: the entries that occur, each once, and where
  // an item's entry stands among them. (Items that come and go may share a code.)
  bool resolved = false;
  std::vector<Entry> distinct;
  std::vector<std::uint32_t> slot;
  bool plain = false;  // whether every move of every step is an item and an entry of its own, in that order

  bool improved = false;  // whether the problem's local search has seen it (search/improver.h)

  std::size_t steps() const { return moves.size(); }
  std::uint32_t begin(std::size_t step) const { return step == 0 ? 0 : end[step - 1]; }

  void clear() {
    score = -std::numeric_limits<double>::infinity();
    moves.clear(), chosen.clear(), end.clear(), items.clear();
    resolved = improved = false;
  }

  // For a policy that is not descended from the one that the entries are of: it looks them up by their codes.
  void forget_entries() {
    for (Item& item : items) item.entry = HashPolicy::kUnknown;
    resolved = false;
  }

  void serialise(Writer& out) const {
    out.put(score);
    out.put(moves), out.put(chosen), out.put(end);
    out.put(list, begin(steps()));
    out.put<std::uint8_t>(improved);
    out.put<std::uint64_t>(items.size());
    for (const Item& item : items) out.put(item.code), out.put(item.bias), out.put(item.factor), out.put(item.entry);
  }

  // Reads what serialise wrote; the entries are resolved anew when they are next needed.
  void deserialise(Reader& in) {
    score = in.get_number();
    in.get(moves), in.get(chosen), in.get(end), in.get(list);
    improved = in.get_below<std::uint8_t>(2) == 1;
    items.resize(in.get_count(3 * sizeof(double) + sizeof(Entry)));
    for (auto& [code, bias, factor, entry] : items) {
      code = in.get<std::uint64_t>();
      bias = in.get<double>(), factor = in.get<double>();
      entry = in.get<Entry>();
    }
    resolved = false;
    if (!consistent()) throw Damaged();
  }

  // Whether steps, list and items fit together.
  bool consistent() const {
    if (chosen.size() != steps() || end.size() != steps() || list.size() != begin(steps())) return false;
    for (std::size_t step = 0; step < steps(); step++)
      if (chosen[step] < begin(step) || chosen[step] >= end[step] || end[step] > list.size()) return false;
    return std::ranges::all_of(list, [&](std::uint32_t item) { return item < items.size(); });
  }

  // Makes room for the legal moves of one more step and returns where they begin.
  std::uint32_t reserve_step(int count) {
    const std::uint32_t first = begin(steps());
    if (first + count > list.size()) list.resize(2 * (first + count));
    return first;
  }

  void finish_step(Move move, std::uint32_t first, int count, int index) {
    moves.push_back(move);
    chosen.push_back(first + index);
    end.push_back(first + count);
  }
};

}  // namespace playout
