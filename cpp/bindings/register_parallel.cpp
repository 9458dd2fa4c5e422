#include <nanobind/stl/chrono.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "bindings/bindings.h"
#include "parallel/run.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace playout::bindings {

void register_parallel(nb::module_& m) {
  nb::class_<Run::Progress>(m, "Progress", "A run at one moment.")
      .def_ro("seconds", &Run::Progress::seconds)
      .def_prop_ro("playouts", [](const Run::Progress& now) { return now.best.playouts; })
      .def_prop_ro("score", [](const Run::Progress& now) { return now.best.score; })
      .def_prop_ro("moves", [](const Run::Progress& now) { return now.best.moves; })
      .def_prop_ro("history", [](const Run::Progress& now) {
        std::vector<std::tuple<double, std::uint64_t, double>> list;
        list.reserve(now.history.size());
        for (const auto& [seconds, playouts, score] : now.history) list.emplace_back(seconds, playouts, score);
        return list;
      });

  nb::class_<Run>(m, "Run", "A search on a thread of its own.")
      .def(
          "__init__",
          [](Run* self, const AnySearch& search, std::uint64_t playouts, double target) {
            new (self) Run(search.copy(), playouts, target);
          },
          "search"_a, "playouts"_a, "target"_a,
          "Starts a copy of the search; it ends after that many playouts in all, or at that score.")
      .def(
          "wait", [](Run& run, double seconds) { return run.wait(std::chrono::duration<double>(seconds)); },
          "seconds"_a, nb::call_guard<nb::gil_scoped_release>(),
          "Waits at most that long for the end; true once the run is over. Raises what the search raised.")
      .def("stop", &Run::stop, nb::call_guard<nb::gil_scoped_release>(), "Ends the run and waits for its thread.")
      .def("progress", &Run::progress);
}

}  // namespace playout::bindings
