// UctNodes: what a simulation of tree search does at one node: selects an action by a bandit, counts a visit that
// begins and ends, makes a node for a new state; and the playout. Who leads simulations from node to node uses these:
// uct.h in one tree, cluster/treesplit.h in one that is spread over ranks.
//
// Where the listings leave it open:
//  - An action never tried is worth `first_play`, infinity as the formulas have it (of RAVE, if there is neither a
//    prior nor an AMAF estimate). Of actions of equal worth one is drawn at random; where there is only one nothing
//    is drawn. A playout goes on with the stream of random numbers that its way in the tree began with.
//  - N, the simulations of a situation, is the sum of those of its actions.
//  - Rewards of games are half wins of the player who chose the action. Those of puzzles are scores; they are scaled
//    by the least and the greatest score seen so far when a move is selected, never when stored; to one half if all
//    were equal.
//  - AMAF: an action gains the outcome of each simulation in which its player played the same move at this situation
//    or later, in the tree or in the playout; where the first play counts (game.h), if the other did not play it
//    before. (In a puzzle and in a user's game "the same move" is one of the same code.)
//  - A prior of RAVE is `even_prior` simulations, of which as many are won as the bias of the move in a game says:
//    1 / (1 + exp(-bias)) of them, half of them without one, rounded to a float; a game that has priors of its own
//    adds those instead. In puzzles the bias is of use to widening alone.
//  - An action that the history forbids (superko) is drawn like the others and then left out: in a tree for good, in a
//    graph for this simulation.
//  - The solver keeps bounds of the result. An action that can no longer be better than what is certain is not tried.
//  - Widening: an action is opened when K(n) says so, or when the solver leaves none of the open ones to try: the one
//    that the problem prefers, by its priors or its bias; where it prefers none, the one with the best AMAF estimate so
//    far (one half where there is none yet). Of equals one is drawn at random. It stays open.
//
// The moves of a board game are stored with the actions. Other problems list their moves anew whenever a simulation
// comes by, and an action is the move of its index: their lists must depend on the state alone.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/exp.h"
#include "core/log.h"
#include "core/random.h"
#include "problems/game.h"
#include "search/bandit.h"
#include "search/playout.h"
#include "search/proof.h"
#include "search/seen.h"
#include "search/tree.h"
#include "search/tree_report.h"

namespace playout {

struct UctSettings {
  Bandit bandit = Bandit::ucb1;
  double exploration = 1;
  double first_play = std::numeric_limits<double>::infinity();
  double rave_k = 3000;
  double even_prior = 10;  // of RAVE: visits at one half
  bool widening = false;
  double widening_first = 40, widening_growth = 1.8;
  std::uint32_t expand_after = 1;  // visits of an action before its state is added
  bool graph = false;
  bool solver = true;
  bool early_stop = true;
  std::uint64_t memory = std::uint64_t{1} << 30;
  // What a simulation under way counts as, for others: so many lost visits; or a visit in the exploration term alone.
  std::uint32_t virtual_loss = 1;
  bool in_flight = false;
  std::uint32_t width = 1;  // playouts that begin where a simulation leaves the tree
  std::uint32_t ranks = 1;  // that have a part of the graph each
};

// A user's problem that lists other moves for a state than it did before, or two states of one key.
struct Changed : std::runtime_error {
  Changed() : std::runtime_error("the moves of a state are not those of the same state before") {}
};

// Memory for not even one state.
struct NoRoom : std::runtime_error {
  explicit NoRoom(const std::string& what = "the memory of a tree has no room for one state with all its moves")
      : std::runtime_error(what) {}
};

// Widening of a search that has nothing to tell moves apart by.
struct NothingToWidenBy : std::invalid_argument {
  NothingToWidenBy() : std::invalid_argument("widening has nothing to order moves by") {}
};

// Whether a problem has two players; of a user's only it knows.
template <Problem P>
bool is_game(const P& problem) {
  if constexpr (requires { problem.is_game(); }) return problem.is_game();
  return Game<P>;
}

// `Wins` says how the rewards are kept: half wins of a game, or scores of a puzzle.
template <Problem P, bool Wins>
class UctNodes {
 public:
  using State = typename P::State;
  using Action = std::conditional_t<Wins, WinAction, ScoreAction>;
  using Amaf = std::conditional_t<Wins, WinAmaf, ScoreAmaf>;
  static constexpr bool kStoresMoves = BoardGame<P>;

