// UserProblem: a problem that its user wrote, in Python or in a library.
//
// Playout sees a state as a block of bytes and asks Rules about it: C functions of a library
// (src/playout/include/playout.h), methods of a Python class that Numba has compiled, or Python itself (in the
// bindings). Rules are asked once a step, so that a virtual call costs nothing.
//
// Users make mistakes. What would write beyond a buffer, never end, or poison a policy with a NaN throws ProblemError.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/exp.h"
#include "core/random.h"
#include "playout.h"
#include "problems/game.h"
#include "problems/problem.h"

namespace playout {

// What is wrong with a user's problem.
struct ProblemError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The legal moves of a state, in buffers of `max_moves`. Every step makes new items.
struct UserMoves {
  int count = 0;
  std::vector<Move> moves;
  std::vector<std::uint64_t> codes;
  std::vector<double> biases;
  int first = 0;  // item of this step

  Move move(int i) const { return moves[i]; }
  int item(int i) const { return first + i; }
  int items() const { return first + count; }
  std::uint64_t code(int item) const { return codes[item - first]; }
  double bias(int item) const { return biases[item - first]; }
  double exp_bias(int item) const { return bias(item) == 0 ? 1 : exp_factor(bias(item)); }
};

// What a user's problem answers. A call may throw. The lists have room for max_moves; biases are 0 beforehand.
class Rules {
 public:
  struct Sizes {
    std::size_t state_bytes;
    int max_moves, max_length;
  };

  Rules(const Sizes& sizes, bool is_game, bool has_bias) : sizes_(sizes), is_game_(is_game), has_bias_(has_bias) {
    if (sizes.max_moves < 1 || sizes.max_length < 1) throw ProblemError("max_moves and max_length are at least 1");
  }
  virtual ~Rules() = default;
  Rules(const Rules&) = delete;
  Rules& operator=(const Rules&) = delete;

  virtual void init(void* state) const = 0;
  virtual int find_moves(const void* state, Move* moves, std::uint64_t* codes, double* biases) const = 0;
  virtual void play(void* state, Move move) const = 0;
  virtual int play_and_find_moves(void* state, Move move, Move* moves, std::uint64_t* codes, double* biases) const {
    play(state, move);
    return find_moves(state, moves, codes, biases);
  }
  virtual double score(const void* state) const = 0;
  virtual int player(const void* state) const = 0;  // asked of games only

  const Sizes& sizes() const { return sizes_; }
  bool is_game() const { return is_game_; }
  bool has_bias() const { return has_bias_; }

  // Throws unless a list of moves is one.
  int checked_count(std::int64_t count) const {
    if (count < 0 || count > sizes_.max_moves)
      throw ProblemError("moves returned " + std::to_string(count) + "; allowed are 0 to max_moves, " +
                         std::to_string(sizes_.max_moves));
    return static_cast<int>(count);
  }

  static double checked_number(const char* what, double value) {
    if (!std::isfinite(value)) throw ProblemError(std::string(what) + " returned " + std::to_string(value));
    return value;
  }

  static int checked_player(std::int64_t player) {
    if (player != 0 && player != 1)
      throw ProblemError("player returned " + std::to_string(player) + "; allowed are 0 and 1");
    return static_cast<int>(player);
  }

 private:
  Sizes sizes_;
  bool is_game_, has_bias_;
};

// Rules of a library: a table of C functions.
class TableRules : public Rules {
 public:
  // `owner` keeps the library loaded.
  TableRules(const playout_table& table, std::shared_ptr<void> owner)
      : Rules(sizes_of(table), table.player != nullptr, table.bias != nullptr),
        table_(table),
        owner_(std::move(owner)) {
    if (table.init == nullptr || table.moves == nullptr || table.play == nullptr || table.score == nullptr)
      throw ProblemError("init, moves, play and score must not be NULL");
  }

  void init(void* state) const override { table_.init(table_.data, state); }

  int find_moves(const void* state, Move* moves, std::uint64_t* codes, double* biases) const override {
    const int count = checked_count(table_.moves(table_.data, state, moves));
    for (int i = 0; i < count; i++) {
      const Move move = moves[i];
      codes[i] = static_cast<std::uint64_t>(table_.code == nullptr ? move : table_.code(table_.data, state, move));
      biases[i] = table_.bias == nullptr ? 0 : checked_number("bias", table_.bias(table_.data, state, move));
    }
    return count;
  }

