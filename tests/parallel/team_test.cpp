// What Python cannot see of a team: every task is done once, by a worker of its own, and errors come out.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include "parallel/team.h"

namespace {

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "%s\n", what);
  std::exit(1);
}

// Many short rounds of all lengths; now and then a pause in which the helpers fall asleep.
void every_task_is_done_once(int threads, int processors) {
  playout::Team team(threads, processors);
  require(team.size() == threads, "the size of a team is its threads");
  std::vector<int> done(64);
  std::vector<int> busy(threads);
  for (int round = 0; round < 3000; round++) {
    const int tasks = round % 64;
    std::fill(done.begin(), done.end(), 0);
    team.run(tasks, [&](int task, int worker) {
      require(busy[worker]++ == 0, "a worker does one task at a time");
      done[task]++;
      if (round % 100 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
      busy[worker]--;
    });
    for (int task = 0; task < 64; task++) require(done[task] == (task < tasks), "every task is done, once");
    if (round % 50 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
  }
}

// What the lowest task threw is thrown on, the others are done all the same, and the team goes on.
void errors_come_out(int threads) {
  playout::Team team(threads, 2);
  for (int round = 0; round < 200; round++) {
    std::vector<int> done(16);
    std::string message;
    try {
      team.run(16, [&](int task, int) {
        done[task] = 1;
        if (task % 5 == 3) throw std::runtime_error(std::to_string(task));
      });
    } catch (const std::runtime_error& error) {
      message = error.what();
    }
    if (threads > 1) {
      require(message == "3", "the error of the lowest task comes out");
      for (const int one : done) require(one == 1, "the other tasks are done");
    }
    require(!message.empty(), "an error comes out");
  }
}

}  // namespace

int main() {
  for (const int threads : {1, 2, 3, 8}) {
    every_task_is_done_once(threads, 2);
    every_task_is_done_once(threads, 16);
    errors_come_out(threads);
  }
  for (int i = 0; i < 200; i++) playout::Team(8, 2);  // nothing to do, and gone at once
  std::puts("ok");
}
