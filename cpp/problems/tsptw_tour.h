// TsptwTour: the numbers of a TSPTW instance, and what a tour is worth (the rules are in problems/tsptw.h).
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

#include "problems/problem.h"

namespace playout {

struct TsptwTour {
  static constexpr double kPenalty = 1e6;

  std::vector<double> distances;  // row by row
  std::vector<double> ready, due;
  bool makespan;  // whether that counts instead of the cost

  TsptwTour(std::vector<double> distances, std::vector<double> ready, std::vector<double> due, bool makespan)
      : distances(std::move(distances)), ready(std::move(ready)), due(std::move(due)), makespan(makespan) {
    const std::size_t n = this->ready.size();
    if (n == 0 || this->due.size() != n || this->distances.size() != n * n)
      throw std::invalid_argument("n nodes have n x n distances, n ready times and n due times, n at least 1");
    for (int node = 0; node < nodes(); node++) this->distances[node * nodes() + node] = 0;
    const auto is_finite = [](double time) { return std::isfinite(time); };
    if (!std::ranges::all_of(this->distances, [&](double d) { return is_finite(d) && d >= 0; }) ||
        !std::ranges::all_of(this->ready, is_finite) || !std::ranges::all_of(this->due, is_finite))
      throw std::invalid_argument("a distance is negative, or a time is not a finite number");
  }

  int nodes() const { return static_cast<int>(ready.size()); }
  double distance(int from, int to) const { return distances[from * nodes() + to]; }
  const double* row(int from) const { return &distances[from * nodes()]; }

  // Calls function(from, to, distance) for each arc.
  template <class Function>
  void for_each_arc(Function function) const {
    for (int from = 0; from < nodes(); from++)
      for (int to = 0; to < nodes(); to++)
        if (from != to) function(from, to, distance(from, to));
  }

  double score(double cost, double time, int violations) const {
    return -((makespan ? time : cost) + kPenalty * violations);
  }

  // The score of the customers in that order, by the rules.
  double score(const std::vector<Move>& customers) const {
    double time = ready[0], cost = 0;
    int node = 0, violations = 0;
    const auto travel = [&](int to) {
      const double arrival = time + distance(node, to);
      cost += distance(node, to);
      violations += arrival > due[to];
      time = std::max(arrival, ready[to]);
      node = to;
    };
    for (const Move customer : customers) travel(static_cast<int>(customer));
    if (!customers.empty()) travel(0);
    return score(cost, time, violations);
  }

  // Whether every customer is there once.
  bool is_whole(const std::vector<Move>& customers) const {
    std::vector<bool> seen(nodes());
    for (const Move customer : customers) {
      if (customer < 1 || customer >= nodes() || seen[customer]) return false;
      seen[customer] = true;
    }
    return static_cast<int>(customers.size()) == nodes() - 1;
  }
};

}  // namespace playout
