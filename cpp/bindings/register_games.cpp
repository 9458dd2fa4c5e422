#include "bindings/bindings.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace playout::bindings {

void register_games(nb::module_& /*m*/) {}

}  // namespace playout::bindings
