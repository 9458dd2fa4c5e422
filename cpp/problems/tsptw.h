// TSPTW: the travelling salesman problem with time windows.
//
// Rules. A tour leaves the depot, node 0, at its ready time, visits every customer once and comes back. Who arrives
// before the ready time waits; who arrives after the due time has violated it, and goes on all the same. The score is
// -(cost + 10^6 violations), the cost being the sum of the arcs, in the order in which they are travelled, or, by
// setting, the makespan: the time of return. Arcs include service; they may be longer one way than the other.
//
// A move is the customer visited next, in ascending order. Code: from * n + to.
// Bias: -10 (d - min) / (max - min), min and max over all arcs: near customers are favoured. (The sign printed in
// section 6.2 of "Generalized NRPA" favours far ones.)
//
// Selective policy, two settings. A customer is alive while it can be reached in time; one that once could not is lost
// for good. A move is harmful if some customer alive would be late after it, whichever way, or is itself reached late
// by it although it is alive, which takes an arc that is longer than a detour.
//  - avoid_late: harmful moves are left out, unless all are;
//  - urgent: if some customers alive would be late after every other move, only those are moves.
// Where a move is not harmful, no other customer is urgent; so `urgent` matters only where at most one is not.
//
// What can be reached is decided by the shortest way over customers, not by the arc: so no tour that is in time
// everywhere is left out, whether or not the triangle inequality holds. Sums of a way are rounded as it is travelled,
// by less than 10^-12 of the times in all; a detour counts as that much shorter than it is, unless all numbers are
// whole.
//
// This costs one comparison a customer and step. Whether j is harmful is decided by one number, the latest start at j
// that is in time for all alive: they are sorted by it for each j beforehand, and it changes only when the first one is
// visited or lost. Latest starts are exact: start > latest(j, k) if and only if start + way(j, k) > due(k).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/exp.h"
#include "problems/problem.h"
#include "problems/tsptw_improve.h"
#include "problems/tsptw_tour.h"

namespace playout {

struct TsptwSettings {
  bool makespan = false;
  bool urgent = false;
  bool avoid_late = false;
};

class Tsptw {
 public:
  static constexpr int kMaxNodes = 1024;

  // A set of nodes.
  class Nodes {
   public:
    bool has(int node) const { return words_[node / 64] >> node % 64 & 1; }
    void put(int node) { words_[node / 64] |= std::uint64_t{1} << node % 64; }
    void remove(int node) { words_[node / 64] &= ~(std::uint64_t{1} << node % 64); }

    // Calls function(node) for each, in ascending order.
    template <class Function>
    void for_each(Function function) const {
      for (int word = 0; word < kMaxNodes / 64; word++)
        for (std::uint64_t bits = words_[word]; bits != 0; bits &= bits - 1)
          function(word * 64 + std::countr_zero(bits));
    }

   private:
    std::uint64_t words_[kMaxNodes / 64]{};
  };

  struct State {
    double time, cost;
    int node, violations;
    int count;         // of the customers left
    Nodes left, lost;  // lost: where the policy is selective, those left that can no longer be reached in time
  };

  class Moves {
   public:
    int count = 0;
    Move move(int i) const { return list_[i]; }
    int item(int i) const { return first_item_ + i; }
    int items() const { return first_item_ + count; }
    std::uint64_t code(int item) const { return row_ + list_[item - first_item_]; }
    double bias(int item) const { return biases_[code(item)]; }
    double exp_bias(int item) const { return exp_biases_[code(item)]; }

   private:
    friend class Tsptw;
    int first_item_ = 0;
    std::uint64_t row_ = 0;  // the code of going to node 0
    const double* biases_ = nullptr;
    const double* exp_biases_ = nullptr;
    std::uint16_t list_[kMaxNodes];

    // All customers left, ascending. Where the policy is selective, for each node: when it would be started next; its
    // due time, infinite unless it is alive; the first one alive in its order, its place there, and the latest start in
    // time for it.
    int left_count_ = 0;
    std::uint16_t left_[kMaxNodes], first_[kMaxNodes], place_[kMaxNodes];
    double start_[kMaxNodes], due_[kMaxNodes], latest_[kMaxNodes];
  };

