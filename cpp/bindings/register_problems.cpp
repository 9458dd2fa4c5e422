#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings/bindings.h"
#include "bindings/python_rules.h"
#include "search/playout.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace playout::bindings {
namespace {

template <class Game>
AnyProblem make(int width, int height, const std::vector<std::uint8_t>& cells, int tabu, Leftover leftover) {
  return std::make_shared<const Game>(width, height, cells, tabu, leftover);
}

ProblemHandle same_game(int width, int height, const std::vector<std::uint8_t>& cells, int tabu, Leftover leftover,
                        bool tall) {
  const bool wide_word = tall || height > SameGame16::kMaxHeight;
  return {wide_word ? make<SameGame20>(width, height, cells, tabu, leftover)
                    : make<SameGame16>(width, height, cells, tabu, leftover)};
}

// Functions of a class that Numba has compiled, by their addresses.
ProblemHandle compiled_problem(std::uintptr_t init, std::uintptr_t find, std::uintptr_t play, std::uintptr_t step,
                               std::uintptr_t score, std::uintptr_t player, bool has_bias, std::uintptr_t data,
                               std::size_t state_bytes, int max_moves, int max_length, nb::object owner,
                               nb::object python_score, nb::object improve) {
  CompiledRules::Functions functions{};
  // NOLINTBEGIN(performance-no-int-to-ptr): Python knows addresses as numbers
  functions.init = reinterpret_cast<decltype(functions.init)>(init);
  functions.find = reinterpret_cast<decltype(functions.find)>(find);
  functions.play = reinterpret_cast<decltype(functions.play)>(play);
  functions.step = reinterpret_cast<decltype(functions.step)>(step);
  functions.score = reinterpret_cast<decltype(functions.score)>(score);
  functions.player = reinterpret_cast<decltype(functions.player)>(player);
  functions.has_bias = has_bias;
  const auto* constants = reinterpret_cast<const void*>(data);
  // NOLINTEND(performance-no-int-to-ptr)
  const Rules::Sizes sizes{state_bytes, max_moves, max_length};
  const bool asks_python = !python_score.is_none() || !improve.is_none();
  auto errands = std::make_shared<Errands>();
  std::shared_ptr<const Rules> rules;
  if (python_score.is_none())
    rules = std::make_shared<const CompiledRules>(sizes, functions, constants, keep(std::move(owner)));
  else
    rules = std::make_shared<const PythonScoreRules>(sizes, functions, constants, keep(std::move(owner)),
                                                     std::move(python_score), errands);
  return {std::make_shared<const UserProblem>(std::move(rules), improve_in_python(std::move(improve), errands)),
          asks_python ? errands : nullptr};
}

ProblemHandle python_problem(nb::object methods, bool is_game, std::size_t state_bytes, int max_moves, int max_length,
                             nb::object improve) {
  auto errands = std::make_shared<Errands>();
  auto rules = std::make_shared<const PythonRules>(Rules::Sizes{state_bytes, max_moves, max_length}, is_game,
                                                   std::move(methods), errands);
  return {std::make_shared<const UserProblem>(std::move(rules), improve_in_python(std::move(improve), errands)),
          errands};
}

// A library's problem: its entry point and an argument; the table's name, temperature and sizes come along.
std::tuple<ProblemHandle, std::string, double, int, int> library_problem(std::uintptr_t entry,
                                                                         const std::string& argument,
                                                                         nb::object owner) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): Python knows addresses as numbers
  const auto* table = reinterpret_cast<decltype(&::playout_problem)>(entry)(argument.c_str());
  if (table == nullptr) throw ProblemError("it has no problem for the argument '" + argument + "'");
  if (table->version != PLAYOUT_TABLE_VERSION)
    throw ProblemError("its table is of version " + std::to_string(table->version) + ", this Playout reads version " +
                       std::to_string(PLAYOUT_TABLE_VERSION) + "; compile it with the playout.h of this Playout");
  auto rules = std::make_shared<const TableRules>(*table, keep(std::move(owner)));
  const Rules::Sizes sizes = rules->sizes();
  return {ProblemHandle{std::make_shared<const UserProblem>(std::move(rules))},
          table->name == nullptr ? "" : table->name, table->temperature == 0 ? 1 : table->temperature, sizes.max_moves,
          sizes.max_length};
}

