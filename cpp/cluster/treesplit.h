// Treesplit: one search tree spread over ranks ("Parallel Monte-Carlo Tree Search for HPC Systems", section 3). Each
// rank keeps the states that belong to it, so N ranks have the memory of N; simulations go where their states are.
//
// State s belongs to rank hash(s) mod N, and there to bucket hash(s) / N of a table of bounded size, all its actions
// together. States that many simulations pass are on all ranks (shared_nodes.h).
//
// A simulation is a state machine (Figure 4) whose work packages any worker of the right rank does:
//
//   in the tree   an action is selected, at this rank's node or its copy of one, and again, until the state after it is
//                 neither: then the simulation moves to that state's home, a MOVE message
//   expand        the state is not in the home's table: it is added, and a playout made; an UPDATE message goes to
//   every
//                 rank where the simulation has selected
//   update        each of them adds the outcome to what was selected there; the rank that began the simulation, which
//   is
//                 its number mod N, begins the next
//
// As in uct.h the simulation that is an action's `expand_after`-th comes to a new state, and the next one selects
// there. The first needs no memory for that, and does not move: the playout begins where the simulation is, unless the
// state is here already or the game is over. The next adds the state at its home, and goes on. The paper sends both; so
// most simulations would move once more.
//
// A simulation carries its way: of each state its hash, the rank where the action was selected, the action, the player
// and what was proven of it; and its stream of random numbers. No board: the receiver replays the moves from the root.
// Its visits count when actions are selected, which is the virtual loss, and its wins by the update.
//
// AMAF. An update carries what the playout has played first, by point and colour, and the moves of the way. The
// receiver walks from the leaf to the root and adds the moves as it comes by: at each node it knows what was played
// from there on. (One map made at the root would be wrong deeper down.)
//
// The solver. An action takes the bounds of the state after it, if that is here, else those that the simulation saw
// when it passed it.
//
// S_par = workers x N x O simulations are under way at most, O being `overload`, and a rank begins S_par / N of them:
// more than there are workers, so that they have something to do while others travel. A worker looks for a package,
// else begins a simulation, else waits; it never waits for the network.
//
// After a move every rank goes on with the nodes it has: nothing is sent, but the new root is shared if it was not.
// Once a table is half full all ranks give back what no simulation passed in the last thinking, and if that is not
// enough what few have passed: what can be reached from the root no rank knows alone. An update of a node that is gone
// is counted (`lost`).
//
// A thinking ends in stages (stages.h). A rank that was left behind in an earlier one drops no simulation silently: the
// visits of one that comes too late to be continued are taken back on all ranks, and that is counted.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <ranges>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "cluster/packages.h"
#include "cluster/rank_tree.h"
#include "cluster/shared_nodes.h"
#include "cluster/stages.h"
#include "cluster/transport.h"
#include "search/uct.h"

namespace playout {

// What ranks that take turns (in_turns.h) ask besides.
class SplitTree : public RankTree {
 public:
  // Begins a thinking in which this rank begins so many simulations, perhaps none.
  virtual void begin_part(std::uint64_t playouts) = 0;
  // One package, or a simulation begun; false if there is nothing to do now.
  virtual bool step() = 0;
  // From now on simulations that are under way are taken back.
  virtual void abandon() = 0;
  // What this rank says of itself, now.
  virtual SplitWord word() const = 0;
};

template <Game P>
class Treesplit final : public SplitTree, public Server {
  using Search = Uct<P, true>;
  using Desk = typename Search::Desk;
  using Step = typename Search::Step;
  static constexpr bool kStoresMoves = Search::kStoresMoves;

 public:
  Treesplit(std::shared_ptr<const P> problem, const UctSettings& settings, const StreamKey& key,
            std::shared_ptr<Port> port, const SplitSettings& split)
      : split_(split),
        key_(key),
        port_(std::move(port)),
        ranks_(static_cast<std::uint64_t>(port_->ranks())),
        rank_(static_cast<std::uint64_t>(port_->rank())),
        uct_(std::move(problem), with_graph(settings, ranks_), key),
        tree_(uct_.tree()),
        shared_(tree_, *port_, split),
        packages_(*port_, [this](const Message& message) { words_.hear(message); }),
        words_(port_->rank(), port_->ranks()) {
    check_room();
    port_->set_server(this);
  }
  ~Treesplit() override { port_->set_server(nullptr); }

  // A thinking. ----------------------------------------------------------------------------------------------------