  // One step of a simulation in the tree.
  struct Step {
    Link node;
    std::uint32_t action;
    std::uint32_t player;
    std::uint32_t codes;  // where those of the node's moves begin
    Move move;
    double assumed;  // what was added for a loss that may not be one
  };

  // A move of a simulation as AMAF knows it.
  struct Play {
    std::uint32_t player;
    std::uint64_t code;
  };

  // A playout, from where the tree ended.
  struct Playout {
    std::vector<Play> plays;
    std::vector<Move> moves;
    double score = 0;
  };

  // What a thread works with.
  struct Desk {
    explicit Desk(State at) : state(std::move(at)) {}
    State state;
    typename P::Moves moves{};
    std::vector<Step> path;
    std::vector<std::uint64_t> codes;   // of the moves of the nodes on the path
    std::vector<std::uint32_t> banned;  // actions that the history forbids here
    std::vector<double> scores;         // of the actions of a node
    Playout playout;
    Seen<P> seen;
    bool finished = false;  // whether the path ended where the outcome is known
    double outcome = 0;
    Writer* journal = nullptr;  // where simulations are written down for others to take over; nullptr: nowhere
  };

  UctNodes(std::shared_ptr<const P> problem, const UctSettings& settings)
      : problem_(std::move(problem)),
        settings_(settings),
        widening_(settings.widening_first, settings.widening_growth),
        tree_(settings.memory, counts_amaf() || (settings.widening && uses_priors()), Wins && settings.graph,
              settings.ranks) {
    if (settings.widening && !counts_amaf() && !has_preferences(*problem_)) throw NothingToWidenBy();
  }

  const UctSettings& settings() const { return settings_; }
  const P& problem() const { return *problem_; }
  Tree<Action, Amaf>& tree() { return tree_; }

  // Whether AMAF statistics are kept. (The tree also has room for them where widening needs the priors beside them.)
  bool counts_amaf() const { return settings_.bandit == Bandit::rave; }

  // From where the tree ended, random moves to the end.
  void play_out(Desk& desk, Stream& random, Playout& out) const {
    out.plays.clear(), out.moves.clear();
    if (desk.finished) {
      out.score = desk.outcome;
    } else if constexpr (requires { problem_->rollout(desk.state, random, [](int, Move) {}); }) {
      const bool amaf = counts_amaf();
      out.score = problem_->rollout(desk.state, random, [&](int player, Move move) {
        if (amaf) out.plays.push_back({static_cast<std::uint32_t>(player), static_cast<std::uint64_t>(move)});
      });
    } else {
      if constexpr (kStoresMoves) problem_->find_moves(desk.state, desk.moves);
      while (desk.moves.count > 0) {
        const int i = static_cast<int>(random.uniform() * desk.moves.count);
        if (counts_amaf()) out.plays.push_back({player_of(desk.state), desk.moves.code(desk.moves.item(i))});
        if constexpr (!Wins) out.moves.push_back(desk.moves.move(i));
        problem_->play_and_find_moves(desk.state, desk.moves, i);
      }
      out.score = problem_->score(desk.state);
    }
  }

  std::uint32_t player_of(const State& state) const {
    if constexpr (Game<P>) return static_cast<std::uint32_t>(problem_->player(state));
    return 0;
  }

  // The move shares a word with what others may be changing.
  template <class Access>
  Move move_at(const Node& node, std::uint32_t i) const {
    if constexpr (Wins) return WinAction::move(Access::load(tree_.actions(node)[i].tag));
    return 0;
  }

  // The statistics of an action: visits, and what they brought, from 0 to 1 for each visit of a game.
  template <class Access>
  static std::uint32_t visits_of(Action& action) {
    if constexpr (Wins)
      return static_cast<std::uint32_t>(Access::load(action.stats));
    else
      return Access::load(action.visits);
  }

