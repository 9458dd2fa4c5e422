// ProblemOf: AnyProblem for problems of one type. Only the file that creates problems of that type includes this
// header, so that each type is compiled once and the compiler works on several types at the same time.
#pragma once

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bindings/any_problem.h"
#include "cluster/treesplit.h"
#include "parallel/node.h"
#include "parallel/tree_uct.h"
#include "problems/game.h"
#include "search/nmcs.h"
#include "search/nrpa.h"
#include "search/playout.h"

namespace playout::bindings {

template <Problem P>
class PositionOf final : public AnyPosition {
 public:
  explicit PositionOf(std::shared_ptr<const P> problem) : problem_(std::move(problem)), state_(problem_->initial()) {
    problem_->find_moves(state_, moves_);
  }

  std::vector<NamedMove> moves(bool all, bool fresh) const override {
    std::vector<NamedMove> list;
    auto moves = moves_;
    if (fresh) problem_->find_moves(state_, moves);
    if (all) problem_->find_all_moves(state_, moves);
    list.reserve(static_cast<std::size_t>(moves.count));
    for (int i = 0; i < moves.count; i++)
      list.emplace_back(moves.move(i), moves.code(moves.item(i)), moves.bias(moves.item(i)));
    return list;
  }

  void play(Move move) override {
    if (index_of(moves_, move) == moves_.count) problem_->find_all_moves(state_, moves_);
    const int i = index_of(moves_, move);
    if (i == moves_.count) throw std::invalid_argument("not a legal move: " + std::to_string(move));
    problem_->play_and_find_moves(state_, moves_, i);
  }

  double score() const override { return problem_->score(state_); }

  int player() const override {
    if constexpr (requires { problem_->player(state_); }) return problem_->player(state_);
    return 0;
  }

  std::uint64_t key() const override {
    if constexpr (requires { problem_->key(state_); }) return problem_->key(state_);
    throw std::invalid_argument("only states of games have keys");
  }

  std::pair<std::vector<Move>, double> rollout(std::uint64_t seed) const override {
    std::vector<Move> sequence;
    Stream random(seed);
    auto state = state_;
    double score = 0;
    if constexpr (kHasRollouts) {
      score = problem_->rollout(state, random, [&](int, Move move) { sequence.push_back(move); });
    } else {
      auto moves = moves_;
      score = play_uniformly(*problem_, state, random, moves, sequence);
    }
    return {sequence, score};
  }

  std::uint64_t rollouts(std::uint64_t seed, std::uint64_t count) const override {
    std::uint64_t won = 0;
    auto state = state_;
    auto moves = moves_;
    std::vector<Move> sequence;
    for (std::uint64_t i = 0; i < count; i++) {
      Stream random(fold(seed, i));
      double score = 0;
      if constexpr (kHasRollouts) {
        state = state_;
        score = problem_->rollout(state, random, [](int, Move) {});
      } else {
        sequence.clear();
        score = play_uniformly(*problem_, state_, random, moves, sequence);
      }
      won += score > 0;
    }
    return won;
  }

  std::vector<double> ownership(std::uint64_t seed, std::uint64_t count) const override {
    if constexpr (requires(typename P::State state, Stream random, std::vector<int> owners) {
                    problem_->add_owners(state, random, owners);
                  }) {
      std::vector<int> owners(static_cast<std::size_t>(problem_->pass()));
      for (std::uint64_t i = 0; i < count; i++) {
        Stream random(fold(seed, i));
        auto state = state_;
        problem_->add_owners(state, random, owners);
      }
      std::vector<double> shares(owners.size());
      std::ranges::transform(owners, shares.begin(), [&](int sum) { return sum / static_cast<double>(count); });
      return shares;
    } else {
      throw std::invalid_argument("only points of Go have owners");
    }
  }

  std::vector<std::pair<Move, std::vector<int>>> features() const override {
    if constexpr (requires { problem_->find_features(state_, moves_, [](int, int) {}); }) {
      std::vector<std::pair<Move, std::vector<int>>> list;
      list.reserve(static_cast<std::size_t>(moves_.count));
      for (int i = 0; i < moves_.count; i++) list.push_back({moves_.move(i), {}});
      problem_->find_features(state_, moves_, [&](int i, int f) { list[i].second.push_back(f); });
      for (auto& [move, features] : list) std::ranges::sort(features);
      return list;
    } else {
      throw std::invalid_argument("only moves of Go have features");
    }
  }

