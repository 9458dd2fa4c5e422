// Uct: Monte Carlo tree search (Algorithms 1 to 3 of "The Parallelization of Monte-Carlo Planning", section 2 of
// "Parallel Monte-Carlo Tree Search for HPC Systems"), for games of two players and for puzzles.
//
// A simulation is four functions: in the tree, by a bandit, to a state that is not in it; expand, which adds the state;
// a playout from there, of random moves; update, which adds the outcome to every action on the path. They are templates
// over Plain and Shared statistics, so that one thread and many use the same four (parallel/tree_uct.h). What they do
// at a node is in uct_nodes.h.
//
// Where the listings leave it open, besides:
//  - The simulation that is an action's `expand_after`-th adds the state after it, also where the game is over there.
//    In graph mode a state that is there already, by another way, is walked on from; one that is on the path ends it.
//    In a tree, memory is taken for a state when a simulation comes there a second time: most never see one.
//  - A simulation that comes to a solved state takes its value. An action has the bounds that the state after it had
//    when a simulation last came back by it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <ranges>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/random.h"
#include "problems/game.h"
#include "search/search.h"
#include "search/uct_nodes.h"

namespace playout {

template <Problem P, bool Wins>
class Uct : public UctNodes<P, Wins> {
  using Base = UctNodes<P, Wins>;

 public:
  using Base::kStoresMoves;
  using typename Base::Action;
  using typename Base::Amaf;
  using typename Base::Desk;
  using typename Base::Play;
  using typename Base::Playout;
  using typename Base::State;
  using typename Base::Step;

  Uct(std::shared_ptr<const P> problem, const UctSettings& settings, const StreamKey& key)
      : Base(std::move(problem), settings), key_(key), root_state_(problem_->initial()), desk_(new_desk()) {
    plant();
  }

  // Plays at most that many simulations, one after the other.
  void advance(std::uint64_t playouts, const std::stop_token& stop) {
    const double score = best_.score;
    for (; playouts > 0 && !done_ && best_.score == score && !stop.stop_requested(); playouts--)
      if (simulate<Plain>(simulations_++, desk_)) count_playouts(1);
  }

  // One simulation; false if there was nothing to choose, the result being proven.
  template <class Access>
  bool simulate(std::uint64_t index, Desk& desk) {
    if constexpr (kStoresMoves) {
      return try_to_simulate<Access>(index, desk);
    } else {
      try {
        return try_to_simulate<Access>(index, desk);
      } catch (...) {  // a user's game may throw; the tree is then as if the simulation had not begun
        for (const Step& step : desk.path) this->template take_back<Access>(step);
        throw;
      }
    }
  }

  Desk new_desk() const { return Desk(root_state_); }

  // In the tree, and expand: from the root to a state that was not in the tree, or where the game is over.
  template <class Access>
  void descend(Stream& random, Desk& desk) {
    desk.state = root_state_;
    desk.path.clear(), desk.codes.clear();
    desk.finished = false;
    if constexpr (!kStoresMoves) problem_->find_moves(desk.state, desk.moves);
    for (Link link = root_; link != kNone;) {
      Node& node = tree_.node(link);
      if constexpr (!kStoresMoves) {
        if (static_cast<int>(node.count) != desk.moves.count) throw Changed();
      }
      if (this->template is_known<Access>(node, desk)) return;
      const int chosen = this->template select<Access>(link, random, desk);
      if (chosen < 0) {  // nothing more is allowed here: take it as it is
        this->template is_known<Access>(node, desk);
        return;
      }
      link = follow<Access>(link, node, static_cast<std::uint32_t>(chosen), desk);
    }
  }

  // Adds the outcome to every action on the path, from the last to the first.
  template <class Access>
  void update(Desk& desk, const Playout& playout) {
    if (this->counts_amaf()) {
      desk.seen.begin();
      for (const Play& play : playout.plays | std::views::reverse) desk.seen.add(play.player, play.code);
    }
    if constexpr (Wins) {
      if (desk.journal != nullptr) write_down<Access>(desk, playout);
    } else {
      this->template widen_range<Access>(playout.score);
    }
    back_up<Access>(desk, playout.score);
    if constexpr (!Wins) note_best<Access>(desk, playout);
  }

  // Takes over simulations that another tree of the same game, with the same root, has written down: as many as come.
  // Where this tree ends earlier than the other did, the rest of the way counts as played. Throws Damaged.
  template <class Access>
  std::uint64_t take_over(Reader& in, Desk& desk) {
    std::uint64_t count = 0;
    for (; !in.at_end(); count++) {
      if constexpr (kStoresMoves) {
        take_over_one<Access>(in, desk);
      } else {
        try {
          take_over_one<Access>(in, desk);
        } catch (...) {
          for (const Step& step : desk.path) this->template take_back<Access>(step);
          throw;
        }
      }
    }
    return count;
  }

