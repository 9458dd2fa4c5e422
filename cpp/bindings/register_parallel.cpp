#include <nanobind/stl/chrono.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/any_problem.h"
#include "bindings/bindings.h"
#include "bindings/watched.h"
#include "parallel/run.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace playout::bindings {

using WatchedRun = Watched<Run>;

void register_parallel(nb::module_& m) {
  const nb::exception<std::system_error> no_threads(m, "NoThreads", PyExc_RuntimeError);
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

  nb::class_<Portfolio>(m, "Portfolio", "How many playouts each of several jobs gets.")
      .def(
          "__init__",
          [](Portfolio* self, int jobs, int keep, std::uint64_t playouts) {
            if (jobs < 1 || keep < 1 || keep > jobs) throw std::invalid_argument("impossible settings of a portfolio");
            new (self) Portfolio(jobs, keep, playouts);
          },
          "jobs"_a, "keep"_a, "playouts"_a)
      .def(
          "quotas",
          [](const Portfolio& portfolio) {
            std::vector<std::uint64_t> list(portfolio.jobs());
            for (std::size_t job = 0; job < list.size(); job++) list[job] = portfolio.quota(job);
            return list;
          },
          "How many playouts each job may have played by the end of this round.")
      .def(
          "begin_round",
          [](Portfolio& portfolio, const std::vector<double>& scores) {
            if (scores.size() != portfolio.jobs()) throw std::invalid_argument("a score for each job is needed");
            return portfolio.begin_round(scores);
          },
          "scores"_a, "Once all have: raises the quotas, given the jobs' scores; false if all playouts are given.")
      .def("serialise",
           [](const Portfolio& portfolio) {
             Writer out;
             portfolio.serialise(out);
             return nb::bytes(out.bytes().data(), out.bytes().size());
           })
      .def(
          "deserialise",
          [](Portfolio& portfolio, const nb::bytes& state) {
            Reader in(std::string_view(state.c_str(), state.size()));
            portfolio.deserialise(in);
            in.expect_end();
          },
          "state"_a);

  nb::class_<WatchedRun>(m, "Run", "Searches on threads of their own.")
      .def(
          "__init__",
          [](WatchedRun* self, const std::vector<const AnySearch*>& searches, std::uint64_t playouts, double target,
             int threads, int crews, int keep, const nb::bytes& state, const ProblemHandle* problem) {
            const int count = static_cast<int>(searches.size());
            if (keep == 0) keep = count;
            if (count < 1 || keep < 1 || keep > count || crews < 1 || threads < crews)
              throw std::invalid_argument("impossible settings of a run");
            Run::Jobs jobs;
            for (const AnySearch* search : searches) jobs.push_back(search->copy());
            const auto make = [&] {
              return std::make_unique<Run>(std::move(jobs), Portfolio(count, keep, playouts), target, threads, crews,
                                           std::string_view(state.c_str(), state.size()));
            };
            new (self) WatchedRun(make, problem == nullptr ? nullptr : problem->errands);
          },
          "searches"_a, "playouts"_a, "target"_a, "threads"_a = 1, "crews"_a = 1, "keep"_a = 0,
          "state"_a = nb::bytes("", 0), "problem"_a = nb::none(),
          "Starts copies of the searches; it ends after that many playouts in all, or at that score. The best `keep` "
          "get most of the playouts, 0: all get the same. Goes on from a state that `serialise` gave. The "
          "problem is needed where it asks Python: whoever waits for the run then does what it asks.")
      .def(
          "wait",
          [](const WatchedRun& watched, double seconds) {
            bool over = false;
            watched.wait_for([&] { over = (*watched).wait(std::chrono::duration<double>(seconds)); });
            return over;
          },
          "seconds"_a, "Waits at most that long for the end; true once the run is over. Raises what the search raised.")
      .def(
          "serialise",
          [](const WatchedRun& watched) {
            std::string bytes;
            watched.wait_for([&] { bytes = (*watched).serialise(); });
            return nb::bytes(bytes.data(), bytes.size());
          },
          "The state of all jobs as bytes; the run goes on.")
      .def_prop_ro(
          "failed", [](const WatchedRun& watched) { return (*watched).failed(); },
          "Whether a search raised something: its state is then of no use.")
      .def("stop", &WatchedRun::stop,
           "Ends the run and waits for its threads. Signals are heard; if a handler raises, nobody waits any longer.")
      .def("progress", [](const WatchedRun& watched) { return (*watched).progress(); });
}

}  // namespace playout::bindings
