// What a tree search knows of a state's moves, and which of them is the decision.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "problems/problem.h"
#include "search/tree.h"

namespace playout {

// A root's action, as an analysis shows it.
struct ActionReport {
  Move move = 0;
  std::uint32_t action = 0;  // which one of the node's
  std::uint32_t votes = 0;   // of several ranks, those that have tried it most themselves
  std::uint64_t visits = 0, amaf_visits = 0;
  double wins = 0, amaf_wins = 0;  // of a puzzle, sums of scores
  double prior_visits = 0, prior_wins = 0;
  Bounds bounds;
};

// What is known of a state's moves, for whoever plays games with it.
struct TreeReport {
  std::vector<ActionReport> actions;
  int player = 0;
  Bounds bounds;
  std::uint64_t visits = 0, nodes = 0, bytes = 0, most_bytes = 0;
  bool full = false;
  // Where several ranks search together: how many there are, their playouts of this thinking, as far as is known, and
  // whether something is known of all of them.
  std::uint64_t ranks = 1, playouts = 0;
  bool complete = false;
};

// How the decision is taken.
enum class Decision : std::uint8_t { visits, value, lower_bound };

// What an action brought on average, and how it looks to a rule of decision.
inline double value_of(const ActionReport& a, Decision decision = Decision::value) {
  if (a.visits == 0) return -1;
  const double mean = a.wins / static_cast<double>(a.visits);
  if (decision != Decision::lower_bound) return mean;
  return mean - 1 / std::sqrt(static_cast<double>(a.visits));  // two standard deviations, at most
}

// Whether one action of a player is the better decision than another: what is proven comes first.
inline bool is_better(const ActionReport& one, const ActionReport& other, Decision decision, int player) {
  const auto certain = [&](const ActionReport& a) { return player == 0 ? a.bounds.lower : 2 - a.bounds.upper; };
  const auto hoped = [&](const ActionReport& a) { return player == 0 ? a.bounds.upper : 2 - a.bounds.lower; };
  if (certain(one) != certain(other) && certain(one) >= hoped(other)) return true;
  if (certain(one) != certain(other) && certain(other) >= hoped(one)) return false;
  if ((hoped(one) == 0) != (hoped(other) == 0)) return hoped(other) == 0;
  if (decision == Decision::visits && one.visits != other.visits) return one.visits > other.visits;
  return value_of(one, decision) > value_of(other, decision);
}

// Whether what is proven of an action is that its player loses.
inline bool is_lost(const Bounds& bounds, int player) { return player == 0 ? bounds.upper == 0 : bounds.lower == 2; }

// A node as the tests compare it with the plain twin's.
struct NodeReport {
  std::uint64_t key;  // of the state, in a graph
  std::vector<Move> path;
  std::uint64_t visits;
  Bounds bounds;
  std::vector<ActionReport> actions;
  int rank = 0;  // that has it
};

}  // namespace playout