  void play(void* state, Move move) const override { table_.play(table_.data, state, move); }
  double score(const void* state) const override { return checked_number("score", table_.score(table_.data, state)); }
  int player(const void* state) const override { return checked_player(table_.player(table_.data, state)); }

 private:
  static Sizes sizes_of(const playout_table& table) {
    constexpr std::int64_t kMost = 1 << 20, kLongest = 1 << 30, kLargest = 1 << 24;
    if (table.max_moves < 1 || table.max_moves > kMost || table.max_length > kLongest || table.max_length < 0)
      throw ProblemError("max_moves is 1 to 1,048,576, and max_length 0 to 1,073,741,824");
    if (table.state_bytes > kLargest) throw ProblemError("state_bytes is at most 16,777,216");
    constexpr int kUsualLength = 10'000;
    return {table.state_bytes, static_cast<int>(table.max_moves),
            table.max_length == 0 ? kUsualLength : static_cast<int>(table.max_length)};
  }

  playout_table table_;
  std::shared_ptr<void> owner_;
};

// An exception in a compiled method. Numba has shown it to Python, on the thread that `what` names as Python does.
struct CompiledFailure : ProblemError {
  CompiledFailure() : ProblemError(std::to_string(static_cast<unsigned long>(pthread_self()))) {}
};

// Rules of a Python class: functions that Numba made of its methods (src/playout/compile.py). A whole step is one call.
// A function that raises an exception returns what happens to be there; one that comes to its end sets `done`.
class CompiledRules : public Rules {
 public:
  struct Functions {
    void (*init)(const void* data, void* state, std::int64_t* done);
    std::int64_t (*find)(const void* data, const void* state, Move* moves, std::uint64_t* codes, double* biases,
                         std::int64_t max_moves, std::int64_t* done);
    void (*play)(const void* data, void* state, Move move, std::int64_t* done);
    std::int64_t (*step)(const void* data, void* state, Move move, Move* moves, std::uint64_t* codes, double* biases,
                         std::int64_t max_moves, std::int64_t* done);
    double (*score)(const void* data, const void* state, std::int64_t* done);
    std::int64_t (*player)(const void* data, const void* state, std::int64_t* done);  // nullptr unless it is a game
  };

  // `owner` keeps the functions and the data alive.
  CompiledRules(const Sizes& sizes, const Functions& functions, bool has_bias, const void* data,
                std::shared_ptr<void> owner)
      : Rules(sizes, functions.player != nullptr, has_bias),
        functions_(functions),
        data_(data),
        owner_(std::move(owner)) {}

  void init(void* state) const override {
    Done done;
    functions_.init(data_, state, &done.flag);
    done.check();
  }

  int find_moves(const void* state, Move* moves, std::uint64_t* codes, double* biases) const override {
    Done done;
    const auto count = functions_.find(data_, state, moves, codes, biases, sizes().max_moves, &done.flag);
    done.check();
    return checked(count, biases);
  }

  void play(void* state, Move move) const override {
    Done done;
    functions_.play(data_, state, move, &done.flag);
    done.check();
  }

  int play_and_find_moves(void* state, Move move, Move* moves, std::uint64_t* codes, double* biases) const override {
    Done done;
    const auto count = functions_.step(data_, state, move, moves, codes, biases, sizes().max_moves, &done.flag);
    done.check();
    return checked(count, biases);
  }

  double score(const void* state) const override {
    Done done;
    const double score = functions_.score(data_, state, &done.flag);
    done.check();
    return checked_number("score", score);
  }

  int player(const void* state) const override {
    Done done;
    const std::int64_t player = functions_.player(data_, state, &done.flag);
    done.check();
    return checked_player(player);
  }

 private:
  struct Done {
    std::int64_t flag = 0;
    void check() const {
      if (flag == 0) throw CompiledFailure();
    }
  };

  int checked(std::int64_t count, const double* biases) const {
    const int some = checked_count(count);
    for (int i = 0; has_bias() && i < some; i++) checked_number("bias", biases[i]);
    return some;
  }

