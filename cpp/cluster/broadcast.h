// Broadcast: trees of several ranks each of which makes every simulation of all ranks its own (Algorithm 5 of "The
// Parallelization of Monte-Carlo Planning").
//
// Every T seconds (`interval`) a rank sends the way and the result of each simulation it has made to all others, with
// what the playout has played where AMAF counts that. Whoever receives it goes the same way in its own tree, adds what
// is missing, in a graph by the position (the paper's hash table), and updates all statistics: trees are the same but
// for what is on its way. (A tree has only one way to a node, which names it as well as a hash of the position would.)
//
// The limit: an update costs a share alpha of a simulation, and N ranks have N times as many updates, each of them. So
// however many there are, they are at most 1 / alpha times as fast as one.
//
// Every simulation counts once in each tree, so visits add up over the cluster. Those of a position that this rank has
// left count no more; those of one that it has not yet come to wait.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "cluster/member.h"

namespace playout {

class Broadcast final : public Member {
 public:
  Broadcast(std::unique_ptr<GrowingTree> tree, std::shared_ptr<Port> port, const SharingSettings& settings)
      : Member(std::move(tree), std::move(port), settings), others_(port_->ranks()) {
    tree_->keep_journal(true);
    others_visits_ = visits_of_root();  // others may begin before this rank does
    port_->set_server(this);
  }
  ~Broadcast() override { port_->set_server(nullptr); }

  void begin(std::uint64_t playouts) override {
    Member::begin(playouts);
    others_visits_ = visits_of_root();
    told_ = 0;
    const std::scoped_lock lock(mutex_);
    own_ = {};
    for (Word& word : others_)
      if (word.epoch < epoch_) word = {};
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
    bool whole = false;  // decided before take_in: a message that arrives later belongs to the next call
    {
      std::unique_lock lock(mutex_);
      whole = changed_.wait_for(lock, at_most, [&] { return all_have_ended(); });
    }
    // In step, the last parts are taken in together, since the order of their arrival must not matter.
    if (!whole && settings_.simulations > 0) return false;
    Workers alone;
    take_in(alone);
    return whole;
  }

  void serve() override {
    const std::scoped_lock lock(mutex_);
    for (Message message; port_->receive(message);) hear(message);
    changed_.notify_all();
  }

  void play(Move move) override {
    Member::play(move);
    others_visits_ = visits_of_root();
  }
  void go_to(const std::vector<Move>& moves) override {
    Member::go_to(moves);
    others_visits_ = visits_of_root();
  }

  TreeReport report() const override {
    TreeReport out = tree_->report();
    const std::scoped_lock lock(mutex_);
    out.ranks = others_.size();
    out.playouts = tree_->best().playouts;
    if (!is_of_this_position()) return out;
    std::vector<std::uint32_t> votes(others_visits_.size());
    if (own_.vote < votes.size()) votes[own_.vote]++;
    std::uint64_t known = 1;
    for (const Word& word : others_) {
      if (word.epoch != epoch_) continue;
      known++;
      if (word.vote < votes.size()) votes[word.vote]++;
      out.playouts += word.playouts, out.nodes += word.nodes, out.bytes += word.bytes;
      out.most_bytes += word.most_bytes;
    }
    out.complete = known == out.ranks;
    for (ActionReport& one : out.actions)
      if (one.action < votes.size()) one.votes = votes[one.action];
    return out;
  }

 private:
  static constexpr std::uint8_t kJournal = 1;

  // What a rank says of itself with each batch of simulations.
  struct Word {
    std::uint64_t epoch = 0, position = 0, parts = 0, playouts = 0, nodes = 0, bytes = 0, most_bytes = 0;
    std::uint32_t vote = ~0U;  // an action
    bool ended = false;

    void write(Writer& out) const {
      for (const std::uint64_t number : {epoch, position, parts, playouts, nodes, bytes, most_bytes}) out.put(number);
      out.put(vote);
      out.put(static_cast<std::uint8_t>(ended));
    }
    static Word read(Reader& in) {
      Word word;
      for (std::uint64_t* number :
           {&word.epoch, &word.position, &word.parts, &word.playouts, &word.nodes, &word.bytes, &word.most_bytes})
        *number = in.get<std::uint64_t>();
      word.vote = in.get<std::uint32_t>();
      word.ended = in.get_below<std::uint8_t>(2) != 0;
      return word;
    }
  };
  struct Journal {
    std::uint64_t epoch, position, part;
    int rank;
    std::string bytes;
  };

  void advance_freely(std::uint64_t playouts, const std::stop_token& stop, Workers& workers) {
    take_in(workers);
    tree_->advance(playouts, stop, workers);
    if (Clock::now() < due_) return;
    tell(false);
    due_ = Clock::now() + period();
  }

  // All ranks wait for each other after so many simulations of each.
  void advance_in_step(std::uint64_t playouts, const std::stop_token& stop, Workers& workers) {
    while (playouts > 0 && !tree_->done()) {
      if (stop.stop_possible() && !wait_for_others(stop, workers)) return;  // who cannot be stopped does not wait
      playouts -= std::min(playouts, advance_to_exchange(playouts, stop, workers));
      if (made_ >= settings_.simulations) tell(false), made_ = 0;
      if (stop.stop_requested()) return;
    }
  }

