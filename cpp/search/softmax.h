// Softmax: the odds of moves under a policy, and drawing one.
//
// A move of weight w and bias b has odds exp(w / t + b), t being the temperature. The policy keeps exp(w / t) and the
// problem gives exp(b), so odds are a look-up and a product. Where a factor is out of range (exp_factor in core/exp.h)
// the sum is not a number, and the step is done again from w and b with the largest exponent subtracted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/exp.h"
#include "core/policy.h"
#include "core/random.h"
#include "search/recording.h"

namespace playout {

// What a policy does with the problem's bias.
enum class BiasUse {
  none,     // nothing: NRPA
  factor,   // p proportional to exp(w / t + bias): GNRPA
  initial,  // the weight of a new code starts at t * bias instead of 0; equivalent by section 4.2 of the paper
};

struct Softmax {
  double temperature = 1;
  BiasUse bias_use = BiasUse::factor;

  double exponent(double weight, double bias) const {
    return weight / temperature + (bias_use == BiasUse::factor ? bias : 0);
  }
  double initial_weight(double bias) const { return bias_use == BiasUse::initial ? temperature * bias : 0; }

  // Whether the bias of a move is a factor of its odds. Where it is in the weight, it is for codes that have none yet.
  bool is_factor(HashPolicy::Entry entry) const {
    return bias_use == BiasUse::factor || (bias_use == BiasUse::initial && entry == HashPolicy::kUnknown);
  }
};

// The odds of an item.
inline double odds_of(const HashPolicy& policy, const Recording::Item& item) {
  return policy.value(item.entry) * item.factor;
}

inline bool is_finite(double sum) { return sum <= std::numeric_limits<double>::max(); }

// Fills odds with exp(x_i - max x) instead of exp(x_i), for the moves of a step that stand at `first` in the
// recording's list, and returns their sum: no x is too large or too small.
inline double odds_by_logarithm(const HashPolicy& policy, const Softmax& softmax, const Recording& recording,
                                std::uint32_t first, int count, double* odds) {
  double largest = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < count; i++) {
    const Recording::Item& item = recording.items[recording.list[first + i]];
    const bool known = item.entry != HashPolicy::kUnknown;
    odds[i] = softmax.exponent(known ? policy.weight(item.entry) : softmax.initial_weight(item.bias), item.bias);
    largest = std::max(largest, odds[i]);
  }
  double sum = 0;
  for (int i = 0; i < count; i++) sum += odds[i] = exp(odds[i] - largest);
  return sum;
}

// The index drawn from odds given as running sums: the first whose sum exceeds a uniform share of the last.
inline int draw(const double* running, int count, Stream& random) {
  const double share = random.uniform() * running[count - 1];
  int i = 0;
  while (i < count - 1 && !(running[i] > share)) i++;
  return i;
}

}  // namespace playout