  // Distances are row by row. Every time is a finite number, no distance is negative; the diagonal is ignored.
  Tsptw(std::vector<double> distances, std::vector<double> ready, std::vector<double> due,
        const TsptwSettings& settings)
      : settings_(settings), tour_(std::move(distances), std::move(ready), std::move(due), settings.makespan) {
    if (nodes() > kMaxNodes)
      throw std::invalid_argument("there are " + std::to_string(nodes()) + " nodes, allowed are 1 to " +
                                  std::to_string(kMaxNodes));
    prepare_biases();
    if (is_selective()) prepare_ways(), prepare_orders();
    initial_.time = tour_.ready[0];
    initial_.count = nodes() - 1;
    for (int customer = 1; customer < nodes(); customer++) initial_.left.put(customer);
    if (is_selective()) note_lost(initial_);
  }

  State initial() const { return initial_; }
  int max_moves() const { return std::max(nodes() - 1, 1); }

  void find_moves(const State& state, Moves& moves) const {
    moves.first_item_ = 0;
    moves.biases_ = biases_.data(), moves.exp_biases_ = exp_biases_.data();
    moves.left_count_ = 0;
    state.left.for_each([&](int customer) { moves.left_[moves.left_count_++] = static_cast<std::uint16_t>(customer); });
    if (is_selective()) {
      for (int node = 0; node < nodes(); node++)
        moves.due_[node] = state.left.has(node) && !state.lost.has(node) ? tour_.due[node] : kNever;
      std::fill_n(moves.place_, nodes(), 0);
      std::fill_n(moves.latest_, nodes(), kNever);
      for (int i = 0; i < moves.left_count_; i++) skip_dead(moves, moves.left_[i]);
      find_starts(state, moves);
    }
    select(state, moves);
  }

  static void find_all_moves(const State& /*state*/, Moves& moves) { take_all(moves); }

  void play(State& state, const Moves& moves, int i) const {
    visit(state, moves.list_[i]);
    if (is_selective()) note_lost(state);
  }

  void play_and_find_moves(State& state, Moves& moves, int i) const {
    const std::uint16_t customer = moves.list_[i];
    visit(state, customer);
    std::uint16_t* place = std::find(moves.left_, moves.left_ + moves.left_count_, customer);
    std::copy(place + 1, moves.left_ + moves.left_count_--, place);
    moves.first_item_ += moves.count;
    if (is_selective()) {
      moves.latest_[customer] = kNever;
      if (moves.due_[customer] != kNever) bury(moves, customer);
      if (find_starts(state, moves)) bury_lost(state, moves);
    }
    select(state, moves);
  }

  double score(const State& state) const { return tour_.score(state.cost, state.time, state.violations); }

  bool improve(std::vector<Move>& sequence) const { return TsptwImprover(tour_).improve(sequence); }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  static constexpr double kRounding = 1e-12;
  static constexpr double kWholeLimit = 1e12;

  // A customer after some node, and the latest start there that is in time for it.
  struct Successor {
    double latest;
    int customer;
    auto operator<=>(const Successor&) const = default;
  };

  int nodes() const { return tour_.nodes(); }
  bool is_selective() const { return settings_.urgent || settings_.avoid_late; }

  void prepare_biases() {
    double min = kNever, max = -kNever;
    tour_.for_each_arc([&](int, int, double d) { min = std::min(min, d), max = std::max(max, d); });
    biases_.resize(tour_.distances.size());
    exp_biases_.resize(tour_.distances.size());
    tour_.for_each_arc([&](int from, int to, double d) {
      const double bias = max > min ? -10 * (d - min) / (max - min) : 0.0;
      biases_[from * nodes() + to] = bias;
      exp_biases_[from * nodes() + to] = exp_factor(bias);
    });
  }

  // The shortest ways over customers, by Floyd and Warshall. The depot is no stop on a way, nor is it the end of one.
  void prepare_ways() {
    const int n = nodes();
    std::vector<double> slack(n);
    if (!is_whole())
      for (int to = 1; to < n; to++)
        slack[to] = kRounding * std::max(std::abs(tour_.due[to]), std::abs(tour_.ready[0]));
    metric_ = !has_detour(slack);
    if (metric_) return;
    std::vector<double> shortest = tour_.distances;
    ways_ = tour_.distances;
    for (int stop = 1; stop < n; stop++)
      for (int from = 0; from < n; from++) {
        if (from == stop) continue;
        const double first = shortest[from * n + stop];
        const double* second = &shortest[stop * n];
        double* found = &shortest[from * n];
        double* ways = &ways_[from * n];
        const auto go_through = [&](int begin, int end) {
          for (int to = begin; to < end; to++) {
            const double through = first + second[to], counted = through - slack[to];
            found[to] = through < found[to] ? through : found[to];
            ways[to] = counted < ways[to] ? counted : ways[to];
          }
        };
        go_through(1, stop);
        go_through(stop + 1, n);
      }
  }