ProblemHandle tsptw(std::vector<double> distances, std::vector<double> ready, std::vector<double> due, bool makespan,
                    bool urgent, bool avoid_late) {
  return {std::make_shared<const Tsptw>(std::move(distances), std::move(ready), std::move(due),
                                        TsptwSettings{makespan, urgent, avoid_late})};
}

bool is_game(const ProblemHandle& handle) {
  const auto answer = []<class P>(const std::shared_ptr<const P>& problem) {
    if constexpr (requires { problem->is_game(); }) return problem->is_game();
    return Game<P>;
  };
  return std::visit(answer, handle.problem);
}

// The sequence after the problem's local search.
std::vector<Move> improve(const ProblemHandle& handle, std::vector<Move> sequence) {
  const auto improve = [&]<class P>(const std::shared_ptr<const P>& problem) {
    if constexpr (Improvable<P>) {
      if (improves(*problem)) {
        problem->improve(sequence);
        return;
      }
    }
    throw std::invalid_argument("the problem has no local search");
  };
  std::visit(improve, handle.problem);
  return sequence;
}

template <class P>
struct Board {
  std::shared_ptr<const P> problem;
  typename P::State state = problem->initial();
  typename P::Moves moves = [this] {
    typename P::Moves found{};
    problem->find_moves(state, found);
    return found;
  }();
};

template <class... P>
std::variant<Board<P>...> any_board_of(Types<P...>);
using AnyBoard = decltype(any_board_of(Problems()));

// A state of a problem, to be played by hand: what the tests compare with the plain Python rules.
class Position {
 public:
  using NamedMove = std::tuple<Move, std::uint64_t, double>;

  explicit Position(const ProblemHandle& handle)
      : game_(std::visit([]<class P>(const std::shared_ptr<const P>& problem) { return AnyBoard(Board<P>{problem}); },
                         handle.problem)) {}

  std::vector<NamedMove> moves(bool all, bool fresh) const {
    std::vector<NamedMove> list;
    const auto fill = [&](const auto& game) {
      auto moves = game.moves;
      if (fresh) game.problem->find_moves(game.state, moves);
      if (all) game.problem->find_all_moves(game.state, moves);
      for (int i = 0; i < moves.count; i++)
        list.emplace_back(moves.move(i), moves.code(moves.item(i)), moves.bias(moves.item(i)));
    };
    std::visit(fill, game_);
    return list;
  }

  void play(Move move) {
    const auto play = [&](auto& game) {
      if (index_of(game.moves, move) == game.moves.count) game.problem->find_all_moves(game.state, game.moves);
      const int i = index_of(game.moves, move);
      if (i == game.moves.count) throw std::invalid_argument("not a legal move: " + std::to_string(move));
      game.problem->play_and_find_moves(game.state, game.moves, i);
    };
    std::visit(play, game_);
  }

  double score() const {
    return std::visit([](const auto& game) { return game.problem->score(game.state); }, game_);
  }

  int player() const {
    const auto player = [](const auto& game) -> int {
      if constexpr (requires { game.problem->player(game.state); }) return game.problem->player(game.state);
      return 0;
    };
    return std::visit(player, game_);
  }

  std::uint64_t key() const {
    const auto key = [](const auto& game) -> std::uint64_t {
      if constexpr (requires { game.problem->key(game.state); }) return game.problem->key(game.state);
      throw std::invalid_argument("only states of games have keys");
    };
    return std::visit(key, game_);
  }

