// What a search may ask of a problem.
//
// A problem is a constant: it is shared by all threads and never written to. A State is a value that can be copied. The
// legal moves of a state are found into a Moves object that the caller reuses, so that no step allocates; a move is
// then named by its index there. Everything below is const and may be called from any thread.
//
//   initial()                            the state a playout starts from
//   find_moves(state, moves)             the moves a playout may choose from; none ends it
//   find_all_moves(state, moves)         after one of the others that find moves, for the same state: every move the
//                                        rules allow, where the problem has a selective policy
//   play(state, moves, i)                plays the i-th of the moves found for this state
//   play_and_find_moves(state, moves, i) the same, and finds those of the state after it; what did not change is kept
//   score(state)                         of a finished playout; larger is better
//   max_moves()                          the longest list of moves there can be
//   improve(sequence)                    optional, a local search: makes a whole sequence of moves better and returns
//                                        true, or leaves it and returns false, as it does with what it improved before
//
// and of the moves:
//
//   count                        how many
//   move(i)                      a number that names the move in the sequence a search returns
//   item(i)                      the move's item, see below
//   items()                      how many items there have been since find_moves
//   code(item)                   what the policy learns a weight for; equal codes share it
//   bias(item), exp_bias(item)   GNRPA's bias of the move, and exp_factor(bias) (core/exp.h)
//
// An item is a move that may stay legal for several steps with the same code and bias. Items are numbered from 0 by
// find_moves and go on with play_and_find_moves, so that a search looks up a code once and not at every step. A problem
// that keeps nothing from step to step makes a new item of every move.
#pragma once

#include <concepts>
#include <cstdint>
#include <vector>

namespace playout {

// A move in a returned sequence; the Python side of the problem says what it means.
using Move = std::int64_t;

template <class P>
concept Problem = requires(const P& problem, typename P::State& state, const typename P::State& seen,
                           typename P::Moves& moves, const typename P::Moves& found, int i) {
  requires std::copyable<typename P::State>;
  { problem.initial() } -> std::same_as<typename P::State>;
  { problem.find_moves(seen, moves) } -> std::same_as<void>;
  { problem.find_all_moves(seen, moves) } -> std::same_as<void>;
  { problem.play(state, found, i) } -> std::same_as<void>;
  { problem.play_and_find_moves(state, moves, i) } -> std::same_as<void>;
  { problem.score(seen) } -> std::same_as<double>;
  { problem.max_moves() } -> std::same_as<int>;
  { found.count } -> std::convertible_to<int>;
  { found.item(i) } -> std::same_as<int>;
  { found.items() } -> std::same_as<int>;
  { found.code(i) } -> std::same_as<std::uint64_t>;
  { found.bias(i) } -> std::same_as<double>;
  { found.exp_bias(i) } -> std::same_as<double>;
  { found.move(i) } -> std::same_as<Move>;
};

// A problem may have a local search; whether one that may has it is said by improves(), if there is such a member.
template <class P>
concept Improvable = Problem<P> && requires(const P& problem, std::vector<Move>& sequence) {
  { problem.improve(sequence) } -> std::same_as<bool>;
};

template <Problem P>
bool improves(const P& problem) {
  if constexpr (requires { problem.improves(); }) return problem.improves();
  return Improvable<P>;
}

}  // namespace playout
