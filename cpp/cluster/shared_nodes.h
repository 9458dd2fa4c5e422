// SharedNodes: the nodes of one split tree (treesplit.h) that all ranks have: what "Parallel Monte-Carlo Tree Search
// for HPC Systems" calls duplicated, and keeps in a cache on every rank.
//
// A state belongs to one rank, its home. There its node is shared, with a copy on every other rank, once N_dup
// simulations have passed it (`duplicate_after`). From then on each rank counts visits in its own copy. Once an action
// of a copy has been visited N_sync times (`sync_every`) since the last time, the rank tells the home all that its copy
// has counted since (a difference), and the home tells all others (a total, as what is new in it).
//
//     copy = what it was told + what it has told + its own difference, not yet told
//
// Beside each shared node lies a second of the same shape with the first two of these: the difference is what is
// between them. All are sums of whole numbers, so neither the order of messages nor that of ranks matters, and no visit
// counts twice: the home gives a rank back all but what came from it. Visits count when an action is selected and wins
// when the result is known, so a visit that is told may be one whose result follows. AMAF and what is proven go along.
//
// Memory. It is kept free for them: the copies that a rank keeps for others, and what lies beside its own shared nodes,
// are at most one part in 2 N_dup of the table, each home having its share of that on all ranks: a node is shared on
// all of them or on none. (Of the states that n simulations have come to, about one in N_dup was passed N_dup times; at
// once on all ranks, N_dup being 0 or 1, that is half of it.)
//
// `Kind`s of messages, each with the epoch of the thinking first: a copy to be made, a difference, what is new in a
// total. They are handled one after the other, in the order they came; all else may be called by any thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "cluster/rank_tree.h"
#include "cluster/transport.h"
#include "core/archive.h"
#include "search/proof.h"
#include "search/tree.h"

namespace playout {

struct SplitSettings {
  // Simulations that must have passed a node before all ranks have it; the root is shared from the start.
  std::uint64_t duplicate_after = 16;
  std::uint64_t sync_every = 100;  // visits of an action between two times that it is told
  double overload = 3;             // simulations under way for each worker
};

class SharedNodes {
 public:
  enum Kind : std::uint8_t { kCopy = 3, kDifference = 4, kTotal = 5 };

  struct Counts {
    std::uint64_t tellings = 0;  // differences and totals sent
    std::uint64_t nodes = 0;     // that are shared
    std::uint64_t lost = 0;      // what was told of nodes that are not here
    double seconds = 0;          // processor time for telling and hearing
  };

  SharedNodes(GameTree& tree, Port& port, const SplitSettings& settings)
      : tree_(tree), port_(port), settings_(settings), ranks_(static_cast<std::uint64_t>(port.ranks())) {
    const std::uint64_t parts = 2 * std::max<std::uint64_t>(settings.duplicate_after, 1);
    if (ranks_ == 1 || parts > tree.units()) return;
    budget_ = tree.units() / parts / (2 * ranks_ - 1);
    reserve_ = tree.units() / parts;
    tree.reserve(reserve_);
  }

  static bool is_shared(Node& node) { return Shared::load(node.visits) != 0; }
  bool is_home(std::uint64_t key) const { return key % ranks_ == static_cast<std::uint64_t>(port_.rank()); }

  // A simulation passes a node that is not shared, whose home this is.
  void pass(Link link, std::uint64_t epoch) {
    Node& node = tree_.node(link);
    if (ranks_ == 1 || is_shared(node)) return;
    std::uint64_t visits = 0;
    const WinAction* actions = tree_.actions(node);
    for (std::uint32_t i = 0; i < node.count && visits < settings_.duplicate_after; i++)
      visits += static_cast<std::uint32_t>(Shared::load(const_cast<WinAction&>(actions[i]).stats));
    if (visits < settings_.duplicate_after || used_units_.load(std::memory_order_relaxed) >= budget_) return;
    share(link, epoch);
  }

  // Makes a node of this rank's shared, with copies on all others, whatever it has seen; false if there is no room.
  bool share(Link link, std::uint64_t epoch) {
    Node& node = tree_.node(link);
    const Lock lock(node);
    if (is_shared(node)) return true;
    const Cost cost(*this);
    const Link beside = beside_of(node);
    if (beside == kNone) return false;
    used_units_ += GameTree::units_for(node.count, tree_.has_amaf());
    Writer out;
    out.put_varint(epoch);
    write_copy(out, node, tree_.node(beside));
    publish(link, beside, epoch);  // before anybody can answer
    port_.send_to_all(kCopy, out.bytes());
    return true;
  }

