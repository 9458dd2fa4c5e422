// Random numbers by counter.
//
// A playout draws from a Stream of its own, named by (seed, island, job, index of the playout in its search) and by
// nothing else: not by a thread, a core or a rank. Whoever plays a playout therefore draws the same numbers, which is
// what makes results equal on any number of threads and lets a search be resumed anywhere.
//
// The k-th number of a stream is mix(start + k * kGolden), the SplitMix64 sequence (Steele, Lea and Flood, "Fast
// Splittable Pseudorandom Number Generators", OOPSLA 2014); the start is the four coordinates folded together by the
// same mix. The Python twin is src/playout/random.py.
#pragma once

#include <cstdint>

namespace playout {

inline constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;

// A bijection of 64-bit words in which every input bit changes every output bit about half of the time.
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return x ^ x >> 31;
}

// One word out of a word and what comes next; order matters.
constexpr std::uint64_t fold(std::uint64_t word, std::uint64_t next) { return mix((word ^ next) + kGolden); }

class Stream {
 public:
  constexpr explicit Stream(std::uint64_t start) : state_(start) {}

  // Where it is: a stream that starts there goes on with the same numbers.
  constexpr std::uint64_t state() const { return state_; }

  constexpr std::uint64_t next() { return mix(state_ += kGolden); }

  // Uniform on [0, 1), a multiple of 2^-53.
  constexpr double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  // A whole number from 0 to n - 1, for small n: the error, n / 2^32, is far below what anyone can measure.
  constexpr std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>((next() >> 32) * n >> 32); }

 private:
  std::uint64_t state_;
};

// Names all the streams of one search.
struct StreamKey {
  std::uint64_t seed = 0, island = 0, job = 0;

  constexpr Stream stream(std::uint64_t playout) const {
    return Stream(fold(fold(fold(fold(0, seed), island), job), playout));
  }
};

}  // namespace playout
