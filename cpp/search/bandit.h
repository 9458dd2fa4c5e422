// Bandits: what a decision in the tree is worth trying again, Algorithm 2 of "The Parallelization of Monte-Carlo
// Planning", and progressive widening.
//
// The score of an arm is the mean of what it brought, from 0 to 1, and a term that grows with the doubt about it; c is
// the exploration constant, 1 in the paper. With N simulations of the situation and n of the arm:
//
//   UCB1         mean + c sqrt(2 log N / n); UCT-Treesplit's w/v + 2C sqrt(2 ln V / v) is this with c = 2C
//   UCB-Tuned.1  mean + c sqrt(V log N / n),               V = max(0.001, mean (1 - mean))
//   UCB-Tuned.2  mean + c (sqrt(V log N / n) + log N / n)
//   RAVE         (1 - b) mean + b amaf + c sqrt(2 log N / n), the paper's AMAF-guided exploration. (Its listing prints
//   the
//                same symbol for both estimates; the text tells them apart.) b = n~ / (n~ + n + n n~ / k) falls with n
//                and rises with the number n~ of simulations that the AMAF estimate rests on. n and the mean include a
//                prior.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace playout {

enum class Bandit : std::uint8_t { ucb1, tuned1, tuned2, rave };

inline double exploration_of(Bandit kind, double mean, double visits, double log_total) {
  if (kind == Bandit::ucb1 || kind == Bandit::rave) return std::sqrt(2 * log_total / visits);
  const double variance = std::max(0.001, mean * (1 - mean));
  const double term = std::sqrt(variance * log_total / visits);
  return kind == Bandit::tuned1 ? term : term + log_total / visits;
}

inline double score_of_arm(Bandit kind, double mean, double visits, double log_total, double c) {
  return mean + c * exploration_of(kind, mean, visits, log_total);
}

// The weight of the AMAF estimate.
inline double rave_weight(double visits, double amaf_visits, double k) {
  return amaf_visits / (amaf_visits + visits + visits * amaf_visits / k);
}

// Progressive widening: after n simulations of a situation the K(n) best moves are considered, K(n) being the number of
// k with t(k) <= n; t(1) = 0 and t(k + 1) = t(k) + first * growth^(k - 1).
class Widening {
 public:
  Widening(double first, double growth) {
    double t = 0, step = first;
    while (t < std::numeric_limits<std::uint32_t>::max() && thresholds_.size() < kMost) {
      thresholds_.push_back(t);
      t += step, step *= growth;
    }
  }

  // K(n), given that K was `before` not long ago.
  std::uint32_t considered(std::uint32_t n, std::uint32_t before) const {
    std::uint32_t k = before;
    while (k < thresholds_.size() && thresholds_[k] <= n) k++;
    return k;
  }

 private:
  static constexpr std::size_t kMost = 1 << 20;  // of a growth of 1 or less
  std::vector<double> thresholds_;
};

}  // namespace playout