  // A copy of a node of another rank's that this rank has made by itself, without statistics; false without room.
  bool adopt(Link link, std::uint64_t epoch) {
    const Link beside = beside_of(tree_.node(link));
    if (beside == kNone) return false;
    copies_++;
    publish(link, beside, epoch);
    return true;
  }

  // An action of a shared node has been visited.
  void visited(Node& node, std::uint32_t action, std::uint64_t epoch) {
    const Node& beside = tree_.node(Shared::load(node.visits));
    const auto now = static_cast<std::uint32_t>(Shared::load(tree_.actions(node)[action].stats));
    const auto told = static_cast<std::uint32_t>(Shared::load(tree_.actions(beside)[action].stats));
    if (static_cast<std::int32_t>(now - told) < 0 || now - told < settings_.sync_every) return;
    const Lock lock(node, Lock::kTry);
    if (!lock) return;
    const Cost cost(*this);
    tell(node, epoch);
  }

  // Tells at once what is new of a shared node.
  void tell_now(Node& node, std::uint64_t epoch) {
    const Lock lock(node);
    const Cost cost(*this);
    tell(node, epoch);
  }

  // Tells all that is new of copies, to their homes, or of this rank's own, to all.
  void tell_all(bool own, std::uint64_t epoch) {
    for (std::size_t i = 0;; i++) {
      Link link = kNone;
      {
        const std::scoped_lock lock(mutex_);
        if (i == shared_.size()) return;
        link = shared_[i];
      }
      if (is_home(tree_.node(link).key) == own) tell_now(tree_.node(link), epoch);
    }
  }

  // Handles what another rank has told, after the epoch; throws Damaged.
  void take(int from, std::uint8_t kind, Reader& in, std::uint64_t epoch) {
    const Cost cost(*this);
    const auto key = in.get<std::uint64_t>();
    if (kind == kCopy)
      take_copy(key, in, epoch);
    else if (kind == kDifference || kind == kTotal)
      take_news(from, key, kind == kDifference, in, epoch);
    else
      throw Damaged();
  }

  // After the nodes have been moved together, nobody searching: what lay beside shared nodes is made again. Nothing of
  // theirs was untold.
  void find_again(std::uint64_t epoch) {
    forget();
    std::vector<Link> links;
    std::uint64_t copied = 0;
    tree_.each([&](Link link, Node& node) {
      if (std::exchange(node.visits, kNone) == 0) return;
      links.push_back(link);
      if (!is_home(node.key)) copied += GameTree::units_for(node.count, tree_.has_amaf());
    });
    tree_.reserve(reserve_ - std::min(reserve_, copied));
    for (const Link link : links) {
      Node& node = tree_.node(link);
      const Link beside = beside_of(node);  // there is room: it was given back
      if (beside == kNone) continue;
      copy_statistics(node, tree_.node(beside));
      if (is_home(node.key))
        used_units_ += GameTree::units_for(node.count, tree_.has_amaf());
      else
        copies_++;
      publish(link, beside, epoch);
    }
  }
  void forget() {
    const std::scoped_lock lock(mutex_);
    shared_.clear();
    used_units_ = 0, copies_ = 0, besides_ = 0;
    tree_.reserve(reserve_);
  }

  // The thinking in which a shared node was last told of: the same on all ranks, once all have told everything.
  std::uint64_t last_told(const Node& node) const { return tree_.node(node.visits).key; }
  static bool is_beside(const Node& node) { return node.marked == kBeside; }

  // Nodes in the table that are not states of this rank's.
  std::uint64_t guests() const { return copies_ + besides_; }
  bool is_crowded() const { return 2 * used_units_ > budget_; }
  Counts counts() const {
    const std::scoped_lock lock(mutex_);
    return {tellings_, shared_.size(), lost_, 1e-9 * static_cast<double>(nanoseconds_)};
  }

 private:
  static constexpr std::uint8_t kBeside = 2;

  // One at a time looks at what has been told of a node.
  class Lock {
   public:
    static constexpr bool kTry = true;
    explicit Lock(Node& node, bool only_try = false) : node_(node) {
      while (!(mine_ = Shared::exchange(node_.in_flight, 0U, 1U)) && !only_try) std::this_thread::yield();
    }
    ~Lock() {
      if (mine_) Shared::store(node_.in_flight, 0U);
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    explicit operator bool() const { return mine_; }

   private:
    Node& node_;
    bool mine_ = false;
  };