  void begin(std::uint64_t playouts) override {
    begin_part(playouts == 0 ? std::numeric_limits<std::uint64_t>::max() : playouts);
  }
  void begin_part(std::uint64_t playouts) override {
    epoch_++;
    budget_ = playouts;
    first_number_ += begun_;
    begun_ = ended_ = 0;
    closing_ = abandoning_ = is_left_ = false;
    is_known_ = tree_.node(uct_.root()).count == 0;
    stage_ = Stage::searching;
    best_.playouts = 0;
    is_crowded_ = false;
    share_root();
    packages_.begin(epoch_);
    say(Stage::searching);
  }

  bool ends_by_itself() const override { return true; }
  bool done() const override { return stage_ == Stage::over; }

  void advance(std::uint64_t playouts, const std::stop_token& stop, Workers& workers) override {
    packages_.set_workers(workers.size());
    while (static_cast<int>(benches_.size()) < workers.size()) benches_.push_back(new_bench());
    limit_ = static_cast<std::uint64_t>(std::floor(split_.overload * workers.size()));
    const std::uint64_t goal = ended_ + std::min(playouts, std::numeric_limits<std::uint64_t>::max() / 2);
    const Clock::time_point begin = Clock::now();
    workers.run(workers.size(), [&](int task, int) {
      for (int idle = 0; ended_ < goal && !done() && !stop.stop_requested();) {
        if (work(task))
          idle = 0;
        else if (stop.stop_possible())
          wait(task, ++idle);
        else
          break;  // who cannot be stopped waits for nobody
      }
    });
    best_.playouts = ended_;
    worked_ += std::chrono::duration<double>(Clock::now() - begin).count() * workers.size();
    if (Clock::now() >= due_) say(stage_), due_ = Clock::now() + kTold;
  }

  bool step() override {
    if (benches_.empty()) benches_.push_back(new_bench());
    limit_ = static_cast<std::uint64_t>(std::floor(split_.overload));
    const bool any = work(0);
    best_.playouts = ended_;
    worked_ += 1, benches_[0]->idle += any ? 0 : 1;  // turns instead of seconds
    return any;
  }

  // Simulations that are under way are made to their end, and no more begin.
  void end_thinking() override { closing_ = true; }
  void abandon() override { closing_ = abandoning_ = true; }
  SplitWord word() const override { return own_word(stage_); }

  bool finish(std::chrono::duration<double> at_most) override {
    closing_ = true;
    if (benches_.empty()) benches_.push_back(new_bench());
    const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(at_most);
    for (int idle = 0; !is_over() && (idle == 0 || Clock::now() < end);)
      idle = work(0) ? 0 : (packages_.rest(idle), idle + 1);
    best_.playouts = ended_;
    return is_over();
  }

  // What was delivered is spread over the workers, by whoever has delivered it.
  void serve() override { packages_.spread(); }

  // The game. ------------------------------------------------------------------------------------------------------

  void play(Move move) override {
    give_back();
    uct_.play_in_part(move);
    if (uct_.root() == kNone) add_root();
  }

  // An empty tree_.
  void go_to(const std::vector<Move>& moves) override {
    shared_.forget();
    uct_.go_to(moves);
    first_epoch_ = epoch_ + 1;
    is_left_ = true;
  }

  const Best& best() const override { return best_; }
  bool is_decided(std::uint64_t more) const override { return uct_.is_decided(more); }
  std::vector<Move> legal_moves() const override { return uct_.legal_moves(); }
  int player() const override { return uct_.player(); }
  double score() const override { return uct_.score(); }
  std::vector<Move> variation(Move first, Decision decision) const override { return uct_.variation(first, decision); }

  TreeReport report() const override {
    TreeReport out = uct_.report();
    out.ranks = ranks_;
    const SplitWord own = own_word(stage_);
    out.nodes = own.nodes, out.playouts = best_.playouts;
    std::uint64_t full = own.full ? 1 : 0, known = 1;
    const std::vector<SplitWord> words = words_.all();
    for (std::uint64_t rank = 0; rank < ranks_; rank++) {
      if (rank == rank_) continue;
      const SplitWord& word = words[rank];
      out.nodes += word.nodes, out.bytes += word.bytes, out.most_bytes += word.most_bytes;
      full += word.full;
      if (word.epoch == epoch_) out.playouts += word.playouts, known++;
    }
    out.full = full == ranks_;
    out.complete = known == ranks_;
    return out;
  }

