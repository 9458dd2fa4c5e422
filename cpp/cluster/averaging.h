// Averaging: trees of several ranks whose statistics near the root are added up now and then (Algorithm 6 of "The
// Parallelization of Monte-Carlo Planning"; slow-tree parallelization in "Parallel Monte-Carlo Tree Search for HPC
// Systems").
//
// Every T0 seconds (`interval`), or every so many simulations of a rank, the statistics of the nodes at most K moves
// from the root (`depth`) with at least N_min simulations are summed over all ranks; K = 0 is the root alone, T0 =
// infinity the end of a thinking alone. The paper speaks of averages: of sums the means are the same, and the number of
// simulations behind them is the true one. AMAF statistics and what is proven go along. The decision is the most
// simulated move over all ranks, which every rank then knows.
//
// What was received must not count again. Of every node that is shared a tree remembers its statistics as they were
// after the last exchange, own and others' together: what has come to them since is this rank's own, and the news it
// tells. What the others have learned is added to the tree and to what is remembered. So the visits of a shared node
// are, after an exchange, those of all ranks, each simulation counted once.
//
// A node is named by the way to it: ranks hold different nodes, in different places. (In a graph by the key of its
// state.) News of a node that this tree does not have yet waits until it has, in this thinking and the next: after that
// the game has most likely left it.
//
// Exchanges are rounds of an allreduce (allreduce.h) of sparse sums, of any depth. By the clock nobody waits for a
// round: its sum is taken in when it has come. By simulations each rank waits for the sum before it goes on: then what
// the ranks find depends on no clock, and with one thread a rank (or leaf parallelization) it is always the same.
//
// A vote is a rank's for the move that it has tried most itself in this thinking: where votes differ there is doubt.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cluster/allreduce.h"
#include "cluster/member.h"
#include "cluster/tree_sums.h"
#include "core/random.h"
#include "search/proof.h"

namespace playout {

class Averaging final : public Member {
 public:
  Averaging(std::unique_ptr<GrowingTree> tree, std::shared_ptr<Port> port, const SharingSettings& settings)
      : Member(std::move(tree), std::move(port), settings), rounds_(*port_) {
    port_->set_server(this);
  }
  ~Averaging() override { port_->set_server(nullptr); }

  void begin(std::uint64_t playouts) override {
    Member::begin(playouts);
    std::erase_if(waiting_, [&](const auto& one) {
      const bool old = one.second.since + 1 < epoch_;
      if (old) waiting_entries_ -= one.second.entries.size();
      return old;
    });
    find_records();
    is_first_ = true;
    forget_own_visits();
    const std::scoped_lock lock(mutex_);
    take_in();
  }

  void advance(std::uint64_t playouts, const std::stop_token& stop, Workers& workers) override {
    if (settings_.simulations > 0)
      advance_in_step(playouts, stop, workers);
    else
      advance_freely(playouts, stop, workers);
    if (is_spent()) rest();
  }

  bool finish(std::chrono::duration<double> at_most) override {
    rest();
    std::unique_lock lock(mutex_);
    const bool whole = changed_.wait_for(lock, at_most, [&] { return known_.ended >= epoch_ && !outstanding_; });
    take_in();
    return whole;
  }

  void serve() override {
    const std::scoped_lock lock(mutex_);
    for (Message message; port_->receive(message);)
      if (std::optional<TreeSums> sum = rounds_.take(message)) hear(std::move(*sum));
    changed_.notify_all();
  }

  void play(Move move) override {
    const std::uint32_t action = tree_->action_of(move);
    Member::play(move);
    root_name_ = fold(root_name_, action);
    find_records();
  }

  // An empty tree, of which nothing was ever told.
  void go_to(const std::vector<Move>& moves) override {
    Member::go_to(moves);
    root_name_ = fold(0, ++games_);
    records_.clear(), waiting_.clear();
    waiting_entries_ = 0;
  }

  TreeReport report() const override {
    TreeReport out = tree_->report();
    const std::scoped_lock lock(mutex_);
    out.ranks = static_cast<std::uint64_t>(port_->ranks());
    out.playouts = tree_->best().playouts;
    if (known_.epoch != epoch_ || !is_of_this_position()) return out;
    for (ActionReport& one : out.actions)
      if (one.action < known_.votes.size()) one.votes = known_.votes[one.action];
    out.complete = known_.ranks == out.ranks;
    if (!out.complete) return out;
    out.playouts = known_.playouts, out.nodes = known_.nodes;
    out.bytes = known_.bytes, out.most_bytes = known_.most_bytes, out.full = known_.full == out.ranks;
    return out;
  }

