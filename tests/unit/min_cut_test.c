// base/min_cut.c: random networks, cut in all ways.
#include "base/min_cut.h"
#include "tests/unit/check.h"

enum { VERTICES = 9, SOURCE = 0, SINK = 1, MOST_EDGES = 40 };

typedef struct edge {
  uint32_t from, to;
  int64_t cost;
} edge;

static uint32_t below(uint64_t *state, uint32_t n) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33) % n;
}

static int64_t cost_of(const edge *edges, uint32_t count, const bool *side) {
  int64_t cost = 0;
  for (uint32_t i = 0; i < count; i++)
    if (side[edges[i].from] && !side[edges[i].to]) cost += edges[i].cost;
  return cost;
}

// Of all sets of vertices with the source and without the sink; *fewest: in the smallest.
static int64_t cheapest(const edge *edges, uint32_t count, uint32_t *fewest) {
  int64_t least = INT64_MAX;
  for (uint32_t set = 0; set < 1u << VERTICES; set++) {
    bool side[VERTICES];
    uint32_t size = 0;
    for (uint32_t v = 0; v < VERTICES; v++) size += side[v] = set >> v & 1;
    if (!side[SOURCE] || side[SINK]) continue;
    int64_t cost = cost_of(edges, count, side);
    if (cost < least) *fewest = VERTICES;
    if (cost < least) least = cost;
    if (cost == least && size < *fewest) *fewest = size;
  }
  return least;
}

TEST(random_networks_are_cut_where_it_costs_least) {
  uint64_t state = 1;
  for (int round = 0; round < 400; round++) {
    leat_arena *arena = leat_arena_create();
    leat_network *network = leat_network_create(arena, VERTICES);
    edge edges[MOST_EDGES];
    uint32_t count = below(&state, MOST_EDGES), size = 0, fewest = 0;
    for (uint32_t i = 0; i < count; i++) {
      int64_t cost = below(&state, 8) ? below(&state, 10) : LEAT_NEVER_CUT / MOST_EDGES;
      edges[i] = (edge){below(&state, VERTICES), below(&state, VERTICES), cost};
      leat_network_add(network, edges[i].from, edges[i].to, cost);
    }
    const bool *side = leat_network_cut(network, SOURCE, SINK);
    CHECK(side[SOURCE] && !side[SINK]);
    CHECK_EQ_INT(cost_of(edges, count, side), cheapest(edges, count, &fewest));
    for (uint32_t v = 0; v < VERTICES; v++) size += side[v];
    CHECK_EQ_INT(size, fewest);
    leat_arena_destroy(arena);
  }
}

// A chain of what is dear to keep and cheap to make, and so on: work in proportion to its length.
TEST(a_long_chain) {
  enum { LENGTH = 20000 };
  leat_arena *arena = leat_arena_create();
  leat_network *network = leat_network_create(arena, LENGTH + 2);
  for (uint32_t i = 0; i < LENGTH; i++)
    leat_network_add(network, i ? i + 1 : SOURCE, i + 1 < LENGTH ? i + 2 : SINK, 1 + (i + 7) % 13);
  const bool *side = leat_network_cut(network, SOURCE, SINK);
  for (uint32_t i = 2; i < LENGTH; i++) CHECK_EQ_INT(side[i], i <= 7);
  leat_arena_destroy(arena);
}

CHECK_MAIN("min_cut")
