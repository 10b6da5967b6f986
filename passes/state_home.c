// State goes where its declaration says, else round-robin over the tasks of the job `ps` when the
// cluster has one, else to its first user; a slot goes with its variable. Where that leaves a
// choice, the client's device is taken, or the first.
//
// All is decided from the session's whole graph and not from one step, so that every step, and
// every client with the same text, finds a variable in the same place.
#include "passes/state_home.h"

#include "ir/device_name.h"

// The devices that a constraint allows.
typedef struct choice {
  leat_vec(const char *) devices;
  bool in_turn;  // they are one device for each task of `ps`
  uint32_t turn; // whose turn is next
} choice;

typedef struct finder {
  const leat_pass_context *context;
  const leat_graph *session;
  leat_map choices;   // constraint → choice
  const char **users; // by state id: the constraint of the first user, or NULL
} finder;

static bool parse(const finder *f, const char *name, leat_device_name *out) {
  return leat_device_name_parse(f->session->strings, name, out);
}

// A task's devices stand together; of those of `ps` the first allowed is taken.
static choice *choice_of(finder *f, const char *constraint) {
  choice *c = leat_map_get(&f->choices, constraint);
  if (c) return c;
  c = leat_new(f->context->scratch, choice);
  leat_map_set(&f->choices, constraint, c);
  const char *ps = leat_intern(f->session->strings, "ps");
  leat_device_name wanted, device, last = {.task = -1};
  if (!parse(f, constraint, &wanted)) return c;
  for (uint32_t i = 0; i < f->context->device_count; i++) {
    const char *name = f->context->devices[i].name;
    if (!parse(f, name, &device) || !leat_device_name_satisfies(device, wanted)) continue;
    c->in_turn = wanted.job == ps && device.job == ps;
    if (c->in_turn && device.task == last.task) continue;
    last = device;
    leat_vec_push(f->context->scratch, &c->devices, name);
  }
  return c;
}

static bool has(const choice *c, const char *device) {
  for (uint32_t i = 0; i < c->devices.count; i++)
    if (c->devices.items[i] == device) return true;
  return false;
}

// The first device of both, else the client's, else any.
static const char *near_user(finder *f, const choice *c, const char *user) {
  const choice *wished = user ? choice_of(f, user) : NULL;
  for (uint32_t i = 0; wished && i < wished->devices.count; i++)
    if (has(c, wished->devices.items[i])) return wished->devices.items[i];
  return has(c, f->context->client_device) ? f->context->client_device : c->devices.items[0];
}

static const char **find_first_users(finder *f) {
  const leat_graph *session = f->session;
  const char **users = leat_new_array(f->context->scratch, const char *, session->states.count);
  bool *found = leat_new_array(f->context->scratch, bool, session->states.count);
  for (uint32_t i = 0; i < session->nodes.count; i++) {
    const leat_node *node = session->nodes.items[i];
    for (uint32_t j = 0; j < node->input_count; j++) {
      const leat_state *state = leat_node_state(node->inputs[j].node);
      if (!state || found[state->id]) continue;
      found[state->id] = true;
      users[state->id] = node->device;
    }
  }
  return users;
}

static const char *find_home(finder *f, const leat_state *state) {
  const char *wanted = state->device;
  if (!wanted) {
    wanted = leat_intern(f->session->strings, "/job:ps");
    if (!choice_of(f, wanted)->in_turn) wanted = NULL;
  }
  choice *c = choice_of(f, wanted);
  if (!c->devices.count) return wanted;
  if (c->in_turn) return c->devices.items[c->turn++ % c->devices.count];
  return near_user(f, c, f->users[state->id]);
}

// The constraint of nothing allows every device.
static void allow_all(finder *f) {
  choice *all = leat_new(f->context->scratch, choice);
  for (uint32_t i = 0; i < f->context->device_count; i++)
    leat_vec_push(f->context->scratch, &all->devices, f->context->devices[i].name);
  leat_map_set(&f->choices, NULL, all);
}

const char **leat_state_homes(const leat_pass_context *context, const leat_graph *session) {
  finder f = {.context = context, .session = session};
  leat_map_init(&f.choices, context->scratch);
  allow_all(&f);
  f.users = find_first_users(&f);
  const char **homes = leat_new_array(context->scratch, const char *, session->states.count);
  for (uint32_t i = 0; i < session->states.count; i++) {
    const leat_state *state = session->states.items[i], *owner = NULL;
    if (state->slot_of) owner = leat_graph_find_state(session, state->slot_of);
    homes[i] = owner && owner->id < i ? homes[owner->id] : find_home(&f, state);
  }
  return homes;
}
