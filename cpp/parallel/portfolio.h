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

  // How many playouts a job may have played by the end of this round.
  std::uint64_t quota(std::size_t job) const { return quotas_[job]; }

  // Once all jobs have reached their quotas: raises them, given the jobs' scores; false if all playouts are given.
  bool begin_round(std::span<const double> scores) {
    const std::uint64_t given = std::accumulate(quotas_.begin(), quotas_.end(), std::uint64_t{0});
    if (given >= playouts_) return false;
    const std::uint64_t left = playouts_ - given;
    std::vector<int> order(quotas_.size());
    std::iota(order.begin(), order.end(), 0);
    if (keep_ == static_cast<int>(order.size())) {
      share_evenly(left, order);
    } else if (given == 0) {
      share_evenly(std::min(left, kFirstRound * order.size()), order);
    } else {
      std::ranges::stable_sort(order, std::ranges::greater{}, [&](int job) { return scores[job]; });
      share_by_rank(std::min(left, given), order);
    }
    return true;
  }

  void serialise(Writer& out) const { out.put(quotas_); }

  void deserialise(Reader& in) {
    std::vector<std::uint64_t> quotas;
    in.get(quotas);
    if (quotas.size() != quotas_.size() || std::ranges::any_of(quotas, [](auto quota) { return quota > kMost; }))
      throw Damaged();
    quotas_ = std::move(quotas);
  }

 private:
  static constexpr std::uint64_t kFirstRound = 1000;  // playouts a job
  static constexpr std::uint64_t kMost = std::uint64_t{1} << 63;

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
};

}  // namespace playout
