// Tree: the memory of a tree search. Nodes with the statistics of all their actions, in one block of bounded size.
//
// A node is 32 bytes, then 16 bytes an action, then 16 more an action where AMAF statistics are kept. Nodes are named
// by where they are, in units of 16 bytes, and never move while a search goes on. When the block is full no node is
// added, and the search goes on with those there are. `collect` keeps what can be reached from a node and moves it
// together.
//
// In graph mode a transposition table finds a node by the key of its state: a list of nodes for each of many buckets.
// It lies behind the nodes. Of the block only those pages are in memory that were written to. Where N ranks have a part
// of the table each (cluster/treesplit.h) the state of key k belongs to rank k mod N, and there to bucket k / N.
//
// Everything a simulation reads or writes goes through Plain or Shared: the same code for one thread, that pays for
// nothing, and for many, without locks. A node is complete before a link to it can be seen.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "core/archive.h"
#include "problems/game.h"

namespace playout {

// How one thread alone reads and writes.
struct Plain {
  static constexpr bool kShared = false;
  template <class T>
  static T load(T& x) {
    return x;
  }
  template <class T>
  static void store(T& x, T value) {
    x = value;
  }
  template <class T>
  static void add(T& x, T value) {
    x += value;
  }
  template <class T>
  static bool exchange(T& x, T expected, T value) {
    if (x != expected) return false;
    x = value;
    return true;
  }
};

// How many threads do.
struct Shared {
  static constexpr bool kShared = true;
  template <class T>
  static T load(T& x) {
    return std::atomic_ref(x).load(std::memory_order_acquire);
  }
  template <class T>
  static void store(T& x, T value) {
    std::atomic_ref(x).store(value, std::memory_order_release);
  }
  template <class T>
  static void add(T& x, T value) {
    std::atomic_ref(x).fetch_add(value, std::memory_order_relaxed);
  }
  template <class T>
  static bool exchange(T& x, T expected, T value) {
    return std::atomic_ref(x).compare_exchange_strong(expected, value, std::memory_order_acq_rel);
  }
};

// What a link may be instead of a node: none yet; one that somebody is making; a move that is not legal after all.
using Link = std::uint32_t;
inline constexpr Link kNone = 0, kBusy = 1, kIllegal = 2;
inline constexpr Link kOpen = 1U << 31;  // in a link: the action is considered
inline Link link_of(Link link) { return link & ~kOpen; }

// What is proven of a state: a result between these, in half wins of player 0.
struct Bounds {
  std::uint32_t lower = 0, upper = 2;
  bool solved() const { return lower == upper; }
  friend bool operator==(const Bounds&, const Bounds&) = default;
};

// What two proofs say together.
inline Bounds both(const Bounds& one, const Bounds& other) {
  return {std::max(one.lower, other.lower), std::min(one.upper, other.upper)};
}

// The statistics of an action of a game. All that a simulation brings is one addition.
struct WinAction {
  using Reward = std::uint32_t;  // half wins of the player to move
  std::uint64_t stats;           // half wins above, visits in the lower 32 bits
  Link link;
  std::uint32_t tag;  // move: 16 bits; bounds: 4; simulations in flight: 12

  static constexpr std::uint32_t kFlight = 1U << 20;
  static WinAction of(Move move) { return {0, kNone, static_cast<std::uint32_t>(move & 0xFFFF) | pack({})}; }
  static std::uint32_t pack(const Bounds& bounds) { return bounds.lower << 16 | bounds.upper << 18; }
  static Bounds bounds(std::uint32_t tag) { return {tag >> 16 & 3, tag >> 18 & 3}; }
  static Move move(std::uint32_t tag) { return tag & 0xFFFF; }
};

// The same of a puzzle.
struct ScoreAction {
  using Reward = double;
  double sum;
  std::uint32_t visits;
  Link link;

