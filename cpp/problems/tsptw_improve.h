// Local search for the TSPTW: a tour is changed bit by bit while that makes it better.
//
// A change moves up to three customers in a row elsewhere, or turns a part of the tour round (2-opt). The first aim is
// less time warp, the second less cost, or makespan. Time warp is by how much a tour would have to go back in time to
// be late nowhere: a smooth measure of lateness, which violations are not.
//
// A part of a tour is described by five numbers, and those of two parts in a row follow from theirs in constant time
// (Vidal, Crainic, Gendreau, Prins, "A hybrid genetic algorithm with adaptive diversity management for a large class of
// vehicle routing problems with time windows", 2013). A change puts three or four parts together, and the part that it
// shifts or turns grows by one customer from one change to the next, so each is judged in constant time.
//
// Places are gone through in turn, and the best change at a place is made, until none at any place is an improvement.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "problems/problem.h"
#include "problems/tsptw_tour.h"

namespace playout {

class TsptwImprover {
 public:
  explicit TsptwImprover(const TsptwTour& tour) : tour_(tour) {
    double largest = 0;
    for (const auto* list : {&tour.distances, &tour.ready, &tour.due})
      for (const double number : *list) largest = std::max(largest, std::abs(number));
    least_ = 1e-12 * largest;
  }

  // Improves a tour; true if its score, by the rules, has become better. A tour that was improved is not changed again.
  bool improve(std::vector<Move>& customers) {
    if (customers.empty() || !tour_.is_whole(customers)) return false;
    nodes_.assign(1, 0);
    nodes_.insert(nodes_.end(), customers.begin(), customers.end());
    nodes_.push_back(0);
    descend();
    const std::vector<Move> found(nodes_.begin() + 1, nodes_.end() - 1);
    if (!(tour_.score(found) > tour_.score(customers))) return false;
    customers = found;
    return true;
  }

 private:
  static constexpr int kLongest = 3;  // customers in a row that are moved elsewhere

  // A part of a tour: its least duration, the first and the last start that have it, its time warp, its cost.
  struct Part {
    double duration, early, late, warp, cost;
    int first, last;
  };

  struct Worth {
    double warp, value;
    bool operator<(const Worth& other) const {
      return warp < other.warp || (warp == other.warp && value < other.value);
    }
  };

  // Moves [begin, middle) behind [middle, end), or turns [begin, end) round where there is no middle.
  struct Change {
    int begin, middle, end;
  };

  Part single(int node) const { return {0, tour_.ready[node], tour_.due[node], 0, 0, node, node}; }

  Part join(const Part& a, const Part& b) const {
    const double distance = tour_.distance(a.last, b.first);
    const double shift = a.duration - a.warp + distance;
    const double wait = std::max(b.early - shift - a.late, 0.0), warp = std::max(a.early + shift - b.late, 0.0);
    return {a.duration + b.duration + distance + wait,
            std::max(b.early - shift, a.early) - wait,
            std::min(b.late - shift, a.late) + warp,
            a.warp + b.warp + warp,
            a.cost + b.cost + distance,
            a.first,
            b.last};
  }

  // What a whole tour is worth; a warp that is only rounding is none.
  Worth worth(const Part& whole) const {
    return {whole.warp < least_ ? 0 : whole.warp,
            tour_.makespan ? whole.early + whole.duration - whole.warp : whole.cost};
  }

  // Whether a is better than b by more than rounding.
  bool is_better(const Worth& a, const Worth& b) const {
    return a.warp < b.warp - least_ || (a.warp <= b.warp && a.value < b.value - least_);
  }

  int last() const { return static_cast<int>(nodes_.size()) - 1; }

  void measure() {
    ones_.resize(nodes_.size()), heads_.resize(nodes_.size()), tails_.resize(nodes_.size());
    for (int i = 0; i <= last(); i++) ones_[i] = single(nodes_[i]);
    ones_[0].late = ones_[0].early;  // the tour begins then, not later
    heads_[0] = ones_[0];
    for (int i = 1; i <= last(); i++) heads_[i] = join(heads_[i - 1], ones_[i]);
    tails_[last()] = ones_[last()];
    for (int i = last() - 1; i >= 0; i--) tails_[i] = join(ones_[i], tails_[i + 1]);
    now_ = worth(heads_[last()]);
  }

