// The tasks that are no segments: what only the host can do (print, bind a dim, assert), sends and
// recvs, branches and loops. A program of segments alone is linked without them (leat_control).
// It runs seldom: compiled for size.
#include "base/printable.h"
#include "runtime/executor.h"
#include "runtime/format.h"
#include "runtime/rotate.h"
#include "runtime/walk.h"

#include <string.h>

// Argument i of a task that has buffers.
static leat_tensor tensor_of(const leat_run *run, leat_task_place place, uint32_t i) {
  const leat_frame *frame = &run->frames[place.part];
  const leat_view *view = &frame->program->view;
  uint32_t index = view->args[leat_run_task_of(run, place)->first + i].index;
  const leat_image_type *type = &view->buffers[index].type;
  leat_tensor tensor = {.dtype = (leat_dtype)type->dtype,
                        .rank = (int32_t)type->rank,
                        .data = leat_frame_buffer(frame, index)};
  memcpy(tensor.shape, frame->formulas + type->shape_first, type->rank * sizeof(int64_t));
  return tensor;
}

static bool run_print(leat_run *run, leat_task_place place) {
  leat_runtime *runtime = run->executor->runtime;
  if (!runtime->print) return true;
  int64_t begin = leat_run_clock(run);
  const leat_image_task *task = leat_run_task_of(run, place);
  leat_text text = {0};
  leat_text_add(&text, "%s", leat_view_text(&run->frames[place.part].program->view, task->message));
  for (uint32_t i = 0; i < task->count; i++) {
    leat_tensor tensor = tensor_of(run, place, i);
    if (text.size) leat_text_add(&text, tensor.rank > 1 ? "\n" : " ");
    leat_tensor_format(&tensor, &text);
  }
  bool whole = !text.cut;
  if (!whole)
    leat_run_fail_node(run, place, task->node, LEAT_MEMORY, "no memory for what it prints");
  if (text.size) leat_mask_controls_n(text.data, text.size);
  pthread_mutex_lock(&runtime->print_lock);
  if (whole) runtime->print(runtime->print_context, text.data);
  pthread_mutex_unlock(&runtime->print_lock);
  leat_text_finish(&text);
  leat_run_trace(run, place, LEAT_TRACE_PRINT, begin, 0);
  return whole;
}

// Fails the step at the task, or at what of the frame's claims does not hold.
static bool fail_frame(leat_run *run, leat_task_place place, leat_status status,
                       const leat_error *why) {
  const leat_frame *frame = &run->frames[place.part];
  leat_image_origin node = frame->failed ? frame->failed->node : leat_run_task_of(run, place)->node;
  leat_run_fail_node(run, place, node, status, "%s", why->message);
  return false;
}

static bool run_bind(leat_run *run, leat_task_place place) {
  const leat_image_task *task = leat_run_task_of(run, place);
  leat_frame *frame = &run->frames[place.part];
  leat_error why = {0};
  int64_t value = *(const int64_t *)tensor_of(run, place, 0).data;
  leat_status status =
      leat_frame_bind(frame, task->dim, value, &run->executor->runtime->limits, &why);
  return status ? fail_frame(run, place, status, &why) : true;
}

static bool put(leat_run *run, leat_task_place place, bool append) {
  leat_error why = {0};
  leat_tensor tensor = tensor_of(run, place, 0);
  leat_status status =
      leat_frame_grow(&run->frames[place.part], leat_run_task_of(run, place)->grown, &tensor,
                      append, &run->executor->runtime->limits, &why);
  if (status)
    leat_run_fail_node(run, place, leat_run_task_of(run, place)->node, status, "%s", why.message);
  return !status;
}

static bool run_grow(leat_run *run, leat_task_place place) {
  return put(run, place, false);
}

static bool run_append(leat_run *run, leat_task_place place) {
  return put(run, place, true);
}

// "; element [1, 2] and 2 more", of what is no scalar.
static void add_place(leat_text *out, const leat_tensor *p, int64_t first) {
  int64_t rest = leat_shape_elements(p->rank, p->shape), at = first, wrong = 0;
  for (int64_t i = 0; i < rest; i++) wrong += !((const bool *)p->data)[i];
  leat_text_add(out, "; element [");
  for (int32_t k = 0; k < p->rank; k++, at %= rest) {
    rest /= p->shape[k];
    leat_text_add(out, k ? ", %lld" : "%lld", (long long)(at / rest));
  }
  leat_text_add(out, wrong > 1 ? "] and %lld more" : "]", (long long)wrong - 1);
}

// What another argument holds there, or all of one that has not p's shape.
static void add_value(leat_text *out, const leat_tensor *p, const leat_tensor *x, int64_t first) {
  enum { LONGEST = 200 };
  leat_text words = {0};
  bool same = x->rank == p->rank && !memcmp(x->shape, p->shape, (size_t)p->rank * sizeof *p->shape);
  if (same)
    leat_element_format(x->dtype,
                        (const char *)x->data + first * (int64_t)leat_dtype_size(x->dtype), &words);
  else
    leat_tensor_format(x, &words);
  size_t cut = words.size < LONGEST ? words.size : LONGEST;
  while (cut < words.size && (words.data[cut] & 0xc0) == 0x80) cut--; // whole characters
  leat_text_add(out, "%.*s%s", (int)cut, words.data, cut < words.size ? "…" : "");
  leat_text_finish(&words);
}

