#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/bindings.h"
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

template <class P>
struct Game {
  std::shared_ptr<const P> problem;
  typename P::State state = problem->initial();
  typename P::Moves moves = [this] {
    typename P::Moves found{};
    problem->find_moves(state, found);
    return found;
  }();
};

template <class... P>
std::variant<Game<P>...> any_game_of(Types<P...>);
using AnyGame = decltype(any_game_of(Problems()));

// A state of a problem, to be played by hand: what the tests compare with the plain Python rules.
class Position {
 public:
  using NamedMove = std::tuple<Move, std::uint64_t, double>;

  explicit Position(const ProblemHandle& handle)
      : game_(std::visit([]<class P>(const std::shared_ptr<const P>& problem) { return AnyGame(Game<P>{problem}); },
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
  AnyGame game_;
};

}  // namespace

void register_problems(nb::module_& m) {
  nb::enum_<Leftover>(m, "Leftover")
      .value("none", Leftover::none)
      .value("total", Leftover::total)
      .value("per_colour", Leftover::per_colour);
  nb::class_<ProblemHandle>(m, "Problem", "A problem inside the engine.");  // NOLINT(bugprone-unused-raii)
  m.def(
      "same_game", &same_game, "width"_a, "height"_a, "cells"_a, "tabu"_a, "leftover"_a, "tall"_a = false,
      "A SameGame board: colours 1 to 9 row by row from the bottom, the tabu colour or 0. With `tall` the columns are "
      "128-bit words even where 64 bits do.");
  nb::class_<Position>(m, "Position", "A state of a problem, to be played by hand.")
      .def(nb::init<const ProblemHandle&>(), "problem"_a)
      .def(
          "moves", &Position::moves, "all"_a = false, "fresh"_a = false,
          "(move, code, bias) of each legal move, of those the selective policy leaves unless `all`; kept from move to "
          "move, or found from scratch if `fresh`.")
      .def("play", &Position::play, "move"_a)
      .def("score", &Position::score)
      .def("cell", &Position::cell, "column"_a, "row"_a);
}

}  // namespace playout::bindings