  // For one thread and for many, when a number of simulations has been made.
  void count_playouts(std::uint64_t made) {
    best_.playouts += made;
    if constexpr (Wins) {
      if (bounds_of<Plain>(tree_.node(root_)).solved() && settings_.solver) done_ = true;
      if (settings_.early_stop && end_at_ > 0 && best_.playouts % kLookEvery < made && best_.playouts < end_at_ &&
          is_decided(end_at_ - best_.playouts))
        done_ = true;
    }
  }
  std::uint64_t& simulations() { return simulations_; }
  // After many threads, before one.
  void recount() {
    tree_.each([&](Link, Node& node) { node.visits = this->template visits_of<Shared>(node); });
  }
  bool done() const { return Shared::load(const_cast<bool&>(done_)); }
  bool is_better_than(double score) { return !Wins && Shared::load(best_.score) > score; }
  const Best& best() const { return best_; }

  // A puzzle's best so far; the tree is as it was.
  void start_from(const std::vector<Move>& sequence, int /*times*/) {
    State state = problem_->initial();
    problem_->find_moves(state, desk_.moves);
    for (std::size_t step = 0; step < sequence.size(); step++) {
      int i = index_of(desk_.moves, sequence[step]);
      if (i == desk_.moves.count)
        problem_->find_all_moves(state, desk_.moves), i = index_of(desk_.moves, sequence[step]);
      if (i == desk_.moves.count)
        throw std::invalid_argument("move " + std::to_string(step + 1) + " is not legal there");
      problem_->play_and_find_moves(state, desk_.moves, i);
    }
    if (desk_.moves.count > 0)
      throw std::invalid_argument("after its " + std::to_string(sequence.size()) +
                                  " moves the game goes on; a whole playout is needed");
    best_.improve(problem_->score(state), sequence);
  }

  // For games. ---------------------------------------------------------------------------------------------------

  // Thinking begins: playouts are counted from here, and it ends early once the decision cannot change in so many.
  void begin(std::uint64_t playouts) {
    best_.playouts = 0;
    end_at_ = playouts;
    done_ = false;
    if constexpr (Wins) {
      const Node& root = tree_.node(root_);
      done_ = root.count == 0 || (settings_.solver && bounds_of<Plain>(root).solved());
      if (tree_.template is_full<Plain>() && garbage_) collect();
    }
  }

  // Whether the most visited move, of those that are not proven losses, stays that in so many more simulations.
  bool is_decided(std::uint64_t more) const {
    std::uint64_t first = 0, second = 0;
    const Node& root = tree_.node(root_);
    const Action* list = tree_.actions(root);
    for (std::uint32_t i = 0; i < root.count; i++) {
      if constexpr (Wins) {
        if (is_lost(WinAction::bounds(list[i].tag), root.player)) continue;
      }
      const std::uint64_t visits = this->template visits_of<Plain>(const_cast<Action&>(list[i]));
      if (visits > first)
        second = first, first = visits;
      else
        second = std::max(second, visits);
    }
    return first - second > more;
  }

  // Which of the root's actions a move is; as many as there are if it is none.
  std::uint32_t action_of(Move move) const {
    const Node& root = tree_.node(root_);
    std::uint32_t i = 0;
    if constexpr (kStoresMoves) {
      while (i < root.count && this->template move_at<Plain>(root, i) != move) i++;
    } else {
      typename P::Moves found{};
      problem_->find_moves(root_state_, found);
      i = static_cast<std::uint32_t>(index_of(found, move));
    }
    return i;
  }

  // Gives back what cannot be reached any more.
  void collect() {
    root_ = tree_.collect(root_);
    garbage_ = false;
  }

  // Where simulations of one thread alone are written down; nullptr: nowhere.
  void keep_journal(Writer* journal) { desk_.journal = journal; }

  Link root() const { return root_; }

  // Plays a legal move; what the tree knows of the state after it is kept.
  void play(Move move) {
    problem_->find_moves(root_state_, desk_.moves);
    const int index = index_of(desk_.moves, move);
    if (index == desk_.moves.count) throw std::invalid_argument("not a legal move");
    const Node& node = tree_.node(root_);
    const std::uint32_t action = action_of(move);
    const Link child = action < node.count ? link_of(tree_.actions(node)[action].link) : kNone;
    problem_->play(root_state_, desk_.moves, index);
    if (child <= kIllegal) {
      plant();
      return;
    }
    root_ = child;
    garbage_ = true;
    if (tree_.used_bytes() > tree_.bytes() / 2) collect();
  }

