// The gradient of a loop is a loop that runs backwards (backward_loop.c): here is what of the
// loop's turns is kept for it, and how many are reversed at once.
//
// What was carried is kept by the loop done again, row by row: as many rows as there may be
// iterations, where the condition compares a count with a dim; else the loop appends them. On
// several devices, between which rows would be sent, there are as many as a first loop counts,
// which then does no more than its condition needs. An array that is changed in a few places is
// carried backwards, and each turn undone. Of what the loop only appends nothing is kept. What else
// of a turn is worth keeping the pass `choose` decides (passes/choose_kept.c).
//
// Inside of another region, which would be none of launches if it computed a dim, and under a limit
// of memory, the iterations are reversed a chunk at a time (chunks.c).
#include "frontend/gradient/reversal.h"
#include "frontend/values/tensors.h"
#include "ops/turns.h"

#include <math.h>

// So many checkpoints and iterations in a chunk, where their number is not known. Of 1,000
// iterations each is then done again three times on average, of 30,000 five times.
enum { USUAL = 16, LEAST = 2 };

// -- Under a limit of memory ----------------------------------------------------------------------

static double bytes_of(const leat_type *type) {
  int64_t elements = leat_type_static_elements(type);
  return elements < 0 ? INFINITY : (double)elements * (double)leat_dtype_size(type->dtype);
}

// Of what is kept of a turn; INFINITY: known only while running.
static double row_bytes(const reversal *r) {
  double bytes = 0;
  for (uint32_t i = 0; i < r->carried; i++) {
    uint32_t kept;
    const leat_type *types = ev_kept_types(r, i, &kept);
    for (uint32_t k = 0; k < kept; k++) bytes += bytes_of(&types[k]);
  }
  return bytes;
}

// What the regions of the entry give, of which rows that other loops keep are most.
static double bytes_kept(const reversal *r) {
  ev_numbered all = ev_number_nodes(r->e, true, r->e->arena);
  double bytes = 0;
  for (uint32_t i = 0; i < all.count; i++) {
    const leat_node *node = all.nodes[i];
    if (node->info->kind != LEAT_KIND_REGION || node->entry != r->e->at.entry) continue;
    for (uint32_t k = 0; k < node->output_count; k++)
      if (isfinite(bytes_of(&node->outputs[k]))) bytes += bytes_of(&node->outputs[k]);
  }
  return bytes;
}

// So many rows may be kept: half of what a step may take is left to all else.
static double most_rows(const reversal *r) {
  double left = (double)r->e->options.memory_limit / 2 - bytes_kept(r), row = row_bytes(r);
  if (!r->e->options.memory_limit || row == 0) return INFINITY;
  return left > 0 ? left / row : 0;
}

static bool rows_fit(const reversal *r, leat_dim count) {
  if (!leat_dim_is_const(count)) return !r->e->options.memory_limit;
  return (double)count.value <= most_rows(r);
}

// Iterations that are reversed at once, for which there are about as many checkpoints: √T.
static int64_t chunk_size(const reversal *r, const leat_dim *count) {
  bool known = count && leat_dim_is_const(*count);
  double size = known ? ceil(sqrt((double)count->value)) : USUAL;
  return (int64_t)fmax(fmin(size, most_rows(r) / 2), LEAST);
}

// -- Loops ----------------------------------------------------------------------------------------

// Runs the loop once more, in its place where it may.
static leat_node *run_again(const reversal *r, ev_again *how, bool replaces) {
  replaces = replaces && ev_may_replace(r);
  how->drops = !replaces;
  leat_node *again = ev_run_again(r, how);
  if (again && replaces) ev_replace_loop(r, again, how);
  return again;
}

// With rows for so many iterations.
static bool keep_rows(const reversal *r, leat_dim count, ev_history *out) {
  ev_again keeping = {.kept = &count};
  leat_node *kept = run_again(r, &keeping, true);
  if (!kept) return false;
  ev_take_history(r, kept, r->node->inputs, out);
  return true;
}

static bool is_elsewhere(const leat_graph *body, const char *device) {
  for (uint32_t i = 0; i < body->nodes.count; i++) {
    const leat_node *node = body->nodes.items[i];
    if (node->colocate || (node->device && node->device != device)) return true;
    for (int k = 0; k < node->info->attr_count; k++)
      if (leat_node_body(node, k) && is_elsewhere(leat_node_body(node, k), device)) return true;
  }
  return false;
}

