// What the register_<folder>.cpp files share: one function each, and how a problem of several C++ types is held.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <variant>

#include "problems/connect_four.h"
#include "problems/go/go.h"
#include "problems/hex.h"
#include "problems/mnk.h"
#include "problems/same_game.h"
#include "problems/tsptw.h"
#include "problems/user.h"

namespace playout::bindings {

void register_core(nanobind::module_& m);
void register_problems(nanobind::module_& m);
void register_games(nanobind::module_& m);
void register_search(nanobind::module_& m);
void register_parallel(nanobind::module_& m);
void register_cluster(nanobind::module_& m);
void register_tree(nanobind::module_& m);

// The types of problems there are: a new one is added here, and made in register_problems.cpp. Games are made in
// register_games.cpp; a user's problem may be one.
template <class... P>
struct Types {};
using Puzzles = Types<SameGame16, SameGame20, Tsptw, UserProblem>;
using Games = Types<SmallMnk, LargeMnk, ConnectFour, Hex, Go<9>, Go<13>, Go<19>, Go<25>>;

template <class... P, class... G>
Types<P..., G...> joined(Types<P...>, Types<G...>);
using Problems = decltype(joined(Puzzles(), Games()));

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