  // Goes to a state by moves from the initial one; nothing is kept.
  void go_to(const std::vector<Move>& moves) {
    State state = problem_->initial();
    for (const Move move : moves) {
      problem_->find_moves(state, desk_.moves);
      const int i = index_of(desk_.moves, move);
      if (i == desk_.moves.count) throw std::invalid_argument("not a legal move");
      problem_->play(state, desk_.moves, i);
    }
    root_state_ = std::move(state);
    plant();
  }

  // The same in a graph of which others have parts: the root is the state's node in this part, or kNone.
  void play_in_part(Move move) {
    problem_->find_moves(root_state_, desk_.moves);
    const int index = index_of(desk_.moves, move);
    if (index == desk_.moves.count) throw std::invalid_argument("not a legal move");
    problem_->play(root_state_, desk_.moves, index);
    root_ = tree_.template find<Plain>(problem_->key(root_state_));
  }
  // A node for the present state, which has none; false if there is no room for it.
  bool add_root() {
    if constexpr (!kStoresMoves) problem_->find_moves(root_state_, desk_.moves);
    bool found = false;
    desk_.state = root_state_;
    root_ = this->template find_or_make<Shared>(desk_, found);
    return root_ != kNone;
  }
  void set_root(Link root) { root_ = root; }
  const State& root_state() const { return root_state_; }

  // A new tree for the present state.
  void plant() {
    tree_.clear();
    garbage_ = false;
    if constexpr (!kStoresMoves) problem_->find_moves(root_state_, desk_.moves);
    root_ = this->template make_node<Plain>(root_state_, desk_);
    if (root_ == kNone) throw NoRoom();
    if constexpr (Wins) {
      if (tree_.is_graph()) {
        tree_.node(root_).key = problem_->key(root_state_);
        tree_.template insert<Plain>(root_);
      }
    }
    done_ = false;
  }

  std::vector<Move> legal_moves() const {
    typename P::Moves found{};
    problem_->find_moves(root_state_, found);
    std::vector<Move> list(found.count);
    for (int i = 0; i < found.count; i++) list[i] = found.move(i);
    return list;
  }
  int player() const { return static_cast<int>(this->player_of(root_state_)); }
  double score() const { return problem_->score(root_state_); }

  TreeReport report() const {
    const Node& root = tree_.node(root_);
    TreeReport out;
    out.actions = this->actions_of(root, root_state_);
    const std::vector<Move> legal = legal_moves();  // superko is a matter of the way here
    std::erase_if(out.actions,
                  [&](const ActionReport& one) { return std::ranges::find(legal, one.move) == legal.end(); });
    out.player = player();
    out.bounds = root.bounds_now();
    out.visits = this->template visits_of<Shared>(const_cast<Node&>(root));
    out.nodes = tree_.nodes(), out.bytes = tree_.used_bytes(), out.most_bytes = tree_.bytes();
    out.full = const_cast<Tree<Action, Amaf>&>(tree_).template is_full<Plain>();
    return out;
  }

  // The moves that both sides would decide for after a first one; in a graph, until a state comes again.
  std::vector<Move> variation(Move first, Decision decision) const {
    std::vector<Move> line;
    std::vector<Link> passed;
    State state = root_state_;
    Link link = root_;
    while (link > kIllegal && std::ranges::find(passed, link) == passed.end()) {
      passed.push_back(link);
      const Node& node = tree_.node(link);
      if (this->template visits_of<Shared>(const_cast<Node&>(node)) == 0) break;
      std::vector<ActionReport> list = this->actions_of(node, state);
      typename P::Moves found{};
      problem_->find_moves(state, found);
      int chosen = -1;
      for (int i = 0; i < static_cast<int>(list.size()); i++) {
        if (list[i].visits == 0 || index_of(found, list[i].move) == found.count) continue;
        if (line.empty() ? list[i].move == first
                         : chosen < 0 || is_better(list[i], list[chosen], decision, node.player))
          chosen = i;
      }
      if (chosen < 0) break;
      line.push_back(list[chosen].move);
      link = link_of(tree_.actions(node)[chosen].link);
      problem_->play(state, found, index_of(found, list[chosen].move));
      if constexpr (Wins) {  // it may be known by another way
        if (link == kNone && tree_.is_graph())
          link = const_cast<Tree<Action, Amaf>&>(tree_).template find<Shared>(problem_->key(state));
      }
      if (line.size() >= kLongestLine) break;
    }
    return line;
  }

