// Port: where the messages of one rank go out and come in. The engine knows no network: it puts messages into the
// outbox of another rank, and takes them from its inbox. A transport moves batches of bytes between the two:
// in_process.h where the ranks are threads of one process, an IO thread in Python where MPI connects them
// (playout/cluster/link.py).
//
// A batch is everything that has piled up for a rank since the last one was taken: while one is on its way the next
// grows, so a slow network has fewer and larger ones. Messages from one rank to another arrive in the order they were
// sent; those of different ranks in any.
//
// A message is a kind and bytes; what they mean is the business of whoever sends them. Bytes from a network may be
// anything: `deliver` throws Damaged unless they are whole messages.
//
// Any thread may call anything. Whoever searches calls `send` and `receive`, which never wait for the network; the
// transport calls `take` and `deliver`. What has been delivered is handled by the server, on the thread that delivered.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/archive.h"

namespace playout {

struct Message {
  int from = 0;
  std::uint8_t kind = 0;
  std::string bytes;
};

// What has gone through a port.
struct Traffic {
  std::uint64_t messages_sent = 0, bytes_sent = 0, batches_sent = 0;
  std::uint64_t messages_received = 0, bytes_received = 0, batches_received = 0;
  double idle_seconds = 0;  // of whoever moves the batches
};

// Wakes somebody who waits for something to do.
class Bell {
 public:
  void ring() {
    {
      const std::scoped_lock lock(mutex_);
      rung_ = true;
    }
    changed_.notify_one();
  }
  // Waits for a ring, at most that long; one that came since the last wait counts.
  void wait(std::chrono::duration<double> at_most) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, at_most, [&] { return rung_; });
    rung_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool rung_ = false;
};

// Who handles messages when they have come.
class Server {
 public:
  virtual ~Server() = default;
  virtual void serve() = 0;
};

class Port {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // of a message

  Port(int rank, int ranks, std::shared_ptr<Bell> bell = nullptr)
      : rank_(rank), bell_(std::move(bell)), outboxes_(ranks) {
    if (ranks < 1 || rank < 0 || rank >= ranks) throw std::invalid_argument("there is no such rank");
  }

  int rank() const { return rank_; }
  int ranks() const { return static_cast<int>(outboxes_.size()); }

  // Whether there is a message.
  bool has_message() const { return waiting_.load(std::memory_order_acquire) > 0; }

  // Puts a message into the outbox of a rank; one to oneself is in the inbox at once.
  void send(int to, std::uint8_t kind, std::string_view bytes) {
    if (bytes.size() > kMostBytes) throw std::length_error("a message is too long");
    if (to == rank_) {
      const std::scoped_lock lock(inbox_mutex_);
      inbox_.push_back({rank_, kind, std::string(bytes)});
      waiting_.store(inbox_.size(), std::memory_order_release);
      return;
    }
    Outbox& box = outboxes_.at(to);
    {
      const std::scoped_lock lock(box.mutex);
      const auto size = static_cast<std::uint32_t>(bytes.size());
      box.bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
      box.bytes.push_back(static_cast<char>(kind));
      box.bytes.append(bytes);
      box.messages++;
    }
    if (bell_ != nullptr) bell_->ring();
  }
  void send_to_all(std::uint8_t kind, std::string_view bytes) {
    for (int to = 0; to < ranks(); to++)
      if (to != rank_) send(to, kind, bytes);
  }

  // The next message; false if there is none.
  bool receive(Message& out) {
    if (!has_message()) return false;
    const std::scoped_lock lock(inbox_mutex_);
    if (inbox_.empty()) return false;
    out = std::move(inbox_.front());
    inbox_.pop_front();
    waiting_.store(inbox_.size(), std::memory_order_release);
    return true;
  }

  // Everything that waits for a rank; empty if nothing does.
  std::string take(int to) {
    Outbox& box = outboxes_.at(to);
    std::string batch;
    std::uint64_t messages = 0;
    {
      const std::scoped_lock lock(box.mutex);
      batch.swap(box.bytes);
      messages = std::exchange(box.messages, 0);
    }
    if (batch.empty()) return batch;
    const std::scoped_lock lock(inbox_mutex_);
    traffic_.messages_sent += messages, traffic_.bytes_sent += batch.size(), traffic_.batches_sent++;
    return batch;
  }

  // Takes a batch from another rank in; throws Damaged, and then none of it counts.
  void deliver(int from, std::string_view batch) {
    if (from < 0 || from >= ranks()) throw Damaged();
    std::vector<Message> found;
    Reader in(batch);
    for (std::size_t left = batch.size(); left > 0;) {
      const auto size = in.get<std::uint32_t>();
      const auto kind = in.get<std::uint8_t>();
      found.push_back({from, kind, std::string(in.get_bytes(size))});
      left -= sizeof size + sizeof kind + size;
    }
    {
      const std::scoped_lock lock(inbox_mutex_);
      traffic_.messages_received += found.size(), traffic_.bytes_received += batch.size();
      traffic_.batches_received++;
      for (Message& one : found) inbox_.push_back(std::move(one));
      waiting_.store(inbox_.size(), std::memory_order_release);
    }
    serve();
  }

  // Who handles messages from now on; nullptr for nobody. Waits while the one before is at it.
  void set_server(Server* server) {
    {
      const std::scoped_lock lock(server_mutex_);
      server_ = server;
    }
    serve();
  }

  void add_idle(double seconds) {
    const std::scoped_lock lock(inbox_mutex_);
    traffic_.idle_seconds += seconds;
  }
  Traffic traffic() const {
    const std::scoped_lock lock(inbox_mutex_);
    return traffic_;
  }

 private:
  struct Outbox {
    std::mutex mutex;
    std::string bytes;
    std::uint64_t messages = 0;
  };

  void serve() {
    const std::scoped_lock lock(server_mutex_);
    if (server_ != nullptr) server_->serve();
  }

  const int rank_;
  const std::shared_ptr<Bell> bell_;  // rung when there is something to take; nobody's if nullptr
  std::vector<Outbox> outboxes_;      // one for each rank; its own stays empty

  mutable std::mutex inbox_mutex_;
  std::deque<Message> inbox_;
  Traffic traffic_;
  std::atomic<std::size_t> waiting_{0};  // how many messages there are; to look takes no lock

  std::mutex server_mutex_;
  Server* server_ = nullptr;
};

}  // namespace playout
