#include "problems/connect_four.h"

#include "bindings/bindings.h"
#include "bindings/problem_of.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace playout::bindings {

void register_connect_four(nb::module_& m) {
  m.def("connect_four", &make_problem<ConnectFour, int, int>, "width"_a = 7, "height"_a = 6,
        "Connect Four; a move is a column from 0.");
}

}  // namespace playout::bindings
