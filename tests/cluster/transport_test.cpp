// Messages between ranks of one process, compiled and run by test_transport.py: none is lost, doubled or overtaken, by
// threads that send at the same time and a network that is fast or slow; and sums over ranks are exact.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cluster/allreduce.h"
#include "cluster/in_process.h"

using namespace playout;

namespace {

void expect(bool truth, const char* what) {
  if (truth) return;
  std::printf("failed: %s\n", what);
  std::exit(1);
}

// `senders` threads of each rank send numbered messages to all others; a thread of each rank checks what comes.
void flood(int ranks, int senders, std::uint64_t messages, double delay, double bandwidth) {
  Network network(ranks, delay, bandwidth);
  const std::uint64_t each = messages / (ranks * senders);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < ranks; rank++) {
    for (int sender = 0; sender < senders; sender++)
      threads.emplace_back([&, rank, sender] {
        std::string bytes;
        for (std::uint64_t i = 0; i < each; i++) {
          const int to = static_cast<int>((rank + 1 + i % (ranks - 1)) % ranks);
          bytes.assign(8 + i % 50, static_cast<char>(i));
          std::memcpy(bytes.data(), &i, sizeof i);
          network.port(rank)->send(to, static_cast<std::uint8_t>(sender), bytes);
        }
      });
    threads.emplace_back([&, rank] {
      std::vector<std::int64_t> last(ranks * senders, -1);
      Message message;
      for (std::uint64_t received = 0; received < each * senders;) {
        if (!network.port(rank)->receive(message)) {
          std::this_thread::yield();
          continue;
        }
        std::uint64_t number = 0;
        std::memcpy(&number, message.bytes.data(), sizeof number);
        expect(message.bytes.size() == 8 + number % 50, "a message has its length");
        expect(message.bytes.size() == 8 || message.bytes.back() == static_cast<char>(number), "and its bytes");
        std::int64_t& before = last[message.from * senders + message.kind];
        expect(static_cast<std::int64_t>(number) > before, "messages come in order, once");
        before = static_cast<std::int64_t>(number);
        received++;
      }
    });
  }
  threads.clear();
  Traffic sum;
  for (int rank = 0; rank < ranks; rank++) {
    const Traffic one = network.port(rank)->traffic();
    sum.messages_sent += one.messages_sent, sum.messages_received += one.messages_received;
    sum.bytes_sent += one.bytes_sent, sum.bytes_received += one.bytes_received;
    sum.batches_sent += one.batches_sent, sum.batches_received += one.batches_received;
  }
  expect(sum.messages_sent == each * ranks * senders && sum.messages_received == sum.messages_sent, "all are counted");
  expect(sum.bytes_sent == sum.bytes_received && sum.batches_sent == sum.batches_received, "bytes and batches too");
  expect(sum.batches_sent < sum.messages_sent, "what piles up goes together");
}

struct Number {
  std::uint64_t value = 0;
  void add(Number other) { value += other.value; }
  void write(Writer& out) const { out.put(value); }
  static Number read(Reader& in) { return {in.get<std::uint64_t>()}; }
};

// Rounds of sums, ranks contributing at different times and messages moving in a drawn order.
void sum_up(int ranks, std::uint64_t seed) {
  Network network(ranks, 0, 1e9, seed);
  std::vector<Allreduce<Number>> members;
  for (int rank = 0; rank < ranks; rank++) members.emplace_back(*network.port(rank));
  Stream random(seed);
  std::vector<std::uint64_t> round(ranks), known(ranks);
  const std::uint64_t rounds = 20;
  const auto check = [&](int rank, const std::optional<Number>& sum) {
    if (!sum) return;
    std::uint64_t expected = 0;
    for (int other = 0; other < ranks; other++) expected += fold(other, known[rank]) >> 8;
    expect(sum->value == expected, "a sum is that of all ranks");
    known[rank]++;
  };
  while (*std::ranges::min_element(known) < rounds) {
    const int rank = static_cast<int>(random.below(ranks));
    if (round[rank] == known[rank] && round[rank] < rounds)
      check(rank, members[rank].contribute({fold(rank, round[rank]++) >> 8}));
    if (random.below(3) == 0) network.deliver();
    Message message;
    for (int one = 0; one < ranks; one++)
      while (network.port(one)->receive(message)) check(one, members[one].take(message));
  }
}

// Bytes that are no batch are refused, whole.
void refuse() {
  Port port(0, 2);
  Port other(1, 2);
  other.send(0, 7, "hello");
  const std::string batch = other.take(0);
  for (std::size_t length = 1; length < batch.size(); length++) {
    bool refused = false;
    try {
      port.deliver(1, std::string_view(batch).substr(0, length));
    } catch (const Damaged&) {
      refused = true;
    }
    expect(refused, "half a message is refused");
  }
  Message message;
  expect(!port.receive(message), "nothing of it counts");
  port.deliver(1, batch + batch);
  for (int i = 0; i < 2; i++)
    expect(port.receive(message) && message.bytes == "hello" && message.kind == 7, "whole ones do");
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t messages = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  flood(2, 1, messages / 10, 0, 1e12);
  flood(4, 2, messages, 0, 1e12);
  flood(3, 3, messages / 20, 0.001, 2e7);
  for (int ranks = 1; ranks < 18; ranks++)
    for (std::uint64_t seed = 0; seed < 5; seed++) sum_up(ranks, seed);
  refuse();
  std::puts("ok");
}
