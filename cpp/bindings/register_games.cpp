#include "bindings/bindings.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace playout::bindings {
namespace {

ProblemHandle mnk(int width, int height, int k) {
  if (SmallMnk::fits(width, height)) return {std::make_shared<const SmallMnk>(width, height, k)};
  return {std::make_shared<const LargeMnk>(width, height, k)};
}

ProblemHandle connect_four(int width, int height) { return {std::make_shared<const ConnectFour>(width, height)}; }

ProblemHandle hex(int side) { return {std::make_shared<const Hex>(side)}; }

}  // namespace

void register_games(nb::module_& m) {
  m.def("mnk", &mnk, "width"_a, "height"_a, "k"_a,
        "An m,n,k game; a move is row * width + column, row 0 at the bottom.");
  m.def("connect_four", &connect_four, "width"_a = 7, "height"_a = 6, "Connect Four; a move is a column from 0.");
  m.def("hex", &hex, "side"_a, "Hex; a move is row * side + column, row 0 at the top.");
}

}  // namespace playout::bindings
