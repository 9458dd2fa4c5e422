// Rules of a user's problem that ask Python: all of them, or the score alone.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "bindings/errands.h"
#include "problems/user.h"

namespace playout::bindings {

// A Python object that any thread may let go of.
inline std::shared_ptr<nanobind::object> keep(nanobind::object object) {
  return {new nanobind::object(std::move(object)), [](nanobind::object* kept) {
            const nanobind::gil_scoped_acquire acquire;
            delete kept;
          }};
}

// A state as Python sees it while a call lasts.
inline nanobind::object view_of(const void* state, std::size_t bytes) {
  constexpr int kWrite = 0x200;  // PyBUF_WRITE, which some headers of the stable ABI leave out
  return nanobind::steal(
      PyMemoryView_FromMemory(static_cast<char*>(const_cast<void*>(state)), static_cast<Py_ssize_t>(bytes), kWrite));
}

// The Python object has init(state), find(state) -> (moves, codes, biases), play(state, move),
// step(state, move) -> as find, score(state), and player(state) if it is a game; a state is a memoryview.
class PythonRules : public Rules {
 public:
  PythonRules(const Sizes& sizes, bool is_game, bool has_bias, nanobind::object object,
              std::shared_ptr<Errands> errands)
      : Rules(sizes, is_game, has_bias), object_(keep(std::move(object))), errands_(std::move(errands)) {}

  void init(void* state) const override {
    errands_->run([&] { object_->attr("init")(view(state)); });
  }

  int find_moves(const void* state, Move* moves, std::uint64_t* codes, double* biases) const override {
    int count = 0;
    errands_->run([&] { count = take(object_->attr("find")(view(state)), moves, codes, biases); });
    return count;
  }

  void play(void* state, Move move) const override {
    errands_->run([&] { object_->attr("play")(view(state), move); });
  }

  int play_and_find_moves(void* state, Move move, Move* moves, std::uint64_t* codes, double* biases) const override {
    int count = 0;
    errands_->run([&] { count = take(object_->attr("step")(view(state), move), moves, codes, biases); });
    return count;
  }

  double score(const void* state) const override {
    double score = 0;
    errands_->run([&] { score = nanobind::cast<double>(object_->attr("score")(view(state))); });
    return checked_number("score", score);
  }

  int player(const void* state) const override {
    std::int64_t player = 0;
    errands_->run([&] { player = nanobind::cast<std::int64_t>(object_->attr("player")(view(state))); });
    return checked_player(player);
  }

 private:
  nanobind::object view(const void* state) const { return view_of(state, sizes().state_bytes); }

  int take(const nanobind::object& found, Move* moves, std::uint64_t* codes, double* biases) const {
    const auto [listed, coded, biased] =
        nanobind::cast<std::tuple<std::vector<Move>, std::vector<std::uint64_t>, std::vector<double>>>(found);
    const int count = checked_count(static_cast<std::int64_t>(listed.size()));
    if (coded.size() != listed.size() || biased.size() != listed.size())
      throw ProblemError("there are as many codes and biases as moves");
    std::ranges::copy(listed, moves);
    std::ranges::copy(coded, codes);
    for (int i = 0; i < count; i++) biases[i] = checked_number("bias", biased[i]);
    return count;
  }

  std::shared_ptr<nanobind::object> object_;
  std::shared_ptr<Errands> errands_;
};

// A local search in Python: improve(moves) -> moves.
inline UserProblem::Improve improve_in_python(nanobind::object improve, std::shared_ptr<Errands> errands) {
  if (improve.is_none()) return nullptr;
  return [kept = keep(std::move(improve)), errands = std::move(errands)](const std::vector<Move>& sequence) {
    std::vector<Move> found;
    errands->run([&] { found = nanobind::cast<std::vector<Move>>((*kept)(sequence)); });
    return found;
  };
}

// Compiled functions, and a score that Python computes: score(state) of a memoryview.
class PythonScoreRules : public CompiledRules {
 public:
  PythonScoreRules(const Sizes& sizes, const Functions& functions, bool has_bias, const void* data,
                   std::shared_ptr<void> owner, nanobind::object score, std::shared_ptr<Errands> errands)
      : CompiledRules(sizes, functions, has_bias, data, std::move(owner)),
        score_(keep(std::move(score))),
        errands_(std::move(errands)) {}

  double score(const void* state) const override {
    double score = 0;
    errands_->run([&] { score = nanobind::cast<double>((*score_)(view_of(state, sizes().state_bytes))); });
    return checked_number("score", score);
  }

 private:
  std::shared_ptr<nanobind::object> score_;
  std::shared_ptr<Errands> errands_;
};

}  // namespace playout::bindings