  // While it lives, what is done counts.
  class Cost {
   public:
    explicit Cost(SharedNodes& of) : of_(of), begin_(thread_seconds()) {}
    ~Cost() { of_.nanoseconds_ += static_cast<std::uint64_t>(1e9 * (thread_seconds() - begin_)); }
    Cost(const Cost&) = delete;
    Cost& operator=(const Cost&) = delete;

   private:
    SharedNodes& of_;
    const double begin_;
  };

  // What is new of an action, or what a copy begins with.
  struct News {
    std::uint64_t stats = 0, amaf = 0;
    std::uint8_t bounds = kUnknown;
    bool is_something() const { return stats != 0 || amaf != 0 || bounds != kUnknown; }
  };
  static constexpr std::uint8_t kUnknown = 2 << 2;

  // Room for what has been told of a node: as yet nothing.
  Link beside_of(const Node& node) {
    const Link link = tree_.allocate<Shared>(node.count, GameTree::kReserved);
    if (link == kNone) return kNone;
    Node& beside = tree_.node(link);
    beside.marked = kBeside;
    for (std::uint32_t i = 0; i < node.count; i++) tree_.actions(beside)[i] = WinAction::of(0);
    if (tree_.has_amaf())
      for (std::uint32_t i = 0; i < node.count; i++) tree_.amaf(beside)[i] = {};
    besides_++;
    return link;
  }

  void publish(Link link, Link beside, std::uint64_t epoch) {
    Node& node = tree_.node(link);
    Shared::store(tree_.node(beside).key, epoch);
    Shared::store(node.visits, beside);
    const std::scoped_lock lock(mutex_);
    shared_.push_back(link);
  }

  void copy_statistics(Node& from, Node& to) {
    for (std::uint32_t i = 0; i < from.count; i++) {
      WinAction& action = tree_.actions(from)[i];
      tree_.actions(to)[i].stats = Shared::load(action.stats);
      tree_.actions(to)[i].tag = WinAction::pack(WinAction::bounds(Shared::load(action.tag)));
      if (tree_.has_amaf()) tree_.amaf(to)[i].stats = Shared::load(tree_.amaf(from)[i].stats);
    }
  }

  // Everything that another rank needs for a copy, with statistics as they are then kept beside.
  void write_copy(Writer& out, Node& node, Node& beside) {
    copy_statistics(node, beside);
    out.put(node.key);
    out.put(node.player);
    out.put_varint(node.count);
    for (std::uint32_t i = 0; i < node.count; i++) {
      const WinAction& told = tree_.actions(beside)[i];
      WinAction& action = tree_.actions(node)[i];
      const News news{told.stats, tree_.has_amaf() ? tree_.amaf(beside)[i].stats : 0,
                      Node::pack(WinAction::bounds(told.tag))};
      const Prior prior = tree_.has_amaf() ? tree_.amaf(node)[i].prior : Prior();
      const bool has_prior = prior.visits != 0 || prior.wins != 0, open = Shared::load(action.link) & kOpen;
      out.put_varint(static_cast<std::uint64_t>(WinAction::move(Shared::load(action.tag))) << 2 |
                     (has_prior ? 2U : 0U) | (open ? 1U : 0U));
      if (has_prior) out.put(prior.visits), out.put(prior.wins);
      write(out, 0, news);
    }
  }

  void take_copy(std::uint64_t key, Reader& in, std::uint64_t epoch) {
    const auto player = in.get_below<std::uint8_t>(2);
    const std::size_t count = in.get_small_count(2);
    if (is_home(key)) throw Damaged();
    Link link = tree_.find<Shared>(key);
    if (link == kNone) {
      link = make_copy(key, player, static_cast<std::uint32_t>(count), in, epoch);
      if (link == kNone) lost_++;
      return;
    }
    Node& node = tree_.node(link);  // a root that this rank has made itself
    if (node.count != count || !is_shared(node)) throw Damaged();
    const Lock lock(node);
    for (std::uint32_t i = 0; i < node.count; i++) {
      if (in.get_varint() & 2) in.get<float>(), in.get<float>();
      std::uint32_t action = 0;
      const News news = read(in, action);
      add(node, i, news);
    }
  }

