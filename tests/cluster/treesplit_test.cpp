// One tree on several ranks of several threads, compiled and run by test_treesplit.py: over a million simulations none
// is lost or counts twice, every state has one home, and all copies know what their homes know, whatever the network
// delays and in which order.
#include "cluster/treesplit.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

#include "cluster/in_process.h"
#include "parallel/team.h"
#include "problems/connect_four.h"
#include "problems/hex.h"

using namespace playout;

namespace {

void expect(bool truth, const char* what) {
  if (truth) return;
  std::printf("failed: %s\n", what);
  std::exit(1);
}

using Trees = std::vector<std::unique_ptr<SplitTree>>;

// Lets all ranks think at the same time, each with threads of its own.
void think(const Trees& trees, std::uint64_t simulations, int threads) {
  for (std::size_t rank = 0; rank < trees.size(); rank++)
    trees[rank]->begin(simulations / trees.size() + (rank < simulations % trees.size()));
  std::vector<std::jthread> leaders;
  for (const auto& tree : trees)
    leaders.emplace_back([&tree, threads] {
      Team team(threads, threads);
      const std::stop_source never;
      while (!tree->done()) tree->advance(1000, never.get_token(), team);
    });
}

bool same(const NodeReport& one, const NodeReport& other) {
  return one.bounds == other.bounds &&
         std::ranges::equal(one.actions, other.actions, [](const ActionReport& a, const ActionReport& b) {
           return a.visits == b.visits && a.wins == b.wins && a.amaf_visits == b.amaf_visits &&
                  a.amaf_wins == b.amaf_wins;
         });
}

template <class P>
void search(const P& game, std::uint64_t ranks, int threads, std::uint64_t simulations, const SplitSettings& split,
            double delay, bool amaf) {
  const auto network = std::make_shared<Network>(static_cast<int>(ranks), delay, 1e9, 7);
  UctSettings settings;
  settings.bandit = amaf ? Bandit::rave : Bandit::ucb1;
  settings.memory = std::uint64_t{1} << 28, settings.early_stop = false, settings.solver = false;
  Trees trees;
  for (std::uint64_t rank = 0; rank < ranks; rank++)
    trees.push_back(std::make_unique<Treesplit<P>>(std::make_shared<P>(game), settings, StreamKey{.seed = 1},
                                                   network->port(static_cast<int>(rank)), split));
  const std::jthread mover([&](const std::stop_token& stop) {
    while (!stop.stop_requested())
      if (network->deliver() == 0) std::this_thread::yield();
  });
  std::uint64_t before = 0;
  for (int turn = 0; turn < 2; turn++) {
    think(trees, simulations, threads);
    std::uint64_t playouts = 0, states = 0, seen = 0;
    std::map<std::uint64_t, NodeReport> homes;
    std::vector<std::vector<NodeReport>> nodes;
    for (const auto& tree : trees) nodes.push_back(tree->walk());
    for (std::uint64_t rank = 0; rank < ranks; rank++) {
      playouts += trees[rank]->best().playouts;
      expect(trees[rank]->report().visits == before + simulations, "each rank knows all simulations of the root");
      expect(trees[rank]->sharing().lost == 0, "nothing is lost");
      for (const NodeReport& node : nodes[rank])
        if (node.key % ranks == rank) states++, expect(homes.emplace(node.key, node).second, "a state has one home");
    }
    for (std::uint64_t rank = 0; rank < ranks; rank++)
      for (const NodeReport& node : nodes[rank])
        if (node.key % ranks != rank)
          seen++, expect(same(node, homes.at(node.key)), "a copy knows what its home knows");
    expect(playouts == simulations, "all simulations are made");
    expect(states == trees[0]->report().nodes || threads > 1, "and all states counted");
    expect(ranks == 1 || seen >= ranks - 1, "the root is on all ranks");
    const auto actions = trees[0]->report().actions;
    const Move move = std::ranges::max_element(actions, {}, &ActionReport::visits)->move;
    for (const auto& tree : trees) tree->play(move);
    before = 0;
    for (const auto& tree : trees) before = std::max(before, tree->report().visits);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t simulations = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  search(ConnectFour(7, 6), 3, 2, simulations / 2, {}, 2, false);  // and as many again
  for (const std::uint64_t ranks : {1, 2, 7}) search(ConnectFour(7, 6), ranks, 2, 30000, {.overload = 2}, 5, true);
  search(Hex(7), 3, 2, 20000, {.duplicate_after = 0, .sync_every = 1}, 1, true);
  search(Hex(7), 3, 2, 20000, {.duplicate_after = 1000000000, .sync_every = 1000000000}, 0, true);
  std::puts("ok");
}