  // Every node that can be reached from the root, in the order of a walk; for tests of small trees.
  std::vector<NodeReport> walk() const {
    std::vector<NodeReport> out;
    std::set<Link> nodes{root_};
    std::vector<Move> path;
    walk(root_, root_state_, nodes, path, out);
    return out;
  }

  void serialise(Writer& out) const {
    playout::serialise(best_, out);
    out.put(simulations_), out.put(lowest_), out.put(highest_);
    out.put(root_);
    tree_.serialise(out);
  }

  void deserialise(Reader& in) {
    playout::deserialise(best_, in);
    simulations_ = in.get<std::uint64_t>();
    lowest_ = in.get_number(), highest_ = in.get_number();
    root_ = in.get<Link>();
    tree_.deserialise(in, root_);
    recount();
  }

 private:
  using Base::highest_;
  using Base::lowest_;
  using Base::problem_;
  using Base::settings_;
  using Base::tree_;

  static constexpr std::uint64_t kLookEvery = 64;  // simulations between two looks at whether the decision is taken
  static constexpr std::size_t kLongestLine = 1000;

  template <class Access>
  bool try_to_simulate(std::uint64_t index, Desk& desk) {
    Stream random = key_.stream(index);
    descend<Access>(random, desk);
    if (Wins && desk.path.empty()) {
      Access::store(done_, true);
      return false;
    }
    this->play_out(desk, random, desk.playout);
    update<Access>(desk, desk.playout);
    return true;
  }

  // Takes an action, and goes where it leads; kNone where the tree ends.
  template <class Access>
  Link follow(Link from, Node& node, std::uint32_t chosen, Desk& desk) {
    Action& action = tree_.actions(node)[chosen];
    Step step{from, chosen, this->player_of(desk.state), 0, 0, 0};
    if constexpr (kStoresMoves) {
      step.move = this->template move_at<Access>(node, chosen);
    } else {
      step.move = desk.moves.move(static_cast<int>(chosen));
      if (this->counts_amaf()) {
        step.codes = static_cast<std::uint32_t>(desk.codes.size());
        for (int i = 0; i < desk.moves.count; i++) desk.codes.push_back(desk.moves.code(desk.moves.item(i)));
      }
    }
    this->template begin_visit<Access>(node, action, step);
    desk.path.push_back(step);
    if constexpr (kStoresMoves)
      problem_->play_move(desk.state, step.move);
    else
      problem_->play_and_find_moves(desk.state, desk.moves, static_cast<int>(chosen));
    const Link raw = Access::load(action.link), link = link_of(raw);
    if (link > kIllegal) return tree_.is_graph() && is_on_path(link, desk) ? kNone : link;
    if (link == kBusy || tree_.template is_full<Access>()) return kNone;
    const std::uint32_t before = this->template visits_before<Access>(action);
    if (before + 1 < settings_.expand_after) return kNone;
    const bool added = !tree_.is_graph() && before + 1 >= settings_.expand_after + settings_.width;
    if (!tree_.is_graph() && !added && !this->is_over(desk)) return kNone;
    return expand<Access>(action, raw, added, desk);
  }

  bool is_on_path(Link link, const Desk& desk) const {
    return std::ranges::any_of(desk.path, [&](const Step& step) { return step.node == link; });
  }

  // Adds the state to the tree. Where it is there already, by another way or since the last time but for its memory,
  // the simulation goes on in the tree.
  template <class Access>
  Link expand(Action& action, Link raw, bool added, Desk& desk) {
    if (link_of(raw) != kNone || !Access::exchange(action.link, raw, (raw & kOpen) | kBusy)) return kNone;
    Link known = kNone;
    bool found = false;
    if constexpr (kStoresMoves) {
      known = this->template find_or_make<Access>(desk, found);
    } else {
      try {
        known = this->template find_or_make<Access>(desk, found);
      } catch (...) {
        Access::store(action.link, raw);
        throw;
      }
    }
    Access::store(action.link, (raw & kOpen) | known);
    if (added) return known;
    if (found) return is_on_path(known, desk) ? kNone : known;
    if (known != kNone && tree_.node(known).count == 0) this->template is_known<Access>(tree_.node(known), desk);
    return kNone;
  }

  template <class Access>
  void back_up(Desk& desk, double score) {
    const bool amaf = this->counts_amaf();
    for (std::size_t depth = desk.path.size(); depth-- > 0;) {
      const Step& step = desk.path[depth];
      Node& node = tree_.node(step.node);
      Action& action = tree_.actions(node)[step.action];
      this->template end_visit<Access>(node, action, step, score);
      if (amaf) {
        desk.seen.add(step.player, this->template code_of<Access>(desk, step, node, step.action));
        this->template add_amaf<Access>(node, step, score, desk);
      }
      if constexpr (Wins) {
        if (settings_.solver) prove<Access>(tree_, node, action);
      }
    }
  }

