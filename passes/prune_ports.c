// The feeds and fetches of a step: see prune.c.
#include "passes/inside.h"
#include "passes/prune.h"

#include <string.h>

// What a parameter or result is called outside: the entry's name comes first when there are
// several.
static const char *port_name(const leat_pruner *p, const leat_entry *entry, const char *name) {
  bool several = p->request->entries.count > 1;
  return leat_intern_path(p->session->strings, several ? entry->name : "", name);
}

// -- Feeds ----------------------------------------------------------------------------------------

const leat_value *leat_prune_feed(const leat_pruner *p, leat_value value) {
  if (!p->fed[value.node->id]) return NULL;
  for (uint32_t i = 0; i < p->request->feeds.count; i++) {
    leat_value fed = p->request->feeds.items[i].value;
    if (fed.node == value.node && fed.port == value.port) return &p->feeds[i];
  }
  return NULL;
}

leat_value leat_prune_copy_of(const leat_pruner *p, leat_value value) {
  const leat_value *feed = leat_prune_feed(p, value);
  return feed ? *feed : (leat_value){p->copies[value.node->id], value.port};
}

static uint32_t count_params(const leat_pruner *p) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < p->request->entries.count; i++)
    count += p->request->entries.items[i]->params.count;
  return count;
}

void leat_prune_copy_feeds(leat_pruner *p) {
  for (uint32_t i = 0; i < p->request->feeds.count; i++) {
    leat_value fed = p->request->feeds.items[i].value;
    leat_graph *to = p->cloner.to;
    leat_attr attrs[] = {
        {.string = p->request->feeds.items[i].name},
        {.i = count_params(p) + i},
        {.type = leat_arena_memdup(to->arena, leat_value_type(fed), sizeof(leat_type))},
        {.i = false}};
    const char *name = fed.node->name; // free: a node whose only output is fed is not copied
    if (fed.node->output_count > 1) {  // by its port, for others of the node may be fed too
      const char *path = leat_intern_printf(to->strings, "%s/feed_%u", name, fed.port);
      name = leat_graph_unique_name(p->context->graph, path);
    }
    leat_node *feed = leat_graph_append(to, LEAT_OP_feed, name, NULL, 0, attrs);
    feed->outputs = attrs[2].type;
    feed->entry = leat_clone_entry(&p->cloner, fed.node->entry);
    feed->span = fed.node->span;
    p->feeds[i] = (leat_value){feed, 0};
  }
}

static void name_param(leat_pruner *p, const leat_param *param, const char *name, uint32_t index) {
  leat_node *copy = p->copies[param->node->id];
  if (!copy) return;
  leat_node_set_attr(p->cloner.to, copy, "name", (leat_attr){.string = name});
  leat_node_set_attr(p->cloner.to, copy, "index", (leat_attr){.i = index});
}

static leat_status name_default(leat_pruner *p, const leat_entry *entry, const leat_param *param,
                                uint32_t index) {
  const leat_node *node = param->node;
  if (p->copies[node->id] && !param->fallback) {
    leat_error_at(p->context->diag, node->span,
                  "`%s` must be fed: this Run needs it and does not execute the entry `%s`",
                  node->name, entry->name);
    return LEAT_INVALID;
  }
  name_param(p, param, node->name, index);
  return LEAT_OK;
}

// A feed that is no parameter: the session has its value.
static bool is_held(const leat_pruner *p, const leat_node *node) {
  return node->op == LEAT_OP_feed && !node->entry && p->copies[node->id];
}

// The order of the feeds: parameters as the Run gives the entries, then what is fed by its name,
// then parameters of other entries, which must have defaults, then what the session holds.
static leat_status name_params(leat_pruner *p) {
  uint32_t index = 0;
  for (uint32_t i = 0; i < p->request->entries.count; i++) {
    const leat_entry *entry = p->request->entries.items[i];
    for (uint32_t j = 0; j < entry->params.count; j++)
      name_param(p, &entry->params.items[j], port_name(p, entry, entry->params.items[j].name),
                 index++);
  }
  index += p->request->feeds.count;
  for (uint32_t i = 0; i < p->cloner.entries.count; i++) {
    const leat_entry *entry = p->cloner.entries.entries[i].key;
    for (uint32_t j = 0; !leat_step_has_entry(p->request, entry) && j < entry->params.count; j++)
      LEAT_TRY(name_default(p, entry, &entry->params.items[j], index++));
  }
  for (uint32_t i = 0; i < p->session->nodes.count; i++)
    if (is_held(p, p->session->nodes.items[i]))
      leat_node_set_attr(p->cloner.to, p->copies[i], "index", (leat_attr){.i = index++});
  return LEAT_OK;
}

// Whatever a dump says that is read again: who runs the step gives its memory away, or does not.
static void mark_donated(const leat_pruner *p) {
  const leat_graph *graph = p->cloner.to;
  for (uint32_t i = 0; i < graph->nodes.count; i++) {
    leat_node *feed = graph->nodes.items[i];
    bool donated = false;
    if (feed->op != LEAT_OP_feed) continue;
    for (uint32_t k = 0; k < p->request->donated.count; k++)
      donated |= p->request->donated.items[k] == leat_node_attr(feed, "index")->i;
    leat_node_set_attr(p->cloner.to, feed, "donated", (leat_attr){.i = donated});
  }
}

