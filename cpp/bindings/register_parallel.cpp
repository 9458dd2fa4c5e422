#include <nanobind/stl/chrono.h>
#include <nanobind/stl/tuple.h>
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

  nb::class_<Run>(m, "Run", "Searches on threads of their own.")
      .def(
          "__init__",
          [](Run* self, const std::vector<const AnySearch*>& searches, std::uint64_t playouts, double target,
             int threads, int crews, int keep, const nb::bytes& state) {
            const int count = static_cast<int>(searches.size());
            if (keep == 0) keep = count;
            if (count < 1 || keep < 1 || keep > count || crews < 1 || threads < crews)
              throw std::invalid_argument("impossible settings of a run");
            Run::Jobs jobs;
            for (const AnySearch* search : searches) jobs.push_back(search->copy());
            new (self) Run(std::move(jobs), Portfolio(count, keep, playouts), target, threads, crews,
                           {static_cast<const char*>(state.data()), state.size()});
          },
          "searches"_a, "playouts"_a, "target"_a, "threads"_a = 1, "crews"_a = 1, "keep"_a = 0,
          "state"_a = nb::bytes("", 0),
          "Starts copies of the searches; it ends after that many playouts in all, or at that score. The best `keep` "
          "get most of the playouts, 0: all get the same. Goes on from a state that `serialise` gave.")
      .def(
          "wait", [](Run& run, double seconds) { return run.wait(std::chrono::duration<double>(seconds)); },
          "seconds"_a, nb::call_guard<nb::gil_scoped_release>(),
          "Waits at most that long for the end; true once the run is over. Raises what the search raised.")
      .def(
          "serialise",
          [](Run& run) {
            std::string bytes;
            {
              const nb::gil_scoped_release release;
              bytes = run.serialise();
            }
            return nb::bytes(bytes.data(), bytes.size());
          },
          "The state of all jobs as bytes; the run goes on.")
      .def_prop_ro("failed", &Run::failed, "Whether a search raised something: its state is then of no use.")
      .def("stop", &Run::stop, nb::call_guard<nb::gil_scoped_release>(), "Ends the run and waits for its threads.")
      .def("progress", &Run::progress);
}

}  // namespace playout::bindings
