#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "bindings/any_problem.h"
#include "bindings/bindings.h"
#include "bindings/watched.h"
#include "cluster/averaging.h"
#include "cluster/broadcast.h"
#include "cluster/in_turns.h"
#include "cluster/treesplit.h"
#include "parallel/forest.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace playout::bindings {
namespace {

using WatchedForest = Watched<Forest>;

// Once a second Ctrl-C has left a playout to itself, it may still be in the trees.
Forest& forest(const WatchedForest& watched) {
  if (watched.abandoned()) throw std::runtime_error("a playout was given up that did not end: a new player is needed");
  return *watched;
}

// The tree of a rank of several.
RankTree& member(const WatchedForest& watched) {
  auto* found = dynamic_cast<RankTree*>(&forest(watched).tree());
  if (found == nullptr) throw std::logic_error("this forest shares nothing");
  return *found;
}

// Does something with the trees while nobody else does, as soon as the playouts under way allow.
template <class Function>
void look(const WatchedForest& watched, Function function) {
  watched.insist([&](Forest::Time at_most) { return forest(watched).look(function, at_most); });
}

// The tree of a rank that shares what it learns with those that its port leads to.
std::unique_ptr<AnyTree> make_member(std::unique_ptr<GrowingTree> tree, std::shared_ptr<Port> port,
                                     const SharingSettings& settings) {
  if (settings.broadcast) return std::make_unique<Broadcast>(std::move(tree), std::move(port), settings);
  return std::make_unique<Averaging>(std::move(tree), std::move(port), settings);
}

// The regret of a bandit after some steps: how much less it won than always playing the best arm, on average.
std::vector<double> regret_of(Bandit kind, double exploration, const std::vector<double>& chances,
                              const std::vector<std::uint64_t>& steps, std::uint64_t seed) {
  std::vector<double> wins(chances.size()), visits(chances.size()), regrets;
  Stream random(fold(0, seed));
  const double best = *std::ranges::max_element(chances);
  double regret = 0;
  for (std::uint64_t step = 0; regrets.size() < steps.size(); step++) {
    if (step == steps[regrets.size()]) regrets.push_back(regret);
    std::size_t chosen = 0;
    double most = -1;
    for (std::size_t arm = 0; arm < chances.size(); arm++) {
      const double score = visits[arm] == 0 ? std::numeric_limits<double>::infinity()
                                            : score_of_arm(kind, wins[arm] / visits[arm], visits[arm],
                                                           log(static_cast<double>(step)), exploration);
      if (score > most) most = score, chosen = arm;
    }
    visits[chosen]++;
    wins[chosen] += random.uniform() < chances[chosen];
    regret += best - chances[chosen];
  }
  return regrets;
}

}  // namespace