 private:
  static constexpr std::size_t kMostWaiting = 1 << 20;  // entries of nodes that this tree does not have

  // A node that is shared, and its statistics after the last exchange.
  struct Record {
    Link link = kNone;
    struct Cell {
      std::uint64_t stats, amaf;
    };
    std::vector<Cell> cells;
    std::vector<std::uint8_t> bounds;
  };

  // News of a node that this tree does not have.
  struct Waiting {
    std::vector<TreeSums::Entry> entries;
    std::uint64_t since = 0;  // the last epoch it came in
  };

  void advance_freely(std::uint64_t playouts, const std::stop_token& stop, Workers& workers) {
    {
      const std::scoped_lock lock(mutex_);
      if (!arrived_.empty()) take_in();
    }
    tree_->advance(playouts, stop, workers);
    if (Clock::now() < due_ || is_outstanding()) return;
    tell();
    due_ = Clock::now() + period();
  }

  void advance_in_step(std::uint64_t playouts, const std::stop_token& stop, Workers& workers) {
    while (playouts > 0 && !tree_->done()) {
      if (stop.stop_possible() && !wait_for_sum(stop)) return;  // who cannot be stopped does not wait
      playouts -= std::min(playouts, advance_to_exchange(playouts, stop, workers));
      if (made_ >= settings_.simulations && !is_outstanding()) tell(), made_ = 0;
      if (stop.stop_requested()) return;
    }
    if (stop.stop_possible() && is_spent()) wait_for_sum(stop);  // the last of it is told with what is known then
  }

  bool is_outstanding() const {
    const std::scoped_lock lock(mutex_);
    return outstanding_;
  }

  // Waits for the round under way; false if told to stop before.
  bool wait_for_sum(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait(lock, stop, [&] { return !outstanding_; })) return false;
    take_in();
    return true;
  }

  void tell() {
    const Cost cost(*this);
    TreeSums news = collect_news(std::exchange(is_first_, false));
    const std::scoped_lock lock(mutex_);
    sharing_.nodes = records_.size();
    contribute(std::move(news));
  }

  // The last of this rank in this thinking. From here on `hear` takes part in the rounds that others still need.
  void rest() {
    const Cost cost(*this);
    {
      const std::scoped_lock lock(mutex_);
      if (resting_) return;
    }
    TreeSums news = collect_news(true);
    news.counters.ended++;
    const std::scoped_lock lock(mutex_);
    sharing_.nodes = records_.size();
    resting_ = true;
    nothing_.counters = news.counters;
    if (!outstanding_) {
      contribute(std::move(news));
    } else if (!last_news_) {
      last_news_ = std::move(news);
    } else {  // that of the thinking before has not been told either
      const TreeCounters latest = news.counters;
      last_news_->add(std::move(news));
      last_news_->counters = latest;
    }
  }

  // From here to hear(), under the mutex.
  void contribute(TreeSums news) {
    sharing_.exchanges++;
    sharing_.told += news.entries.size();
    outstanding_ = true;
    told_ = std::move(news);
    if (std::optional<TreeSums> sum = rounds_.contribute(told_)) hear(std::move(*sum));
    changed_.notify_all();
  }

  // A round's sum has come.
  void hear(TreeSums sum) {
    sum.subtract(told_);
    outstanding_ = false;
    known_ = sum.counters;
    arrived_.push_back(std::move(sum));
    if (last_news_)
      contribute(*std::exchange(last_news_, std::nullopt));
    else if (resting_ && known_.ended < epoch_)  // somebody still searches, and needs a part of everybody
      contribute(nothing_);
  }

  // Adds what the others have learned to the tree; under the mutex, while nobody searches.
  void take_in() {
    for (const TreeSums& sum : std::exchange(arrived_, {}))
      for (const TreeSums::At& node : sum.nodes) {
        const auto entries = sum.entries_of(node);
        const auto found = records_.find(node.name);
        if (found != records_.end())
          take_in(found->second, entries);
        else
          keep(node.name, entries);
      }
  }