  // Those of all the actions of a node. One thread keeps count; many would wait for each other at the counter, and add
  // up what they have to read anyway.
  template <class Access>
  std::uint32_t visits_of(Node& node) const {
    if constexpr (!Access::kShared) return node.visits;
    std::uint32_t sum = 0;
    Action* list = tree_.actions(node);
    for (std::uint32_t i = 0; i < node.count; i++) sum += visits_of<Access>(list[i]);
    return sum;
  }

  // How one action of a state is seen by a bandit.
  template <class Access>
  void read(Action& action, std::uint32_t& visits, double& mean) const {
    if constexpr (Wins) {
      const std::uint64_t stats = Access::load(action.stats);
      visits = static_cast<std::uint32_t>(stats);
      if (visits > 0) mean = 0.5 * static_cast<double>(stats >> 32) / visits;
    } else {
      visits = Access::load(action.visits);
      if (visits > 0) mean = scaled<Access>(Access::load(action.sum) / visits);
    }
  }

  // Simulations under way through an action, where they are counted.
  template <class Access>
  std::uint32_t flights(Action& action) const {
    if constexpr (Wins) return Access::load(action.tag) / WinAction::kFlight;
    const Link link = link_of(Access::load(action.link));
    if (link > kIllegal) return Access::load(tree_.node(link).in_flight);
    return link == kBusy ? 1 : 0;
  }

  template <class Access>
  double scaled(double score) const {
    const double low = Access::load(const_cast<double&>(lowest_)), high = Access::load(const_cast<double&>(highest_));
    return high > low ? (score - low) / (high - low) : 0.5;
  }

  template <class Access>
  void widen_range(double score) {
    if constexpr (Access::kShared) {
      double low = Access::load(lowest_), high = Access::load(highest_);
      while (score < low && !Access::exchange(lowest_, low, score)) low = Access::load(lowest_);
      while (score > high && !Access::exchange(highest_, high, score)) high = Access::load(highest_);
    } else {
      lowest_ = std::min(lowest_, score), highest_ = std::max(highest_, score);
    }
  }

  // Whether the outcome of a state is known: the game is over, or solved. Then that is the simulation's.
  template <class Access>
  bool is_known(Node& node, Desk& desk) const {
    if (node.count == 0) {
      desk.outcome = problem_->score(desk.state);
      return desk.finished = true;
    }
    if constexpr (Wins) {
      if (!settings_.solver) return false;
      const Bounds bounds = bounds_of<Access>(node);
      if (!bounds.solved()) return false;
      desk.outcome = static_cast<double>(bounds.lower) - 1;
      return desk.finished = true;
    }
    return false;
  }

  // In the tree: the action that the bandit chooses, or -1 if the history forbids all.
  template <class Access>
  int select(Link link, Stream& random, Desk& desk) {
    Node& node = tree_.node(link);
    desk.banned.clear();
    if (settings_.widening) open_more<Access>(node, random, desk);
    while (true) {
      const int i = choose<Access>(node, random, desk);
      if constexpr (HasHistory<P>) {
        if (i >= 0 && !problem_->is_allowed(desk.state, move_at<Access>(node, i))) {
          if (tree_.is_graph())
            desk.banned.push_back(i);
          else
            forbid<Access>(node, tree_.actions(node)[i]);
          continue;
        }
      }
      if (i < 0 && settings_.widening && open_another<Access>(node, random, desk)) continue;
      return i;
    }
  }

  // Not legal after all; it stays open if it was. What is proven of the other actions may be enough now.
  template <class Access>
  void forbid(Node& node, Action& action) {
    Access::store(action.link, (Access::load(action.link) & kOpen) | kIllegal);
    if constexpr (Wins) {
      if (settings_.solver) settle<Access>(tree_, node);
    }
  }