void register_tree(nb::module_& m) {
  const nb::object mistake = m.attr("ProblemError");
  const nb::exception<Changed> changed(m, "Changed", mistake);
  const nb::exception<NoRoom> no_room(m, "NoRoom", PyExc_MemoryError);
  nb::enum_<Bandit>(m, "Bandit")
      .value("ucb1", Bandit::ucb1)
      .value("tuned1", Bandit::tuned1)
      .value("tuned2", Bandit::tuned2)
      .value("rave", Bandit::rave);
  nb::enum_<Decision>(m, "Decision")
      .value("visits", Decision::visits)
      .value("value", Decision::value)
      .value("lower_bound", Decision::lower_bound);
  nb::class_<UctSettings>(m, "UctSettings")
      .def(nb::init<>())
      .def_rw("bandit", &UctSettings::bandit)
      .def_rw("exploration", &UctSettings::exploration)
      .def_rw("first_play", &UctSettings::first_play)
      .def_rw("rave_k", &UctSettings::rave_k)
      .def_rw("even_prior", &UctSettings::even_prior)
      .def_rw("widening", &UctSettings::widening)
      .def_rw("widening_first", &UctSettings::widening_first)
      .def_rw("widening_growth", &UctSettings::widening_growth)
      .def_rw("expand_after", &UctSettings::expand_after)
      .def_rw("graph", &UctSettings::graph)
      .def_rw("solver", &UctSettings::solver)
      .def_rw("early_stop", &UctSettings::early_stop)
      .def_rw("memory", &UctSettings::memory)
      .def_rw("virtual_loss", &UctSettings::virtual_loss)
      .def_rw("in_flight", &UctSettings::in_flight);
  nb::class_<ActionReport>(m, "ActionReport")
      .def_ro("move", &ActionReport::move)
      .def_ro("visits", &ActionReport::visits)
      .def_ro("wins", &ActionReport::wins)
      .def_ro("amaf_visits", &ActionReport::amaf_visits)
      .def_ro("amaf_wins", &ActionReport::amaf_wins)
      .def_ro("votes", &ActionReport::votes)
      .def_ro("prior_visits", &ActionReport::prior_visits)
      .def_ro("prior_wins", &ActionReport::prior_wins)
      .def_prop_ro("bounds", [](const ActionReport& one) { return std::pair(one.bounds.lower, one.bounds.upper); });
  nb::class_<NodeReport>(m, "NodeReport")
      .def_ro("key", &NodeReport::key)
      .def_ro("path", &NodeReport::path)
      .def_ro("visits", &NodeReport::visits)
      .def_ro("actions", &NodeReport::actions)
      .def_ro("rank", &NodeReport::rank)
      .def_prop_ro("bounds", [](const NodeReport& one) { return std::pair(one.bounds.lower, one.bounds.upper); });
  nb::class_<TreeReport>(m, "TreeReport", "What a player's trees know of the moves of a state.")
      .def_ro("actions", &TreeReport::actions)
      .def_ro("player", &TreeReport::player)
      .def_ro("visits", &TreeReport::visits)
      .def_ro("nodes", &TreeReport::nodes)
      .def_ro("bytes", &TreeReport::bytes)
      .def_ro("most_bytes", &TreeReport::most_bytes)
      .def_ro("full", &TreeReport::full)
      .def_ro("ranks", &TreeReport::ranks)
      .def_ro("playouts", &TreeReport::playouts)
      .def_ro("complete", &TreeReport::complete)
      .def_prop_ro("bounds", [](const TreeReport& one) { return std::pair(one.bounds.lower, one.bounds.upper); });

  m.def(
      "uct",
      [](const ProblemHandle& handle, const UctSettings& settings, std::uint64_t seed, std::uint64_t job, int width) {
        return std::unique_ptr<AnySearch>(handle->tree(settings, {.seed = seed, .job = job}, width));
      },
      "problem"_a, "settings"_a, "seed"_a, "job"_a = 0, "width"_a = 0, "A tree search of a puzzle.");
  m.def(
      "nodes_of", [](const AnySearch& search) { return dynamic_cast<const AnyTree&>(search).walk(); }, "search"_a,
      "All nodes of a tree search.");
  m.def(
      "is_better",
      [](const ActionReport& one, const ActionReport& other, Decision decision, int player) {
        return is_better(one, other, decision, player);
      },
      "one"_a, "other"_a, "decision"_a, "player"_a, "Whether one action of a player is the better decision.");
  m.def("log", &log, "x"_a);
  m.def("regret", &regret_of, "bandit"_a, "exploration"_a, "chances"_a, "steps"_a, "seed"_a,
        nb::call_guard<nb::gil_scoped_release>(), "The regret of a bandit after so many steps, for each of a list.");

  nb::class_<WatchedForest>(m, "Forest", "The trees of a player of games, at work or at rest.")
      .def(
          "__init__",
          [](WatchedForest* self, const ProblemHandle& handle, UctSettings settings, std::uint64_t seed, int jobs,
             int width) {
            if (jobs < 1 || width < 0) throw std::invalid_argument("impossible settings of a forest");
            settings.memory /= jobs;
            const auto make = [&] {
              Forest::Trees trees;
              for (int job = 0; job < jobs; job++)
                trees.push_back(handle->tree(settings, {.seed = seed, .job = static_cast<std::uint64_t>(job)}, width));
              return std::make_unique<Forest>(std::move(trees));
            };
            new (self) WatchedForest(make, handle.errands);
          },
          "problem"_a, "settings"_a, "seed"_a, "jobs"_a = 1, "width"_a = 0)
      .def(
          "__init__",
          [](WatchedForest* self, const ProblemHandle& handle, const UctSettings& settings, std::uint64_t seed,
             int width, const std::shared_ptr<Port>& port, const SharingSettings& sharing) {
            if (width < 0) throw std::invalid_argument("impossible settings of a forest");
            const auto make = [&] {
              const StreamKey key{.seed = seed, .job = static_cast<std::uint64_t>(port->rank())};
              Forest::Trees trees;
              trees.push_back(make_member(handle->tree(settings, key, width), port, sharing));
              return std::make_unique<Forest>(std::move(trees));
            };
            new (self) WatchedForest(make, handle.errands);
          },
          "problem"_a, "settings"_a, "seed"_a, "width"_a, "port"_a, "sharing"_a,
          "The tree of one rank of several, which share what they learn.")
      .def(
          "__init__",
          [](WatchedForest* self, const ProblemHandle& handle, const UctSettings& settings, std::uint64_t seed,
             const std::shared_ptr<Port>& port, const SplitSettings& split) {
            const auto make = [&] {
              Forest::Trees trees;
              trees.push_back(handle->split_tree(settings, {.seed = seed}, port, split));
              return std::make_unique<Forest>(std::move(trees));
            };
            new (self) WatchedForest(make, handle.errands);
          },
          "problem"_a, "settings"_a, "seed"_a, "port"_a, "split"_a, "A rank's part of one tree that several have.")
      .def(
          "__init__",
          [](WatchedForest* self, const ProblemHandle& handle, const UctSettings& settings, std::uint64_t seed,
             const std::shared_ptr<Network>& network, int ranks, const SplitSettings& split) {
            const auto make = [&] {
              std::vector<std::unique_ptr<SplitTree>> parts;
              parts.reserve(ranks);
              for (int rank = 0; rank < ranks; rank++)
                parts.push_back(handle->split_tree(settings, {.seed = seed}, network->port(rank), split));
              Forest::Trees trees;
              trees.push_back(std::make_unique<InTurns>(std::move(parts), network));
              return std::make_unique<Forest>(std::move(trees));
            };
            new (self) WatchedForest(make, handle.errands);
          },
          "problem"_a, "settings"_a, "seed"_a, "network"_a, "ranks"_a, "split"_a,
          "One tree that several ranks have, which take turns in one thread; the network has a seed.")
      .def(
          "finish",
          [](const WatchedForest& watched, double seconds) {
            bool whole = false;
            watched.wait_for([&] { whole = member(watched).finish(std::chrono::duration<double>(seconds)); });
            return whole;
          },
          "seconds"_a,
          "After thinking has ended: tells the other ranks everything and waits for what they tell; true once all is "
          "in.")
      .def_prop_ro(
          "sharing", [](const WatchedForest& watched) { return member(watched).sharing(); },
          "What sharing has cost so far.")
      .def(
          "begin",
          [](const WatchedForest& watched, std::uint64_t playouts, int threads) {
            watched.wait_for([&] { forest(watched).begin(playouts, threads); });
          },
          "playouts"_a, "threads"_a)
      .def(
          "wait",
          [](const WatchedForest& watched, double seconds) {
            bool over = false;
            watched.wait_for([&] { over = forest(watched).wait(std::chrono::duration<double>(seconds)); });
            return over;
          },
          "seconds"_a, "Waits at most that long for the end of thinking; true once it is over. Raises what was raised.")
      .def("stop", &WatchedForest::stop)
      .def(
          "request_stop", [](const WatchedForest& watched) { (*watched).request_stop(); },
          "Asks for the end of thinking and does not wait for it; from any thread.")
      .def_prop_ro(
          "spent", [](const WatchedForest& watched) { return forest(watched).spent(); },
          "Playouts and seconds of this thinking, or of the last.")
      .def(
          "is_decided",
          [](const WatchedForest& watched, std::uint64_t more) {
            bool decided = false;
            watched.wait_for([&] { decided = forest(watched).is_decided(more); });
            return decided;
          },
          "more"_a)
      .def("report",
           [](const WatchedForest& watched) {
             TreeReport report;
             look(watched, [&] { report = forest(watched).report(); });
             return report;
           })
      .def(
          "variation",
          [](const WatchedForest& watched, Move first, Decision decision) {
            std::vector<Move> line;
            look(watched, [&] { line = forest(watched).variation(first, decision); });
            return line;
          },
          "first"_a, "decision"_a)
      .def(
          "play",
          [](const WatchedForest& watched, Move move) { watched.wait_for([&] { forest(watched).play(move); }); },
          "move"_a)
      .def(
          "go_to",
          [](const WatchedForest& watched, const std::vector<Move>& moves) {
            watched.wait_for([&] { forest(watched).go_to(moves); });
          },
          "moves"_a)
      .def("legal_moves",
           [](const WatchedForest& watched) {
             std::vector<Move> moves;
             watched.wait_for([&] { moves = forest(watched).tree().legal_moves(); });
             return moves;
           })
      .def("player",
           [](const WatchedForest& watched) {
             int player = 0;
             watched.wait_for([&] { player = forest(watched).tree().player(); });
             return player;
           })
      .def("score",
           [](const WatchedForest& watched) {
             double score = 0;
             watched.wait_for([&] { score = forest(watched).tree().score(); });
             return score;
           })
      .def("nodes", [](const WatchedForest& watched) {
        std::vector<NodeReport> nodes;
        look(watched, [&] { nodes = forest(watched).tree().walk(); });
        return nodes;
      });
}

}  // namespace playout::bindings
