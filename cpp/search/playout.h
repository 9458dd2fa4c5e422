// Playouts: from a state to the end of the game, by a policy (Algorithm 4 of "Generalized NRPA") or uniformly.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "core/policy.h"
#include "core/random.h"
#include "problems/problem.h"
#include "search/recording.h"
#include "search/softmax.h"

namespace playout {

// The buffers a playout works in, allocated once.
template <Problem P>
struct Workspace {
  explicit Workspace(const P& problem) : running(problem.max_moves()) {}
  typename P::Moves moves;
  std::vector<double> values;   // the odds of each item
  std::vector<double> running;  // the running sum of the odds of a step
};

// Records the items that are new since the last step, and their odds.
template <class Moves>
void record_items(const Moves& moves, const HashPolicy& policy, const Softmax& softmax, Recording& out,
                  std::vector<double>& values) {
  const int first = static_cast<int>(out.items.size()), end = moves.items();
  out.items.resize(end), values.resize(end);
  Recording::Item* items = out.items.data();
  double* odds = values.data();
  for (int item = first; item < end; item++) {
    const std::uint64_t code = moves.code(item);
    const HashPolicy::Entry entry = policy.find(code);
    items[item] = {code, moves.bias(item), softmax.is_factor(entry) ? moves.exp_bias(item) : 1.0, entry};
    odds[item] = odds_of(policy, items[item]);
  }
}

// Records the legal moves of one more step, with the running sums of their odds, and draws one.
template <Problem P>
int record_and_draw(const HashPolicy& policy, const Softmax& softmax, Workspace<P>& work, Recording& out,
                    Stream& random) {
  record_items(work.moves, policy, softmax, out, work.values);
  const int count = work.moves.count;
  const std::uint32_t first = out.reserve_step(count);
  std::uint32_t* list = out.list.data() + first;
  const double* values = work.values.data();
  double* running = work.running.data();
  double sum = 0;
  for (int i = 0; i < count; i++) {
    list[i] = static_cast<std::uint32_t>(work.moves.item(i));
    running[i] = sum += values[list[i]];
  }
  if (!is_finite(sum)) {
    odds_by_logarithm(policy, softmax, out, first, count, running);
    sum = 0;
    for (int i = 0; i < count; i++) running[i] = sum += running[i];
  }
  const int i = draw(running, count, random);
  out.finish_step(work.moves.move(i), first, count, i);
  return i;
}

// One playout from the initial state, recorded.
template <Problem P>
void play_out(const P& problem, const HashPolicy& policy, const Softmax& softmax, Stream random, Workspace<P>& work,
              Recording& out) {
  out.clear();
  work.values.clear();
  auto state = problem.initial();
  problem.find_moves(state, work.moves);
  while (work.moves.count > 0) {
    const int i = record_and_draw(policy, softmax, work, out, random);
    problem.play_and_find_moves(state, work.moves, i);
  }
  out.score = problem.score(state);
}

template <class Moves>
int index_of(const Moves& moves, Move move) {
  int i = 0;
  while (i < moves.count && moves.move(i) != move) i++;
  return i;
}

// Plays a given sequence from the initial state and records it, as if the policy had played it. A move that the
// selective policy leaves out is taken among all legal ones. Throws if a move is not legal or the game goes on after
// the last.
template <Problem P>
void record_sequence(const P& problem, const std::vector<Move>& sequence, const HashPolicy& policy,
                     const Softmax& softmax, Workspace<P>& work, Recording& out) {
  out.clear();
  work.values.clear();
  auto state = problem.initial();
  problem.find_moves(state, work.moves);
  for (std::size_t step = 0; step < sequence.size(); step++) {
    int i = index_of(work.moves, sequence[step]);
    if (i == work.moves.count) {
      problem.find_all_moves(state, work.moves);
      i = index_of(work.moves, sequence[step]);
    }
    if (i == work.moves.count) throw std::invalid_argument("move " + std::to_string(step + 1) + " is not legal there");
    record_items(work.moves, policy, softmax, out, work.values);
    const std::uint32_t first = out.reserve_step(work.moves.count);
    for (int j = 0; j < work.moves.count; j++) out.list[first + j] = static_cast<std::uint32_t>(work.moves.item(j));
    out.finish_step(sequence[step], first, work.moves.count, i);
    problem.play_and_find_moves(state, work.moves, i);
  }
  if (work.moves.count > 0)
    throw std::invalid_argument("after its " + std::to_string(sequence.size()) +
                                " moves the game goes on; a whole playout is needed");
  out.score = problem.score(state);
}

// Plays uniformly random moves to the end, appends them to `sequence` and returns the score.
template <Problem P>
double play_uniformly(const P& problem, typename P::State state, Stream random, typename P::Moves& moves,
                      std::vector<Move>& sequence) {
  problem.find_moves(state, moves);
  while (moves.count > 0) {
    const int i = static_cast<int>(random.uniform() * moves.count);
    sequence.push_back(moves.move(i));
    problem.play_and_find_moves(state, moves, i);
  }
  return problem.score(state);
}

}  // namespace playout
