#include <nanobind/stl/vector.h>

#include "bindings/bindings.h"
#include "core/exp.h"
#include "core/policy.h"
#include "core/random.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace playout::bindings {
namespace {

HashPolicy::Entry checked(const HashPolicy& policy, HashPolicy::Entry entry) {
  if (entry >= policy.size()) throw std::out_of_range("no such entry");
  return entry;
}

}  // namespace

void register_core(nb::module_& m) {
  nb::exception<PolicyFull>(m, "PolicyFull", PyExc_MemoryError);  // NOLINT(*-unused-raii,*-throw-keyword-missing)

  m.def("exp", &exp, "x"_a, "The engine's exponential: the same bits on every machine.");
  m.def("exp_factor", &exp_factor, "x"_a, "exp(x) as a factor of a probability: NaN where abs(x) > 340.");
  m.def(
      "uniforms",
      [](std::uint64_t seed, std::uint64_t island, std::uint64_t job, std::uint64_t playout, int count) {
        Stream random = StreamKey{seed, island, job}.stream(playout);
        std::vector<double> numbers(count);
        for (double& number : numbers) number = random.uniform();
        return numbers;
      },
      "seed"_a, "island"_a, "job"_a, "playout"_a, "count"_a,
      "The first numbers, uniform on [0, 1), that a playout of a search draws.");

  nb::class_<HashPolicy>(m, "HashPolicy", "Weights by 64-bit move code.")
      .def(nb::init<>())
      .def("find", &HashPolicy::find, "code"_a, "The entry of a code; 0 if it is unknown.")
      .def("find_or_insert", &HashPolicy::find_or_insert, "code"_a, "weight"_a, "value"_a)
      .def(
          "weight",
          [](const HashPolicy& policy, HashPolicy::Entry entry) { return policy.weight(checked(policy, entry)); },
          "entry"_a)
      .def(
          "value",
          [](const HashPolicy& policy, HashPolicy::Entry entry) { return policy.value(checked(policy, entry)); },
          "entry"_a)
      .def("clear", &HashPolicy::clear)
      .def("copy", [](const HashPolicy& policy) { return policy; })
      .def("__len__", [](const HashPolicy& policy) { return policy.size() - 1; })
      .def_ro_static("max_entries", &HashPolicy::kMaxEntries);
}

}  // namespace playout::bindings
