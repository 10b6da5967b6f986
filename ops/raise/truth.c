// Boolean functions of numbered variables, as ordered decision diagrams: each function is one
// number, so that what is always alive, or alive together, is found by comparing. The newest
// variable is decided first, as a switch of what another switch gives adds to it.
#include "ops/raise/web.h"

#include <stdlib.h>

enum { MOST_NODES = 1 << 18, MOST_DEPTH = 256 };

typedef enum asked { ASKED_NODE, ASKED_AND, ASKED_NOT, ASKED_GIVEN } asked;

typedef struct question {
  uint32_t what, a, b, c;
} question;

void leat_truths_init(leat_truths *truths, leat_arena *arena) {
  *truths = (leat_truths){.arena = arena};
  leat_bytes_map_init(&truths->known, arena);
  leat_map_init(&truths->supports, arena);
  for (uint32_t i = LEAT_NEVER; i <= LEAT_ALWAYS; i++) {
    leat_vec_push(arena, &truths->nodes, (leat_truth_node){UINT32_MAX, i, i});
    leat_vec_push(arena, &truths->depths, 0u);
  }
}

static bool is_known(const leat_truths *truths, const question *q, leat_truth *out) {
  uintptr_t found = (uintptr_t)leat_bytes_map_get(&truths->known, q, sizeof *q);
  if (found) *out = (leat_truth)(found - 1);
  return found;
}

static leat_truth learn(leat_truths *truths, const question *q, leat_truth answer) {
  leat_bytes_map_set(&truths->known, q, sizeof *q, (void *)((uintptr_t)answer + 1));
  return answer;
}

static leat_truth decide(leat_truths *truths, uint32_t variable, leat_truth no, leat_truth yes) {
  question q = {ASKED_NODE, variable, no, yes};
  leat_truth found;
  if (no == yes) return no;
  if (is_known(truths, &q, &found)) return found;
  uint32_t a = truths->depths.items[no], b = truths->depths.items[yes], depth = (a > b ? a : b) + 1;
  if (truths->nodes.count >= MOST_NODES || depth > MOST_DEPTH) truths->full = true;
  if (truths->full) return LEAT_NEVER;
  leat_vec_push(truths->arena, &truths->nodes, (leat_truth_node){variable, no, yes});
  leat_vec_push(truths->arena, &truths->depths, depth);
  return learn(truths, &q, truths->nodes.count - 1);
}

leat_truth leat_truth_variable(leat_truths *truths, uint32_t variable) {
  return decide(truths, variable, LEAT_NEVER, LEAT_ALWAYS);
}

leat_truth leat_truth_not(leat_truths *truths, leat_truth a) {
  question q = {ASKED_NOT, a, 0, 0};
  leat_truth found;
  if (a <= LEAT_ALWAYS) return a == LEAT_NEVER ? LEAT_ALWAYS : LEAT_NEVER;
  if (is_known(truths, &q, &found)) return found;
  leat_truth_node node = truths->nodes.items[a];
  leat_truth no = leat_truth_not(truths, node.no), yes = leat_truth_not(truths, node.yes);
  return learn(truths, &q, decide(truths, node.variable, no, yes));
}

// What is left of it once the variable is known.
static leat_truth half(const leat_truths *truths, leat_truth a, uint32_t variable, bool yes) {
  const leat_truth_node *node = &truths->nodes.items[a];
  return a <= LEAT_ALWAYS || node->variable != variable ? a : yes ? node->yes : node->no;
}

leat_truth leat_truth_given(leat_truths *truths, leat_truth a, uint32_t variable, bool holds) {
  leat_truth_node node = truths->nodes.items[a];
  question q = {ASKED_GIVEN, a, variable, holds};
  leat_truth found;
  if (a <= LEAT_ALWAYS || node.variable < variable) return a;
  if (node.variable == variable) return holds ? node.yes : node.no;
  if (is_known(truths, &q, &found)) return found;
  leat_truth no = leat_truth_given(truths, node.no, variable, holds);
  leat_truth yes = leat_truth_given(truths, node.yes, variable, holds);
  return learn(truths, &q, decide(truths, node.variable, no, yes));
}

leat_truth leat_truth_and(leat_truths *truths, leat_truth a, leat_truth b) {
  if (a > b) {
    leat_truth other = a;
    a = b;
    b = other;
  }
  question q = {ASKED_AND, a, b, 0};
  leat_truth found;
  if (a == LEAT_NEVER || b == LEAT_NEVER) return LEAT_NEVER;
  if (a == LEAT_ALWAYS || a == b) return b;
  if (is_known(truths, &q, &found)) return found;
  uint32_t x = truths->nodes.items[a].variable, y = truths->nodes.items[b].variable;
  uint32_t variable = x > y ? x : y;
  leat_truth no =
      leat_truth_and(truths, half(truths, a, variable, false), half(truths, b, variable, false));
  leat_truth yes =
      leat_truth_and(truths, half(truths, a, variable, true), half(truths, b, variable, true));
  return learn(truths, &q, decide(truths, variable, no, yes));
}

leat_truth leat_truth_or(leat_truths *truths, leat_truth a, leat_truth b) {
  leat_truth x = leat_truth_not(truths, a), y = leat_truth_not(truths, b);
  return leat_truth_not(truths, leat_truth_and(truths, x, y));
}

bool leat_truth_implies(leat_truths *truths, leat_truth a, leat_truth b) {
  return leat_truth_and(truths, a, b) == a;
}

static int compare_numbers(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

static void find_support(leat_truths *truths, leat_truth a, leat_truth_support *out) {
  leat_vec(leat_truth) pending = {0};
  leat_map seen;
  leat_map_init(&seen, truths->arena);
  leat_vec_push(truths->arena, &pending, a);
  while (pending.count) {
    leat_truth top = pending.items[--pending.count];
    const leat_truth_node *node = &truths->nodes.items[top];
    const void *as_node = (const void *)((uintptr_t)top << 1);
    const void *as_variable = (const void *)((uintptr_t)node->variable << 1 | 1);
    if (top <= LEAT_ALWAYS || leat_map_get(&seen, as_node)) continue;
    leat_map_set(&seen, as_node, truths);
    if (!leat_map_get(&seen, as_variable)) leat_vec_push(truths->arena, out, node->variable);
    leat_map_set(&seen, as_variable, truths);
    leat_vec_push(truths->arena, &pending, node->no);
    leat_vec_push(truths->arena, &pending, node->yes);
  }
  if (out->count) qsort(out->items, out->count, sizeof *out->items, compare_numbers);
}

leat_truth_support leat_truth_support_of(leat_truths *truths, leat_truth a) {
  const void *key = (const void *)((uintptr_t)a + 1);
  leat_truth_support *support = leat_map_get(&truths->supports, key);
  if (!support) {
    support = leat_new(truths->arena, leat_truth_support);
    leat_map_set(&truths->supports, key, support);
    find_support(truths, a, support);
  }
  return *support;
}
