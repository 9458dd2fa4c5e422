// The register functions of playout._core: one for each folder, and one for each problem.
#pragma once

#include <nanobind/nanobind.h>

namespace playout::bindings {

void register_core(nanobind::module_& m);
void register_problems(nanobind::module_& m);
void register_search(nanobind::module_& m);
void register_parallel(nanobind::module_& m);
void register_cluster(nanobind::module_& m);
void register_tree(nanobind::module_& m);

void register_same_game(nanobind::module_& m);
void register_tsptw(nanobind::module_& m);
void register_user(nanobind::module_& m);
void register_mnk(nanobind::module_& m);
void register_connect_four(nanobind::module_& m);
void register_hex(nanobind::module_& m);
void register_go(nanobind::module_& m);

}  // namespace playout::bindings
