// What stands around or behind a statement: `on`, `colocate`, `after`.
#include "frontend/evaluate/statements.h"

#include "frontend/values/names.h"
#include "frontend/values/region.h"
#include "ir/device_name.h"

#include <string.h>

// -- on -----------------------------------------------------------------------------------------

static const leat_job *find_job(const evaluator *e, const char *name) {
  for (int i = 0; i < e->options.job_count; i++)
    if (!strcmp(e->options.jobs[i].name, name)) return &e->options.jobs[i];
  return NULL;
}

// Jobs and tasks are the cluster's; without one this process is task 0 of every job.
static bool check_job(evaluator *e, leat_device_name name, leat_span span) {
  const leat_job *job = name.job ? find_job(e, name.job) : NULL;
  if (name.job && e->options.job_count && !job) {
    const char **names = leat_new_array(e->arena, const char *, (size_t)e->options.job_count);
    for (int i = 0; i < e->options.job_count; i++) names[i] = e->options.jobs[i].name;
    ev_fail(e, span, "the cluster has no job `%s`%s", name.job,
            ev_suggestion(e, name.job, names, (size_t)e->options.job_count));
    return false;
  }
  int64_t tasks = job ? job->tasks : e->options.job_count ? INT64_MAX : 1;
  if (name.task < tasks) return true;
  if (job)
    ev_fail(e, span, "job `%s` has %d task%s: there is no task %lld", name.job, job->tasks,
            job->tasks == 1 ? "" : "s", (long long)name.task);
  else
    ev_fail(e, span, "without a cluster every job has one task, 0: there is no task %lld",
            (long long)name.task);
  return false;
}

static bool parse_device(evaluator *e, const char *text, bool canonical, leat_span span,
                         leat_device_name *out) {
  if (leat_device_name_parse(e->strings, text, out)) return canonical || check_job(e, *out, span);
  ev_fail(e, span,
          "`%s` is no device name; they look like \"/job:worker/task:0/device:cpu:0\", with at "
          "least one part",
          text);
  return false;
}

// `on` inside `on`: both hold.
static bool narrow(evaluator *e, leat_device_name inner, leat_span span, const char **device) {
  leat_device_name outer, both = inner;
  const char *text = leat_device_name_format(e->strings, inner);
  if (*device && (!leat_device_name_parse(e->strings, *device, &outer) ||
                  !leat_device_name_merge(outer, inner, &both))) {
    ev_fail(e, span, "`on \"%s\"` stands inside `on \"%s\"`: nothing can be on both", text,
            *device);
    return false;
  }
  *device = leat_device_name_format(e->strings, both);
  return true;
}

static bool is_canonical(const leat_stmt *stmt) {
  return stmt->absolute || (stmt->targets.count && stmt->targets.items[0].absolute);
}

static bool narrow_text(evaluator *e, const leat_stmt *stmt, ev text, const char **device) {
  leat_device_name name;
  return parse_device(e, leat_intern_n(e->strings, text.text, text.size), is_canonical(stmt),
                      stmt->on->span, &name) &&
         narrow(e, name, stmt->on->span, device);
}

// Operations go where `on` says. State does not: only what is declared in an `on` of the same
// function, and, under a replica_device, what says nothing itself.
static bool enter_on(evaluator *e, const leat_stmt *stmt) {
  ev where = ev_expr(e, stmt->on, NULL);
  if (where.kind == EV_ERROR || !ev_spend(e, 2, stmt->on->span)) return false;
  if (where.kind == EV_LIST && where.list->names) { // replica_device(ps=…, worker=…)
    for (uint32_t i = 0; i < where.list->count; i++) {
      bool worker = !strcmp(where.list->names[i], "worker");
      const char **device = worker ? &e->at.device : &e->at.state_device;
      if (!narrow_text(e, stmt, where.list->items[i], device)) return false;
    }
    return true;
  }
  if (where.kind != EV_STRING || memchr(where.text, 0, where.size)) {
    ev_fail(e, stmt->on->span, "`on` takes a device's name, found %s", ev_kind_name(where));
    return false;
  }
  return narrow_text(e, stmt, where, &e->at.device) &&
         narrow_text(e, stmt, where, &e->frame->device);
}

// -- colocate -----------------------------------------------------------------------------------

static bool enter_colocate(evaluator *e, const leat_stmt *stmt) {
  const leat_expr *expr = stmt->colocate;
  ev value = ev_expr(e, expr, NULL);
  if (value.kind == EV_STATE)
    e->at.colocate = value.state->name;
  else if (value.kind == EV_TENSOR)
    e->at.colocate = value.tensor.node->name;
  else if (value.kind == EV_STRING && is_canonical(stmt)) // perhaps of what stands further down
    e->at.colocate = leat_intern_n(e->strings, value.text, value.size);
  else if (value.kind != EV_ERROR)
    value = ev_fail(e, expr->span, "`colocate` names a tensor or a variable, this is %s",
                    ev_kind_name(value));
  return value.kind != EV_ERROR;
}

// -- after --------------------------------------------------------------------------------------

typedef leat_vec(leat_node *) node_list;

