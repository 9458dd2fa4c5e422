// Packages: what has come for one rank of a split tree (treesplit.h) and waits for a worker. Whoever delivers messages
// (an IO thread) spreads packages over the workers' ring buffers, the next to the shortest; a worker that finds its own
// empty looks into the others'. News of shared nodes (shared_nodes.h) has a queue of its own, from which one worker at
// a time takes: its order matters.
//
// A message begins with the epoch of its thinking. What belongs to a later one than this rank has begun waits. What the
// rings have no room for stays in the inbox, and so does everything behind it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "cluster/ring.h"
#include "cluster/shared_nodes.h"
#include "cluster/transport.h"

namespace playout {

class Packages {
 public:
  static constexpr std::uint8_t kMove = 1, kUpdate = 2, kWord = 6;

  // `on_word` is called, one at a time, with each message that is no package, when those before it from the same rank
  // have been spread.
  Packages(Port& port, std::function<void(const Message&)> on_word) : port_(port), on_word_(std::move(on_word)) {
    set_workers(1);
  }

  // So many rings; while nobody takes packages, as the next.
  void set_workers(int workers) {
    const std::scoped_lock lock(mutex_);
    while (static_cast<int>(rings_.size()) < workers) rings_.push_back(std::make_unique<Ring<Message>>(kCapacity));
    workers_ = workers;
  }
  void begin(std::uint64_t epoch) {
    {
      const std::scoped_lock lock(mutex_);
      epoch_ = epoch;
      std::deque<Message> kept;
      for (Message& message : std::exchange(later_, {}))
        (epoch_of(message) > epoch ? kept : held_).push_back(std::move(message));
      later_ = std::move(kept);
      held_count_.store(held_.size(), std::memory_order_release);
    }
    spread();
  }

  // Any thread: spreads what has come; false if nothing had.
  bool spread() {
    if (!port_.has_message() && held_count_.load(std::memory_order_acquire) == 0) return false;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return false;
    bool any = false;
    for (Message message; next(message); any = true) {
      if (message.kind == kWord) {
        on_word_(message);
      } else if (message.kind != kMove && message.kind != kUpdate) {
        unhandled_++;
        const std::scoped_lock news_lock(news_mutex_);
        news_.push_back(std::move(message));
        news_waiting_++;
      } else if (!give(message)) {
        held_.push_front(std::move(message));
        break;
      }
    }
    held_count_.store(held_.size(), std::memory_order_release);
    if (any && sleepers_ > 0) woken_.notify_all();
    return any;
  }

  // Workers: handles a package, if there is one: handle(message). It counts as unhandled until that returns.
  template <class Handle>
  bool handle_one(int worker, Handle handle) {
    if (news_waiting_.load(std::memory_order_relaxed) > 0 && handle_news(handle)) return true;
    Message message;
    const int rings = static_cast<int>(rings_.size());
    bool found = rings_[worker]->pop(message);
    for (int i = 1; i < rings && !found; i++) found = rings_[(worker + i) % rings]->pop(message);
    if (!found) return spread();
    const Handled handled(unhandled_);
    handle(message);
    return true;
  }

  // Whether all that was spread has been handled.
  bool is_empty() const { return unhandled_ == 0; }

  // A worker without anything to do waits, the longer the more often it has; until something comes, at most.
  void rest(int times) {
    if (times < kSpins) return pause();
    if (times < kYields) return std::this_thread::yield();
    std::unique_lock lock(sleep_mutex_);
    sleepers_++;
    woken_.wait_for(lock, std::chrono::microseconds(200));
    sleepers_--;
  }

 private:
  static constexpr std::size_t kCapacity = 1024;
  static constexpr int kSpins = 100, kYields = 140;

  struct Handled {
    std::atomic<std::uint64_t>& count;
    explicit Handled(std::atomic<std::uint64_t>& of) : count(of) {}
    ~Handled() { count--; }
    Handled(const Handled&) = delete;
    Handled& operator=(const Handled&) = delete;
  };

  static std::uint64_t epoch_of(const Message& message) { return Reader(message.bytes).get_varint(); }

  // Under the mutex, as `give`: the next that is not of a later thinking.
  bool next(Message& out) {
    if (!held_.empty()) {
      out = std::move(held_.front());
      held_.pop_front();
      return true;
    }
    while (port_.receive(out)) {
      if (out.kind == kWord || epoch_of(out) <= epoch_) return true;
      later_.push_back(std::move(out));
    }
    return false;
  }

  bool give(Message& message) {
    int shortest = 0;
    for (int i = 1; i < workers_; i++)
      if (rings_[i]->size() < rings_[shortest]->size()) shortest = i;
    unhandled_++;
    if (rings_[shortest]->push(message)) return true;
    unhandled_--;
    return false;
  }

  template <class Handle>
  bool handle_news(Handle& handle) {
    const std::unique_lock turn(turn_mutex_, std::try_to_lock);
    if (!turn) return false;
    Message message;
    {
      const std::scoped_lock lock(news_mutex_);
      if (news_.empty()) return false;
      message = std::move(news_.front());
      news_.pop_front();
      news_waiting_--;
    }
    const Handled handled(unhandled_);
    handle(message);
    return true;
  }

  static void pause() {
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
  }

  Port& port_;
  const std::function<void(const Message&)> on_word_;
  std::vector<std::unique_ptr<Ring<Message>>> rings_;
  std::atomic<std::uint64_t> unhandled_{0};  // packages that have been spread and not been handled to the end

  std::mutex mutex_;  // of whoever spreads
  int workers_ = 1;
  std::uint64_t epoch_ = 0;
  std::deque<Message> held_, later_;  // that the rings had no room for; of later thinkings
  std::atomic<std::size_t> held_count_{0};

  std::mutex turn_mutex_;  // of whoever handles news
  std::mutex news_mutex_;
  std::deque<Message> news_;
  std::atomic<std::uint64_t> news_waiting_{0};

  std::mutex sleep_mutex_;
  std::condition_variable woken_;
  std::atomic<int> sleepers_{0};
};

}  // namespace playout
