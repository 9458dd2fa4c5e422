// Priors of the moves in Go, from their features.
//
// The weight of a move is the product of exp(w) over its features (a softmax model: experiments/go/learn.py fits the
// odds of what good players play). A prior is as many won simulations, besides the even one: kPriorWins for the move of
// the largest weight, less in proportion for the others.
#pragma once

#include <algorithm>
#include <array>

#include "core/exp.h"
#include "problems/game.h"
#include "problems/go/features.h"
#include "problems/go/weights.h"

namespace playout {

static_assert(kGoWeights.size() == kGoFeatures, "run experiments/go/learn.py again");

inline constexpr double kPriorWins = 20;

// Of at least one move, by the sums of the moves' weights in thousandths. Whole numbers: no sum depends on the order of
// the features.
inline void make_go_priors(const int* sums, int count, Prior* out) {
  const int most = *std::max_element(sums, sums + count);
  for (int i = 0; i < count; i++) {
    const auto wins = static_cast<float>(kPriorWins * exp((sums[i] - most) / 1000.0));
    out[i] = {wins, wins};
  }
}

}  // namespace playout
