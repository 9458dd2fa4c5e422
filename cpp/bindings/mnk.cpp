#include "problems/mnk.h"

#include "bindings/bindings.h"
#include "bindings/problem_of.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace playout::bindings {
namespace {

ProblemHandle mnk(int width, int height, int k) {
  if (SmallMnk::fits(width, height)) return make_problem<SmallMnk>(width, height, k);
  return make_problem<LargeMnk>(width, height, k);
}

}  // namespace

void register_mnk(nb::module_& m) {
  m.def("mnk", &mnk, "width"_a, "height"_a, "k"_a,
        "An m,n,k game; a move is row * width + column, row 0 at the bottom.");
}

}  // namespace playout::bindings
