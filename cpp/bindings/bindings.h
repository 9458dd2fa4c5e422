// What the register_<folder>.cpp files share: one function each, and how a problem of several C++ types is held.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <variant>

#include "problems/same_game.h"
#include "problems/tsptw.h"
#include "problems/user.h"

namespace playout::bindings {

void register_core(nanobind::module_& m);
void register_problems(nanobind::module_& m);
void register_search(nanobind::module_& m);
void register_parallel(nanobind::module_& m);

// The types of problems there are: a new one is added here, and made in register_problems.cpp.
template <class... P>
struct Types {};
using Problems = Types<SameGame16, SameGame20, Tsptw, UserProblem>;

// A problem of any of them; searches are made by visiting it.
template <class... P>
std::variant<std::shared_ptr<const P>...> any_of(Types<P...>);
using AnyProblem = decltype(any_of(Problems()));

class Errands;

struct ProblemHandle {
  AnyProblem problem;
  std::shared_ptr<Errands> errands = nullptr;  // where the problem asks Python (bindings/errands.h)
};

}  // namespace playout::bindings
