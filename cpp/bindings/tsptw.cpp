#include "problems/tsptw.h"

#include <nanobind/stl/vector.h>

#include "bindings/bindings.h"
#include "bindings/problem_of.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace playout::bindings {
namespace {

ProblemHandle tsptw(std::vector<double> distances, std::vector<double> ready, std::vector<double> due, bool makespan,
                    bool urgent, bool avoid_late) {
  return make_problem<Tsptw>(std::move(distances), std::move(ready), std::move(due),
                             TsptwSettings{makespan, urgent, avoid_late});
}

}  // namespace

void register_tsptw(nb::module_& m) {
  m.def("tsptw", &tsptw, "distances"_a, "ready"_a, "due"_a, "makespan"_a = false, "urgent"_a = false,
        "avoid_late"_a = false, "A TSPTW instance, the distances row by row; node 0 is the depot.");
}

}  // namespace playout::bindings
