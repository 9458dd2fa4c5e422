// AnyProblem: the interface that all types of problems share. It creates the searches, trees and positions of a
// problem. ProblemOf (problem_of.h) implements it; each problem instantiates that template in a file of its own.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/policy.h"
#include "core/random.h"
#include "parallel/node.h"
#include "search/nrpa.h"
#include "search/search.h"

namespace playout {
class GrowingTree;
class Port;
class SplitTree;
struct SplitSettings;
struct UctSettings;
}  // namespace playout

namespace playout::bindings {

class Errands;

// A state of a problem, to be played by hand: what the tests compare with the plain Python rules.
class AnyPosition {
 public:
  using NamedMove = std::tuple<Move, std::uint64_t, double>;

  virtual ~AnyPosition() = default;
  virtual std::vector<NamedMove> moves(bool all, bool fresh) const = 0;
  virtual void play(Move move) = 0;
  virtual double score() const = 0;
  virtual int player() const = 0;
  virtual std::uint64_t key() const = 0;
  virtual std::pair<std::vector<Move>, double> rollout(std::uint64_t seed) const = 0;
  virtual std::uint64_t rollouts(std::uint64_t seed, std::uint64_t count) const = 0;
  virtual std::vector<double> ownership(std::uint64_t seed, std::uint64_t count) const = 0;
  virtual std::vector<std::pair<Move, std::vector<int>>> features() const = 0;
  virtual std::string_view bytes() const = 0;
  virtual int cell(int column, int row) const = 0;
};

class AnyProblem {
 public:
  virtual ~AnyProblem() = default;
  virtual bool is_game() const = 0;
  virtual bool improves() const = 0;         // whether it has a local search
  virtual bool has_preferences() const = 0;  // whether it says which moves are likely to be good
  virtual std::vector<Move> improve(std::vector<Move> sequence) const = 0;
  virtual std::unique_ptr<AnyPosition> position() const = 0;
  virtual std::unique_ptr<AnySearch> nrpa(const NrpaSettings& settings, const NodeSettings& node,
                                          const StreamKey& key) const = 0;
  virtual std::unique_ptr<AnySearch> nmcs(int level, const StreamKey& key) const = 0;
  virtual std::unique_ptr<GrowingTree> tree(const UctSettings& settings, const StreamKey& key, int width) const = 0;
  virtual std::unique_ptr<SplitTree> split_tree(const UctSettings& settings, const StreamKey& key,
                                                std::shared_ptr<Port> port, const SplitSettings& split) const = 0;
};

// The levels of a search that is an Nrpa, for inspection.
class NrpaInside {
 public:
  virtual ~NrpaInside() = default;
  virtual const std::vector<Move>& level_moves(int level) const = 0;
  virtual const HashPolicy& level_policy(int level) const = 0;
};

// A problem as Python holds it.
struct ProblemHandle {
  std::shared_ptr<const AnyProblem> problem;
  std::shared_ptr<Errands> errands = nullptr;  // where the problem asks Python (bindings/errands.h)

  const AnyProblem* operator->() const { return problem.get(); }
};

}  // namespace playout::bindings