  static ScoreAction of(Move /*move*/) { return {0, 0, kNone}; }
};

// AMAF statistics, and the prior, of an action of a game; of a puzzle.
struct WinAmaf {
  std::uint64_t stats;
  Prior prior;
};
struct ScoreAmaf {
  double sum;
  std::uint32_t visits, unused;
};

struct Node {
  std::uint64_t key;
  // The sum of those of its actions, where one thread searches. Of a state that ranks share (cluster/shared_nodes.h)
  // where it lies what has been told of it, a node as well.
  std::uint32_t visits;
  // Simulations that have passed and not come back, where they are counted apart. Of a state that ranks may share,
  // whether somebody is about to.
  std::uint32_t in_flight;
  Link next;            // in its bucket; while collecting, where it goes
  std::uint32_t count;  // of actions; 0: the end of the game
  std::uint32_t open;   // how many of them are considered
  std::uint8_t bounds;  // lower | upper << 2
  std::uint8_t player, marked;
  std::uint8_t stamp;  // where ranks share a tree, when it was last passed

  static Bounds unpack(std::uint8_t bounds) { return {bounds & 3U, static_cast<std::uint32_t>(bounds >> 2)}; }
  static std::uint8_t pack(const Bounds& bounds) { return static_cast<std::uint8_t>(bounds.lower | bounds.upper << 2); }
  Bounds bounds_now() const { return unpack(bounds); }
};

template <class Access>
Bounds bounds_of(const Node& node) {
  return Node::unpack(Access::load(const_cast<Node&>(node).bounds));
}

template <class Action, class Amaf>
class Tree {
 public:
  static constexpr std::size_t kUnit = 16;
  static constexpr Link kFirst = 4;                                    // unit of the first node
  static constexpr std::uint64_t kLeastBytes = 1 << 16;                // room for some nodes of any game
  static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 34;  // 16 GB: links have 30 bits
  static_assert(sizeof(Node) == 2 * kUnit && sizeof(Action) == kUnit && sizeof(Amaf) == kUnit);

  // `ranks` of them have a part of the table each.
  Tree(std::uint64_t bytes, bool amaf, bool graph, std::uint32_t ranks = 1) : amaf_(amaf), ranks_(ranks) {
    bytes = std::clamp(bytes, kLeastBytes, kMostBytes);
    if (graph) buckets_ = std::bit_floor(bytes / 128);
    units_ = (bytes - buckets_ * sizeof(Link)) / kUnit;
    block_ = map();
    used_and_made() = kFirst;
  }
  Tree(const Tree& other)
      : amaf_(other.amaf_),
        full_(other.full_),
        ranks_(other.ranks_),
        units_(other.units_),
        buckets_(other.buckets_),
        reserved_(other.reserved_) {
    block_ = map();
    std::memcpy(block_, other.block_, other.used() * kUnit);
    insert_all();
  }
  Tree(Tree&& other) noexcept
      : amaf_(other.amaf_),
        full_(other.full_),
        ranks_(other.ranks_),
        units_(other.units_),
        buckets_(other.buckets_),
        reserved_(other.reserved_),
        block_(std::exchange(other.block_, nullptr)) {}
  Tree& operator=(Tree other) noexcept {
    std::swap(amaf_, other.amaf_), std::swap(full_, other.full_), std::swap(ranks_, other.ranks_);
    std::swap(reserved_, other.reserved_);
    std::swap(units_, other.units_), std::swap(block_, other.block_), std::swap(buckets_, other.buckets_);
    return *this;
  }
  ~Tree() {
    if (block_ != nullptr) munmap(block_, bytes());
  }

  bool is_graph() const { return buckets_ > 0; }
  bool has_amaf() const { return amaf_; }
  std::uint64_t nodes() const { return Shared::load(used_and_made()) >> 32; }
  std::uint64_t units() const { return units_; }
  std::uint64_t used_units() const { return used(); }
  static std::uint64_t units_for(std::uint32_t count, bool amaf) {
    return 2 + (amaf ? 2 : 1) * static_cast<std::uint64_t>(count);
  }
  std::uint64_t bytes() const { return units_ * kUnit + buckets_ * sizeof(Link); }
  // With as large a share of the table.
  std::uint64_t used_bytes() const { return used() * kUnit + buckets_ * sizeof(Link) * used() / units_; }
  // Whether a node did not fit any more. Then none is added, not even a smaller one, until some are given back.
  template <class Access>
  bool is_full() {
    return Access::load(full_);
  }