  std::string_view bytes() const override {
    if constexpr (requires { state_.data(); })
      return {static_cast<const char*>(state_.data()), problem_->state_bytes()};
    throw std::invalid_argument("only a user's state is a block of bytes");
  }

  int cell(int column, int row) const override {
    if constexpr (requires { problem_->cell(state_, column, row); }) {
      if (column >= 0 && column < P::kMaxWidth && row >= 0 && row < P::kMaxHeight)
        return problem_->cell(state_, column, row);
    }
    throw std::out_of_range("no such cell");
  }

 private:
  static constexpr bool kHasRollouts = requires(const P& problem, typename P::State state, Stream random) {
    problem.rollout(state, random, [](int, Move) {});
  };

  std::shared_ptr<const P> problem_;
  typename P::State state_;
  typename P::Moves moves_{};
};

template <Problem P>
class OpenNrpa final : public SearchOf<Nrpa<P>>, public NrpaInside {
 public:
  using SearchOf<Nrpa<P>>::SearchOf;
  std::unique_ptr<AnySearch> copy() const override { return std::make_unique<OpenNrpa>(*this); }
  const std::vector<Move>& level_moves(int level) const override { return this->search().best_of_level(level).moves; }
  const HashPolicy& level_policy(int level) const override { return this->search().policy_of_level(level); }
};

template <Problem P>
class ProblemOf final : public AnyProblem {
 public:
  explicit ProblemOf(std::shared_ptr<const P> problem) : problem_(std::move(problem)) {}

  bool is_game() const override { return playout::is_game(*problem_); }
  bool improves() const override { return playout::improves(*problem_); }
  bool has_preferences() const override { return playout::has_preferences(*problem_); }

  std::vector<Move> improve(std::vector<Move> sequence) const override {
    if constexpr (Improvable<P>) {
      if (improves()) {
        problem_->improve(sequence);
        return sequence;
      }
    }
    throw std::invalid_argument("the problem has no local search");
  }

  std::unique_ptr<AnyPosition> position() const override { return std::make_unique<PositionOf<P>>(problem_); }

  std::unique_ptr<AnySearch> nrpa(const NrpaSettings& settings, const NodeSettings& node,
                                  const StreamKey& key) const override {
    if constexpr (BoardGame<P>) {
      refuse_to_solve();
    } else {
      if (settings.improve && !improves()) throw std::invalid_argument("the problem has no local search");
      if (node.level == 0) return std::make_unique<OpenNrpa<P>>(Nrpa<P>(problem_, settings, key));
      return std::make_unique<SearchOf<NodeNrpa<P>>>(NodeNrpa<P>(problem_, settings, node, key));
    }
  }

  std::unique_ptr<AnySearch> nmcs(int level, const StreamKey& key) const override {
    if constexpr (BoardGame<P>)
      refuse_to_solve();
    else
      return std::make_unique<SearchOf<Nmcs<P>>>(Nmcs<P>(problem_, level, key));
  }

  std::unique_ptr<GrowingTree> tree(const UctSettings& settings, const StreamKey& key, int width) const override {
    if constexpr (Game<P>) {
      if (is_game()) return std::make_unique<TreeUct<P, true>>(problem_, settings, key, width);
    }
    if constexpr (!BoardGame<P>) return std::make_unique<TreeUct<P, false>>(problem_, settings, key, width);
    throw std::invalid_argument("a board game has two players");
  }

  std::unique_ptr<SplitTree> split_tree(const UctSettings& settings, const StreamKey& key, std::shared_ptr<Port> port,
                                        const SplitSettings& split) const override {
    if constexpr (Game<P>) {
      if (is_game()) return std::make_unique<Treesplit<P>>(problem_, settings, key, std::move(port), split);
    }
    throw std::invalid_argument("only trees of games are split");
  }

 private:
  [[noreturn]] static void refuse_to_solve() {
    throw std::invalid_argument("a game for two players is not solved, but played");
  }

  std::shared_ptr<const P> problem_;
};

// Makes a problem of one type, for Python.
template <Problem P, class... Arguments>
ProblemHandle make_problem(Arguments&&... arguments) {
  return {std::make_shared<const ProblemOf<P>>(std::make_shared<const P>(std::forward<Arguments>(arguments)...))};
}

}  // namespace playout::bindings
