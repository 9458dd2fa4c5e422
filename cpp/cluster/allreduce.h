// Allreduce: what all ranks know together, round after round: a sum to which every rank contributes once a round, and
// that every rank gets. It goes by messages along a binomial tree of ranks, up to rank 0 and down again: in a number of
// steps that grows with the logarithm of the ranks, as the paper wants it ("The Parallelization of Monte-Carlo
// Planning", section 3.1), and no rank sends more than twice what the sum takes to each of its neighbours. Nobody waits
// in it, and a rank that falls silent leaves a round open and hangs nobody.
//
// A `Sum` is a value with `add(Sum other)`, `write(Writer&)` and `Sum::read(Reader&)`. Rounds are numbered from 0
// without an end. A rank contributes to one round after the other, to each when it knows the sum of the one before. For
// one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "cluster/transport.h"
#include "core/archive.h"

namespace playout {

template <class Sum>
class Allreduce {
 public:
  static constexpr std::uint8_t kUp = 1, kDown = 2;

  explicit Allreduce(Port& port) : port_(port) {
    for (int bit = 1; bit < port.ranks() && (port.rank() & bit) == 0; bit *= 2)
      if (port.rank() + bit < port.ranks()) children_.push_back(port.rank() + bit);
  }

  // This rank's part in the present round. Returns the sum, if this was the last part of it; then the next round
  // begins.
  std::optional<Sum> contribute(Sum own) { return add(std::move(own)); }

  // Handles a message of this kind; throws Damaged. Returns the sum of the round, if it has come with that.
  std::optional<Sum> take(const Message& message) {
    Reader in(message.bytes);
    if (in.get<std::uint64_t>() != round_) throw Damaged();
    Sum one = Sum::read(in);
    in.expect_end();
    if (message.kind == kUp) return add(std::move(one));
    for (const int child : children_) port_.send(child, kDown, message.bytes);
    round_++;
    return one;
  }

 private:
  std::optional<Sum> add(Sum one) {
    if (parts_ > children_.size()) throw Damaged();
    sum_.add(std::move(one));
    if (++parts_ <= children_.size()) return {};
    Writer out;
    out.put(round_);
    sum_.write(out);
    Sum whole = std::exchange(sum_, Sum());
    parts_ = 0;
    if (port_.rank() > 0) {
      port_.send(port_.rank() & (port_.rank() - 1), kUp, out.bytes());
      return {};
    }
    for (const int child : children_) port_.send(child, kDown, out.bytes());
    round_++;
    return whole;
  }

  Port& port_;
  std::vector<int> children_;
  std::uint64_t round_ = 0;
  Sum sum_;                // of the round, so far
  std::size_t parts_ = 0;  // that are in it: this rank's, and one of each child with all below it
};

}  // namespace playout