  // Whether a way over one customer is shorter than the arc. Where none is, none over several is.
  bool has_detour(const std::vector<double>& slack) const {
    for (int from = 0; from < nodes(); from++) {
      std::vector<double> arcs(tour_.row(from), tour_.row(from) + nodes());
      arcs[from] = -kNever;
      for (int stop = 1; stop < nodes(); stop++) {
        if (from == stop) continue;
        const double* second = tour_.row(stop);
        const double first = std::exchange(arcs[stop], -kNever);
        double any = 0;  // a double, as what is compared: for vector code
        for (int to = 1; to < nodes(); to++) any = first + second[to] - slack[to] < arcs[to] ? 1 : any;
        arcs[stop] = first;
        if (any != 0) return true;
      }
    }
    return false;
  }

  // Whether all times are whole numbers, and so small that no sum of them is rounded.
  bool is_whole() const {
    const auto whole = [](double time) { return std::abs(time) < kWholeLimit && time == std::trunc(time); };
    return std::ranges::all_of(tour_.distances, whole) && std::ranges::all_of(tour_.ready, whole);
  }

  // The shortest ways from a node.
  const double* ways(int from) const { return metric_ ? tour_.row(from) : &ways_[from * nodes()]; }

  // The largest number for which number + distance <= due, found by halving among all doubles.
  static double latest_start(double distance, double due) {
    const auto number = [](std::int64_t rank) {  // doubles in ascending order, 0 at rank 0
      return std::bit_cast<double>(rank >= 0 ? rank : std::numeric_limits<std::int64_t>::min() - rank);
    };
    constexpr auto kMostRank = std::bit_cast<std::int64_t>(std::numeric_limits<double>::max());
    std::int64_t low = -kMostRank, high = kMostRank;
    while (low < high) {
      const std::int64_t middle = std::midpoint(high, low);  // rounded towards high
      if (number(middle) + distance <= due)
        low = middle;
      else
        high = middle - 1;
    }
    return number(low);
  }

  void prepare_orders() {
    latest_.resize(tour_.distances.size());
    tour_.for_each_arc(
        [&](int from, int to, double) { latest_[from * nodes() + to] = latest_start(ways(from)[to], tour_.due[to]); });
    for (int from = 0; from < nodes(); from++) {
      for (int to = 1; to < nodes(); to++)
        if (to != from) orders_.push_back({latest_[from * nodes() + to], to});
      std::sort(orders_.end() - others(from), orders_.end());
      orders_.push_back({kNever, 0});
    }
  }

  // How many customers there are besides a node; where its order begins.
  int others(int node) const { return nodes() - (node == 0 ? 1 : 2); }
  const Successor* order(int node) const {
    return orders_.data() + (node == 0 ? 0 : nodes() + (node - 1) * (nodes() - 1));
  }

  void visit(State& state, int customer) const {
    state.left.remove(customer);
    state.lost.remove(customer);
    travel(state, customer);
    if (--state.count == 0) travel(state, 0);
  }

  void travel(State& state, int to) const {
    const double distance = tour_.distance(state.node, to), arrival = state.time + distance;
    state.cost += distance;
    state.violations += arrival > tour_.due[to];
    state.time = std::max(arrival, tour_.ready[to]);
    state.node = to;
  }

  void note_lost(State& state) const {
    const double* way = ways(state.node);
    state.left.for_each([&](int customer) {
      if (state.time + way[customer] > tour_.due[customer]) state.lost.put(customer);
    });
  }

  // When each node would be started; true if one alive is lost now.
  bool find_starts(const State& state, Moves& moves) const {
    return metric_ ? find_starts<true>(state, moves) : find_starts<false>(state, moves);
  }

  template <bool kMetric>
  bool find_starts(const State& state, Moves& moves) const {
    const double* distances = tour_.row(state.node);
    const double* way = ways(state.node);
    const double* ready = tour_.ready.data();
    double late = 0;  // a double, as what is compared: for vector code
    for (int node = 0; node < nodes(); node++) {
      const double arrival = state.time + distances[node];
      moves.start_[node] = arrival > ready[node] ? arrival : ready[node];
      late = (kMetric ? arrival : state.time + way[node]) > moves.due_[node] ? 1 : late;
    }
    return late != 0;
  }

