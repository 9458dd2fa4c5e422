// playout._core: the engine as Python sees it. Each folder registers its own part, in dependency order.
#include "bindings/bindings.h"

NB_MODULE(_core, m) {
  m.doc() = "The C++ engine of Playout. Private: use the names in the playout package.";
  // A program may end while it still holds a problem; nobody wants to read about that.
  nanobind::set_leak_warnings(false);
  playout::bindings::register_core(m);
  playout::bindings::register_problems(m);
  playout::bindings::register_games(m);
  playout::bindings::register_search(m);
  playout::bindings::register_parallel(m);
  playout::bindings::register_cluster(m);
  playout::bindings::register_tree(m);
}
