// playout._core: the engine as Python sees it. Each folder registers its own part, in dependency order.
#include "bindings/bindings.h"

NB_MODULE(_core, m) {
  m.doc() = "The C++ engine of Playout. Private: use the names in the playout package.";
  // A program may end while it still holds a problem; nobody wants to read about that.
  nanobind::set_leak_warnings(false);
  using namespace playout::bindings;
  register_core(m);
  register_problems(m);
  register_same_game(m);
  register_tsptw(m);
  register_user(m);
  register_mnk(m);
  register_connect_four(m);
  register_hex(m);
  register_go(m);
  register_search(m);
  register_parallel(m);
  register_cluster(m);
  register_tree(m);
}
