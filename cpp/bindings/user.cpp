#include "problems/user.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/bindings.h"
#include "bindings/problem_of.h"
#include "bindings/python_rules.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace playout::bindings {
namespace {

ProblemHandle make_user(std::shared_ptr<const Rules> rules, UserProblem::Improve improve = nullptr,
                        std::shared_ptr<Errands> errands = nullptr) {
  ProblemHandle made = make_problem<UserProblem>(std::move(rules), std::move(improve));
  made.errands = std::move(errands);
  return made;
}

// Functions of a class that Numba has compiled, by their addresses.
ProblemHandle compiled_problem(std::uintptr_t init, std::uintptr_t find, std::uintptr_t play, std::uintptr_t step,
                               std::uintptr_t score, std::uintptr_t player, bool has_bias, std::uintptr_t data,
                               std::size_t state_bytes, int max_moves, int max_length, nb::object owner,
                               nb::object python_score, nb::object improve) {
  CompiledRules::Functions functions{};
  // NOLINTBEGIN(performance-no-int-to-ptr): Python knows addresses as numbers
  functions.init = reinterpret_cast<decltype(functions.init)>(init);
  functions.find = reinterpret_cast<decltype(functions.find)>(find);
  functions.play = reinterpret_cast<decltype(functions.play)>(play);
  functions.step = reinterpret_cast<decltype(functions.step)>(step);
  functions.score = reinterpret_cast<decltype(functions.score)>(score);
  functions.player = reinterpret_cast<decltype(functions.player)>(player);
  const auto* constants = reinterpret_cast<const void*>(data);
  // NOLINTEND(performance-no-int-to-ptr)
  const Rules::Sizes sizes{state_bytes, max_moves, max_length};
  const bool asks_python = !python_score.is_none() || !improve.is_none();
  auto errands = std::make_shared<Errands>();
  std::shared_ptr<const Rules> rules;
  if (python_score.is_none())
    rules = std::make_shared<const CompiledRules>(sizes, functions, has_bias, constants, keep(std::move(owner)));
  else
    rules = std::make_shared<const PythonScoreRules>(sizes, functions, has_bias, constants, keep(std::move(owner)),
                                                     std::move(python_score), errands);
  return make_user(std::move(rules), improve_in_python(std::move(improve), errands), asks_python ? errands : nullptr);
}

ProblemHandle python_problem(nb::object methods, bool is_game, bool has_bias, std::size_t state_bytes, int max_moves,
                             int max_length, nb::object improve) {
  auto errands = std::make_shared<Errands>();
  auto rules = std::make_shared<const PythonRules>(Rules::Sizes{state_bytes, max_moves, max_length}, is_game, has_bias,
                                                   std::move(methods), errands);
  return make_user(std::move(rules), improve_in_python(std::move(improve), errands), errands);
}

// A library's problem: its entry point and an argument; the table's name, temperature and sizes come along.
std::tuple<ProblemHandle, std::string, double, int, int> library_problem(std::uintptr_t entry,
                                                                         const std::string& argument,
                                                                         nb::object owner) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): Python knows addresses as numbers
  const auto* table = reinterpret_cast<decltype(&::playout_problem)>(entry)(argument.c_str());
  if (table == nullptr) throw ProblemError("it has no problem for the argument '" + argument + "'");
  if (table->version != PLAYOUT_TABLE_VERSION)
    throw ProblemError("its table is of version " + std::to_string(table->version) + ", this Playout reads version " +
                       std::to_string(PLAYOUT_TABLE_VERSION) + "; compile it with the playout.h of this Playout");
  auto rules = std::make_shared<const TableRules>(*table, keep(std::move(owner)));
  const Rules::Sizes sizes = rules->sizes();
  return {make_user(std::move(rules)), table->name == nullptr ? "" : table->name,
          table->temperature == 0 ? 1 : table->temperature, sizes.max_moves, sizes.max_length};
}

}  // namespace

void register_user(nb::module_& m) {
  const nb::exception<ProblemError> problem_error(m, "ProblemError", PyExc_ValueError);
  const nb::exception<CompiledFailure> compiled_failure(m, "CompiledFailure", problem_error);
  m.def("compiled_problem", &compiled_problem, nb::kw_only(), "init"_a, "find"_a, "play"_a, "step"_a, "score"_a,
        "player"_a, "has_bias"_a, "data"_a, "state_bytes"_a, "max_moves"_a, "max_length"_a, "owner"_a,
        "python_score"_a = nb::none(), "improve"_a = nb::none(),
        "A user's problem: addresses of functions that Numba compiled, player's is 0 unless it is a game, and of the "
        "constants they are given.");
  m.def("python_problem", &python_problem, "methods"_a, nb::kw_only(), "is_game"_a, "has_bias"_a, "state_bytes"_a,
        "max_moves"_a, "max_length"_a, "improve"_a = nb::none(),
        "A user's problem in plain Python: an object with init, find, play, step, score and player of a memoryview.");
  m.def("library_problem", &library_problem, "entry"_a, "argument"_a, "owner"_a,
        "A user's problem in a library, by the address of its entry point; with name, temperature, max_moves and "
        "max_length.");
}

}  // namespace playout::bindings
