// Softmax: the odds of a step's moves under a policy, and drawing one.
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
};

// The legal moves of one step of a recording, and where their odds go.
struct Step {
  const Recording& recording;
  std::uint32_t first;
  int count;

  HashPolicy::Entry entry(int i) const { return recording.entry[first + i]; }
  double bias(int i) const { return recording.bias[first + i]; }
  double factor(int i) const { return recording.factor[first + i]; }
};

// Fills odds with exp(x_i - max x) instead of exp(x_i) and returns their sum: no x is too large or too small.
inline double odds_by_logarithm(const HashPolicy& policy, const Softmax& softmax, const Step& step, double* odds) {
  double largest = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < step.count; i++) {
    const bool known = step.entry(i) != HashPolicy::kUnknown;
    const double weight = known ? policy.weight(step.entry(i)) : softmax.initial_weight(step.bias(i));
    odds[i] = softmax.exponent(weight, step.bias(i));
    largest = std::max(largest, odds[i]);
  }
  double sum = 0;
  for (int i = 0; i < step.count; i++) sum += odds[i] = exp(odds[i] - largest);
  return sum;
}

// Fills odds, one for each legal move of the step, and returns their sum.
inline double step_odds(const HashPolicy& policy, const Softmax& softmax, const Step& step, double* odds) {
  double sum = 0;
  for (int i = 0; i < step.count; i++) sum += odds[i] = policy.value(step.entry(i)) * step.factor(i);
  return sum <= std::numeric_limits<double>::max() ? sum : odds_by_logarithm(policy, softmax, step, odds);
}

// The index drawn from odds with that sum: the first whose running sum exceeds a uniform share of it.
inline int draw(const double* odds, int count, double sum, Stream& random) {
  const double share = random.uniform() * sum;
  double running = 0;
  for (int i = 0; i < count - 1; i++)
    if ((running += odds[i]) > share) return i;
  return count - 1;
}

}  // namespace playout