  template <class Access>
  int choose(Node& node, Stream& random, Desk& desk) {
    switch (settings_.bandit) {
      case Bandit::ucb1:
        return choose_by<Access, Bandit::ucb1>(node, random, desk);
      case Bandit::tuned1:
        return choose_by<Access, Bandit::tuned1>(node, random, desk);
      case Bandit::tuned2:
        return choose_by<Access, Bandit::tuned2>(node, random, desk);
      case Bandit::rave:
        break;
    }
    return choose_by<Access, Bandit::rave>(node, random, desk);
  }

  template <class Access, Bandit kind>
  int choose_by(Node& node, Stream& random, Desk& desk) {
    Action* list = tree_.actions(node);
    std::uint32_t total = visits_of<Access>(node);
    if (settings_.in_flight) total += Access::load(node.in_flight);
    const double log_total = total > 0 ? log(total) : 0;
    Bounds floor{};
    if constexpr (Wins) floor = settings_.solver ? bounds_of<Access>(node) : Bounds{0, 2};
    double best = -std::numeric_limits<double>::infinity();
    int chosen = -1, equals = 0;
    if (desk.scores.size() < node.count) desk.scores.resize(node.count);
    double* scores = desk.scores.data();
    for (std::uint32_t i = 0; i < node.count; i++) {
      scores[i] = -std::numeric_limits<double>::infinity();
      const Link link = Access::load(list[i].link);
      if (link_of(link) == kIllegal || (settings_.widening && !(link & kOpen))) continue;
      if constexpr (Wins) {
        if (settings_.solver && !is_worth_trying(WinAction::bounds(Access::load(list[i].tag)), floor, node.player))
          continue;
      }
      if (!desk.banned.empty() && std::ranges::find(desk.banned, i) != desk.banned.end()) continue;
      const double score = score_of<Access, kind>(node, list[i], i, log_total);
      scores[i] = score;
      if (score > best)
        best = score, chosen = static_cast<int>(i), equals = 1;
      else if (score == best)
        equals++;
    }
    if (equals < 2) return chosen;
    auto skip = random.below(static_cast<std::uint32_t>(equals));
    for (std::uint32_t i = chosen;; i++)
      if (scores[i] == best && skip-- == 0) return static_cast<int>(i);
  }

  // An action that cannot end better than what is certain anyway is not.
  static bool is_worth_trying(const Bounds& action, const Bounds& node, int player) {
    return player == 0 ? action.upper > node.lower : action.lower < node.upper;
  }

  template <class Access, Bandit kind>
  double score_of(Node& node, Action& action, std::uint32_t i, double log_total) const {
    std::uint32_t visits = 0;
    double mean = 0;
    read<Access>(action, visits, mean);
    if constexpr (kind == Bandit::rave) return score_by_rave<Access>(node, action, i, visits, mean, log_total);
    if (!settings_.in_flight) {
      if (visits == 0) return settings_.first_play;
      return score_of_arm(kind, mean, visits, log_total, settings_.exploration);
    }
    const std::uint32_t with = visits + flights<Access>(action);
    if (with == 0) return settings_.first_play;
    return score_of_arm(kind, visits == 0 ? 0.5 : mean, with, log_total, settings_.exploration);
  }

  template <class Access>
  double score_by_rave(Node& node, Action& action, std::uint32_t i, std::uint32_t visits, double mean,
                       double log_total) const {
    double prior_visits = settings_.even_prior, prior_wins = 0.5 * settings_.even_prior;
    double amaf_visits = 0, amaf_mean = 0;
    Amaf& amaf = tree_.amaf(node)[i];
    if constexpr (Wins) {
      prior_visits += amaf.prior.visits, prior_wins += amaf.prior.wins;
      const std::uint64_t stats = Access::load(amaf.stats);
      amaf_visits = static_cast<std::uint32_t>(stats);
      if (amaf_visits > 0) amaf_mean = 0.5 * static_cast<double>(stats >> 32) / amaf_visits;
    } else {
      amaf_visits = Access::load(amaf.visits);
      if (amaf_visits > 0) amaf_mean = scaled<Access>(Access::load(amaf.sum) / amaf_visits);
    }
    const double n = visits + prior_visits;
    const double q = n > 0 ? ((visits > 0 ? mean * visits : 0) + prior_wins) / n : 0;
    if (n + amaf_visits == 0) return settings_.first_play;
    const double weight = rave_weight(n, amaf_visits, settings_.rave_k);
    double score = (1 - weight) * q + weight * amaf_mean;
    if (settings_.exploration > 0 && n > 0) {
      const double with = settings_.in_flight ? n + flights<Access>(action) : n;
      score += settings_.exploration * exploration_of(Bandit::rave, 0, with, log_total);
    }
    return score;
  }