  Node& node(Link link) const { return *reinterpret_cast<Node*>(block_ + link * kUnit); }
  Action* actions(const Node& node) const {
    return reinterpret_cast<Action*>(reinterpret_cast<std::byte*>(const_cast<Node*>(&node)) + sizeof(Node));
  }
  Amaf* amaf(const Node& node) const { return reinterpret_cast<Amaf*>(actions(node) + node.count); }

  // So much of the memory is for nodes that are allocated as such alone, from now on.
  void reserve(std::uint64_t units) { reserved_ = static_cast<std::int64_t>(units); }
  static constexpr bool kReserved = true;

  // Room for a node with so many actions, or kNone when the memory is full.
  template <class Access>
  Link allocate(std::uint32_t count, bool reserved = false) {
    const std::uint64_t size = units_for(count);
    const std::uint64_t limit = reserved ? units_ : units_ - std::max<std::int64_t>(0, Shared::load(reserved_));
    std::uint64_t before = Access::load(used_and_made());
    while (static_cast<std::uint32_t>(before) + size <= limit) {
      if (Access::exchange(used_and_made(), before, before + size + kOneNode)) break;
      before = Access::load(used_and_made());
    }
    if (static_cast<std::uint32_t>(before) + size > limit) {
      if (!reserved) Access::store(full_, true);
      return kNone;
    }
    if (reserved) Shared::add(reserved_, -static_cast<std::int64_t>(size));
    const auto link = static_cast<Link>(before);
    node(link) = {.key = 0,
                  .visits = 0,
                  .in_flight = 0,
                  .next = kNone,
                  .count = count,
                  .open = 0,
                  .bounds = 2 << 2,
                  .player = 0,
                  .marked = 0,
                  .stamp = 0};
    return link;
  }

  // The node of a key, or kNone; in graph mode.
  template <class Access>
  Link find(std::uint64_t key) {
    Link link = Access::load(bucket(key));
    while (link != kNone && node(link).key != key) link = node(link).next;
    return link;
  }

  // Makes a node known by its key, unless another of that key is; returns the one that is.
  template <class Access>
  Link insert(Link link) {
    Node& made = node(link);
    Link& head = bucket(made.key);
    while (true) {
      const Link first = Access::load(head);
      for (Link other = first; other != kNone; other = node(other).next)
        if (node(other).key == made.key) return other;
      made.next = first;
      if (Access::exchange(head, first, link)) return link;
    }
  }

  void clear() {
    forget_all();
    used_and_made() = kFirst, full_ = false;
  }

  // function(link, node) for every node, in the order they are in memory.
  template <class Function>
  void each(Function function) {
    for (std::uint64_t at = kFirst; at < used();) {
      Node& one = node(static_cast<Link>(at));
      const std::uint64_t size = units_for(one.count);  // the function may move it
      function(static_cast<Link>(at), one);
      at += size;
    }
  }

  // Keeps what can be reached from a node and moves it together; returns where the node is then. Nobody searches.
  Link collect(Link root) {
    mark(root);
    return keep_marked(root);
  }

  // The same of the nodes that are marked, a root among them.
  Link keep_marked(Link root) {
    forget_all();
    std::uint64_t to = kFirst;
    each([&](Link, Node& node) {
      if (!node.marked) return;
      node.next = static_cast<Link>(to);
      to += units_for(node.count);
    });
    each([&](Link, Node& one) {
      if (!one.marked) return;
      Action* list = actions(one);
      for (std::uint32_t i = 0; i < one.count; i++)
        if (const Link to = link_of(list[i].link); to > kIllegal)
          list[i].link = (list[i].link & kOpen) | (node(to).marked ? node(to).next : kNone);
    });
    const Link moved = node(root).next;
    std::uint64_t end = kFirst, kept = 0;
    each([&](Link link, Node& one) {
      if (!one.marked) return;
      const std::uint64_t size = units_for(one.count);
      const Link target = one.next;
      one.marked = 0, one.next = kNone;
      std::memmove(block_ + target * kUnit, block_ + link * kUnit, size * kUnit);
      kept++;
      end = target + size;
    });
    used_and_made() = end + kept * kOneNode;
    full_ = false;
    insert_all();
    return moved;
  }

