// What the register_<folder>.cpp files share: one function each, and how a problem of several C++ types is held.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <variant>

#include "problems/same_game.h"

namespace playout::bindings {

void register_core(nanobind::module_& m);
void register_problems(nanobind::module_& m);
void register_search(nanobind::module_& m);
void register_parallel(nanobind::module_& m);

// A built-in problem of any type; searches are made by visiting it.
using AnyProblem = std::variant<std::shared_ptr<const SameGame16>, std::shared_ptr<const SameGame20>>;

struct ProblemHandle {
  AnyProblem problem;
};

}  // namespace playout::bindings
