// The exponential function, our own, so that a result does not depend on the C library of the machine that found it.
//
// exp(x) = 2^k exp(r) with k = round(x / ln 2) and |r| <= ln(2) / 2; exp(r) is its Taylor polynomial of degree 13,
// whose remainder is below 5e-18. The error is under one unit in the last place. Written without branches or calls,
// so that compilers turn a loop of it into vector code, and with one fixed order of operations, so that vector code
// gives the same bits as scalar code (build with -ffp-contract=off).
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace playout {

// exp(x) for |x| <= 700. Always inlined: in a large program compilers would rather call it, and then a loop over it is
// no vector code.
[[gnu::always_inline]] inline double exp_in_range(double x) {
  constexpr double kLog2E = 0x1.71547652b82fep+0;
  constexpr double kLn2High = 0x1.62e42fee00000p-1;  // 32 bits, so that k * kLn2High is exact
  constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
  constexpr double kRound = 0x1.8p52;  // adding it leaves the nearest integer in the low bits of the sum
  const double shifted = x * kLog2E + kRound;
  const double k = shifted - kRound;
  const double r = (x - k * kLn2High) - k * kLn2Low;
  const double r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
  const double p23 = 1.0 / 2 + r * (1.0 / 6);
  const double p45 = 1.0 / 24 + r * (1.0 / 120);
  const double p67 = 1.0 / 720 + r * (1.0 / 5040);
  const double p89 = 1.0 / 40320 + r * (1.0 / 362880);
  const double pab = 1.0 / 3628800 + r * (1.0 / 39916800);
  const double pcd = 1.0 / 479001600 + r * (1.0 / 6227020800);
  const double high = (p23 + r2 * p45) + r4 * (p67 + r2 * p89) + r8 * (pab + r2 * pcd);
  const double p = 1.0 + (r + r2 * high);  // the large terms last: they lose least
  const std::uint64_t scale = (std::bit_cast<std::uint64_t>(shifted) << 52) + 0x3FF0000000000000;
  return p * std::bit_cast<double>(scale);
}

// exp(x) for any x: 0 below -700, infinity above 700, NaN for NaN.
inline double exp(double x) {
  if (x < -700) return 0;
  if (x > 700) return std::numeric_limits<double>::infinity();
  return x == x ? exp_in_range(x) : x;
}

// The widest |x| for which a product of two factors exp(x), and a sum of many such products, are ordinary numbers.
inline constexpr double kFactorRange = 340;

// exp(x) as a factor of a probability: NaN where |x| > kFactorRange. The NaN reaches the sum of the step, and the step
// is done again with logarithms: nothing overflows, and no small factor is lost to a large one.
inline double exp_factor(double x) {
  const double y = exp_in_range(x);
  return x >= -kFactorRange && x <= kFactorRange ? y : std::numeric_limits<double>::quiet_NaN();
}

// exp_factor of many numbers: a choice for each would keep compilers from vector code.
inline void exp_factors(const double* __restrict x, std::size_t count, double* __restrict y) {
  for (std::size_t i = 0; i < count; i++) y[i] = exp_in_range(x[i]);
  double outside = 0;  // a double, as what is compared
  for (std::size_t i = 0; i < count; i++) outside = std::abs(x[i]) > kFactorRange ? 1 : outside;
  if (outside == 0) return;
  for (std::size_t i = 0; i < count; i++) y[i] = exp_factor(x[i]);
}

}  // namespace playout