  void serialise(Writer& out) const {
    out.put<std::uint64_t>(nodes());
    out.put<std::uint64_t>(used() - kFirst);
    out.put_bytes({reinterpret_cast<const char*>(block_ + kFirst * kUnit), (used() - kFirst) * kUnit});
  }

  // Takes what a tree of the same settings wrote, not a graph; throws Damaged unless it is a tree whose root is `root`.
  void deserialise(Reader& in, Link root) {
    clear();
    const auto many = in.get<std::uint64_t>(), size = in.get<std::uint64_t>();
    if (size > units_ - kFirst || many > size) throw Damaged();
    const std::string_view bytes = in.get_bytes(size * kUnit);
    std::memcpy(block_ + kFirst * kUnit, bytes.data(), bytes.size());
    used_and_made() = kFirst + size + many * kOneNode;
    std::uint64_t found = 0;
    std::vector<bool> begins(used());
    for (std::uint64_t at = kFirst; at < used();) {
      const Node& one = node(static_cast<Link>(at));
      if (used() - at < units_for(0) || units_for(one.count) > used() - at) throw Damaged();
      if (one.marked != 0 || one.player > 1 || one.open > one.count) throw Damaged();
      begins[at] = true;
      found++;
      at += units_for(one.count);
    }
    if (found != many || root >= used() || !begins[root]) throw Damaged();
    std::uint64_t linked = 1;  // the root; in a tree every other node is led to by one action, of an older node
    each([&](Link parent, Node& one) {
      one.in_flight = 0, one.next = kNone;
      const Action* list = actions(one);
      for (std::uint32_t i = 0; i < one.count; i++) {
        const Link link = link_of(list[i].link);
        if (link == kNone || link == kIllegal) continue;
        if (link <= parent || link >= used() || !begins[link]) throw Damaged();
        begins[link] = false;
        linked++;
      }
    });
    if (linked != many) throw Damaged();
  }

 private:
  static constexpr std::uint64_t kLargePages = 1 << 26;  // from this size on, fewer and larger pages

  std::byte* map() const {
    void* memory = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    if (units_ * kUnit >= kLargePages) madvise(memory, units_ * kUnit, MADV_HUGEPAGE);
    return static_cast<std::byte*>(memory);
  }

  // How many units are used, and above them how many nodes there are. Every simulation changes that: in front of the
  // nodes it shares no cache line with what everybody reads.
  static constexpr std::uint64_t kOneNode = std::uint64_t{1} << 32;
  std::uint64_t& used_and_made() const { return *reinterpret_cast<std::uint64_t*>(block_); }
  std::uint64_t used() const { return static_cast<std::uint32_t>(Shared::load(used_and_made())); }

  std::uint64_t units_for(std::uint32_t count) const { return units_for(count, amaf_); }
  Link& bucket(std::uint64_t key) {
    return reinterpret_cast<Link*>(block_ + units_ * kUnit)[(ranks_ == 1 ? key : key / ranks_) & (buckets_ - 1)];
  }

  // Makes all nodes known by their keys, or none: the rest of the table is not touched.
  void insert_all() {
    if (is_graph()) each([&](Link link, Node&) { insert<Plain>(link); });
  }
  void forget_all() {
    if (is_graph()) each([&](Link, Node& one) { bucket(one.key) = kNone; });
  }

  void mark(Link root) {
    std::vector<Link> stack{root};
    node(root).marked = 1;
    while (!stack.empty()) {
      const Node& one = node(stack.back());
      stack.pop_back();
      const Action* list = actions(one);
      for (std::uint32_t i = 0; i < one.count; i++) {
        const Link link = link_of(list[i].link);
        if (link <= kIllegal || node(link).marked) continue;
        node(link).marked = 1;
        stack.push_back(link);
      }
    }
  }

  bool amaf_;
  bool full_ = false;
  std::uint32_t ranks_ = 1;
  std::uint64_t units_ = 0, buckets_ = 0;
  std::int64_t reserved_ = 0;  // what is left of it
  std::byte* block_ = nullptr;
};

}  // namespace playout
