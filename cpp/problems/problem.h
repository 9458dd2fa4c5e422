// What a search may ask of a problem.
//
// A problem is a constant: it is shared by all threads and never written to. A State is a trivially copyable value. The
// legal moves of a state are found once, into a Moves object that the caller reuses, so that no step allocates; a move
// is then named by its index there. Everything below is const and may be called from any thread.
//
//   initial()                    the state a playout starts from
//   find_moves(state, moves)     the moves a playout may choose from; none ends it
//   find_all_moves(state, moves) every move the rules allow; the same list unless the problem has a selective policy
//   play(state, moves, i)        plays the i-th of the moves just found for this state
//   score(state)                 of a finished playout; larger is better
//   max_moves()                  the longest list of moves there can be
//
// and of the moves:
//
//   count                        how many
//   code(i)                      what the policy learns a weight for; equal codes share it
//   bias(i), exp_bias(i)         GNRPA's bias of the move, and exp_factor(bias) (core/exp.h)
//   move(i)                      a number that names the move in the sequence a search returns
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace playout {

// A move in a returned sequence; the Python side of the problem says what it means.
using Move = std::int64_t;

template <class P>
concept Problem = requires(const P& problem, typename P::State& state, const typename P::State& seen,
                           typename P::Moves& moves, const typename P::Moves& found, int i) {
  requires std::is_trivially_copyable_v<typename P::State>;
  { problem.initial() } -> std::same_as<typename P::State>;
  { problem.find_moves(seen, moves) } -> std::same_as<void>;
  { problem.find_all_moves(seen, moves) } -> std::same_as<void>;
  { problem.play(state, found, i) } -> std::same_as<void>;
  { problem.score(seen) } -> std::same_as<double>;
  { problem.max_moves() } -> std::same_as<int>;
  { found.count } -> std::convertible_to<int>;
  { found.code(i) } -> std::same_as<std::uint64_t>;
  { found.bias(i) } -> std::same_as<double>;
  { found.exp_bias(i) } -> std::same_as<double>;
  { found.move(i) } -> std::same_as<Move>;
};

}  // namespace playout
