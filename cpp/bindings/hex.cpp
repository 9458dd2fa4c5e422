#include "problems/hex.h"

#include "bindings/bindings.h"
#include "bindings/problem_of.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace playout::bindings {

void register_hex(nb::module_& m) {
  m.def("hex", &make_problem<Hex, int>, "side"_a, "Hex; a move is row * side + column, row 0 at the top.");
}

}  // namespace playout::bindings
