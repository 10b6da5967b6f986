// See min_cut.h. Each edge has one back, its number with the last bit changed; what is left of both
// says what flows.
#include "base/min_cut.h"

#include "base/vec.h"

#include <string.h>

typedef struct edge {
  uint32_t to, before; // 1 + the edge that its vertex had before this one; 0: none
  int64_t left;
} edge;

struct leat_network {
  leat_arena *arena;
  leat_vec(edge) edges;
  uint32_t vertices;
  uint32_t *last;  // by vertex: 1 + its last edge; 0: it has none
  uint32_t *next;  // the same, of those that were not yet found to lead nowhere
  uint32_t *level; // 1 + how many edges away from the source; 0: out of reach
  uint32_t *path;  // vertices in the order of a search, or the edges of a way to the sink
};

leat_network *leat_network_create(leat_arena *arena, uint32_t vertices) {
  leat_network *n = leat_new(arena, leat_network);
  *n = (leat_network){.arena = arena, .vertices = vertices};
  n->last = leat_new_array(arena, uint32_t, vertices);
  n->next = leat_new_array(arena, uint32_t, vertices);
  n->level = leat_new_array(arena, uint32_t, vertices);
  n->path = leat_new_array(arena, uint32_t, vertices);
  return n;
}

static void add_edge(leat_network *n, uint32_t from, uint32_t to, int64_t left) {
  leat_vec_push(n->arena, &n->edges, ((edge){.to = to, .before = n->last[from], .left = left}));
  n->last[from] = n->edges.count;
}

void leat_network_add(leat_network *network, uint32_t from, uint32_t to, int64_t cost) {
  add_edge(network, from, to, cost);
  add_edge(network, to, from, 0);
}

// False: the sink is out of reach.
static bool set_levels(leat_network *n, uint32_t source, uint32_t sink) {
  uint32_t found = 1;
  memset(n->level, 0, n->vertices * sizeof *n->level);
  n->path[0] = source;
  n->level[source] = 1;
  for (uint32_t i = 0; i < found; i++)
    for (uint32_t e = n->last[n->path[i]]; e; e = n->edges.items[e - 1].before) {
      const edge *edge = &n->edges.items[e - 1];
      if (!edge->left || n->level[edge->to]) continue;
      n->level[edge->to] = n->level[n->path[i]] + 1;
      n->path[found++] = edge->to;
    }
  return n->level[sink];
}

static uint32_t tail(const leat_network *n, uint32_t number) {
  return n->edges.items[number ^ 1].to;
}

// Fills the way; how much of it still can be filled, from its beginning on.
static uint32_t fill(leat_network *n, uint32_t length) {
  int64_t most = INT64_MAX;
  uint32_t first = 0;
  for (uint32_t i = length; i-- > 0;) {
    int64_t left = n->edges.items[n->path[i]].left;
    if (left > most) continue;
    most = left;
    first = i;
  }
  for (uint32_t i = 0; i < length; i++) {
    n->edges.items[n->path[i]].left -= most;
    n->edges.items[n->path[i] ^ 1].left += most;
  }
  return first;
}

// The next edge of a shortest way, whose number is one less; 0: none is left.
static uint32_t find_edge(leat_network *n, uint32_t vertex) {
  for (; n->next[vertex]; n->next[vertex] = n->edges.items[n->next[vertex] - 1].before) {
    const edge *edge = &n->edges.items[n->next[vertex] - 1];
    if (edge->left && n->level[edge->to] == n->level[vertex] + 1) break;
  }
  return n->next[vertex];
}

// Fills all shortest ways.
static void fill_shortest(leat_network *n, uint32_t source, uint32_t sink) {
  uint32_t length = 0, at = source;
  memcpy(n->next, n->last, n->vertices * sizeof *n->next);
  for (;;) {
    uint32_t found = at == sink ? 0 : find_edge(n, at);
    if (found) {
      n->path[length++] = found - 1;
      at = n->edges.items[found - 1].to;
    } else if (at == sink) {
      length = fill(n, length);
      at = tail(n, n->path[length]);
    } else if (length) {
      n->level[at] = 0; // it leads nowhere
      at = tail(n, n->path[--length]);
    } else {
      return;
    }
  }
}

const bool *leat_network_cut(leat_network *network, uint32_t source, uint32_t sink) {
  while (set_levels(network, source, sink)) fill_shortest(network, source, sink);
  bool *reached = leat_new_array(network->arena, bool, network->vertices);
  for (uint32_t i = 0; i < network->vertices; i++) reached[i] = network->level[i];
  return reached;
}
