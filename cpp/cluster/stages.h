// Stages: how the ranks of a split tree (treesplit.h) come to the end of a thinking together, each simulation in all
// nodes and all of them told. A rank goes on to the next stage, and says so to all, when all ranks have said that they
// are at the one before and everything that came before that word has been handled; messages from one rank to another
// keep their order.
//
//   searching   simulations begin
//   done        none of this rank's is under way, and none will begin: when all say so, none is anywhere
//   counted     all updates are sent, and, when all say so, handled
//   told        the differences of all copies are sent to their homes
//   level       the homes have told what is new in the totals
//   over        and that is in all copies
//
// A rank that has gone on to a later thinking has passed all stages of those before.
#pragma once

#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "cluster/transport.h"
#include "core/archive.h"

namespace playout {

enum class Stage : std::uint8_t { searching, done, counted, told, level, over };

// What a rank says of itself.
struct SplitWord {
  std::uint64_t epoch = 0;
  Stage stage = Stage::searching;
  std::uint64_t room = 0;  // how large its table is: all are as large
  std::uint64_t playouts = 0, nodes = 0, bytes = 0, most_bytes = 0;
  bool full = false;
  bool crowded = false;  // whether it was short of memory at the end of the last thinking that all have counted

  void write(Writer& out) const {
    out.put_varint(epoch);
    out.put(static_cast<std::uint8_t>(stage));
    for (const std::uint64_t number : {room, playouts, nodes, bytes, most_bytes}) out.put(number);
    out.put(static_cast<std::uint8_t>(full)), out.put(static_cast<std::uint8_t>(crowded));
  }
  static SplitWord read(Reader& in) {
    SplitWord word;
    word.epoch = in.get_varint();
    word.stage = static_cast<Stage>(in.get_below<std::uint8_t>(6));
    for (std::uint64_t* number : {&word.room, &word.playouts, &word.nodes, &word.bytes, &word.most_bytes})
      *number = in.get<std::uint64_t>();
    word.full = in.get_below<std::uint8_t>(2) != 0;
    word.crowded = in.get_below<std::uint8_t>(2) != 0;
    in.expect_end();
    return word;
  }
};

// The last word of each rank; any thread may ask.
class SplitWords {
 public:
  SplitWords(int rank, int ranks) : rank_(rank), words_(ranks) {}

  void hear(const Message& message) {
    Reader in(message.bytes);
    const SplitWord word = SplitWord::read(in);
    const std::scoped_lock lock(mutex_);
    SplitWord& own = words_[rank_];
    if (own.room != 0 && word.room != own.room)
      throw std::invalid_argument("the tables of ranks must be equal: " + std::to_string(word.room) +
                                  " bytes on rank " + std::to_string(message.from) + ", " + std::to_string(own.room) +
                                  " on rank " + std::to_string(rank_));
    words_[message.from] = word;
  }
  void set_own(const SplitWord& word) {
    const std::scoped_lock lock(mutex_);
    words_[rank_] = word;
  }

  // Whether all ranks are at a stage of a thinking, or beyond.
  bool all_are_at(std::uint64_t epoch, Stage stage) const {
    const std::scoped_lock lock(mutex_);
    for (const SplitWord& word : words_)
      if (word.epoch < epoch || (word.epoch == epoch && word.stage < stage)) return false;
    return true;
  }
  std::vector<SplitWord> all() const {
    const std::scoped_lock lock(mutex_);
    return words_;
  }

 private:
  const int rank_;
  mutable std::mutex mutex_;
  std::vector<SplitWord> words_;
};

}  // namespace playout