  Link make_copy(std::uint64_t key, std::uint8_t player, std::uint32_t count, Reader& in, std::uint64_t epoch) {
    const Link link = tree_.allocate<Shared>(count, GameTree::kReserved);
    if (link == kNone) return kNone;
    copies_++;
    Node& node = tree_.node(link);
    const Link beside = beside_of(node);
    if (beside == kNone) return kNone;
    node.player = player, node.open = 0, node.key = key;
    for (std::uint32_t i = 0; i < count; i++) tree_.actions(node)[i] = WinAction::of(0);  // nothing is proven of any
    for (std::uint32_t i = 0; i < count; i++) {
      const std::uint64_t head = in.get_varint();
      Prior prior;
      if (head & 2) prior.visits = in.get<float>(), prior.wins = in.get<float>();
      std::uint32_t action = 0;
      const News news = read(in, action);
      WinAction& one = tree_.actions(node)[i];
      one = WinAction::of(static_cast<Move>(head >> 2));
      one.link = head & 1 ? kOpen : kNone;
      node.open += head & 1;
      if (tree_.has_amaf()) tree_.amaf(node)[i] = {0, prior};
      tree_.node(link).visits = beside;
      add(node, i, news);
    }
    tree_.node(link).visits = kNone;
    publish(link, beside, epoch);
    return tree_.insert<Shared>(link);
  }

  void take_news(int from, std::uint64_t key, bool is_home_of_it, Reader& in, std::uint64_t epoch) {
    if (is_home(key) != is_home_of_it) throw Damaged();
    const Link link = tree_.find<Shared>(key);
    if (link == kNone || !is_shared(tree_.node(link))) {
      lost_++;
      return;
    }
    Node& node = tree_.node(link);
    const Lock lock(node);
    Node& beside = tree_.node(node.visits);
    Shared::store(beside.key, epoch);
    std::vector<News> theirs(is_home_of_it ? node.count : 0);
    std::uint32_t next = 0;
    while (!in.at_end()) {
      std::uint32_t action = next;
      const News news = read(in, action);
      if (action >= node.count) throw Damaged();
      next = action + 1;
      if (!is_home_of_it) {
        add(node, action, news);
        continue;
      }
      theirs[action] = news;
      WinAction& one = tree_.actions(node)[action];
      Shared::add(one.stats, news.stats);
      if (tree_.has_amaf()) Shared::add(tree_.amaf(node)[action].stats, news.amaf);
      prove<Shared>(tree_, node, one, Node::unpack(news.bounds));
    }
    if (is_home_of_it) tell_total(node, from, theirs, epoch);
  }

  // Adds to a copy what it is told, and to what it was told.
  void add(Node& node, std::uint32_t i, const News& news) {
    Node& beside = tree_.node(node.visits);
    WinAction &action = tree_.actions(node)[i], &told = tree_.actions(beside)[i];
    Shared::add(told.stats, news.stats);
    Shared::add(action.stats, news.stats);
    if (tree_.has_amaf()) {
      tree_.amaf(beside)[i].stats += news.amaf;
      Shared::add(tree_.amaf(node)[i].stats, news.amaf);
    }
    if (news.bounds == kUnknown) return;
    prove<Shared>(tree_, node, action, Node::unpack(news.bounds));
    told.tag = WinAction::pack(both(WinAction::bounds(told.tag), Node::unpack(news.bounds)));
  }

  // What a node has learned since it was last told, which now it is.
  News take_news_of(Node& node, std::uint32_t i) {
    Node& beside = tree_.node(node.visits);
    WinAction &action = tree_.actions(node)[i], &told = tree_.actions(beside)[i];
    News news{.stats = Shared::load(action.stats) - told.stats};
    Shared::add(told.stats, news.stats);
    if (tree_.has_amaf()) {
      WinAmaf& all = tree_.amaf(beside)[i];
      news.amaf = Shared::load(tree_.amaf(node)[i].stats) - all.stats;
      all.stats += news.amaf;
    }
    const Bounds proven = WinAction::bounds(Shared::load(action.tag));
    if (!(proven == WinAction::bounds(told.tag))) news.bounds = Node::pack(proven), told.tag = WinAction::pack(proven);
    return news;
  }

  // Under the node's lock, as the next.
  void tell(Node& node, std::uint64_t epoch) {
    if (!is_home(node.key)) {
      Writer out = head_of(node, epoch);
      if (write_news(out, node)) send(static_cast<int>(node.key % ranks_), kDifference, out, node, epoch);
      return;
    }
    tell_total(node, port_.rank(), {}, epoch);
  }