  SharingReport sharing() const override {
    const SharedNodes::Counts counts = shared_.counts();
    double idle = 0;
    for (const auto& bench : benches_) idle += bench->idle;
    return {.exchanges = counts.tellings,
            .nodes = counts.nodes,
            .told = moved_out_,
            .heard = moved_in_,
            .lost = counts.lost + lost_,
            .seconds = counts.seconds,
            .worked = worked_,
            .idle = idle};
  }

  // All nodes of this rank's table, copies too; for tests of small trees.
  std::vector<NodeReport> walk() const override {
    std::vector<NodeReport> out;
    tree_.each([&](Link link, Node& node) {
      if (SharedNodes::is_beside(node) || tree_.find<Shared>(node.key) != link) return;
      NodeReport one{node.key, {}, uct_.template visits_of<Shared>(node), node.bounds_now(), {}, port_->rank()};
      for (std::uint32_t i = 0; i < node.count; i++) one.actions.push_back(uct_.report_of(node, i));
      out.push_back(std::move(one));
    });
    return out;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr Link kAway = 3;                        // the simulation has moved on to another rank
  static constexpr std::chrono::milliseconds kTold{100};  // between two words of how far a rank is
  static constexpr std::uint8_t kTakenBack = 3;           // instead of half wins
  static constexpr std::uint32_t kMany = 16;              // simulations of a state that is kept when memory is short

  // A state on a simulation's way, and what was selected there.
  struct Stop {
    Step step;  // its node is kNone where the way has come over the network
    std::uint64_t key = 0;
    std::uint64_t rank = 0;
    std::uint32_t listed = 0;             // moves, where they were listed again for AMAF
    std::uint8_t after = Node::pack({});  // what was proven of the state after it, if that is known
  };
  struct Simulation {
    std::uint64_t number = 0;  // it begins on the rank that is this mod N
    std::vector<Stop> way;
    std::uint64_t random = 0, goal = 0;  // when it moves: its random numbers, and the hash of the state it moves to
  };

  // What a worker works with.
  struct Bench {
    explicit Bench(Desk of) : desk(std::move(of)) {}
    Desk desk;
    Simulation simulation;
    std::vector<std::uint64_t> visited;  // ranks
    double idle = 0;                     // seconds without anything to do
    Clock::time_point since;
  };

  static UctSettings with_graph(UctSettings settings, std::uint64_t ranks) {
    settings.graph = true;
    settings.ranks = static_cast<std::uint32_t>(ranks);
    settings.virtual_loss = 1, settings.in_flight = false, settings.width = 1;
    return settings;
  }

  std::unique_ptr<Bench> new_bench() const { return std::make_unique<Bench>(uct_.new_desk()); }

  void check_room() {
    words_.set_own(own_word(Stage::over));
    const std::uint32_t count = tree_.node(uct_.root()).count;
    const std::uint64_t each = GameTree::units_for(count, tree_.has_amaf());
    const std::uint64_t least = each * (2 + count / ranks_) * GameTree::kUnit;
    if (tree_.bytes() < least)
      throw NoRoom("a table of " + std::to_string(tree_.bytes() >> 10) + " kB on each of " + std::to_string(ranks_) +
                   " ranks has no room for the " + std::to_string(count) + " states after the root; at least " +
                   std::to_string((least >> 10) + 1) + " kB are needed");
  }

  const UctSettings& settings() const { return uct_.settings(); }

  // All ranks have the root from the start.
  void share_root() {
    if (try_to_share_root()) return;
    shared_.forget();
    uct_.plant();
    if (!try_to_share_root()) throw NoRoom();
  }
  bool try_to_share_root() {
    const Link root = uct_.root();
    if (ranks_ == 1 || SharedNodes::is_shared(tree_.node(root))) return true;
    return shared_.is_home(tree_.node(root).key) ? shared_.share(root, epoch_) : shared_.adopt(root, epoch_);
  }

  // Work. ----------------------------------------------------------------------------------------------------------

  // Handles a package, else begins a simulation, else sees whether the thinking comes to its end.
  bool work(int task) {
    Bench& bench = *benches_[task];
    if (packages_.handle_one(task, [&](const Message& message) { handle(message, bench); })) return true;
    return begin_simulation(bench) || go_on();
  }

  void wait(int task, int times) {
    const Clock::time_point begin = Clock::now();
    packages_.rest(times);
    benches_[task]->idle += std::chrono::duration<double>(Clock::now() - begin).count();
  }

  void handle(const Message& message, Bench& bench) {
    Reader in(message.bytes);
    const std::uint64_t epoch = in.get_varint();
    if (epoch < first_epoch_) {  // of another game
      lost_++;
    } else if (message.kind == Packages::kMove) {
      moved_in_++;
      read_way(in, bench.simulation, message.kind);
      if (is_of_now(epoch) && !abandoning_) {
        arrive(bench);
      } else {
        lost_ += is_of_now(epoch) ? 0 : 1;
        take_back(bench, epoch);
      }
    } else if (message.kind == Packages::kUpdate) {
      hear_of_end(in, bench, epoch);
    } else {
      shared_.take(message.from, message.kind, in, epoch_);
    }
  }

  // Whether what an epoch's simulations have played can be played again: the root is still the same.
  bool is_of_now(std::uint64_t epoch) const { return epoch == epoch_ && !is_left_; }

  // A simulation that may begin, and its number; false if none may.
  bool claim(std::uint64_t& number) {
    std::uint64_t begun = begun_;
    do {
      if (begun >= budget_ || begun - ended_ >= limit_) return false;
    } while (!begun_.compare_exchange_weak(begun, begun + 1));
    if (closing_ || is_known_) {  // whoever sees that, and then that none is under way, is right
      begun_--;
      return false;
    }
    number = (first_number_ + begun) * ranks_ + rank_;
    return true;
  }

  bool begin_simulation(Bench& bench) {
    if (settings().solver && bounds_of<Shared>(tree_.node(uct_.root())).solved()) know_root();
    if (closing_ || !claim(bench.simulation.number)) return false;
    Stream random = key_.stream(bench.simulation.number);
    Desk& desk = bench.desk;
    desk.state = uct_.root_state();
    desk.finished = false;
    bench.simulation.way.clear();
    if constexpr (!kStoresMoves) guarded(bench, [&] { uct_.problem().find_moves(desk.state, desk.moves); });
    go_down(uct_.root(), random, bench);
    return true;
  }

  // A user's game may throw: then it is as if the simulation had not begun.
  template <class Function>
  void guarded(Bench& bench, Function function) {
    try {
      function();
    } catch (...) {
      take_back(bench, epoch_);
      throw;
    }
  }

  void go_down(Link link, Stream& random, Bench& bench) {
    guarded(bench, [&] {
      Desk& desk = bench.desk;
      while (link != kNone && link != kAway) {
        Node& node = tree_.node(link);
        if constexpr (!kStoresMoves) {
          if (static_cast<int>(node.count) != desk.moves.count) throw Changed();
        }
        come_to(node, bench);
        if (uct_.template is_known<Shared>(node, desk)) break;
        if (shared_.is_home(node.key)) shared_.pass(link, epoch_);
        const int chosen = uct_.template select<Shared>(link, random, desk);
        if (chosen < 0) {  // nothing more is allowed here: take it as it is
          uct_.template is_known<Shared>(node, desk);
          break;
        }
        link = follow(link, node, static_cast<std::uint32_t>(chosen), random, bench);
      }
      if (link == kAway) return;
      if (bench.simulation.way.empty()) {  // the result is known
        know_root();
        begun_--;
        return;
      }
      end_simulation(random, bench);
    });
  }

  void know_root() {
    if (is_known_.exchange(true)) return;
    Node& root = tree_.node(uct_.root());
    if (SharedNodes::is_shared(root)) shared_.tell_now(root, epoch_);  // the others need not search on
  }

  // Takes an action, and goes where it leads; kNone where the tree ends.
  Link follow(Link from, Node& node, std::uint32_t chosen, Stream& random, Bench& bench) {
    Desk& desk = bench.desk;
    WinAction& action = tree_.actions(node)[chosen];
    Stop stop{.step = {from, chosen, uct_.player_of(desk.state), 0, 0, 0}, .key = node.key, .rank = rank_};
    if constexpr (kStoresMoves)
      stop.step.move = uct_.template move_at<Shared>(node, chosen);
    else
      stop.step.move = desk.moves.move(static_cast<int>(chosen));
    uct_.template begin_visit<Shared>(node, action, stop.step);
    bench.simulation.way.push_back(stop);
    play(desk, stop.step);
    const Link raw = Shared::load(action.link), link = link_of(raw);
    if (link > kIllegal) return is_on_way(tree_.node(link).key, bench) ? kNone : link;
    const std::uint32_t visits = uct_.template visits_before<Shared>(action) + 1;
    if (link == kBusy || visits < settings().expand_after) return kNone;
    const std::uint64_t key = uct_.problem().key(desk.state);
    const Link known = tree_.find<Shared>(key);
    if (known != kNone) Shared::exchange(action.link, raw, (raw & kOpen) | known);
    if (is_on_way(key, bench)) return kNone;
    if (known != kNone) return known;
    if (visits == settings().expand_after && !uct_.is_over(desk)) return kNone;
    if (shared_.is_home(key)) return expand(action, raw, bench);
    move_to(key, random, bench);
    return kAway;
  }

  void play(Desk& desk, const Step& step) const {
    if constexpr (kStoresMoves)
      uct_.problem().play_move(desk.state, step.move);
    else
      uct_.problem().play_and_find_moves(desk.state, desk.moves, static_cast<int>(step.action));
  }

  bool is_on_way(std::uint64_t key, const Bench& bench) const {
    return std::ranges::any_of(bench.simulation.way, [&](const Stop& stop) { return stop.key == key; });
  }

  // The state after an action belongs to this rank, and is to be added.
  Link expand(WinAction& action, Link raw, Bench& bench) {
    if (!Shared::exchange(action.link, raw, (raw & kOpen) | kBusy)) return kNone;
    Link made = kNone;
    bool found = false;
    try {
      made = uct_.template find_or_make<Shared>(bench.desk, found);
    } catch (...) {
      Shared::store(action.link, raw);
      throw;
    }
    Shared::store(action.link, (raw & kOpen) | made);
    return made;
  }

  void come_to(Node& node, Bench& bench) {
    if (!bench.simulation.way.empty()) bench.simulation.way.back().after = Shared::load(node.bounds);
    const auto now = static_cast<std::uint8_t>(epoch_);
    if (Shared::load(node.stamp) != now) Shared::store(node.stamp, now);
  }

  // A simulation comes to the home of its state.
  void arrive(Bench& bench) {
    Link known = kNone;
    Stream random(bench.simulation.random);
    guarded(bench, [&] {
      bool found = false;
      replay(bench);
      if (uct_.problem().key(bench.desk.state) != bench.simulation.goal) throw Damaged();
      known = uct_.template find_or_make<Shared>(bench.desk, found);
    });
    go_down(known, random, bench);
  }

  // The state at the end of a simulation's way, from the root. In a user's game with AMAF, with the codes of the moves
  // that there were wherever this rank has selected.
  void replay(Bench& bench) const {
    Desk& desk = bench.desk;
    desk.state = uct_.root_state();
    desk.finished = false;
    desk.codes.clear();
    if constexpr (!kStoresMoves) uct_.problem().find_moves(desk.state, desk.moves);
    for (Stop& stop : bench.simulation.way) {
      if constexpr (!kStoresMoves) {
        if (static_cast<int>(stop.step.action) >= desk.moves.count) throw Changed();
        stop.step.move = desk.moves.move(static_cast<int>(stop.step.action));
        if (uct_.counts_amaf()) {
          stop.step.codes = static_cast<std::uint32_t>(desk.codes.size());
          stop.listed = static_cast<std::uint32_t>(desk.moves.count);
          for (int i = 0; i < desk.moves.count; i++) desk.codes.push_back(desk.moves.code(desk.moves.item(i)));
        }
      }
      play(desk, stop.step);
    }
  }

  // The playout, and the update on all ranks that have selected.
  void end_simulation(Stream& random, Bench& bench) {
    Desk& desk = bench.desk;
    uct_.play_out(desk, random, desk.playout);
    if (uct_.counts_amaf()) {
      desk.seen.begin();
      for (const auto& play : desk.playout.plays | std::views::reverse) desk.seen.add(play.player, play.code);
    }
    const auto outcome = static_cast<std::uint8_t>(half_wins(desk.playout.score, 0));
    if (!kStoresMoves && uct_.counts_amaf()) replay(bench);
    const End end(*this, bench.simulation, epoch_, outcome);
    send_updates(bench, outcome, epoch_);
    update(bench, outcome, uct_.counts_amaf());
  }

  // Adds an outcome to what this rank has selected, from the last to the first.
  void update(Bench& bench, std::uint8_t outcome, bool amaf) {
    Desk& desk = bench.desk;
    for (Stop& stop : bench.simulation.way | std::views::reverse) {
      const bool mine = stop.rank == rank_ && find(stop);
      if (mine) end_visit(stop, outcome);
      if (amaf) desk.seen.add(stop.step.player, code_of(desk, stop));
      if (!mine) continue;
      if (!kStoresMoves && amaf && stop.listed != tree_.node(stop.step.node).count) throw Changed();
      if (amaf) uct_.template add_amaf<Shared>(tree_.node(stop.step.node), stop.step, score_of(outcome), desk);
      conclude(stop);
    }
  }

  static double score_of(std::uint8_t outcome) { return outcome - 1.0; }

  std::uint64_t code_of(const Desk& desk, const Stop& stop) const {
    if constexpr (kStoresMoves) return static_cast<std::uint64_t>(stop.step.move);
    return desk.codes[stop.step.codes + stop.step.action];
  }

  // A node where something was selected, here, perhaps some time ago; false if it is gone.
  bool find(Stop& stop) {
    if (stop.step.node != kNone) return true;
    stop.step.node = tree_.find<Shared>(stop.key);
    if (stop.step.node == kNone)
      lost_++;
    else if (stop.step.action >= tree_.node(stop.step.node).count)
      throw Damaged();
    return stop.step.node != kNone;
  }

  void end_visit(const Stop& stop, std::uint8_t outcome) {
    Node& node = tree_.node(stop.step.node);
    if (outcome == kTakenBack)
      uct_.template take_back<Shared>(stop.step);
    else
      uct_.template end_visit<Shared>(node, tree_.actions(node)[stop.step.action], stop.step, score_of(outcome));
  }

  // What is proven of the action now, and whether it is time to tell others of it.
  void conclude(const Stop& stop) {
    Node& node = tree_.node(stop.step.node);
    if (settings().solver) {
      WinAction& action = tree_.actions(node)[stop.step.action];
      if (link_of(Shared::load(action.link)) > kIllegal)
        prove<Shared>(tree_, node, action);
      else
        prove<Shared>(tree_, node, action, Node::unpack(stop.after));
    }
    if (ranks_ > 1 && SharedNodes::is_shared(node)) shared_.visited(node, stop.step.action, epoch_);
  }

  // Messages. ------------------------------------------------------------------------------------------------------

  void move_to(std::uint64_t key, const Stream& random, Bench& bench) {
    Writer out;
    out.put_varint(epoch_);
    bench.simulation.random = random.state();
    bench.simulation.goal = key;
    write_way(out, bench.simulation, Packages::kMove, 0);
    moved_out_++;
    port_->send(static_cast<int>(key % ranks_), Packages::kMove, out.bytes());
  }

  // To all other ranks that have selected; the one where the simulation began always has.
  void send_updates(Bench& bench, std::uint8_t outcome, std::uint64_t epoch) {
    bench.visited.clear();
    for (const Stop& stop : bench.simulation.way)
      if (stop.rank != rank_ && std::ranges::find(bench.visited, stop.rank) == bench.visited.end())
        bench.visited.push_back(stop.rank);
    for (const std::uint64_t to : bench.visited) {
      Writer out;
      out.put_varint(epoch);
      out.put(outcome);
      write_way(out, bench.simulation, Packages::kUpdate, to);
      if (uct_.counts_amaf() && outcome != kTakenBack) bench.desk.seen.write(out);
      port_->send(static_cast<int>(to), Packages::kUpdate, out.bytes());
    }
  }

  // A MOVE has all of the way, an UPDATE what the rank that it goes to must know.
  void write_way(Writer& out, const Simulation& simulation, std::uint8_t kind, std::uint64_t to) const {
    const bool whole = is_whole_way(kind);
    const auto has = [&](const Stop& stop) { return whole || stop.rank == to; };
    out.put_varint(simulation.number);
    if (kind == Packages::kMove) out.put(simulation.random), out.put(simulation.goal);
    out.put_varint(static_cast<std::uint64_t>(std::ranges::count_if(simulation.way, has)));
    for (const Stop& stop : simulation.way) {
      if (!has(stop)) continue;
      const bool is_named = kind == Packages::kMove || stop.rank == to;
      out.put(static_cast<std::uint8_t>(stop.after | stop.step.player << 4 | (is_named ? 32U : 0U)));
      if (is_named) out.put(stop.key);
      if (is_named || !kStoresMoves) out.put_varint(stop.step.action);
      if (whole && kStoresMoves) out.put_varint(static_cast<std::uint64_t>(stop.step.move));
      if (kind == Packages::kMove) out.put_varint(stop.rank);
    }
  }

  // Whether a message has all of a way: to go on with it, or for AMAF.
  bool is_whole_way(std::uint8_t kind) const { return kind == Packages::kMove || uct_.counts_amaf(); }

  void read_way(Reader& in, Simulation& simulation, std::uint8_t kind) const {
    const bool whole = is_whole_way(kind);
    simulation.number = in.get_varint();
    if (kind == Packages::kMove) simulation.random = in.get<std::uint64_t>(), simulation.goal = in.get<std::uint64_t>();
    simulation.way.resize(in.get_small_count(2));
    for (Stop& stop : simulation.way) {
      const auto flags = in.get_below<std::uint8_t>(64);
      stop = {};
      stop.step.node = kNone;
      stop.step.player = flags >> 4 & 1;
      stop.after = flags & 15;
      if (const Bounds known = Node::unpack(stop.after); known.lower > known.upper || known.upper > 2) throw Damaged();
      const bool is_named = flags & 32;
      stop.rank = is_named ? rank_ : ranks_;
      if (is_named) stop.key = in.get<std::uint64_t>();
      if (is_named || !kStoresMoves) stop.step.action = static_cast<std::uint32_t>(in.get_varint());
      if (whole && kStoresMoves) {
        stop.step.move = static_cast<Move>(in.get_varint());
        if (!is_move(stop.step.move)) throw Damaged();
      }
      if (kind == Packages::kMove) stop.rank = in.get_varint();
      if (kind == Packages::kMove && (stop.rank >= ranks_ || !is_named)) throw Damaged();
    }
  }
  static bool is_move(Move move) {
    if constexpr (kStoresMoves) return move >= 0 && move < P::kMoveLimit;
    return true;
  }

  // An update has come.
  void hear_of_end(Reader& in, Bench& bench, std::uint64_t epoch) {
    const auto outcome = in.get_below<std::uint8_t>(4);
    read_way(in, bench.simulation, Packages::kUpdate);
    Desk& desk = bench.desk;
    if (uct_.counts_amaf()) {
      if (outcome == kTakenBack)
        desk.seen.begin();
      else
        desk.seen.read(in);
    }
    in.expect_end();
    // Where moves are listed anew for it, AMAF needs what only the position of its thinking allows.
    bool amaf = uct_.counts_amaf() && outcome != kTakenBack;
    if constexpr (!kStoresMoves) amaf = amaf && is_of_now(epoch) && !abandoning_;
    const End end(*this, bench.simulation, epoch, outcome);
    if (!kStoresMoves && amaf) {
      try {
        replay(bench);
      } catch (...) {
        update(bench, outcome, false);
        throw;
      }
    }
    update(bench, outcome, amaf);
  }

  // Whatever happens meanwhile, a simulation of this rank's is then no longer under way.
  struct End {
    End(Treesplit& of, const Simulation& simulation, std::uint64_t epoch, std::uint8_t outcome)
        : tree(of),
          mine(simulation.number % of.ranks_ == of.rank_ && epoch == of.epoch_),
          counts(outcome != kTakenBack) {}
    ~End() {
      if (!mine) return;
      if (counts)
        tree.ended_++;
      else
        tree.begun_--;
    }
    End(const End&) = delete;
    End& operator=(const End&) = delete;
    Treesplit& tree;
    const bool mine, counts;
  };

  // A simulation ends without an outcome.
  void take_back(Bench& bench, std::uint64_t epoch) {
    const End end(*this, bench.simulation, epoch, kTakenBack);
    send_updates(bench, kTakenBack, epoch);
    for (Stop& stop : bench.simulation.way) {
      if (stop.rank == rank_ && find(stop)) end_visit(stop, kTakenBack);
    }
  }

  // The end of a thinking. -----------------------------------------------------------------------------------------

  // Goes on to the next stage, as often as it may; false if it may not.
  bool go_on() {
    const std::unique_lock lock(stage_mutex_, std::try_to_lock);
    bool any = false;
    while (lock && stage_ != Stage::over && may_go_on()) {
      if (stage_ == Stage::counted) shared_.tell_all(false, epoch_);
      if (stage_ == Stage::told) shared_.tell_all(true, epoch_);
      const auto next = static_cast<Stage>(static_cast<int>(stage_.load()) + 1);
      if (next == Stage::told) was_crowded_ = 2 * tree_.used_units() > tree_.units() || shared_.is_crowded();
      if (next == Stage::over && !is_left_)
        is_crowded_ = std::ranges::any_of(words_.all(), [](const SplitWord& word) { return word.crowded; });
      say(next);
      stage_ = next;
      any = true;
    }
    return any;
  }

  bool may_go_on() const {
    if (stage_ == Stage::searching) return (closing_ || is_known_ || begun_ >= budget_) && begun_ == ended_;
    return words_.all_are_at(epoch_, stage_) && packages_.is_empty();
  }

  bool is_over() const { return stage_ == Stage::over; }

  SplitWord own_word(Stage stage) const {
    const std::uint64_t made = tree_.nodes(), guests = shared_.guests();
    return {.epoch = epoch_,
            .stage = stage,
            .room = tree_.bytes(),
            .playouts = ended_,
            .nodes = made > guests ? made - guests : 0,
            .bytes = tree_.used_bytes(),
            .most_bytes = tree_.bytes(),
            .full = tree_.is_full<Shared>(),
            .crowded = was_crowded_};
  }

  void say(Stage stage) {
    const SplitWord word = own_word(stage);
    words_.set_own(word);
    Writer out;
    word.write(out);
    port_->send_to_all(Packages::kWord, out.bytes());
  }

  // Memory. --------------------------------------------------------------------------------------------------------

  // Of what no simulation passed in the last thinking, if any rank is short of memory: all ranks give back the same of
  // the nodes that they share.
  void give_back() {
    is_left_ = true;
    if (!is_crowded_.exchange(false)) return;
    const auto is_kept = [&](Node& node) { return !SharedNodes::is_shared(node) || shared_.last_told(node) == epoch_; };
    const auto now = static_cast<std::uint8_t>(epoch_);
    sweep([&](Node& node) { return is_kept(node) && (SharedNodes::is_shared(node) || node.stamp == now); });
    if (2 * tree_.used_units() < tree_.units()) return;
    sweep([&](Node& node) {  // most of it was made in this one thinking
      return SharedNodes::is_shared(node) || uct_.template visits_of<Shared>(node) >= kMany;
    });
  }

  template <class Keep>
  void sweep(Keep keep) {
    tree_.each([&](Link link, Node& node) {
      node.marked = !SharedNodes::is_beside(node) && tree_.find<Plain>(node.key) == link && keep(node);
    });
    tree_.node(uct_.root()).marked = 1;
    uct_.set_root(tree_.keep_marked(uct_.root()));
    shared_.find_again(epoch_);
  }

  // The root is in no table that this rank has.
  void add_root() {
    if (uct_.add_root()) return;
    shared_.forget();
    uct_.plant();
  }

  const SplitSettings split_;
  const StreamKey key_;
  const std::shared_ptr<Port> port_;
  const std::uint64_t ranks_, rank_;
  Search uct_;
  GameTree& tree_;
  SharedNodes shared_;
  Packages packages_;
  SplitWords words_;
  std::vector<std::unique_ptr<Bench>> benches_;  // one for each worker

  // Whoever leads.
  Best best_;
  std::uint64_t first_epoch_ = 0;  // of this game
  bool is_left_ = false;           // whether the game has gone on since the last thinking began
  double worked_ = 0;              // seconds of all workers
  Clock::time_point due_;          // when this rank says how far it is

  // Constant while workers are at it.
  std::uint64_t epoch_ = 0, budget_ = 0, limit_ = 1;
  std::uint64_t first_number_ = 0;  // simulations of earlier thinkings

  // The workers'.
  alignas(64) std::atomic<std::uint64_t> begun_{0}, ended_{0};  // simulations of this rank's, in this thinking
  alignas(64) std::atomic<bool> is_known_{false}, closing_{false};
  std::atomic<bool> abandoning_{false};  // whether simulations that come are taken back
  std::atomic<Stage> stage_{Stage::over};
  std::mutex stage_mutex_;
  bool was_crowded_ = false;             // this rank, when the last thinking that all have counted ended
  std::atomic<bool> is_crowded_{false};  // whether any was, if all ranks have ended the last thinking together
  std::atomic<std::uint64_t> moved_out_{0}, moved_in_{0}, lost_{0};
};

}  // namespace playout
