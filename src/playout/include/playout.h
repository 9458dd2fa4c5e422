/* playout.h: a problem as a table of C functions.
 *
 * A shared library that exports
 *
 *     const struct playout_table *playout_problem(const char *argument);
 *
 * is a problem that Playout searches, whatever language it is written in:
 *
 *     problem = playout.load_problem("./libmygame.so", "an argument of your own")
 *
 * A state is a block of `state_bytes` bytes, aligned to 16, that Playout copies, compares and throws away as it likes:
 * it holds no pointers to anything that a copy must not share. All functions may be called from several threads at
 * once, each with a state of its own; they write to nothing else, and call no random generator.
 *
 * The same state must always give the same answers, or results cannot be repeated.
 */
#ifndef PLAYOUT_H
#define PLAYOUT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PLAYOUT_TABLE_VERSION 1

struct playout_table {
  uint32_t version;      /* PLAYOUT_TABLE_VERSION */
  uint32_t state_bytes;  /* the size of a state */
  int64_t max_moves;     /* the longest list that moves() fills */
  int64_t max_length;    /* the longest playout; 0: 10,000 moves. One that is longer ends the search with an error */
  double temperature;    /* that GNRPA uses unless told otherwise; 0: 1.0 */
  const char *name;      /* in messages and results; NULL: the name of the file */
  const void *data;      /* handed to every function; NULL if there is nothing to hand */

  /* Makes the state that a playout starts from. It is all zeros before. */
  void (*init)(const void *data, void *state);
  /* Fills out[] with the legal moves, each once, and returns how many. 0 ends the playout. */
  int64_t (*moves)(const void *data, const void *state, int64_t *out);
  /* Plays one of them. */
  void (*play)(const void *data, void *state, int64_t move);
  /* What a finished playout is worth; larger is better. Never a NaN or an infinity. Of a finished game, as player 0
   * sees it: above 0 player 0 has won, 0 is a draw, below 0 player 1 has won. */
  double (*score)(const void *data, const void *state);

  /* Any of these may be NULL. */

  /* What the policy learns a weight for; equal codes share it. NULL: the move itself. Codes below 65,536 are fastest. */
  int64_t (*code)(const void *data, const void *state, int64_t move);
  /* How much GNRPA prefers the move beforehand: odds are multiplied by exp(bias). NULL: 0. In a game, an opinion about
   * the move for the player who makes it: 0 is even, above 0 is better; 1 / (1 + exp(-bias)) is the chance to win. */
  double (*bias)(const void *data, const void *state, int64_t move);
  /* Whose turn it is, in a game: 0 or 1, of a finished game too. NULL: there is one player. A game is played with
   * playout.Player. States are one and the same if all their bytes are: leave those between fields 0. */
  int64_t (*player)(const void *data, const void *state);
};

/* The one function a library exports. The table must stay as long as the library is loaded. NULL: no such problem. */
const struct playout_table *playout_problem(const char *argument);

#ifdef __cplusplus
}
#endif

#endif