  void bury_lost(State& state, Moves& moves) const {
    const double* way = ways(state.node);
    for (int i = 0; i < moves.left_count_; i++) {
      const int customer = moves.left_[i];
      if (!(state.time + way[customer] > moves.due_[customer])) continue;
      state.lost.put(customer);
      bury(moves, customer);
    }
  }

  // A customer is no longer alive: wherever it was the first to be in time for, the next one is now.
  void bury(Moves& moves, int customer) const {
    moves.due_[customer] = kNever;
    for (int i = 0; i < moves.left_count_; i++) {
      const int node = moves.left_[i];
      if (moves.first_[node] == customer) skip_dead(moves, node);
    }
  }

  void skip_dead(Moves& moves, int node) const {
    const Successor* first = order(node) + moves.place_[node];
    while (first->customer != 0 && moves.due_[first->customer] == kNever) first++;
    moves.place_[node] = static_cast<std::uint16_t>(first - order(node));
    moves.first_[node] = static_cast<std::uint16_t>(first->customer);
    moves.latest_[node] = first->latest;
  }

  bool is_harmful(const State& state, const Moves& moves, int customer) const {
    return moves.start_[customer] > moves.latest_[customer] || (!metric_ && is_reached_late(state, moves, customer));
  }

  // Whether the arc to a customer alive is too long.
  bool is_reached_late(const State& state, const Moves& moves, int customer) const {
    return state.time + tour_.distance(state.node, customer) > moves.due_[customer];
  }

  void select(const State& state, Moves& moves) const {
    moves.row_ = static_cast<std::uint64_t>(state.node) * nodes();
    moves.count = 0;
    if (is_selective() && any_harmful(state, moves)) {
      if (settings_.avoid_late) take_harmless(state, moves);
      if (settings_.urgent && moves.count == 0) take_urgent(state, moves);
    }
    if (moves.count == 0) take_all(moves);
  }

  bool any_harmful(const State& state, const Moves& moves) const {
    double any = 0;  // a double, as what is compared: for vector code
    for (int node = 0; node < nodes(); node++) any = moves.start_[node] > moves.latest_[node] ? 1 : any;
    for (int node = 0; node < nodes() && !metric_; node++) any = is_reached_late(state, moves, node) ? 1 : any;
    return any != 0;
  }

  static void take_all(Moves& moves) {
    moves.count = moves.left_count_;
    std::copy_n(moves.left_, moves.left_count_, moves.list_);
  }

  void take_harmless(const State& state, Moves& moves) const {
    moves.count = 0;
    for (int i = 0; i < moves.left_count_; i++) {
      moves.list_[moves.count] = moves.left_[i];
      moves.count += !is_harmful(state, moves, moves.left_[i]);
    }
  }

  // Those alive that would be late after every other move.
  void take_urgent(const State& state, Moves& moves) const {
    moves.count = 0;
    int harmless = 0;
    for (int i = 0; i < moves.left_count_ && harmless < 2; i++) harmless += !is_harmful(state, moves, moves.left_[i]);
    if (harmless == 2) return;
    for (int i = 0; i < moves.left_count_; i++) {
      moves.list_[moves.count] = moves.left_[i];
      moves.count += moves.due_[moves.left_[i]] != kNever;
    }
    for (int i = 0; i < moves.left_count_ && moves.count > 0; i++) {
      const int visited = moves.left_[i];
      const double* latest = &latest_[visited * nodes()];
      const double start = moves.start_[visited];
      const auto in_time = [&](int other) { return other != visited && !(start > latest[other]); };
      moves.count = static_cast<int>(std::remove_if(moves.list_, moves.list_ + moves.count, in_time) - moves.list_);
    }
  }

  TsptwSettings settings_;
  TsptwTour tour_;
  State initial_{};
  bool metric_ = true;                                // whether no detour is shorter than its arc
  std::vector<double> ways_;                          // by code: the shortest ways; empty if they are the arcs
  std::vector<double> biases_, exp_biases_, latest_;  // by code
  std::vector<Successor>
      orders_;  // after each node: the other customers, the latest starts in time ascending; then node 0
};
static_assert(Problem<Tsptw>);

}  // namespace playout