  void take_in(Record& record, std::span<const TreeSums::Entry> entries) {
    GameTree& tree = *tree_->game_tree();
    Node& node = tree.node(record.link);
    WinAction* actions = tree.actions(node);
    for (const TreeSums::Entry& entry : entries) {
      if (entry.action >= node.count) throw Damaged();
      WinAction& action = actions[entry.action];
      Record::Cell& cell = record.cells[entry.action];
      action.stats += entry.stats, cell.stats += entry.stats;
      node.visits += static_cast<std::uint32_t>(entry.stats);
      if (tree.has_amaf()) tree.amaf(node)[entry.action].stats += entry.amaf, cell.amaf += entry.amaf;
      prove<Plain>(tree, node, action, Node::unpack(entry.bounds));
      std::uint8_t& told = record.bounds[entry.action];
      told = Node::pack(both(Node::unpack(told), Node::unpack(entry.bounds)));
      sharing_.heard += (entry.stats | entry.amaf) != 0;
    }
  }

  // News of a node that this tree does not have. At depth 0 that is a root left behind.
  void keep(std::uint64_t name, std::span<const TreeSums::Entry> entries) {
    if (settings_.depth == 0 || waiting_entries_ + entries.size() > kMostWaiting) {
      sharing_.lost += entries.size();
      return;
    }
    Waiting& kept = waiting_[name];
    kept.entries.insert(kept.entries.end(), entries.begin(), entries.end());
    kept.since = epoch_;
    waiting_entries_ += entries.size();
  }

  // What this rank has learned since it last told. Where nothing has changed nothing is looked for further down; but
  // when a thinking begins and ends everything is, for there may be what it knew before a node came to be shared.
  TreeSums collect_news(bool everything) {
    GameTree& tree = *tree_->game_tree();
    TreeSums news;
    news.counters.ended = epoch_ - 1;
    news.counters.epoch = epoch_, news.counters.ranks = 1, news.counters.playouts = tree_->best().playouts;
    news.counters.nodes = tree.nodes(), news.counters.bytes = tree.used_bytes(),
    news.counters.most_bytes = tree.bytes();
    news.counters.full = tree.is_full<Plain>() ? 1 : 0;
    Node& root = tree.node(tree_->root());
    std::uint64_t visits = 0;
    for (std::uint32_t i = 0; i < root.count; i++) visits += static_cast<std::uint32_t>(tree.actions(root)[i].stats);
    least_ = std::max({settings_.min_visits, std::uint64_t{1},
                       static_cast<std::uint64_t>(settings_.min_share * static_cast<double>(visits))});
    looked_at_.clear();
    news.entries.reserve(usual_entries_);
    collect_news(news, tree_->root(), name_of(tree_->root(), root_name_), 0, everything);
    news.counters.votes = vote(news, root);
    news.sort();
    usual_entries_ = news.entries.size() + news.entries.size() / 4;
    return news;
  }

  void collect_news(TreeSums& news, Link link, std::uint64_t name, std::uint32_t depth, bool everything) {
    GameTree& tree = *tree_->game_tree();
    const Node& node = tree.node(link);
    const WinAction* actions = tree.actions(node);
    const WinAmaf* amaf = tree.has_amaf() ? tree.amaf(node) : nullptr;
    Record& record = record_of(name, link);
    const auto first = static_cast<std::uint32_t>(news.entries.size());
    const std::size_t own = further_.size();
    for (std::uint32_t i = 0; i < node.count; i++) {
      const std::uint64_t stats = actions[i].stats - record.cells[i].stats;
      const std::uint64_t similar = amaf == nullptr ? 0 : amaf[i].stats - record.cells[i].amaf;
      const std::uint8_t bounds = Node::pack(WinAction::bounds(actions[i].tag));
      if ((stats != 0 || everything) && depth < settings_.depth &&
          static_cast<std::uint32_t>(actions[i].stats) >= least_ && link_of(actions[i].link) > kIllegal)
        further_.push_back(i);
      if (stats == 0 && similar == 0 && bounds == record.bounds[i]) continue;
      news.entries.push_back({.action = i, .bounds = bounds, .stats = stats, .amaf = similar});
      record.cells[i].stats += stats, record.cells[i].amaf += similar, record.bounds[i] = bounds;
    }
    const auto count = static_cast<std::uint32_t>(news.entries.size()) - first;
    if (count > 0) news.nodes.push_back({name, first, count});
    for (std::size_t next = own; next < further_.size(); next++) {
      const std::uint32_t i = further_[next];
      const Link child = link_of(actions[i].link);
      if (everything && tree.is_graph() && !looked_at_.insert(child).second) continue;
      collect_news(news, child, name_of(child, fold(name, i)), depth + 1, everything);
    }
    further_.resize(own);
  }