  // Progressive widening: opens actions until K(n) are.
  template <class Access>
  void open_more(Node& node, Stream& random, Desk& desk) {
    for (std::uint32_t open = Access::load(node.open); open < node.count; open = Access::load(node.open)) {
      if (widening_.considered(visits_of<Access>(node), open) <= open) return;
      if (!Access::exchange(node.open, open, open + 1)) continue;
      open_next<Access>(node, random, desk);
    }
  }

  // Opens one more, or sees that another thread is about to; false if all are open.
  template <class Access>
  bool open_another(Node& node, Stream& random, Desk& desk) {
    const std::uint32_t open = Access::load(node.open);
    if (open < node.count) {
      if (Access::exchange(node.open, open, open + 1)) open_next<Access>(node, random, desk);
      return true;
    }
    Action* list = tree_.actions(node);
    return std::any_of(list, list + node.count, [](Action& one) { return !(Access::load(one.link) & kOpen); });
  }

  template <class Access>
  void open_next(Node& node, Stream& random, Desk& desk) {
    Action* list = tree_.actions(node);
    if (desk.scores.size() < node.count) desk.scores.resize(node.count);
    while (true) {
      double best = -std::numeric_limits<double>::infinity();
      std::uint32_t equals = 0;
      for (std::uint32_t i = 0; i < node.count; i++) {
        desk.scores[i] = std::numeric_limits<double>::quiet_NaN();
        if (Access::load(list[i].link) & kOpen) continue;
        const double order = order_of<Access>(node, i, desk.moves);
        desk.scores[i] = order;
        if (order > best) best = order, equals = 0;
        equals += order == best;
      }
      if (equals == 0) return;
      std::uint32_t skip = equals > 1 ? random.below(equals) : 0, chosen = 0;
      while (desk.scores[chosen] != best || skip-- > 0) chosen++;
      const Link link = Access::load(list[chosen].link);
      if (link & kOpen) continue;
      if (Access::exchange(list[chosen].link, link, link | kOpen)) return;
    }
  }

  // By what an action is opened: what the problem says of it, or where it says nothing the AMAF estimate.
  template <class Access>
  double order_of(Node& node, std::uint32_t i, const typename P::Moves& moves) const {
    if constexpr (!kStoresMoves) {
      if (has_preferences(*problem_)) return moves.bias(moves.item(static_cast<int>(i)));
    }
    Amaf& amaf = tree_.amaf(node)[i];
    if constexpr (Wins) {
      if (uses_priors()) {
        const double visits = settings_.even_prior + amaf.prior.visits;
        return visits > 0 ? (0.5 * settings_.even_prior + amaf.prior.wins) / visits : 0.5;
      }
      const std::uint64_t stats = Access::load(amaf.stats);
      const auto visits = static_cast<std::uint32_t>(stats);
      return visits == 0 ? 0.5 : 0.5 * static_cast<double>(stats >> 32) / visits;
    } else {
      const std::uint32_t visits = Access::load(amaf.visits);
      return visits == 0 ? 0.5 : scaled<Access>(Access::load(amaf.sum) / visits);
    }
  }

  bool is_over(const Desk& desk) const {
    if constexpr (kStoresMoves) return problem_->is_finished(desk.state);
    return desk.moves.count == 0;
  }

  // Visits of an action that a simulation has just taken, without its own.
  template <class Access>
  std::uint32_t visits_before(Action& action) const {
    const std::uint32_t visits = visits_of<Access>(action);
    return Access::kShared && !settings_.in_flight ? visits - std::min(visits, settings_.virtual_loss) : visits;
  }

