// The cheapest cut between two vertices (Ford and Fulkerson, 1956), by Dinic's blocking flows (E.
// A. Dinic, 1970).
#ifndef LEAT_BASE_MIN_CUT_H
#define LEAT_BASE_MIN_CUT_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

#define LEAT_NEVER_CUT (INT64_MAX / 4) // what may be cut costs less, all of it together

typedef struct leat_network leat_network;

leat_network *leat_network_create(leat_arena *arena, uint32_t vertices);
// Cutting it costs so much, 0 or more.
void leat_network_add(leat_network *network, uint32_t from, uint32_t to, int64_t cost);
// Of the cheapest cuts the one nearest to `source`: by vertex, whether it is on that side.
const bool *leat_network_cut(leat_network *network, uint32_t source, uint32_t sink);

#endif
