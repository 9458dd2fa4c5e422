// What a tree search may ask of a game for two players, besides what problem.h says of problems.
//
//   player(state)                 whose turn it is, 0 or 1
//   score(state)                  of a finished game, as player 0 sees it: above 0 a win, 0 a draw, below 0 a loss
//   key(state)                    64 bits that name a state: equal keys go on alike, apart from what the history
//                                 forbids, and from rollouts and priors, which may look at the last moves
//
// A game is finished where find_moves finds no move. Built-in games have small moves, numbers below kMoveLimit, and can
// play a move without a list of all of them:
//
//   kMoveLimit                    no move is as large
//   play_move(state, move)        plays a legal move
//   is_finished(state)            whether the game is over
//   rollout(state, random, each)  plays random moves to the end, as sensible for the game, calls each(player, move)
//                                 before each, and returns the score; optional
//
// A game whose history forbids moves (superko) lists, apart from find_moves, those that the board allows; the list is
// then the same for all states of a key:
//
//   find_board_moves(state, moves), is_allowed(state, move)
//
// Where a move can be made more than once, as on a point of Go whose stone was captured, AMAF may count only who made
// it first:
//
//   kFirstPlayCounts              true
//
// A game may know for each move of a state how many simulations, and wins of them, its prior is worth beyond the even
// one (RAVE alone has priors):
//
//   has_priors(), find_priors(state, moves, out)     out has room for one of each of the moves; called by any thread
//
// The bias of a move is what the game thinks of it before any is searched: 0 even, above 0 better.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>

#include "core/random.h"
#include "problems/problem.h"

namespace playout {

template <class P>
concept Game = Problem<P> && requires(const P& problem, const typename P::State& state) {
  { problem.player(state) } -> std::same_as<int>;
  { problem.key(state) } -> std::same_as<std::uint64_t>;
};

// A game with small moves that it plays without a list. What is not one of these and has a player is a user's.
template <class P>
concept BoardGame = Game<P> && requires(const P& problem, typename P::State& state, Move move) {
  { P::kMoveLimit } -> std::convertible_to<int>;
  { problem.play_move(state, move) } -> std::same_as<void>;
  { problem.is_finished(state) } -> std::same_as<bool>;
};

template <class P>
concept HasHistory = requires(const P& problem, const typename P::State& state, typename P::Moves& moves, Move move) {
  { problem.find_board_moves(state, moves) } -> std::same_as<void>;
  { problem.is_allowed(state, move) } -> std::same_as<bool>;
};

template <class P>
concept FirstPlayCounts = requires { requires P::kFirstPlayCounts; };

// Simulations as if made of a move, and how many of them the player to move won; 0.5 of a draw.
struct Prior {
  float visits = 0, wins = 0;
};

template <class P>
concept HasPriors =
    requires(const P& problem, const typename P::State& state, const typename P::Moves& moves, Prior* out) {
      { problem.has_priors() } -> std::same_as<bool>;
      { problem.find_priors(state, moves, out) } -> std::same_as<void>;
    };

// Whether a problem says which moves are likely to be good: by its priors, or by a bias.
template <class P>
bool has_preferences(const P& problem) {
  if constexpr (requires { problem.has_bias(); }) return problem.has_bias();
  if constexpr (HasPriors<P>) return problem.has_priors();
  return !BoardGame<P>;
}

// The legal moves of a state of a game with small moves: at most N, all of them new items.
template <int N>
struct GameMoves {
  int count = 0;
  std::array<std::uint16_t, N> list;
  int first = 0;  // item of this step

  void clear() { count = 0, first = 0; }
  void add(int move) { list[count++] = static_cast<std::uint16_t>(move); }

  // Empties the list for the moves of the next step.
  void start_next() { first += count, count = 0; }

  // Takes the i-th out; the last takes its place.
  int take(int i) {
    const int move = list[i];
    list[i] = list[--count];
    return move;
  }

  Move move(int i) const { return list[i]; }
  int item(int i) const { return first + i; }
  int items() const { return first + count; }
  std::uint64_t code(int item) const { return list[item - first]; }
  double bias(int /*item*/) const { return 0; }
  double exp_bias(int /*item*/) const { return 1; }
};

// How a result looks to a player, in half wins: 0 a loss, 1 a draw, 2 a win.
inline int half_wins(double score, int player) {
  const int first = 1 + (score > 0) - (score < 0);
  return player == 0 ? first : 2 - first;
}

}  // namespace playout