// What grows is where the loop is: from elsewhere each row would be sent there, and back.
static bool can_append(const reversal *r) {
  return !is_elsewhere(r->condition, r->node->device) && !is_elsewhere(r->body, r->node->device);
}

// Rows of all turns, one behind the other: there are *turns of each.
static bool append_rows(const reversal *r, ev_history *out, leat_dim *turns) {
  leat_dim none = leat_dim_const(0);
  ev_again keeping = {.kept = &none, .appends = true};
  leat_node *again = run_again(r, &keeping, true);
  if (!again) return false;
  ev_take_history(r, again, r->node->inputs, out);
  bool rows = again->output_count > r->carried + 1;
  ev dim = rows ? ev_of_dim(again->outputs[r->carried + 1].dims[0])
                : ev_dynamic(r->e, ev_tensor(out->count), r->span);
  if (dim.kind != EV_DIM) return false;
  *turns = dim.dim;
  out->turns = turns;
  return true;
}

// replaces: what counts may be the loop.
static bool count_iterations(const reversal *r, bool replaces, ev_history *out) {
  ev_again counting = {0};
  out->count = replaces ? ev_turn_count(r) : (leat_value){0};
  if (out->count.node) return true;
  leat_node *again = run_again(r, &counting, replaces);
  if (again) out->count = (leat_value){again, r->carried};
  return again;
}

// Of rows that are there anyhow, where they are no more than may be kept.
static bool find_rows(const reversal *r, bool known, leat_dim *turns, ev_history *out) {
  if (!ev_find_history(r, known ? turns : NULL, out)) return false;
  for (uint32_t i = 0; i < r->carried && !known; i++) {
    uint32_t kept;
    ev_kept_types(r, i, &kept);
    if (kept) *turns = leat_value_type(*out->kept[i])->dims[0], known = true;
  }
  bool limited = r->e->options.memory_limit;
  return known && (!limited || (leat_dim_is_const(*turns) && most_rows(r) > 0));
}

static leat_node *reverse(const reversal *r, ev_history *h) {
  leat_dim turns;
  bool exact = leat_loop_turns(r->node, &turns), known = leat_loop_most_turns(r->node, &turns);
  bool limited = r->e->options.memory_limit, fits = known && rows_fit(r, turns);
  bool found = find_rows(r, known, &turns, h);
  bool appended = found && !known && !r->e->at.region;
  if ((fits && exact && !limited) || appended) h->turns = &turns;
  if (found) return ev_reverse_turns(r, h);
  if (fits) return keep_rows(r, turns, h) ? ev_reverse_turns(r, h) : NULL;
  bool chunks = r->e->at.region || limited;
  if (!chunks && can_append(r)) return append_rows(r, h, &turns) ? ev_reverse_turns(r, h) : NULL;
  if (!count_iterations(r, chunks, h)) return NULL;
  if (chunks) return ev_reverse_chunks(r, h, chunk_size(r, known ? &turns : NULL));
  ev dim = ev_dynamic(r->e, ev_tensor(h->count), r->span);
  if (dim.kind != EV_DIM || !keep_rows(r, dim.dim, h)) return NULL;
  h->turns = &dim.dim;
  return ev_reverse_turns(r, h);
}

bool ev_reverse_loop(const reversal *r) {
  uint32_t inputs = r->node->input_count, port = 1;
  ev_history h = {.gradients = leat_new_array(r->e->arena, leat_value, (size_t)inputs + 1),
                  .appended = leat_new_array(r->e->arena, leat_value, (size_t)r->carried + 1),
                  .sparse = leat_new_array(r->e->arena, ev, (size_t)inputs + 1),
                  .ports = leat_new_array(r->e->arena, uint32_t, (size_t)inputs + 1)};
  for (uint32_t i = 0; i < inputs; i++)
    if (ev_is_wanted(r, i))
      h.gradients[i] =
          ev_or_zeros(r, i < r->carried ? r->partials[i] : ev_error(), r->node->inputs[i]);
  for (uint32_t i = 0; i < r->carried; i++)
    if (ev_appends(r, i)) h.appended[i] = ev_dense(r, r->partials[i]);
  leat_node *node = reverse(r, &h);
  for (uint32_t i = 0; node && i < inputs; i++) {
    if (ev_is_wanted(r, i)) r->out[i] = ev_tensor((leat_value){node, port++});
    if (h.sparse[i].kind == EV_ROWS) r->out[i] = h.sparse[i];
    if (r->wanted[i] && i < r->carried && ev_appends(r, i))
      r->out[i] = ev_rows_before(r, i, h.appended[i]);
  }
  return node;
}