// The nodes of a tensor, or of a list of them.
static bool awaited_nodes(evaluator *e, const leat_expr *name, ev awaited, node_list *out) {
  if (awaited.kind == EV_TENSOR)
    leat_vec_push(e->arena, out, awaited.tensor.node);
  else if (awaited.kind == EV_LIST)
    for (uint32_t i = 0; i < awaited.list->count; i++) {
      if (!awaited_nodes(e, name, awaited.list->items[i], out)) return false;
    }
  else if (awaited.kind != EV_ERROR)
    ev_fail(e, name->span, "`after` waits for tensors, this is %s", ev_kind_name(awaited));
  return awaited.kind == EV_TENSOR || awaited.kind == EV_LIST;
}

// All nodes of the range wait.
static void wait_for(evaluator *e, const leat_expr *name, ev awaited, uint32_t first,
                     uint32_t end) {
  node_list before = {0};
  if (!awaited_nodes(e, name, awaited, &before)) return;
  for (uint32_t i = 0; i < before.count; i++) {
    const leat_node *node = before.items[i];
    if (node->graph != e->at.body || node->id < first || node->id >= end) continue;
    ev_fail(e, name->span, "`after` makes a cycle: `%s` would have to wait for itself", node->name);
    return;
  }
  if (!ev_spend(e, (uint64_t)(end - first) * before.count, name->span)) return;
  for (uint32_t i = first; i < end; i++)
    if (e->at.body->nodes.items[i]->op != LEAT_OP_parameter)
      leat_node_add_controls(e->at.body, e->at.body->nodes.items[i], before.items, before.count);
}

// What a name in `after` stands for. A path may be an effect's, which has no value: its node is
// enough here.
static ev awaited_value(evaluator *e, const leat_expr *name) {
  leat_node *node =
      name->kind == LEAT_EXPR_PATH ? leat_graph_find_node(e->graph, name->path) : NULL;
  return node ? ev_tensor((leat_value){node, 0}) : ev_expr(e, name, NULL);
}

static bool is_known(evaluator *e, const leat_expr *name) {
  if (name->kind == LEAT_EXPR_NAME) return ev_lookup(e->frame->scope, name->name);
  if (name->kind != LEAT_EXPR_PATH) return true;
  return leat_graph_find_node(e->graph, name->path) || leat_map_get(&e->aliases, name->path);
}

static ev *awaited_values(evaluator *e, const leat_exprs *names) {
  ev *values = leat_new_array(e->arena, ev, (size_t)names->count + 1);
  for (uint32_t i = 0; i < names->count; i++)
    values[i] = is_known(e, names->items[i]) ? awaited_value(e, names->items[i]) : ev_none();
  return values;
}

// The edges may go against the order of the text, so the nodes are sorted again.
void ev_resolve_pending(evaluator *e, uint32_t first) {
  if (e->pending.count == first || ev_failed(e)) return;
  ev_scope *scope = e->frame->scope;
  leat_span span = e->pending.items[first].name->span;
  for (uint32_t i = first; i < e->pending.count && !ev_failed(e); i++) {
    const ev_pending_after *p = &e->pending.items[i];
    e->frame->scope = p->scope;
    wait_for(e, p->name, awaited_value(e, p->name), p->first_node, p->end_node);
  }
  e->frame->scope = scope;
  e->pending.count = first;
  leat_node *in_cycle;
  if (!ev_failed(e) && !leat_graph_sort(e->at.body, &in_cycle))
    ev_fail(e, span, "`after` makes a cycle: `%s` would have to wait for itself", in_cycle->name);
}

void ev_body_ends(evaluator *e) {
  ev_resolve_pending(e, e->at.region->pending);
  ev_region_close(e);
}

// -- All of them --------------------------------------------------------------------------------

static bool is_declaration(const leat_stmt *stmt) {
  return stmt->kind == LEAT_STMT_VAR || stmt->kind == LEAT_STMT_QUEUE ||
         stmt->kind == LEAT_STMT_MUTEX;
}

bool ev_enter_suffixes(evaluator *e, const leat_stmt *stmt, ev_placed *saved) {
  *saved = (ev_placed){e->at, e->frame->device, NULL};
  if (is_declaration(stmt) && (stmt->colocate || stmt->after.count)) {
    leat_span span = stmt->colocate ? stmt->colocate->span : stmt->after.items[0]->span;
    ev_fail(e, span,
            stmt->colocate ? "`colocate` of state is not supported yet; `on` is"
                           : "`after` orders operations, and a declaration is none");
    return false;
  }
  if (stmt->after.count) saved->awaited = awaited_values(e, &stmt->after);
  return (!stmt->colocate || enter_colocate(e, stmt)) && (!stmt->on || enter_on(e, stmt));
}

void ev_leave_suffixes(evaluator *e, const leat_stmt *stmt, const ev_placed *saved) {
  uint32_t end = e->at.body->nodes.count;
  for (uint32_t i = 0; saved->awaited && i < stmt->after.count; i++) {
    const leat_expr *name = stmt->after.items[i];
    if (saved->awaited[i].kind != EV_NONE)
      wait_for(e, name, saved->awaited[i], e->first_node, end);
    else
      leat_vec_push(e->arena, &e->pending,
                    (ev_pending_after){name, e->frame->scope, e->first_node, end});
  }
  if (stmt->after.count) ev_forget_reads(e, e->first_node);
  e->at = saved->around;
  e->frame->device = saved->frame_device;
}
