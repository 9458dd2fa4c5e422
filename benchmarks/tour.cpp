// A travelling salesman problem written in C++ against the engine's concept of a problem (cpp/problems/problem.h): what
// benchmarks/user.py measures the same problem against, written with playout.Problem.
//
// Reads the number of cities and the distances from standard input; prints score and CPU seconds of a search by NRPA.
#include <ctime>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "problems/problem.h"
#include "search/nrpa.h"

namespace {

using playout::Move;

class Tour {
 public:
  static constexpr int kMost = 64;

  struct State {
    int at, count;
    double cost;
    std::array<int, kMost> left;
  };

  struct Moves {
    int count = 0, first = 0, from = 0, cities = 0;
    std::array<int, kMost> list;

    Move move(int i) const { return list[i]; }
    int item(int i) const { return first + i; }
    int items() const { return first + count; }
    std::uint64_t code(int item) const { return from * cities + list[item - first]; }
    double bias(int) const { return 0; }
    double exp_bias(int) const { return 1; }
  };

  Tour(int cities, std::vector<double> distances) : cities_(cities), distances_(std::move(distances)) {}

  State initial() const {
    State state{0, cities_ - 1, 0, {}};
    for (int i = 0; i < state.count; i++) state.left[i] = i + 1;
    return state;
  }

  void find_moves(const State& state, Moves& moves) const {
    moves.first = moves.count = 0;
    moves.cities = cities_;
    find_next_moves(state, moves);
  }
  void find_all_moves(const State&, Moves&) const {}

  void play(State& state, const Moves& moves, int i) const {
    const int city = moves.list[i];
    state.cost += distances_[state.at * cities_ + city];
    state.at = city;
    state.left[i] = state.left[--state.count];  // the moves are the cities left, in this order
  }

  void play_and_find_moves(State& state, Moves& moves, int i) const {
    play(state, moves, i);
    find_next_moves(state, moves);
  }

  double score(const State& state) const { return -(state.cost + distances_[state.at * cities_]); }
  int max_moves() const { return cities_; }

 private:
  static void find_next_moves(const State& state, Moves& moves) {
    moves.first += moves.count;
    moves.count = state.count;
    moves.from = state.at;
    for (int i = 0; i < state.count; i++) moves.list[i] = state.left[i];
  }

  int cities_;
  std::vector<double> distances_;
};

static_assert(playout::Problem<Tour>);

}  // namespace

int main(int, char** arguments) {
  const int level = std::atoi(arguments[1]);
  const std::uint64_t playouts = std::strtoull(arguments[2], nullptr, 10);
  const std::uint64_t seed = std::strtoull(arguments[3], nullptr, 10);
  int cities = 0;
  if (std::scanf("%d", &cities) != 1 || cities < 1 || cities > Tour::kMost) return 1;
  std::vector<double> distances(cities * cities);
  for (double& distance : distances)
    if (std::scanf("%lf", &distance) != 1) return 1;

  const auto tour = std::make_shared<const Tour>(cities, distances);
  const playout::NrpaSettings settings{.level = level, .softmax = {1, playout::BiasUse::none}};
  playout::Nrpa<Tour> search(tour, settings, {.seed = seed});
  const std::clock_t begin = std::clock();
  while (search.best().playouts < playouts) search.advance(playouts - search.best().playouts, {});
  std::printf("%.17g %.6f\n", search.best().score, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
}
