// Adapt: teaches a policy the recorded playout (Algorithm 6 of "Generalized NRPA").
//
//   p_ij = exp(w_ij / t + bias_ij) / sum_k exp(w_ik / t + bias_ik)      for every step i and legal move j of it
//   w_ij -= (alpha / t) (p_ij - d_ij)                                   d_ij = 1 for the move played, else 0
//
// All probabilities come from the weights before the call, so the order of the steps does not matter and the policy is
// changed in place. (The exponent (w + bias) / t in the paper's Algorithm 5 is a misprint; its text and Algorithms 4
// and 6 agree on the one above.) A code that occurs in several steps collects all its changes; its exponential is
// computed once, at the end.
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
    const double rate = alpha / softmax_.temperature;
    if (odds_.size() < best.total()) odds_.resize(best.code.size());
    scales_.resize(best.steps());
    for (std::size_t step = 0; step < best.steps(); step++) {
      const std::uint32_t first = best.begin(step);
      const int count = static_cast<int>(best.end[step] - first);
      scales_[step] = rate / step_odds(policy, softmax_, {best, first, count}, odds_.data() + first);
    }
    for (std::size_t step = 0; step < best.steps(); step++) {
      const double scale = scales_[step];
      for (std::uint32_t j = best.begin(step); j < best.end[step]; j++) policy.add(best.entry[j], -(odds_[j] * scale));
      policy.add(best.entry[best.chosen[step]], rate);
    }
    for (const HashPolicy::Entry entry : best.distinct)
      policy.set_value(entry, exp_factor(policy.weight(entry) / softmax_.temperature));
  }

 private:
  // Gives every code of the recording an entry in the policy. Entries the recording brings are the policy's own if they
  // are below its size: it was made with this policy, or with one that began as a copy of it and only grew.
  void resolve(HashPolicy& policy, Recording& best) {
    const HashPolicy::Entry known = policy.size();
    best.distinct.clear();
    seen_.assign(known + best.total(), false);
    for (std::uint32_t j = 0; j < best.total(); j++) {
      HashPolicy::Entry& entry = best.entry[j];
      if (entry == HashPolicy::kUnknown || entry >= known) {
        const double weight = softmax_.initial_weight(best.bias[j]);
        entry = policy.find_or_insert(best.code[j], weight, exp_factor(weight / softmax_.temperature));
        if (softmax_.bias_use == BiasUse::initial) best.factor[j] = 1;  // the bias is in the weight now
      }
      if (seen_[entry]) continue;
      seen_[entry] = true;
      best.distinct.push_back(entry);
    }
    best.resolved = true;
  }

  Softmax softmax_;
  std::vector<double> odds_, scales_;
  std::vector<char> seen_;
};

}  // namespace playout