  // Plays uniformly random moves to the end; the moves, and the score then.
  std::pair<std::vector<Move>, double> rollout(std::uint64_t seed) const {
    std::vector<Move> sequence;
    const auto play = [&]<class P>(const Board<P>& game) {
      Stream random(seed);
      auto state = game.state;
      if constexpr (requires { game.problem->rollout(state, random, [](int, Move) {}); })
        return game.problem->rollout(state, random, [&](int, Move move) { sequence.push_back(move); });
      auto moves = game.moves;
      return play_uniformly(*game.problem, state, random, moves, sequence);
    };
    const double score = std::visit(play, game_);
    return {sequence, score};
  }

  // Plays that many games of random moves from here, for nothing but the time it takes; how many player 0 won.
  std::uint64_t rollouts(std::uint64_t seed, std::uint64_t count) const {
    std::uint64_t won = 0;
    const auto play = [&]<class P>(const Board<P>& game) {
      auto state = game.state;
      auto moves = game.moves;
      std::vector<Move> sequence;
      for (std::uint64_t i = 0; i < count; i++) {
        Stream random(fold(seed, i));
        double score = 0;
        if constexpr (requires { game.problem->rollout(state, random, [](int, Move) {}); }) {
          state = game.state;
          score = game.problem->rollout(state, random, [](int, Move) {});
        } else {
          sequence.clear();
          score = play_uniformly(*game.problem, game.state, random, moves, sequence);
        }
        won += score > 0;
      }
    };
    std::visit(play, game_);
    return won;
  }

  // Whose the points of a Go board are after so many games of random moves from here: 1 always Black's, -1 White's.
  std::vector<double> ownership(std::uint64_t seed, std::uint64_t count) const {
    const auto play = [&]<class P>(const Board<P>& game) -> std::vector<double> {
      if constexpr (requires(typename P::State state, Stream random, std::vector<int> owners) {
                      game.problem->add_owners(state, random, owners);
                    }) {
        std::vector<int> owners(static_cast<std::size_t>(game.problem->pass()));
        for (std::uint64_t i = 0; i < count; i++) {
          Stream random(fold(seed, i));
          auto state = game.state;
          game.problem->add_owners(state, random, owners);
        }
        std::vector<double> shares(owners.size());
        std::ranges::transform(owners, shares.begin(), [&](int sum) { return sum / static_cast<double>(count); });
        return shares;
      }
      throw std::invalid_argument("only points of Go have owners");
    };
    if (count == 0) throw std::invalid_argument("no playouts");
    return std::visit(play, game_);
  }

  // What each legal move of a Go position looks like.
  std::vector<std::pair<Move, std::vector<int>>> features() const {
    const auto find = [](const auto& game) -> std::vector<std::pair<Move, std::vector<int>>> {
      if constexpr (requires { game.problem->find_features(game.state, game.moves, [](int, int) {}); }) {
        std::vector<std::pair<Move, std::vector<int>>> list;
        list.reserve(static_cast<std::size_t>(game.moves.count));
        for (int i = 0; i < game.moves.count; i++) list.push_back({game.moves.move(i), {}});
        game.problem->find_features(game.state, game.moves, [&](int i, int f) { list[i].second.push_back(f); });
        for (auto& [move, features] : list) std::ranges::sort(features);
        return list;
      }
      throw std::invalid_argument("only moves of Go have features");
    };
    return std::visit(find, game_);
  }

  // The bytes of a user's state.
  nb::bytes state() const {
    const auto bytes = [](const auto& game) -> nb::bytes {
      if constexpr (requires { game.state.data(); })
        return nb::bytes(static_cast<const char*>(game.state.data()), game.problem->state_bytes());
      throw std::invalid_argument("only a user's state is a block of bytes");
    };
    return std::visit(bytes, game_);
  }

  int cell(int column, int row) const {
    const auto colour = [&](const auto& game) -> int {
      if constexpr (requires { game.problem->cell(game.state, column, row); }) {
        if (column >= 0 && column < game.problem->kMaxWidth && row >= 0 && row < game.problem->kMaxHeight)
          return game.problem->cell(game.state, column, row);
      }
      throw std::out_of_range("no such cell");
    };
    return std::visit(colour, game_);
  }

