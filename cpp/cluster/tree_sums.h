// TreeSums: what trees have learned since they last told, added up over ranks (averaging.h).
//
// Nodes are named by 64 bits and sorted by them. Of each there are the actions that have changed, with what has been
// added to their statistics: half wins above, visits in the lower 32 bits, as the tree has them, for the action itself
// and for AMAF; and what is proven of it. Sums are of whole numbers: they are exact, and the order of adding does not
// matter.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "core/archive.h"
#include "search/tree.h"

namespace playout {

// What is known of all ranks besides: sums, but for how far they have come.
struct TreeCounters {
  // Thinkings that the rank which is furthest behind has ended.
  std::uint64_t ended = std::numeric_limits<std::uint64_t>::max();
  // Of the latest thinking that any rank has begun, over the ranks that have.
  std::uint64_t epoch = 0, ranks = 0, playouts = 0, nodes = 0, bytes = 0, most_bytes = 0, full = 0;
  std::vector<std::uint32_t> votes;  // for each action of the root: ranks that have tried it most

  void add(const TreeCounters& other) {
    ended = std::min(ended, other.ended);
    if (other.epoch < epoch) return;
    if (other.epoch > epoch) *this = {.ended = ended, .epoch = other.epoch, .votes = {}};
    ranks += other.ranks, playouts += other.playouts, nodes += other.nodes;
    bytes += other.bytes, most_bytes += other.most_bytes, full += other.full;
    votes.resize(std::max(votes.size(), other.votes.size()));
    for (std::size_t i = 0; i < other.votes.size(); i++) votes[i] += other.votes[i];
  }

  void write(Writer& out) const {
    for (const std::uint64_t number : {ended, epoch, ranks, playouts, nodes, bytes, most_bytes, full}) out.put(number);
    out.put(votes);
  }
  static TreeCounters read(Reader& in) {
    TreeCounters one;
    for (std::uint64_t* number :
         {&one.ended, &one.epoch, &one.ranks, &one.playouts, &one.nodes, &one.bytes, &one.most_bytes, &one.full})
      *number = in.get<std::uint64_t>();
    in.get(one.votes);
    return one;
  }
};

struct TreeSums {
  struct Entry {
    std::uint32_t action = 0;
    std::uint8_t bounds = kUnknown;  // as a node has them
    std::uint64_t stats = 0, amaf = 0;

    void add(const Entry& other) {
      stats += other.stats, amaf += other.amaf;
      if (bounds == other.bounds) return;
      const Bounds known = both(Node::unpack(bounds), Node::unpack(other.bounds));
      if (known.lower <= known.upper) bounds = Node::pack(known);
    }
  };
  struct At {
    std::uint64_t name;
    std::uint32_t first, count;  // of its entries
  };

  TreeCounters counters;
  std::vector<At> nodes;       // by their names
  std::vector<Entry> entries;  // of a node together, by actions

  void sort() { std::ranges::sort(nodes, {}, &At::name); }

  void add(TreeSums other) {
    counters.add(other.counters);
    if (other.nodes.empty()) return;
    if (nodes.empty()) {
      nodes.swap(other.nodes), entries.swap(other.entries);
      return;
    }
    TreeSums sum;
    sum.nodes.reserve(nodes.size() + other.nodes.size());
    sum.entries.reserve(entries.size() + other.entries.size());
    auto one = nodes.begin();
    auto two = other.nodes.begin();
    while (one != nodes.end() || two != other.nodes.end()) {
      const bool has_one = one != nodes.end() && (two == other.nodes.end() || one->name <= two->name);
      const bool has_two = two != other.nodes.end() && (one == nodes.end() || two->name <= one->name);
      const auto first = static_cast<std::uint32_t>(sum.entries.size());
      const std::uint64_t name = has_one ? one->name : two->name;
      merge(sum.entries, has_one ? entries_of(*one) : std::span<const Entry>(),
            has_two ? other.entries_of(*two) : std::span<const Entry>());
      sum.nodes.push_back({name, first, static_cast<std::uint32_t>(sum.entries.size()) - first});
      one += has_one, two += has_two;
    }
    nodes = std::move(sum.nodes), entries = std::move(sum.entries);
  }