static bool run_assert(leat_run *run, leat_task_place place) {
  const leat_image_task *task = leat_run_task_of(run, place);
  leat_tensor p = tensor_of(run, place, 0);
  size_t size = (size_t)leat_tensor_bytes(&p);
  const char *wrong = size ? memchr(p.data, false, size) : NULL;
  if (!wrong) return true;
  const leat_program *program = run->frames[place.part].program;
  int64_t first = wrong - (const char *)p.data;
  leat_text found = {0};
  if (p.rank) add_place(&found, &p, first);
  for (uint32_t i = 1; i < task->count; i++) {
    leat_tensor x = tensor_of(run, place, i);
    leat_text_add(&found, i == 1 ? ": " : ", ");
    add_value(&found, &p, &x, first);
  }
  leat_run_fail_node(run, place, task->node, LEAT_INVALID, "%s%s",
                     leat_program_text(program, task->message), found.data ? found.data : "");
  leat_text_finish(&found);
  return false;
}

static bool run_send(leat_run *run, leat_task_place place) {
  return run->executor->runtime->exchange->send(run, place);
}

static bool run_recv(leat_run *run, leat_task_place place) {
  return run->executor->runtime->exchange->receive(run, place);
}

// -- Regions: a task of theirs comes to its turn again when a table that it began is complete -----

static const leat_image_region *region_of(const leat_run *run, leat_task_place place) {
  return leat_task_region(&run->frames[place.part].program->view, leat_run_task_of(run, place), 0);
}

static leat_region_state *begin_region(leat_run *run, leat_task_place place) {
  leat_region_state *state = &run->regions[place.part][leat_run_task_of(run, place)->first];
  if (!state->began) state->begin = leat_run_clock(run);
  return state;
}

static bool end_region(leat_run *run, leat_task_place place, const leat_region_state *state) {
  leat_error why = {0};
  leat_status status = leat_frame_end_region(&run->frames[place.part], region_of(run, place),
                                             &run->executor->runtime->limits, &why);
  if (status) return fail_frame(run, place, status, &why);
  leat_run_trace(run, place, LEAT_TRACE_REGION, state->begin, 0);
  return true;
}

// Begins it unless it is refused; the region's task is complete in neither case.
static bool begin_table(leat_run *run, leat_task_place place, uint32_t table) {
  const leat_image_claim *refusal = run->frames[place.part].refusals[table];
  if (refusal) {
    leat_run_fail_claim(run, place, refusal);
    return false;
  }
  leat_error why = {0};
  leat_status status = leat_frame_begin_table(&run->frames[place.part], table,
                                              &run->executor->runtime->limits, &why);
  if (status) return fail_frame(run, place, status, &why);
  leat_run_begin_table(run, place, table);
  return false;
}

static bool run_conditional(leat_run *run, leat_task_place place) {
  leat_region_state *state = begin_region(run, place);
  if (state->began) return end_region(run, place, state);
  const leat_image_region *region = region_of(run, place);
  state->began = true;
  bool holds = leat_frame_holds(&run->frames[place.part], region);
  return begin_table(run, place, region->tables[holds ? 0 : 1]);
}

static bool run_while_loop(leat_run *run, leat_task_place place) {
  leat_region_state *state = begin_region(run, place);
  const leat_image_region *region = region_of(run, place);
  if (state->decides && !leat_frame_goes_on(&run->frames[place.part], region))
    return end_region(run, place, state);
  uint32_t table = region->tables[state->decides ? 1 : 0];
  state->began = true;
  state->decides = !state->decides;
  return begin_table(run, place, table);
}

static bool run_rows(leat_run *run, leat_task_place place) {
  leat_region_state *state = begin_region(run, place);
  const leat_image_region *region = region_of(run, place);
  leat_frame *frame = &run->frames[place.part];
  leat_error why = {0};
  if (state->began && !leat_frame_end_rows(frame, region))
    return fail_frame(run, place,
                      leat_fail(&why, LEAT_INVALID, "damaged image: rows are counted wrong"), &why);
  if (state->began && !leat_frame_holds(frame, region)) return end_region(run, place, state);
  leat_status status =
      leat_frame_make_room(frame, region, !state->began, &run->executor->runtime->limits, &why);
  if (status) return fail_frame(run, place, status, &why);
  state->began = true;
  return begin_table(run, place, region->tables[0]);
}

static bool run(leat_run *run, leat_task_place place) {
  static bool (*const functions[LEAT_TASK_COUNT])(leat_run *, leat_task_place) = {
      [LEAT_TASK_IF] = run_conditional,
      [LEAT_TASK_WHILE] = run_while_loop,
      [LEAT_TASK_ROWS] = run_rows,
      [LEAT_TASK_GROW] = run_grow,
      [LEAT_TASK_APPEND] = run_append,
#define X(kind, op, range) [LEAT_TASK_##kind] = run_##op,
      LEAT_OP_TASKS(X)
#undef X
  };
  return functions[leat_run_task_of(run, place)->kind](run, place);
}

const leat_control *leat_runs_control(void) {
  static const leat_control control = {leat_scopes_find, run, leat_walk_region, leat_frame_rotate};
  return &control;
}
