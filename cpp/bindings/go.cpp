#include "problems/go/go.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings/bindings.h"
#include "bindings/problem_of.h"
#include "problems/go/count.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace playout::bindings {
namespace {

// The board with the smallest array that has room.
template <int Side, int... Larger>
ProblemHandle go(int width, int height, const GoSettings& settings) {
  if constexpr (sizeof...(Larger) > 0)
    if (std::max(width, height) > Side) return go<Larger...>(width, height, settings);
  return make_problem<Go<Side>>(width, height, settings);
}

ProblemHandle make_go(int width, int height, double komi, Ko ko, bool suicide, std::vector<int> black,
                      std::vector<int> white, int first, bool heavy) {
  if (first != 0 && first != 1) throw std::invalid_argument("the player who moves first is 0 or 1");
  return go<9, 13, 19, 25>(width, height, {komi, ko, suicide, std::move(black), std::move(white), first, heavy});
}

}  // namespace

void register_go(nb::module_& m) {
  nb::enum_<Ko>(m, "Ko")
      .value("simple", Ko::simple)
      .value("positional", Ko::positional)
      .value("situational", Ko::situational);
  m.def("go", &make_go, "width"_a, "height"_a, "komi"_a, "ko"_a, "suicide"_a = false, "black"_a = std::vector<int>(),
        "white"_a = std::vector<int>(), "first"_a = 0, "heavy"_a = false,
        "Go. A point is row * width + column from the bottom left, a pass is width * height; black and white are the "
        "points of stones that are there at the start, and first is 0 where Black moves first; heavy is how rollouts "
        "are played.");
  m.def("go_features", &go_feature_names, "The names of the features of moves in Go, by their numbers.");
  nb::class_<GoCounter>(m, "GoCounter", "What there is on a small board; for tests.")
      .def(nb::init<int, int, bool>(), "width"_a, "height"_a, "suicide"_a)
      .def("count_legal", &GoCounter::count_legal, nb::call_guard<nb::gil_scoped_release>(),
           "Colourings in which every chain has a liberty.")
      .def("graph", &GoCounter::graph, "For each position that can be reached, which others one move leads to.")
      .def("count_games", &GoCounter::count_games, nb::call_guard<nb::gil_scoped_release>(),
           "Games that repeat no position, of any length.");
}

}  // namespace playout::bindings
