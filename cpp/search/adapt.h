// Adapt: teaches a policy the recorded playout (Algorithm 6 of "Generalized NRPA").
//
//   p_ij = exp(w_ij / t + bias_ij) / sum_k exp(w_ik / t + bias_ik)      for every step i and legal move j of it
//   w_ij -= (alpha / t) (p_ij - d_ij)                                   d_ij = 1 for the move played, else 0
//
// All probabilities come from the weights before the call, so the order of the steps does not matter and the policy is
// changed in place, once for each code. (The exponent (w + bias) / t in the paper's Algorithm 5 is a misprint; its text
// and Algorithms 4 and 6 agree on the one above.) A code that occurs in several steps collects all its changes in the
// order of the steps; its exponential is computed once, at the end.
#pragma once

#include <vector>

#include "core/exp.h"
#include "core/policy.h"
#include "search/recording.h"
#include "search/softmax.h"

namespace playout {

class Adapter {
 public:
  explicit Adapter(const Softmax& softmax) : softmax_(softmax) {}

  void adapt(HashPolicy& policy, Recording& best, double alpha) {
    if (!best.resolved) resolve(policy, best);
    gather(policy, best);
    const double rate = alpha / softmax_.temperature;
    for (std::size_t step = 0; step < best.steps(); step++) learn_step(policy, best, step, rate);
    scatter(policy, best);
  }

 private:
  // Gives every item an entry in the policy. An entry the recording brings is the policy's own if it is below its size:
  // the recording was made with this policy, or with one that began as a copy of it and only grew.
  void resolve(HashPolicy& policy, Recording& best) {
    const HashPolicy::Entry known = policy.size();
    if (slot_of_.size() < known + best.items.size()) slot_of_.resize(2 * (known + best.items.size()), kNoSlot);
    best.distinct.clear();
    best.slot.resize(best.items.size());
    for (std::size_t item = 0; item < best.items.size(); item++) {
      auto& [code, bias, factor, entry] = best.items[item];
      if (entry == HashPolicy::kUnknown || entry >= known) {
        const double weight = softmax_.initial_weight(bias);
        entry = policy.find_or_insert(code, weight, exp_factor(weight / softmax_.temperature));
        if (!softmax_.is_factor(entry)) factor = 1;  // the bias is in the weight now
      }
      if (slot_of_[entry] == kNoSlot) {
        slot_of_[entry] = static_cast<std::uint32_t>(best.distinct.size());
        best.distinct.push_back(entry);
      }
      best.slot[item] = slot_of_[entry];
    }
    for (const HashPolicy::Entry entry : best.distinct) slot_of_[entry] = kNoSlot;
    best.resolved = true;
    best.plain = best.items.size() == best.begin(best.steps()) && best.items.size() == best.distinct.size();
    for (std::uint32_t j = 0; best.plain && j < best.items.size(); j++) best.plain = best.list[j] == j;
  }

  void gather(const HashPolicy& policy, const Recording& best) {
    weights_.resize(best.distinct.size());
    for (std::size_t slot = 0; slot < weights_.size(); slot++) weights_[slot] = policy.weight(best.distinct[slot]);
    odds_.resize(best.items.size());
    for (std::size_t item = 0; item < odds_.size(); item++) odds_[item] = odds_of(policy, best.items[item]);
  }

  void learn_step(const HashPolicy& policy, const Recording& best, std::size_t step, double rate) {
    const std::uint32_t first = best.begin(step), end = best.end[step];
    double sum = 0;
    if (best.plain)
      for (std::uint32_t j = first; j < end; j++) sum += odds_[j];
    else
      for (std::uint32_t j = first; j < end; j++) sum += odds_[best.list[j]];
    if (is_finite(sum) && best.plain) {
      subtract(weights_.data() + first, odds_.data() + first, end - first, rate / sum);
    } else if (is_finite(sum)) {
      const double scale = rate / sum;
      for (std::uint32_t j = first; j < end; j++) weights_[best.slot[best.list[j]]] -= odds_[best.list[j]] * scale;
    } else {
      step_odds_.resize(end - first);
      const int count = static_cast<int>(end - first);
      const double scale = rate / odds_by_logarithm(policy, softmax_, best, first, count, step_odds_.data());
      for (std::uint32_t j = first; j < end; j++) weights_[best.slot[best.list[j]]] -= step_odds_[j - first] * scale;
    }
    weights_[best.slot[best.list[best.chosen[step]]]] += rate;
  }

  static void subtract(double* __restrict weights, const double* __restrict odds, std::size_t count, double scale) {
    for (std::size_t j = 0; j < count; j++) weights[j] -= odds[j] * scale;
  }

  void scatter(HashPolicy& policy, const Recording& best) {
    exponents_.resize(weights_.size()), values_.resize(weights_.size());
    for (std::size_t slot = 0; slot < weights_.size(); slot++) exponents_[slot] = weights_[slot] / softmax_.temperature;
    exp_factors(exponents_.data(), exponents_.size(), values_.data());
    for (std::size_t slot = 0; slot < weights_.size(); slot++)
      policy.set(best.distinct[slot], weights_[slot], values_[slot]);
  }

  static constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};

  Softmax softmax_;
  std::vector<double> odds_, step_odds_;              // by item, and of one step
  std::vector<double> weights_, exponents_, values_;  // by slot
  std::vector<std::uint32_t> slot_of_;                // by entry; kNoSlot except while resolving
};

}  // namespace playout
