// Network: the ranks of a cluster as threads of one process, for tests, experiments and the simulation of networks.
//
// A batch takes `delay` seconds, and its bytes keep the link from one rank to another busy at `bandwidth` bytes a
// second; meanwhile the next one piles up. A thread of its own does that, in real time. With a seed there is no such
// thread: batches move when `deliver` is called, from link to link in an order that the seed draws, and the same again
// each time; `delay` is then how many calls a batch waits on average.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cluster/transport.h"
#include "core/random.h"

namespace playout {

class Network {
 public:
  Network(int ranks, double delay, double bandwidth, std::optional<std::uint64_t> seed = {})
      : delay_(delay), bandwidth_(bandwidth), random_(fold(0, seed.value_or(0))) {
    if (ranks < 1 || !(delay >= 0) || !(bandwidth > 0)) throw std::invalid_argument("impossible settings of a network");
    for (int rank = 0; rank < ranks; rank++) ports_.push_back(std::make_shared<Port>(rank, ranks, bell_));
    for (int from = 0; from < ranks; from++)
      for (int to = 0; to < ranks; to++)
        if (from != to) links_.push_back({from, to});
    if (seed || ranks == 1) return;
    mover_ = std::jthread([this](const std::stop_token& stop) {
      try {
        move(stop);
      } catch (...) {
        const std::scoped_lock lock(mutex_);
        error_ = std::current_exception();
      }
    });
  }
  ~Network() {
    mover_.request_stop();
    bell_->ring();
  }
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  // What is sent after the network is gone stays where it is.
  const std::shared_ptr<Port>& port(int rank) const { return ports_.at(rank); }

  // Throws what ended the thread that moves batches, if something has.
  void check() const {
    const std::scoped_lock lock(mutex_);
    if (error_) std::rethrow_exception(error_);
  }

  // With a seed: takes every link once, in an order of its own; how many batches arrived.
  int deliver() {
    std::vector<std::size_t> order(links_.size());
    for (std::size_t i = 0; i < order.size(); i++) {
      order[i] = i;
      std::swap(order[i], order[random_.below(static_cast<std::uint32_t>(i + 1))]);
    }
    int moved = 0;
    for (const std::size_t i : order) {
      if (delay_ > 0 && random_.uniform() * (1 + delay_) < delay_) continue;
      const std::string batch = ports_[links_[i].from]->take(links_[i].to);
      if (batch.empty()) continue;
      ports_[links_[i].to]->deliver(links_[i].from, batch);
      moved++;
    }
    return moved;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr double kLongest = 0.05;  // seconds without a look

  struct Link {
    int from, to;
    double free_at = 0;                                      // when the last batch has left
    std::deque<std::pair<double, std::string>> under_way{};  // when each arrives
  };

  double now() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  void move(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      double next = std::numeric_limits<double>::infinity();
      bool moved = false;
      for (Link& link : links_) {
        moved |= send(link);
        moved |= arrive(link);
        if (!link.under_way.empty()) next = std::min({next, link.under_way.front().first, waits(link)});
      }
      if (moved) continue;
      const double begin = now();
      bell_->wait(std::chrono::duration<double>(std::clamp(next - begin, 0.0, kLongest)));
      for (const auto& port : ports_) port->add_idle(now() - begin);
    }
  }

  // When a batch that waits may leave; infinity if the link is free, for then one that comes rings.
  double waits(const Link& link) const {
    return link.free_at > now() ? link.free_at : std::numeric_limits<double>::infinity();
  }

  bool send(Link& link) {
    if (link.free_at > now()) return false;
    std::string batch = ports_[link.from]->take(link.to);
    if (batch.empty()) return false;
    link.free_at = now() + static_cast<double>(batch.size()) / bandwidth_;
    link.under_way.emplace_back(link.free_at + delay_, std::move(batch));
    return true;
  }

  bool arrive(Link& link) {
    bool any = false;
    while (!link.under_way.empty() && link.under_way.front().first <= now()) {
      ports_[link.to]->deliver(link.from, link.under_way.front().second);
      link.under_way.pop_front();
      any = true;
    }
    return any;
  }

  const double delay_, bandwidth_;
  const Clock::time_point begin_ = Clock::now();
  const std::shared_ptr<Bell> bell_ = std::make_shared<Bell>();
  std::vector<std::shared_ptr<Port>> ports_;
  std::vector<Link> links_;
  Stream random_;
  mutable std::mutex mutex_;
  std::exception_ptr error_;
  std::jthread mover_;  // last, so that it ends before what it uses
};

}  // namespace playout
