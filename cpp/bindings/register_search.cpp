#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "bindings/any_problem.h"
#include "bindings/bindings.h"
#include "search/adapt.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace playout::bindings {
namespace {

std::unique_ptr<AnySearch> nrpa(const ProblemHandle& handle, int level, int iterations, double alpha,
                                double temperature, BiasUse bias_use, int playouts_per_call, int repetitions,
                                std::uint64_t seed, std::uint64_t job, int wide_level, int width, bool local,
                                bool exchange_best, bool improve) {
  const NrpaSettings settings{level,       iterations, alpha, {temperature, bias_use}, playouts_per_call,
                              repetitions, improve};
  const NodeSettings node{wide_level, width, local, exchange_best};
  if (level < 0 || iterations < 1 || !(alpha > 0) || !(temperature > 0))
    throw std::invalid_argument("impossible settings of NRPA");
  if (wide_level < 0 || wide_level > level || width < 1 ||
      (local && (width > iterations || !settings.adapts(wide_level))) || (exchange_best && !local))
    throw std::invalid_argument("impossible settings of a wide level");
  return handle->nrpa(settings, node, {.seed = seed, .job = job});
}

std::unique_ptr<AnySearch> nmcs(const ProblemHandle& handle, int level, std::uint64_t seed, std::uint64_t job) {
  if (level < 0) throw std::invalid_argument("impossible settings of NMCS");
  return handle->nmcs(level, {.seed = seed, .job = job});
}

// The codes and biases of a step's legal moves, and the index of the move played.
using GivenStep = std::tuple<std::vector<std::uint64_t>, std::vector<double>, int>;

// Records steps that no problem has played: what the tests teach a policy.
Recording record_given(const HashPolicy& policy, const Softmax& softmax, const std::vector<GivenStep>& steps) {
  Recording out;
  for (const auto& [codes, biases, chosen] : steps) {
    const int count = static_cast<int>(codes.size());
    if (biases.size() != codes.size() || chosen < 0 || chosen >= count)
      throw std::invalid_argument("a step has as many biases as codes, and plays one of them");
    const std::uint32_t first = out.reserve_step(count);
    for (int i = 0; i < count; i++) {
      out.list[first + i] = static_cast<std::uint32_t>(out.items.size());
      const HashPolicy::Entry entry = policy.find(codes[i]);
      out.items.push_back({codes[i], biases[i], softmax.is_factor(entry) ? exp_factor(biases[i]) : 1.0, entry});
    }
    out.finish_step(chosen, first, count, chosen);
  }
  return out;
}

void adapt(HashPolicy& policy, const std::vector<GivenStep>& steps, double alpha, double temperature,
           BiasUse bias_use) {
  const Softmax softmax{temperature, bias_use};
  Recording recording = record_given(policy, softmax, steps);
  Adapter(softmax).adapt(policy, recording, alpha);
}

std::vector<double> probabilities(const HashPolicy& policy, const std::vector<std::uint64_t>& codes,
                                  const std::vector<double>& biases, double temperature, BiasUse bias_use) {
  const Softmax softmax{temperature, bias_use};
  const Recording recording = record_given(policy, softmax, {{codes, biases, 0}});
  std::vector<double> odds;
  double sum = 0;
  for (std::size_t i = 0; i < codes.size(); i++) {
    odds.push_back(odds_of(policy, recording.items[i]));
    sum += odds.back();
  }
  if (!is_finite(sum))
    sum = odds_by_logarithm(policy, softmax, recording, 0, static_cast<int>(codes.size()), odds.data());
  for (double& one : odds) one /= sum;
  return odds;
}

const NrpaInside& inside(const AnySearch& search) {
  const auto* levels = dynamic_cast<const NrpaInside*>(&search);
  if (levels == nullptr) throw std::invalid_argument("only NRPA and GNRPA have levels with policies");
  return *levels;
}

}  // namespace

void register_search(nb::module_& m) {
  nb::enum_<BiasUse>(m, "BiasUse")
      .value("none", BiasUse::none)
      .value("factor", BiasUse::factor)
      .value("initial", BiasUse::initial);

  nb::class_<AnySearch>(m, "Search", "A search under way: a value that can be copied and moved on.")
      .def(
          "advance",
          [](AnySearch& search, std::uint64_t playouts) {
            Workers alone;
            search.advance(playouts, {}, alone);
          },
          "playouts"_a, nb::call_guard<nb::gil_scoped_release>(),
          "Plays at most that many playouts; returns early when the best improves.")
      .def("start_from", &AnySearch::start_from, "sequence"_a, "times"_a,
           "Makes a sequence the best so far and adapts the top policy to it that many times.")
      .def("copy", &AnySearch::copy)
      .def(
          "serialise",
          [](const AnySearch& search) {
            Writer out;
            search.serialise(out);
            return nb::bytes(out.bytes().data(), out.bytes().size());
          },
          "The state of the search as bytes: all it needs to go on, but its problem and settings.")
      .def(
          "deserialise",
          [](AnySearch& search, const nb::bytes& bytes) {
            const std::unique_ptr<AnySearch> read = search.copy();
            Reader in({static_cast<const char*>(bytes.data()), bytes.size()});
            read->deserialise(in);
            in.expect_end();
            Reader again({static_cast<const char*>(bytes.data()), bytes.size()});
            search.deserialise(again);
          },
          "bytes"_a, "Takes the state of a search of the same problem and settings; ValueError if it is damaged.")
      .def_prop_ro("playouts", [](const AnySearch& search) { return search.best().playouts; })
      .def_prop_ro("score", [](const AnySearch& search) { return search.best().score; })
      .def_prop_ro("moves", [](const AnySearch& search) { return search.best().moves; })
      .def(
          "level_moves", [](const AnySearch& search, int level) { return inside(search).level_moves(level); },
          "level"_a, "The best sequence a level of NRPA has found since it began.")
      .def(
          "level_policy", [](const AnySearch& search, int level) { return inside(search).level_policy(level); },
          "level"_a, "A copy of the policy of a level of NRPA.");

  m.def("adapt", &adapt, "policy"_a, "steps"_a, "alpha"_a, "temperature"_a, "bias_use"_a,
        "Teaches a policy a sequence of steps, each (codes, biases, index of the move played).");
  m.def("probabilities", &probabilities, "policy"_a, "codes"_a, "biases"_a, "temperature"_a, "bias_use"_a,
        "The probabilities with which a playout draws moves of these codes and biases.");
  m.def("nrpa", &nrpa, "problem"_a, "level"_a, "iterations"_a, "alpha"_a, "temperature"_a, "bias_use"_a,
        "playouts_per_call"_a, "repetitions"_a, "seed"_a, "job"_a = 0, "wide_level"_a = 0, "width"_a = 1,
        "local"_a = false, "exchange_best"_a = false, "improve"_a = false,
        "NRPA and GNRPA; with a wide level, its calls are made `width` at a time; with `improve`, the problem's local "
        "search improves the best sequences.");
  m.def("nmcs", &nmcs, "problem"_a, "level"_a, "seed"_a, "job"_a = 0);
}

}  // namespace playout::bindings