  bool wait_for_others(const std::stop_token& stop, Workers& workers) {
    {
      std::unique_lock lock(mutex_);
      const auto is_level = [&](const Word& word) {
        return &word == &others_[port_->rank()] || word.ended || word.epoch > epoch_ || word.parts >= own_.parts;
      };
      if (!changed_.wait(lock, stop, [&] { return std::ranges::all_of(others_, is_level); })) return false;
    }
    take_in(workers);
    return true;
  }

  void tell(bool ended) {
    const Cost cost(*this);
    const std::string journal = tree_->take_journal();
    GameTree& tree = *tree_->game_tree();
    Word word{.epoch = epoch_,
              .position = position_,
              .playouts = tree_->best().playouts,
              .nodes = tree.nodes(),
              .bytes = tree.used_bytes(),
              .most_bytes = tree.bytes(),
              .vote = own_vote(),
              .ended = ended};
    const std::scoped_lock lock(mutex_);
    word.parts = own_.parts + 1;
    own_ = word;
    Writer out;
    word.write(out);
    out.put_bytes(journal);
    port_->send_to_all(kJournal, out.bytes());
    sharing_.exchanges++;
    sharing_.told += word.playouts - std::exchange(told_, word.playouts);
    sharing_.nodes = word.nodes;
  }

  void rest() {
    {
      const std::scoped_lock lock(mutex_);
      if (resting_) return;
      resting_ = true;
    }
    tell(true);
  }

  // Under the mutex, as the next.
  void hear(const Message& message) {
    Reader in(message.bytes);
    const Word word = Word::read(in);
    others_[message.from] = word;
    const std::string_view journal = in.rest();
    if (!journal.empty())
      arrived_.push_back({word.epoch, word.position, word.parts, message.from, std::string(journal)});
  }

  bool all_have_ended() const {
    if (epoch_ == 0) return true;
    for (int rank = 0; rank < port_->ranks(); rank++) {
      const Word& word = others_[rank];
      if (rank != port_->rank() && word.epoch <= epoch_ && !(word.epoch == epoch_ && word.ended)) return false;
    }
    return true;
  }

  // Goes the ways of others' simulations: in step, of the parts that all have told, in an order of their own.
  void take_in(Workers& workers) {
    std::vector<Journal> journals;
    {
      const std::scoped_lock lock(mutex_);
      const auto later = std::ranges::stable_partition(arrived_, [&](const Journal& one) { return is_due(one); });
      journals.assign(std::make_move_iterator(arrived_.begin()), std::make_move_iterator(later.begin()));
      arrived_.erase(arrived_.begin(), later.begin());
    }
    if (journals.empty()) return;
    const Cost cost(*this);
    const bool in_step = settings_.simulations > 0;
    if (in_step)
      std::ranges::sort(journals, {}, [](const Journal& one) { return std::tuple(one.epoch, one.part, one.rank); });
    std::vector<std::string_view> useful;
    for (const Journal& one : journals)
      if (one.position == position_) useful.push_back(one.bytes);
    const std::vector<std::uint32_t> before = visits_of_root();
    Workers alone;  // several would go in an order of their own
    const std::uint64_t heard = tree_->take_over(useful, in_step ? alone : workers);
    const std::vector<std::uint32_t> after = visits_of_root();
    for (std::size_t i = 0; i < after.size(); i++) others_visits_[i] += after[i] - before[i];
    const std::scoped_lock lock(mutex_);
    sharing_.heard += heard, sharing_.lost += journals.size() - useful.size();
  }

  // Whether simulations are to be taken in, or thrown away: not those of a position, or in step of a part, to come.
  bool is_due(const Journal& one) const {
    if (one.position != position_) return one.position < position_;
    return settings_.simulations == 0 || one.epoch < epoch_ || (one.epoch == epoch_ && one.part <= own_.parts);
  }

  std::vector<std::uint32_t> visits_of_root() const {
    const GameTree& tree = *tree_->game_tree();
    const Node& root = tree.node(tree_->root());
    std::vector<std::uint32_t> visits(root.count);
    for (std::uint32_t i = 0; i < root.count; i++) visits[i] = static_cast<std::uint32_t>(tree.actions(root)[i].stats);
    return visits;
  }

  std::uint32_t own_vote() const {
    std::vector<std::uint32_t> own = visits_of_root();
    for (std::size_t i = 0; i < own.size(); i++) own[i] -= others_visits_[i];
    const auto most = std::ranges::max_element(own);
    return most == own.end() || *most == 0 ? ~0U : static_cast<std::uint32_t>(most - own.begin());
  }

  // Whoever leads, and the search.
  std::vector<std::uint32_t> others_visits_;  // of the root's actions, and those from before this thinking
  std::uint64_t told_ = 0;                    // simulations of this thinking

  // Under the mutex.
  std::vector<Word> others_;  // the last of each rank
  Word own_;
  std::vector<Journal> arrived_;
};

}  // namespace playout