  // A simulation as a journal has it: the half wins of player 0; how long the way in the tree was; of each step the
  // action, and with AMAF who played which code; with AMAF what the playout has played.
  template <class Access>
  void write_down(const Desk& desk, const Playout& playout) const {
    Writer& out = *desk.journal;
    out.put(static_cast<std::uint8_t>(half_wins(playout.score, 0)));
    out.put_varint(desk.path.size());
    for (const Step& step : desk.path) {
      out.put_varint(step.action);
      if (!this->counts_amaf()) continue;
      out.put(static_cast<std::uint8_t>(step.player));
      out.put_varint(this->template code_of<Access>(desk, step, tree_.node(step.node), step.action));
    }
    if (this->counts_amaf()) desk.seen.write(out);
  }

  template <class Access>
  void take_over_one(Reader& in, Desk& desk) {
    const double score = in.get_below<std::uint8_t>(3) - 1.0;
    const std::size_t length = in.get_small_count(1);
    desk.state = root_state_;
    desk.path.clear(), desk.codes.clear();
    if constexpr (!kStoresMoves) problem_->find_moves(desk.state, desk.moves);
    std::vector<Play> beyond;  // what this tree ends before
    Link link = root_;
    for (std::size_t i = 0; i < length; i++) {
      const auto action = static_cast<std::uint32_t>(in.get_varint());
      Play play{};
      if (this->counts_amaf()) {
        play.player = in.get_below<std::uint8_t>(2);
        play.code = in.get_varint();
        if (kStoresMoves && play.code >= Seen<P>::kLimit) throw Damaged();
      }
      if (link == kNone) {
        beyond.push_back(play);
        continue;
      }
      Node& node = tree_.node(link);
      if (action >= node.count) throw Damaged();
      if constexpr (!kStoresMoves) {
        if (static_cast<int>(node.count) != desk.moves.count) throw Changed();
      }
      link = follow<Access>(link, node, action, desk);
    }
    if (this->counts_amaf()) {
      desk.seen.read(in);
      for (const Play& play : beyond | std::views::reverse) desk.seen.add(play.player, play.code);
    }
    back_up<Access>(desk, score);
  }

  template <class Access>
  void note_best(const Desk& desk, const Playout& playout) {
    if constexpr (Access::kShared) {
      if (!(playout.score > Access::load(best_.score))) return;
      const std::scoped_lock lock(*best_mutex_);
      take_best<Access>(desk, playout);
    } else {
      if (playout.score > best_.score) take_best<Access>(desk, playout);
    }
  }
  template <class Access>
  void take_best(const Desk& desk, const Playout& playout) {
    if (!(playout.score > best_.score)) return;
    best_.moves.clear();
    for (const Step& step : desk.path) best_.moves.push_back(step.move);
    best_.moves.insert(best_.moves.end(), playout.moves.begin(), playout.moves.end());
    Access::store(best_.score, playout.score);
  }

  // In a graph each node once, by the first way that its history allows.
  void walk(Link link, const State& state, std::set<Link>& nodes, std::vector<Move>& path,
            std::vector<NodeReport>& out) const {
    const Node& node = tree_.node(link);
    out.push_back({node.key, path, this->template visits_of<Shared>(const_cast<Node&>(node)), node.bounds_now(),
                   this->actions_of(node, state)});
    const std::vector<ActionReport> list = out.back().actions;
    typename P::Moves moves{};
    problem_->find_moves(state, moves);
    for (std::uint32_t i = 0; i < node.count; i++) {
      const Link child = link_of(tree_.actions(node)[i].link);
      const int index = index_of(moves, list[i].move);
      if (child <= kIllegal || index == moves.count || !nodes.insert(child).second) continue;
      State after = state;
      problem_->play(after, moves, index);
      path.push_back(list[i].move);
      walk(child, after, nodes, path, out);
      path.pop_back();
    }
  }

  StreamKey key_;
  State root_state_;
  Desk desk_;
  Link root_ = kNone;
  std::uint64_t simulations_ = 0;  // ever: the index of the next
  std::uint64_t end_at_ = 0;       // playouts of this thinking; 0: nobody knows
  Best best_;
  bool done_ = false;
  bool garbage_ = false;  // whether there may be nodes that cannot be reached
  std::shared_ptr<std::mutex> best_mutex_ = std::make_shared<std::mutex>();
};

}  // namespace playout
