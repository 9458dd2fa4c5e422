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
  explicit Workspace(const P& problem) : odds(problem.max_moves()) {}
  typename P::Moves moves;
  std::vector<double> odds;
};

// Writes the legal moves of one step into the recording, from `first` on.
template <class Moves>
void record_step(const Moves& moves, const HashPolicy& policy, const Softmax& softmax, Recording& out,
                 std::uint32_t first) {
  std::uint64_t* code = out.code.data() + first;
  double *bias = out.bias.data() + first, *factor = out.factor.data() + first;
  HashPolicy::Entry* entry = out.entry.data() + first;
  for (int i = 0; i < moves.count; i++) {
    code[i] = moves.code(i);
    bias[i] = moves.bias(i);
    entry[i] = policy.find(code[i]);
    const bool biased = softmax.bias_use == BiasUse::factor ||
                        (softmax.bias_use == BiasUse::initial && entry[i] == HashPolicy::kUnknown);
    factor[i] = biased ? moves.exp_bias(i) : 1.0;
  }
}

// One playout from the initial state, recorded.
template <Problem P>
void play_out(const P& problem, const HashPolicy& policy, const Softmax& softmax, Stream random, Workspace<P>& work,
              Recording& out) {
  out.clear();
  auto state = problem.initial();
  for (problem.find_moves(state, work.moves); work.moves.count > 0; problem.find_moves(state, work.moves)) {
    const int count = work.moves.count;
    const std::uint32_t first = out.reserve_step(count);
    record_step(work.moves, policy, softmax, out, first);
    const double sum = step_odds(policy, softmax, {out, first, count}, work.odds.data());
    const int i = draw(work.odds.data(), count, sum, random);
    out.finish_step(work.moves.move(i), first, count, i);
    problem.play(state, work.moves, i);
  }
  out.score = problem.score(state);
}

// Plays a given sequence from the initial state and records it, as if the policy had played it. A move that the
// selective policy leaves out is taken among all legal ones. Throws if a move is not legal or the game goes on after
// the last.
template <Problem P>
void record_sequence(const P& problem, const std::vector<Move>& sequence, const HashPolicy& policy,
                     const Softmax& softmax, Workspace<P>& work, Recording& out) {
  out.clear();
  auto state = problem.initial();
  const auto index_of = [&](Move move) {
    int i = 0;
    while (i < work.moves.count && work.moves.move(i) != move) i++;
    return i;
  };
  for (std::size_t step = 0; step < sequence.size(); step++) {
    problem.find_moves(state, work.moves);
    int i = index_of(sequence[step]);
    if (i == work.moves.count) {
      problem.find_all_moves(state, work.moves);
      i = index_of(sequence[step]);
    }
    if (i == work.moves.count) throw std::invalid_argument("move " + std::to_string(step + 1) + " is not legal there");
    const std::uint32_t first = out.reserve_step(work.moves.count);
    record_step(work.moves, policy, softmax, out, first);
    out.finish_step(sequence[step], first, work.moves.count, i);
    problem.play(state, work.moves, i);
  }
  problem.find_moves(state, work.moves);
  if (work.moves.count > 0)
    throw std::invalid_argument("after its " + std::to_string(sequence.size()) +
                                " moves the game goes on; a whole playout is needed");
  out.score = problem.score(state);
}

// Plays uniformly random moves to the end, appends them to `sequence` and returns the score.
template <Problem P>
double play_uniformly(const P& problem, typename P::State state, Stream random, typename P::Moves& moves,
                      std::vector<Move>& sequence) {
  for (problem.find_moves(state, moves); moves.count > 0; problem.find_moves(state, moves)) {
    const int i = static_cast<int>(random.uniform() * moves.count);
    sequence.push_back(moves.move(i));
    problem.play(state, moves, i);
  }
  return problem.score(state);
}

}  // namespace playout
