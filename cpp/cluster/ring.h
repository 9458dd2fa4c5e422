// Ring: a queue of bounded length between threads. Any thread may push and pop; those that meet at the same end do not
// wait for each other: one of them is turned away, as it is when the ring is full or empty.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>
#include <vector>

namespace playout {

template <class T>
class Ring {
 public:
  explicit Ring(std::size_t capacity) : slots_(capacity + 1) {}

  // False if there is no room, or another thread is at it; the value is then as it was.
  bool push(T& value) {
    const Turn turn(pushing_);
    if (!turn.mine) return false;
    const std::size_t end = end_.load(std::memory_order_relaxed), next = after(end);
    if (next == begin_.load(std::memory_order_acquire)) return false;
    slots_[end] = std::move(value);
    end_.store(next, std::memory_order_release);
    return true;
  }

  // False if there is nothing, or another thread is at it.
  bool pop(T& out) {
    if (size() == 0) return false;
    const Turn turn(popping_);
    if (!turn.mine) return false;
    const std::size_t begin = begin_.load(std::memory_order_relaxed);
    if (begin == end_.load(std::memory_order_acquire)) return false;
    out = std::move(slots_[begin]);
    begin_.store(after(begin), std::memory_order_release);
    return true;
  }

  // How many there are, or were a moment ago.
  std::size_t size() const {
    const std::size_t end = end_.load(std::memory_order_relaxed), begin = begin_.load(std::memory_order_relaxed);
    return end >= begin ? end - begin : end + slots_.size() - begin;
  }

 private:
  struct Turn {
    explicit Turn(std::atomic_flag& of) : flag(of), mine(!of.test_and_set(std::memory_order_acquire)) {}
    ~Turn() {
      if (mine) flag.clear(std::memory_order_release);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    std::atomic_flag& flag;
    const bool mine;
  };

  std::size_t after(std::size_t at) const { return at + 1 == slots_.size() ? 0 : at + 1; }

  std::vector<T> slots_;
  alignas(64) std::atomic<std::size_t> begin_{0};
  alignas(64) std::atomic<std::size_t> end_{0};
  alignas(64) std::atomic_flag pushing_;
  alignas(64) std::atomic_flag popping_;
};

}  // namespace playout