  Functions functions_;
  const void* data_;
  std::shared_ptr<void> owner_;
};

class UserProblem {
 public:
  using Moves = UserMoves;

  struct State {
    struct alignas(16) Block {
      std::byte bytes[16];
    };
    std::vector<Block> blocks;
    int length = 0;  // moves played

    void* data() { return blocks.data(); }
    const void* data() const { return blocks.data(); }
  };

  using Improve = std::function<std::vector<Move>(const std::vector<Move>&)>;

  // With a local search, if the user has one: it takes a whole sequence and returns one.
  explicit UserProblem(std::shared_ptr<const Rules> rules, Improve improve = nullptr)
      : rules_(std::move(rules)), improve_(std::move(improve)) {}

  State initial() const {
    State state{std::vector<State::Block>(rules_->sizes().state_bytes / sizeof(State::Block) + 1)};
    rules_->init(state.data());
    return state;
  }

  void find_moves(const State& state, Moves& out) const {
    make_room(out);
    out.first = 0;
    out.count = rules_->find_moves(state.data(), out.moves.data(), out.codes.data(), out.biases.data());
  }

  // There is no selective policy.
  void find_all_moves(const State& /*state*/, Moves& /*out*/) const {}

  void play(State& state, const Moves& moves, int i) const {
    count_move(state);
    rules_->play(state.data(), moves.move(i));
  }

  void play_and_find_moves(State& state, Moves& out, int i) const {
    count_move(state);
    out.first += out.count;
    out.count =
        rules_->play_and_find_moves(state.data(), out.move(i), out.moves.data(), out.codes.data(), out.biases.data());
  }

  double score(const State& state) const { return rules_->score(state.data()); }
  int max_moves() const { return rules_->sizes().max_moves; }
  bool improves() const { return improve_ != nullptr; }

  // What the user's local search returns is taken if it can be played and is worth more.
  bool improve(std::vector<Move>& sequence) const {
    const std::vector<Move> found = improve_(sequence);
    if (found == sequence || !(score_of(found) > score_of(sequence))) return false;
    sequence = found;
    return true;
  }

  bool is_game() const { return rules_->is_game(); }
  bool has_bias() const { return rules_->has_bias(); }
  int player(const State& state) const { return is_game() ? rules_->player(state.data()) : 0; }

  // States with the same bytes and the same player are one; what they hold of the past makes them differ.
  std::uint64_t key(const State& state) const {
    std::uint64_t key = fold(0, static_cast<std::uint64_t>(player(state)));
    const auto* bytes = static_cast<const std::byte*>(state.data());
    for (std::size_t at = 0; at < state_bytes(); at += sizeof(std::uint64_t)) {
      std::uint64_t next = 0;
      std::memcpy(&next, bytes + at, std::min(sizeof next, state_bytes() - at));
      key = fold(key, next);
    }
    return key;
  }

  std::size_t state_bytes() const { return rules_->sizes().state_bytes; }

 private:
  double score_of(const std::vector<Move>& sequence) const {
    State state = initial();
    Moves moves;
    find_moves(state, moves);
    for (const Move move : sequence) {
      int i = 0;
      while (i < moves.count && moves.move(i) != move) i++;
      if (i == moves.count)
        throw ProblemError("improve returned a sequence with a move that is not legal, " + std::to_string(move));
      play_and_find_moves(state, moves, i);
    }
    if (moves.count > 0) throw ProblemError("improve returned a sequence after which the playout goes on");
    return score(state);
  }

  void make_room(Moves& out) const {
    constexpr std::size_t kSpare = 256;  // a list that is a little too long is an error, and should live to be one
    const auto most = static_cast<std::size_t>(max_moves());
    if (out.codes.size() == most) return;
    out.moves.resize(most + kSpare), out.codes.resize(most), out.biases.resize(most);
  }

  void count_move(State& state) const {
    if (++state.length > rules_->sizes().max_length)
      throw ProblemError("a playout goes on after " + std::to_string(rules_->sizes().max_length) +
                         " moves; if that is no mistake, set max_length");
  }

  std::shared_ptr<const Rules> rules_;
  Improve improve_;
};

static_assert(Game<UserProblem> && !BoardGame<UserProblem>);

}  // namespace playout