leat_status leat_prune_number_feeds(leat_pruner *p) {
  LEAT_TRY(name_params(p));
  mark_donated(p);
  return LEAT_OK;
}

// -- Fetches --------------------------------------------------------------------------------------

// A node's name has no `:`.
static const char *fetch_path(const leat_pruner *p, const char *name) {
  char *path = leat_arena_strndup(p->context->scratch, name, strlen(name));
  for (char *at = path; (at = strchr(at, ':'));) *at = '_';
  return leat_graph_unique_name(p->cloner.to, leat_intern_path(p->session->strings, "fetch", path));
}

static void fetch(leat_pruner *p, leat_entry *entry, const char *name, leat_value value,
                  leat_span span) {
  leat_graph *to = p->cloner.to;
  leat_attr attrs[] = {{.string = name}, {.i = p->fetches++}};
  const char *path = fetch_path(p, name);
  leat_node *node = leat_graph_append(to, LEAT_OP_fetch, path, &value, 1, attrs);
  node->entry = entry;
  node->span = span;
}

// A fetch that stands in the text is one of the step's.
static void number_fetch(leat_pruner *p, const leat_node *node) {
  leat_node_set_attr(p->cloner.to, p->copies[node->id], "index", (leat_attr){.i = p->fetches++});
}

// The entry's results, then the fetches that are written in it.
static void fetch_results(leat_pruner *p, const leat_entry *entry) {
  for (uint32_t i = 0; i < entry->results.count; i++) {
    const leat_result *result = &entry->results.items[i];
    fetch(p, leat_clone_entry(&p->cloner, entry), port_name(p, entry, result->name),
          leat_prune_copy_of(p, result->value), result->value.node->span);
  }
  for (uint32_t i = 0; i < entry->effects.count; i++)
    if (entry->effects.items[i]->op == LEAT_OP_fetch) number_fetch(p, entry->effects.items[i]);
}

// A read of a variable that is fetched by its name; it stands in the last entry and is chained
// after the others.
static leat_value read_at_the_end(leat_pruner *p, const leat_state *state, leat_entry *last) {
  leat_graph *to = p->cloner.to;
  leat_attr attr = {.state = leat_prune_copy_state(p, state)};
  const char *path =
      leat_graph_unique_name(to, leat_intern_printf(to->strings, "fetch/%s/read", state->name));
  leat_node *read = leat_graph_append(to, LEAT_OP_read, path, NULL, 0, &attr);
  read->outputs = leat_arena_memdup(to->arena, &state->type, sizeof(leat_type));
  read->entry = last;
  read->span = state->span;
  return (leat_value){read, 0};
}

// A copied body has its nodes in the same order.
static leat_value copy_inside(const leat_pruner *p, leat_value value) {
  const leat_node *owner = value.node->graph->owner;
  if (!owner) return (leat_value){p->copies[value.node->id], value.port};
  const leat_node *copy = copy_inside(p, (leat_value){(leat_node *)owner, 0}).node;
  int i = 0;
  while (leat_node_body(owner, i) != value.node->graph) i++;
  return (leat_value){leat_node_body(copy, i)->nodes.items[value.node->id], value.port};
}

// Before any of them makes its bodies other ones.
static leat_value *find_inside(const leat_pruner *p) {
  uint32_t count = p->request->fetches.count;
  leat_value *values = leat_new_array(p->context->scratch, leat_value, (size_t)count + 1);
  for (uint32_t i = 0; i < count; i++) {
    leat_value value = p->request->fetches.items[i].value;
    if (leat_is_inside(value)) values[i] = copy_inside(p, value);
  }
  return values;
}

static void fetch_others(leat_pruner *p) {
  leat_graph *to = p->cloner.to;
  leat_entry *last = to->entries.count ? to->entries.items[to->entries.count - 1] : NULL;
  const leat_value *inside = find_inside(p);
  for (uint32_t i = 0; i < p->request->fetches.count; i++) {
    const leat_wanted *wanted = &p->request->fetches.items[i];
    if (wanted->value.node) {
      leat_value value = inside[i].node ? leat_inside_take(p->context, to, wanted, inside[i])
                                        : leat_prune_copy_of(p, wanted->value);
      fetch(p, value.node->entry, wanted->name, value, value.node->span);
    } else {
      const leat_state *state = leat_graph_find_state(p->session, wanted->name);
      fetch(p, last, wanted->name, read_at_the_end(p, state, last), state->span);
    }
  }
  for (uint32_t i = 0; i < p->request->runs.count; i++)
    if (leat_step_fetches_run(p->request, p->request->runs.items[i]))
      number_fetch(p, p->request->runs.items[i]);
}

void leat_prune_add_fetches(leat_pruner *p) {
  for (uint32_t i = 0; i < p->request->entries.count; i++)
    fetch_results(p, p->request->entries.items[i]);
  fetch_others(p);
}