  // Takes off what is in another, all of whose entries are in this one. What is proven stays.
  void subtract(const TreeSums& other) {
    auto one = nodes.begin();
    for (const At& two : other.nodes) {
      while (one != nodes.end() && one->name < two.name) one++;
      if (one == nodes.end() || one->name != two.name) throw Damaged();
      auto mine = entries.begin() + one->first;
      const auto end = mine + one->count;
      for (const Entry& entry : other.entries_of(two)) {
        while (mine != end && mine->action < entry.action) mine++;
        if (mine == end || mine->action != entry.action) throw Damaged();
        mine->stats -= entry.stats, mine->amaf -= entry.amaf;
      }
    }
  }

  void write(Writer& out) const {
    counters.write(out);
    out.put_varint(nodes.size());
    for (const At& node : nodes) {
      out.put(node.name);
      out.put_varint(node.count);
      std::uint32_t last = 0;
      for (const Entry& entry : entries_of(node)) {
        const std::uint32_t known = entry.bounds != kUnknown ? 4 : 0;
        out.put_varint((entry.action - last) << 3 | known | (entry.amaf != 0 ? 2 : 0) | (entry.stats != 0 ? 1 : 0));
        last = entry.action;
        if (known != 0) out.put(entry.bounds);
        if (entry.stats != 0) put(out, entry.stats);
        if (entry.amaf != 0) put(out, entry.amaf);
      }
    }
  }

  static TreeSums read(Reader& in) {
    TreeSums sums;
    sums.counters = TreeCounters::read(in);
    sums.nodes.resize(in.get_small_count(sizeof(std::uint64_t) + 1));
    sums.entries.reserve(16 * sums.nodes.size());
    for (At& node : sums.nodes) {
      node.name = in.get<std::uint64_t>();
      node.count = static_cast<std::uint32_t>(in.get_small_count(1));
      node.first = static_cast<std::uint32_t>(sums.entries.size());
      std::uint64_t last = 0;
      for (std::uint32_t i = 0; i < node.count; i++) {
        const std::uint64_t head = in.get_varint();
        last += head >> 3;
        if (last > std::numeric_limits<std::uint32_t>::max()) throw Damaged();
        Entry entry{.action = static_cast<std::uint32_t>(last)};
        if (head & 4) entry.bounds = in.get_below<std::uint8_t>(16);
        if (const Bounds known = Node::unpack(entry.bounds); known.lower > known.upper || known.upper > 2)
          throw Damaged();
        if (head & 1) entry.stats = get(in);
        if (head & 2) entry.amaf = get(in);
        sums.entries.push_back(entry);
      }
    }
    return sums;
  }

  std::span<const Entry> entries_of(const At& node) const { return {entries.data() + node.first, node.count}; }

 private:
  static constexpr std::uint8_t kUnknown = 2 << 2;

  static void put(Writer& out, std::uint64_t packed) {
    out.put_varint(static_cast<std::uint32_t>(packed));
    out.put_varint(packed >> 32);
  }
  static std::uint64_t get(Reader& in) {
    const std::uint64_t visits = in.get_varint(), wins = in.get_varint();
    if (visits > std::numeric_limits<std::uint32_t>::max() || wins > 2 * visits) throw Damaged();
    return wins << 32 | visits;
  }

  static void merge(std::vector<Entry>& out, std::span<const Entry> one, std::span<const Entry> two) {
    std::size_t i = 0, j = 0;
    while (i < one.size() && j < two.size()) {
      if (one[i].action < two[j].action) {
        out.push_back(one[i++]);
      } else if (two[j].action < one[i].action) {
        out.push_back(two[j++]);
      } else {
        out.push_back(one[i++]);
        out.back().add(two[j++]);
      }
    }
    out.insert(out.end(), one.begin() + i, one.end());
    out.insert(out.end(), two.begin() + j, two.end());
  }
};

}  // namespace playout
