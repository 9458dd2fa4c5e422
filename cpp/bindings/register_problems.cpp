#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "bindings/any_problem.h"
#include "bindings/bindings.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace playout::bindings {

void register_problems(nb::module_& m) {
  nb::class_<ProblemHandle>(m, "Problem", "A problem inside the engine.")
      .def_prop_ro(
          "improves", [](const ProblemHandle& handle) { return handle->improves(); }, "Whether it has a local search.")
      .def_prop_ro(
          "has_preferences", [](const ProblemHandle& handle) { return handle->has_preferences(); },
          "Whether it says which moves are likely to be good, by priors or a bias.")
      .def_prop_ro(
          "is_game", [](const ProblemHandle& handle) { return handle->is_game(); },
          "Whether it is a game for two players.");
  m.def(
      "improve", [](const ProblemHandle& handle, std::vector<Move> moves) { return handle->improve(std::move(moves)); },
      "problem"_a, "moves"_a, "The sequence after the problem's local search.");
  nb::class_<AnyPosition>(m, "Position", "A state of a problem, to be played by hand.")
      .def(nb::new_([](const ProblemHandle& handle) { return handle->position(); }), "problem"_a)
      .def(
          "moves", &AnyPosition::moves, "all"_a = false, "fresh"_a = false,
          "(move, code, bias) of each legal move, of those the selective policy leaves unless `all`; kept from move to "
          "move, or found from scratch if `fresh`.")
      .def("play", &AnyPosition::play, "move"_a)
      .def("score", &AnyPosition::score)
      .def("player", &AnyPosition::player, "Whose turn it is, in a game: 0 or 1.")
      .def("key", &AnyPosition::key, "What names the state of a game in a transposition table.")
      .def("rollout", &AnyPosition::rollout, "seed"_a, "Random moves to the end: the moves, and the score then.")
      .def("rollouts", &AnyPosition::rollouts, "seed"_a, "count"_a, nb::call_guard<nb::gil_scoped_release>(),
           "Plays that many random games from here and counts those that player 0 wins.")
      .def("ownership", &AnyPosition::ownership, "seed"_a, "count"_a, nb::call_guard<nb::gil_scoped_release>(),
           "Plays that many random games of Go from here: of each point, 1 if it was always Black's, -1 if White's.")
      .def("features", &AnyPosition::features,
           "(move, features) of each legal move of a Go position: numbers of go_features() in order.")
      .def(
          "state",
          [](const AnyPosition& position) {
            const std::string_view bytes = position.bytes();
            return nb::bytes(bytes.data(), bytes.size());
          },
          "The bytes of the state of a user's problem.")
      .def("cell", &AnyPosition::cell, "column"_a, "row"_a);
}

}  // namespace playout::bindings