  void descend() {
    measure();
    for (int place = 1, unchanged = 0; unchanged < last() - 1; place = place == last() - 1 ? 1 : place + 1) {
      unchanged++;
      best_ = now_;
      try_shifts(place);
      try_turns(place);
      if (!is_better(best_, now_)) continue;
      const Worth before = now_;
      make(change_);
      measure();
      if (now_ < before) {
        unchanged = 0;
      } else {  // it was rounding after all
        undo(change_);
        measure();
      }
    }
  }

  // Whether a tour of that cost could be better than the best change so far.
  bool is_hopeful(double cost) const { return tour_.makespan || best_.warp > 0 || cost < best_.value - least_; }

  void consider(const Part& whole, const Change& change) {
    const Worth found = worth(whole);
    if (!is_better(found, best_)) return;
    best_ = found;
    change_ = change;
  }

  double arc(int i, int j) const { return tour_.distance(nodes_[i], nodes_[j]); }

  // Moves the customers from `begin` on elsewhere: one, two, three of them.
  void try_shifts(int begin) {
    Part part = ones_[begin];
    for (int end = begin + 1; end <= std::min(begin + kLongest, last()); end++) {
      if (end > begin + 1) part = join(part, ones_[end - 1]);
      const double without = heads_[last()].cost - arc(begin - 1, begin) - arc(end - 1, end) + arc(begin - 1, end);
      Part head = heads_[begin - 1];
      for (int after = end; after < last(); after++) {
        head = join(head, ones_[after]);
        if (head.warp > best_.warp + least_) break;
        if (is_hopeful(without - arc(after, after + 1) + arc(after, begin) + arc(end - 1, after + 1)))
          consider(join(join(head, part), tails_[after + 1]), {begin, end, after + 1});
      }
      Part tail = tails_[end];
      for (int before = begin - 1; before > 0; before--) {
        tail = join(ones_[before], tail);
        if (tail.warp > best_.warp + least_) break;
        if (is_hopeful(without - arc(before - 1, before) + arc(before - 1, begin) + arc(end - 1, before)))
          consider(join(join(heads_[before - 1], part), tail), {before, begin, end});
      }
    }
  }

  // Turns the customers from `begin` on round: two of them, three, and so on.
  void try_turns(int begin) {
    Part turned = ones_[begin];
    double forwards = 0;
    for (int end = begin + 2; end <= last(); end++) {
      forwards += arc(end - 2, end - 1);
      turned = join(ones_[end - 1], turned);
      if (turned.warp > best_.warp + least_) break;
      if (is_hopeful(heads_[last()].cost + (turned.cost - forwards) - arc(begin - 1, begin) - arc(end - 1, end) +
                     arc(begin - 1, end - 1) + arc(begin, end)))
        consider(join(join(heads_[begin - 1], turned), tails_[end]), {begin, begin, end});
    }
  }

  void make(const Change& change) {
    const auto first = nodes_.begin();
    if (change.middle == change.begin)
      std::reverse(first + change.begin, first + change.end);
    else
      std::rotate(first + change.begin, first + change.middle, first + change.end);
  }

  void undo(const Change& change) {
    const bool is_turn = change.middle == change.begin;
    make({change.begin, is_turn ? change.begin : change.begin + (change.end - change.middle), change.end});
  }

  const TsptwTour& tour_;
  double least_;                            // differences below are rounding
  std::vector<int> nodes_;                  // the tour, with the depot at both ends
  std::vector<Part> ones_, heads_, tails_;  // each node; up to and with it; from it on
  Worth now_{}, best_{};                    // of the tour, and after the best change found at a place
  Change change_{};
};

}  // namespace playout