  template <class Access>
  Link find_or_make(Desk& desk, bool& found) {
    std::uint64_t key = 0;
    if constexpr (Wins) {
      if (tree_.is_graph()) {
        key = problem_->key(desk.state);
        const Link known = tree_.template find<Access>(key);
        found = known != kNone;
        if (found) return known;
      }
    }
    const Link made = make_node<Access>(desk.state, desk);
    if (made == kNone || !tree_.is_graph()) return made;
    tree_.node(made).key = key;
    return tree_.template insert<Access>(made);
  }

  // A node for a state, whose moves are on the desk unless they are stored; kNone when the memory is full.
  template <class Access>
  Link make_node(const State& state, Desk& desk) {
    if constexpr (HasHistory<P>)
      problem_->find_board_moves(state, desk.moves);
    else if constexpr (kStoresMoves)
      problem_->find_moves(state, desk.moves);
    const auto count = static_cast<std::uint32_t>(desk.moves.count);
    const Link link = tree_.template allocate<Access>(count);
    if (link == kNone) return kNone;
    Node& node = tree_.node(link);
    node.player = static_cast<std::uint8_t>(player_of(state));
    Action* list = tree_.actions(node);
    for (std::uint32_t i = 0; i < count; i++)
      list[i] = Action::of(kStoresMoves ? desk.moves.move(static_cast<int>(i)) : 0);
    if (tree_.has_amaf()) make_amaf(node, state, desk);
    if constexpr (Wins) {
      if (count == 0) {
        const auto wins = static_cast<std::uint32_t>(half_wins(problem_->score(state), 0));
        node.bounds = Node::pack({wins, wins});
      }
    }
    return link;
  }

  // Whether the problem has priors of its own.
  bool uses_priors() const {
    if constexpr (Wins && HasPriors<P>) return problem_->has_priors();
    return false;
  }

  // The prior of an action beyond the even one: the game's own, or as many visits, at 1 / (1 + exp(-bias)).
  void make_amaf(Node& node, const State& state, const Desk& desk) {
    Amaf* amaf = tree_.amaf(node);
    if constexpr (Wins && HasPriors<P>) {
      if (problem_->has_priors()) {
        std::array<Prior, P::kMoveLimit> priors;
        problem_->find_priors(state, desk.moves, priors.data());
        for (std::uint32_t i = 0; i < node.count; i++) amaf[i] = {0, priors[i]};
        return;
      }
    }
    for (std::uint32_t i = 0; i < node.count; i++) {
      amaf[i] = {};
      if constexpr (Wins) {
        const double bias = desk.moves.bias(desk.moves.item(static_cast<int>(i)));
        if (bias != 0) amaf[i].prior.wins = static_cast<float>(settings_.even_prior * (1 / (1 + exp(-bias)) - 0.5));
      }
    }
  }

  // While a simulation is under way others see it as a loss, or in the exploration term. One thread sees nothing.
  template <class Access>
  void begin_visit(Node& node, Action& action, Step& step) {
    if constexpr (Access::kShared) {
      if (settings_.in_flight) {
        Access::add(node.in_flight, 1U);
        if constexpr (Wins) Access::add(action.tag, WinAction::kFlight);
        return;
      }
      if constexpr (Wins) {
        Access::add(action.stats, std::uint64_t{settings_.virtual_loss});
      } else {
        Access::add(action.visits, settings_.virtual_loss);
        const double low = Access::load(lowest_);
        step.assumed = std::isfinite(low) ? settings_.virtual_loss * low : 0;
        Access::add(action.sum, step.assumed);
      }
    }
  }

  // Undoes begin_visit.
  template <class Access>
  void take_back(const Step& step) {
    if constexpr (Access::kShared) {
      Node& node = tree_.node(step.node);
      Action& action = tree_.actions(node)[step.action];
      if (settings_.in_flight) {
        Access::add(node.in_flight, ~0U);
        if constexpr (Wins) Access::add(action.tag, ~WinAction::kFlight + 1);
        return;
      }
      if constexpr (Wins) {
        Access::add(action.stats, ~std::uint64_t{settings_.virtual_loss} + 1);
      } else {
        Access::add(action.visits, ~settings_.virtual_loss + 1);
        Access::add(action.sum, -step.assumed);
      }
    }
  }