 private:
  AnyBoard game_;
};

}  // namespace

void register_problems(nb::module_& m) {
  nb::enum_<Leftover>(m, "Leftover")
      .value("none", Leftover::none)
      .value("total", Leftover::total)
      .value("per_colour", Leftover::per_colour);
  nb::class_<ProblemHandle>(m, "Problem", "A problem inside the engine.")
      .def_prop_ro(
          "improves",
          [](const ProblemHandle& handle) {
            return std::visit([](const auto& problem) { return improves(*problem); }, handle.problem);
          },
          "Whether it has a local search.")
      .def_prop_ro("is_game", &is_game, "Whether it is a game for two players.");
  m.def(
      "same_game", &same_game, "width"_a, "height"_a, "cells"_a, "tabu"_a, "leftover"_a, "tall"_a = false,
      "A SameGame board: colours 1 to 9 row by row from the bottom, the tabu colour or 0. With `tall` the columns are "
      "128-bit words even where 64 bits do.");
  const nb::exception<ProblemError> problem_error(m, "ProblemError", PyExc_ValueError);
  const nb::exception<CompiledFailure> compiled_failure(m, "CompiledFailure", problem_error);
  m.def("compiled_problem", &compiled_problem, nb::kw_only(), "init"_a, "find"_a, "play"_a, "step"_a, "score"_a,
        "player"_a, "has_bias"_a, "data"_a, "state_bytes"_a, "max_moves"_a, "max_length"_a, "owner"_a,
        "python_score"_a = nb::none(), "improve"_a = nb::none(),
        "A user's problem: addresses of functions that Numba compiled, player's is 0 unless it is a game, and of the "
        "constants they are given.");
  m.def("python_problem", &python_problem, "methods"_a, nb::kw_only(), "is_game"_a, "state_bytes"_a, "max_moves"_a,
        "max_length"_a, "improve"_a = nb::none(),
        "A user's problem in plain Python: an object with init, find, play, step, score and player of a memoryview.");
  m.def("library_problem", &library_problem, "entry"_a, "argument"_a, "owner"_a,
        "A user's problem in a library, by the address of its entry point; with name, temperature, max_moves and "
        "max_length.");
  m.def("tsptw", &tsptw, "distances"_a, "ready"_a, "due"_a, "makespan"_a = false, "urgent"_a = false,
        "avoid_late"_a = false, "A TSPTW instance, the distances row by row; node 0 is the depot.");
  m.def("improve", &improve, "problem"_a, "moves"_a, "The sequence after the problem's local search.");
  nb::class_<Position>(m, "Position", "A state of a problem, to be played by hand.")
      .def(nb::init<const ProblemHandle&>(), "problem"_a)
      .def(
          "moves", &Position::moves, "all"_a = false, "fresh"_a = false,
          "(move, code, bias) of each legal move, of those the selective policy leaves unless `all`; kept from move to "
          "move, or found from scratch if `fresh`.")
      .def("play", &Position::play, "move"_a)
      .def("score", &Position::score)
      .def("player", &Position::player, "Whose turn it is, in a game: 0 or 1.")
      .def("key", &Position::key, "What names the state of a game in a transposition table.")
      .def("rollout", &Position::rollout, "seed"_a, "Random moves to the end: the moves, and the score then.")
      .def("rollouts", &Position::rollouts, "seed"_a, "count"_a, nb::call_guard<nb::gil_scoped_release>(),
           "Plays that many random games from here and counts those that player 0 wins.")
      .def("ownership", &Position::ownership, "seed"_a, "count"_a, nb::call_guard<nb::gil_scoped_release>(),
           "Plays that many random games of Go from here: of each point, 1 if it was always Black's, -1 if White's.")
      .def("features", &Position::features,
           "(move, features) of each legal move of a Go position: numbers of go_features() in order.")
      .def("state", &Position::state, "The bytes of the state of a user's problem.")
      .def("cell", &Position::cell, "column"_a, "row"_a);
}

}  // namespace playout::bindings