  // Visits of earlier thinkings that this rank has not told yet are news, but must not count in its vote. They are
  // taken off in advance.
  void forget_own_visits() {
    const GameTree& tree = *tree_->game_tree();
    const Node& root = tree.node(tree_->root());
    const Record& record = records_.at(name_of(tree_->root(), root_name_));
    own_visits_.resize(root.count);
    for (std::uint32_t i = 0; i < root.count; i++)
      own_visits_[i] = -std::int64_t{static_cast<std::uint32_t>(tree.actions(root)[i].stats - record.cells[i].stats)};
  }

  // This rank's vote, given what is new at the root.
  std::vector<std::uint32_t> vote(const TreeSums& news, const Node& root) {
    own_visits_.resize(root.count);
    std::vector<std::uint32_t> votes(root.count);
    if (!news.nodes.empty() && news.nodes[0].name == name_of(tree_->root(), root_name_))  // the root's come first
      for (const TreeSums::Entry& entry : news.entries_of(news.nodes[0]))
        own_visits_[entry.action] += static_cast<std::uint32_t>(entry.stats);
    const auto most = std::ranges::max_element(own_visits_);
    if (most != own_visits_.end() && *most > 0) votes[most - own_visits_.begin()] = 1;
    return votes;
  }

  std::uint64_t name_of(Link link, std::uint64_t way) const {
    const GameTree& tree = *tree_->game_tree();
    return tree.is_graph() ? fold(tree.node(link).key, games_) : way;
  }

  // The record of a node; if it is new, with the news that has waited for it.
  Record& record_of(std::uint64_t name, Link link) {
    const auto [place, is_new] = records_.try_emplace(name);
    Record& record = place->second;
    record.link = link;
    if (!is_new) return record;
    const std::uint32_t count = tree_->game_tree()->node(link).count;
    record.cells.assign(count, {});
    record.bounds.assign(count, Node::pack({}));
    const auto waited = waiting_.find(name);
    if (waited == waiting_.end()) return record;
    waiting_entries_ -= waited->second.entries.size();
    const std::scoped_lock lock(mutex_);
    take_in(record, waited->second.entries);
    waiting_.erase(waited);
    return record;
  }

  // Where the nodes are that are shared, after they may have moved; those that cannot be reached any more are
  // forgotten.
  void find_records() {
    std::unordered_map<std::uint64_t, Record> before = std::exchange(records_, {});
    GameTree& tree = *tree_->game_tree();
    if (tree.is_graph()) {
      tree.each([&](Link link, Node&) { find_record(before, name_of(link, 0), link); });
    } else {
      std::vector<std::pair<Link, std::uint64_t>> ways{{tree_->root(), root_name_}};
      while (!ways.empty()) {
        const auto [link, name] = ways.back();
        ways.pop_back();
        if (!find_record(before, name, link)) continue;
        const Node& node = tree.node(link);
        for (std::uint32_t i = 0; i < node.count; i++)
          if (const Link child = link_of(tree.actions(node)[i].link); child > kIllegal)
            ways.emplace_back(child, fold(name, i));
      }
    }
    record_of(name_of(tree_->root(), root_name_), tree_->root());  // the root is shared whatever it has seen
  }

  bool find_record(std::unordered_map<std::uint64_t, Record>& before, std::uint64_t name, Link link) {
    auto found = before.extract(name);
    if (found.empty()) return false;
    found.mapped().link = link;
    records_.insert(std::move(found));
    return true;
  }

  // Whoever leads, and the search.
  std::unordered_map<std::uint64_t, Record> records_;
  std::unordered_map<std::uint64_t, Waiting> waiting_;
  std::size_t waiting_entries_ = 0;
  std::uint64_t games_ = 0, root_name_ = fold(0, 0);
  std::uint64_t least_ = 0;  // simulations of a node that is shared
  bool is_first_ = true;     // whether the next exchange is the first of a thinking
  std::size_t usual_entries_ = 0;
  std::unordered_set<Link> looked_at_;
  std::vector<std::uint32_t> further_;    // actions to look further at, of all nodes on the way
  std::vector<std::int64_t> own_visits_;  // of the root's actions in this thinking

  // Under the mutex.
  Allreduce<TreeSums> rounds_;
  bool outstanding_ = false;                     // whether this rank waits for the sum of a round
  TreeSums told_;                                // its part of it
  std::optional<TreeSums> last_news_;            // its next part, the last of a thinking
  TreeSums nothing_;                             // its part while it rests
  std::vector<TreeSums> arrived_;                // what others have learned, and this tree has not taken in
  TreeCounters known_{.ended = 0, .votes = {}};  // counters of the last round
};

}  // namespace playout
