#include "problems/same_game.h"

#include <nanobind/stl/vector.h>

#include "bindings/bindings.h"
#include "bindings/problem_of.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace playout::bindings {
namespace {

ProblemHandle same_game(int width, int height, const std::vector<std::uint8_t>& cells, int tabu, Leftover leftover,
                        bool tall) {
  const bool wide_word = tall || height > SameGame16::kMaxHeight;
  return wide_word ? make_problem<SameGame20>(width, height, cells, tabu, leftover)
                   : make_problem<SameGame16>(width, height, cells, tabu, leftover);
}

}  // namespace

void register_same_game(nb::module_& m) {
  nb::enum_<Leftover>(m, "Leftover")
      .value("none", Leftover::none)
      .value("total", Leftover::total)
      .value("per_colour", Leftover::per_colour);
  m.def(
      "same_game", &same_game, "width"_a, "height"_a, "cells"_a, "tabu"_a, "leftover"_a, "tall"_a = false,
      "A SameGame board: colours 1 to 9 row by row from the bottom, the tabu colour or 0. With `tall` the columns are "
      "128-bit words even where 64 bits do.");
}

}  // namespace playout::bindings
