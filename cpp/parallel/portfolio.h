// Portfolio: how many playouts each of several jobs gets.
//
// All the same, for jobs that only differ in their random numbers. Jobs that search different variants of a problem are
// not worth the same, which shows only as they go. Then a first round gives each a few playouts, and every further
// round, as long as all before it together, goes by rank: three quarters to the `keep` jobs with the best scores so
// far, three quarters of the rest to the next `keep`, and so on. Ranks are taken anew before each round, so that a late
// one can overtake; of equal scores the lower job leads. All this happens at fixed numbers of playouts: whoever is
// faster changes nothing. (Chosen by measurement, experiments/portfolio: successive halving needs to know the budget,
// and is no better.)
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "core/archive.h"

namespace playout {

class Portfolio {
 public:
  // Shares that many playouts among the jobs; 1 <= keep <= jobs. With keep = jobs they all get the same.
  Portfolio(int jobs, int keep, std::uint64_t playouts) : keep_(keep), playouts_(playouts), quotas_(jobs) {}

  std::size_t jobs() const { return quotas_.size(); }

  // How many playouts a job may have played by the end of this round, and before it.
  std::uint64_t quota(std::size_t job) const { return quotas_[job]; }

  std::uint64_t quota_before(std::size_t job) const { return before_.empty() ? 0 : before_[job]; }

  // Once all jobs have reached their quotas: raises them, given the jobs' scores; false if all playouts are given.
  bool begin_round(std::span<const double> scores) {
    if (sum(quotas_) >= playouts_) return false;
    before_ = quotas_;
    order_.resize(quotas_.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::ranges::sort(order_, [&](int a, int b) { return scores[a] > scores[b] || (scores[a] == scores[b] && a < b); });
    share_out();
    return true;
  }

  // A round is what was given before it and the ranks: with another budget it is another length.
  void serialise(Writer& out) const { out.put(before_), out.put(order_); }

  void deserialise(Reader& in) {
    in.get(before_), in.get(order_);
    if (order_.empty() && before_.empty()) return;
    std::vector<int> sorted = order_;
    std::ranges::sort(sorted);
    const std::uint64_t most = (std::uint64_t{1} << 63) / quotas_.size();
    if (before_.size() != quotas_.size() || sorted.size() != quotas_.size()) throw Damaged();
    for (std::size_t job = 0; job < quotas_.size(); job++)
      if (sorted[job] != static_cast<int>(job) || before_[job] > most) throw Damaged();
    share_out();
  }

 private:
  static constexpr std::uint64_t kFirstRound = 1000;  // playouts a job

  static std::uint64_t sum(const std::vector<std::uint64_t>& numbers) {
    return std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0});
  }

  // The quotas of the round that began with these ranks.
  void share_out() {
    const std::uint64_t given = sum(before_), left = playouts_ - std::min(given, playouts_);
    quotas_ = before_;
    if (keep_ == static_cast<int>(quotas_.size())) {
      std::ranges::sort(order_);
      std::ranges::fill(quotas_, 0);
      share_evenly(playouts_, order_);
    } else if (given == 0) {
      std::ranges::sort(order_);
      share_evenly(std::min(left, kFirstRound * quotas_.size()), order_);
    } else {
      share_by_rank(std::min(left, given), order_);
    }
  }

  void share_by_rank(std::uint64_t playouts, std::span<const int> order) {
    const auto keep = static_cast<std::size_t>(keep_);
    while (order.size() > keep) {
      const std::uint64_t most = playouts - playouts / 4;
      share_evenly(most, order.first(keep));
      playouts -= most;
      order = order.subspan(keep);
    }
    share_evenly(playouts, order);
  }

  void share_evenly(std::uint64_t playouts, std::span<const int> jobs) {
    for (std::size_t i = 0; i < jobs.size(); i++)
      quotas_[jobs[i]] += playouts / jobs.size() + (i < playouts % jobs.size());
  }

  int keep_;
  std::uint64_t playouts_;
  std::vector<std::uint64_t> quotas_;
  std::vector<std::uint64_t> before_;  // the quotas when the round began
  std::vector<int> order_;             // the jobs by rank then
};

}  // namespace playout