  // Tells all ranks what is new; the one that part of it came from, the rest.
  void tell_total(Node& node, int from, std::span<const News> theirs, std::uint64_t epoch) {
    Writer to_all = head_of(node, epoch), to_one = head_of(node, epoch);
    bool any = false, more = false;
    std::uint32_t next = 0, next_of_one = 0;
    for (std::uint32_t i = 0; i < node.count; i++) {
      News news = take_news_of(node, i);
      if (news.is_something()) write(to_all, i - next, news), next = i + 1, any = true;
      if (theirs.empty()) continue;
      news.stats -= theirs[i].stats, news.amaf -= theirs[i].amaf;
      if (news.is_something()) write(to_one, i - next_of_one, news), next_of_one = i + 1, more = true;
    }
    for (int to = 0; any && to < port_.ranks(); to++)
      if (to != port_.rank() && to != from) send(to, kTotal, to_all, node, epoch);
    if (more) send(from, kTotal, to_one, node, epoch);
  }

  bool write_news(Writer& out, Node& node) {
    std::uint32_t next = 0;
    for (std::uint32_t i = 0; i < node.count; i++) {
      const News news = take_news_of(node, i);
      if (news.is_something()) write(out, i - next, news), next = i + 1;
    }
    return next > 0;
  }

  static Writer head_of(const Node& node, std::uint64_t epoch) {
    Writer out;
    out.put_varint(epoch);
    out.put(node.key);
    return out;
  }

  void send(int to, Kind kind, const Writer& out, Node& node, std::uint64_t epoch) {
    Shared::store(tree_.node(node.visits).key, epoch);
    port_.send(to, kind, out.bytes());
    tellings_++;
  }

  // The statistics are two numbers each, which may be below 0: a visit that led nowhere is taken back.
  static void write(Writer& out, std::uint32_t skipped, const News& news) {
    out.put_varint(std::uint64_t{skipped} << 3 | (news.bounds != kUnknown ? 4U : 0U) | (news.amaf != 0 ? 2U : 0U) |
                   (news.stats != 0 ? 1U : 0U));
    if (news.bounds != kUnknown) out.put(news.bounds);
    if (news.stats != 0) put(out, news.stats);
    if (news.amaf != 0) put(out, news.amaf);
  }
  static News read(Reader& in, std::uint32_t& action) {
    const std::uint64_t head = in.get_varint();
    if (head >> 3 > 0xFFFFFF) throw Damaged();
    action += static_cast<std::uint32_t>(head >> 3);
    News news;
    if (head & 4) news.bounds = in.get_below<std::uint8_t>(16);
    if (const Bounds known = Node::unpack(news.bounds); known.lower > known.upper || known.upper > 2) throw Damaged();
    if (head & 1) news.stats = get(in);
    if (head & 2) news.amaf = get(in);
    return news;
  }
  static void put(Writer& out, std::uint64_t packed) {
    const auto visits = static_cast<std::int64_t>(static_cast<std::int32_t>(packed));
    const std::int64_t wins = static_cast<std::int64_t>(packed - static_cast<std::uint64_t>(visits)) >> 32;
    for (const std::int64_t number : {visits, wins})
      out.put_varint(static_cast<std::uint64_t>(number) << 1 ^ static_cast<std::uint64_t>(number >> 63));
  }
  static std::uint64_t get(Reader& in) {
    std::int64_t numbers[2];
    for (std::int64_t& number : numbers) {
      const std::uint64_t folded = in.get_varint();
      number = static_cast<std::int64_t>(folded >> 1) ^ -static_cast<std::int64_t>(folded & 1);
      if (number != static_cast<std::int32_t>(number)) throw Damaged();
    }
    return (static_cast<std::uint64_t>(numbers[1]) << 32) + static_cast<std::uint64_t>(numbers[0]);
  }

  GameTree& tree_;
  Port& port_;
  const SplitSettings settings_;
  const std::uint64_t ranks_;
  std::uint64_t budget_ = 0, reserve_ = 0;  // units of this rank's nodes that may be shared, and kept free for all

  std::atomic<std::uint64_t> used_units_{0}, copies_{0}, besides_{0}, tellings_{0}, lost_{0}, nanoseconds_{0};
  mutable std::mutex mutex_;
  std::vector<Link> shared_;  // under the mutex
};

}  // namespace playout
