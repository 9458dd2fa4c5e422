/* How far does a knight get on an n x n board if its path never crosses itself? For n = 3 to 8: 2, 5, 10, 17, 24, 35.
 *
 *     cc -O2 -shared -fPIC -I$(playout include) knights.c -o knights.so
 *     playout solve ./knights.so:6 --seconds 10
 */
#include <stdlib.h>

#include "playout.h"

#define LARGEST 12

struct path { /* the state: it has no pointers */
  int32_t squares, square[LARGEST * LARGEST];
};

static int is_left(int n, int a, int b, int c) { /* whether c is to the left of the line from a to b */
  return (b % n - a % n) * (c / n - a / n) > (b / n - a / n) * (c % n - a % n);
}

static int is_free(int n, const struct path *path, int from, int to) {
  for (int i = 0; i < path->squares; i++) {
    const int a = path->square[i], b = i + 1 < path->squares ? path->square[i + 1] : a;
    if (a == to || (b != from && is_left(n, a, b, from) != is_left(n, a, b, to) &&
                    is_left(n, from, to, a) != is_left(n, from, to, b)))
      return 0;
  }
  return 1;
}

static void init(const void *data, void *state) { (void)data, (void)state; } /* it is all zeros */

static int64_t moves(const void *data, const void *state, int64_t *out) {
  static const int right[] = {1, 2, 2, 1, -1, -2, -2, -1}, up[] = {2, 1, -1, -2, -2, -1, 1, 2};
  const struct path *path = state;
  const int n = *(const int *)data, from = path->squares > 0 ? path->square[path->squares - 1] : 0;
  int64_t count = 0;
  while (path->squares == 0 && count < n * n) out[count] = count, count++; /* begin anywhere */
  for (int i = 0; i < 8 && path->squares > 0; i++) {
    const int x = from % n + right[i], y = from / n + up[i];
    if (x >= 0 && x < n && y >= 0 && y < n && is_free(n, path, from, y * n + x)) out[count++] = y * n + x;
  }
  return count;
}

static void play(const void *data, void *state, int64_t move) {
  struct path *path = state;
  (void)data, path->square[path->squares++] = (int32_t)move;
}

static double score(const void *data, const void *state) {
  return (void)data, ((const struct path *)state)->squares - 1;
}

static int64_t code(const void *data, const void *state, int64_t move) { /* the jump: from where to where */
  const struct path *path = state;
  return (void)data, LARGEST * LARGEST * (path->squares > 0 ? path->square[path->squares - 1] + 1 : 0) + move;
}

const struct playout_table *playout_problem(const char *argument) {
  static struct playout_table tables[LARGEST + 1]; /* one for each size: they must stay */
  static int sizes[LARGEST + 1];
  const int n = atoi(argument);
  if (n < 3 || n > LARGEST) return NULL;
  sizes[n] = n;
  tables[n] = (struct playout_table){.version = PLAYOUT_TABLE_VERSION, .state_bytes = sizeof(struct path),
                                     .max_moves = n * n, .name = "knight's path", .data = &sizes[n], .init = init,
                                     .moves = moves, .play = play, .score = score, .code = code};
  return &tables[n];
}