  template <class Access>
  void end_visit(Node& node, Action& action, const Step& step, double score) {
    std::uint32_t visits = 1;
    if constexpr (Access::kShared) {
      if (settings_.in_flight) {
        Access::add(node.in_flight, ~0U);
        if constexpr (Wins) Access::add(action.tag, ~WinAction::kFlight + 1);
      } else {
        visits -= settings_.virtual_loss;  // which may be below 0: a word that is added is taken away as well
      }
    }
    if (!Access::kShared) node.visits++;
    if constexpr (Wins) {
      const auto won = static_cast<std::uint64_t>(half_wins(score, static_cast<int>(step.player)));
      Access::add(action.stats, (won << 32) + static_cast<std::uint64_t>(
                                                  static_cast<std::int64_t>(static_cast<std::int32_t>(visits))));
    } else {
      Access::add(action.visits, visits);
      Access::add(action.sum, score - step.assumed);
    }
  }

  template <class Access>
  std::uint64_t code_of(const Desk& desk, const Step& step, const Node& node, std::uint32_t i) const {
    if constexpr (kStoresMoves)
      return static_cast<std::uint64_t>(move_at<Access>(node, i));
    else
      return desk.codes[step.codes + i];
  }

  template <class Access>
  void add_amaf(Node& node, const Step& step, double score, const Desk& desk) {
    Amaf* amaf = tree_.amaf(node);
    const auto won = static_cast<std::uint64_t>(half_wins(score, static_cast<int>(step.player)));
    for (std::uint32_t i = 0; i < node.count; i++) {
      if (!desk.seen.has(step.player, code_of<Access>(desk, step, node, i))) continue;
      if constexpr (Wins) {
        Access::add(amaf[i].stats, (won << 32) + 1);
      } else {
        Access::add(amaf[i].visits, 1U);
        Access::add(amaf[i].sum, score);
      }
    }
  }

  std::vector<ActionReport> actions_of(const Node& node, const State& state) const {
    std::vector<ActionReport> list(node.count);
    typename P::Moves moves{};
    if constexpr (!kStoresMoves) problem_->find_moves(state, moves);
    for (std::uint32_t i = 0; i < node.count; i++) {
      list[i] = report_of(node, i);
      if constexpr (!kStoresMoves) list[i].move = moves.move(static_cast<int>(i));
    }
    return list;
  }

  // Without the move, where that is not stored.
  ActionReport report_of(const Node& node, std::uint32_t i) const {
    Action& action = tree_.actions(node)[i];
    ActionReport out{.move = move_at<Plain>(node, i), .action = i, .bounds = {}};
    if constexpr (Wins) {
      out.visits = static_cast<std::uint32_t>(action.stats);
      out.wins = 0.5 * static_cast<double>(action.stats >> 32);
      out.bounds = WinAction::bounds(action.tag);
    } else {
      out.visits = action.visits, out.wins = action.sum;
    }
    if (!counts_amaf()) return out;
    const Amaf& amaf = tree_.amaf(node)[i];
    out.prior_visits = settings_.even_prior, out.prior_wins = 0.5 * settings_.even_prior;
    if constexpr (Wins) {
      out.amaf_visits = static_cast<std::uint32_t>(amaf.stats);
      out.amaf_wins = 0.5 * static_cast<double>(amaf.stats >> 32);
      out.prior_visits += amaf.prior.visits, out.prior_wins += amaf.prior.wins;
    } else {
      out.amaf_visits = amaf.visits, out.amaf_wins = amaf.sum;
    }
    return out;
  }

  std::shared_ptr<const P> problem_;
  UctSettings settings_;
  Widening widening_;
  Tree<Action, Amaf> tree_;
  double lowest_ = std::numeric_limits<double>::infinity(), highest_ = -std::numeric_limits<double>::infinity();
};

}  // namespace playout
