// The natural logarithm, our own, so that a tree does not depend on the C library of the machine that grew it.
//
// x = 2^e m with m between sqrt(1/2) and sqrt(2); log m = 2 (s + s^3 / 3 + s^5 / 5 + ...) with s = (m - 1) / (m + 1),
// |s| < 0.172, twelve terms: what is left out is below 1e-19. The order of operations is fixed (-ffp-contract=off).
#pragma once

#include <bit>
#include <cstdint>

namespace playout {

// log(x) of an ordinary number above 0.
inline double log(double x) {
  constexpr double kLn2 = 0x1.62e42fefa39efp-1, kRoot2 = 0x1.6a09e667f3bcdp+0;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  auto m = std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFF) | 0x3FF0000000000000);
  if (m > kRoot2) m *= 0.5, exponent++;
  const double s = (m - 1) / (m + 1), z = s * s;
  double sum = 1.0 / 23;
  for (int odd = 21; odd > 0; odd -= 2) sum = sum * z + 1.0 / odd;
  return exponent * kLn2 + 2 * s * sum;
}

}  // namespace playout
