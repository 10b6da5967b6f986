// Round-robin over the devices of the job `ps`, in the order of declaration in the session's graph.
// It is decided from the whole graph and not from one step, so that every step, and every client
// with the same text, finds a variable in the same place.
#include "passes/state_home.h"

#include "ir/device_name.h"

// The devices that a constraint allows, and whose turn is next.
typedef struct circle {
  leat_vec(const char *) devices;
  uint32_t turn;
} circle;

static circle *circle_of(const leat_pass_context *context, leat_strings *strings, leat_map *circles,
                         const char *constraint) {
  circle *c = leat_map_get(circles, constraint);
  if (c) return c;
  c = leat_new(context->scratch, circle);
  leat_map_set(circles, constraint, c);
  const char *ps = leat_intern(strings, "ps");
  leat_device_name wanted, device;
  if (!leat_device_name_parse(strings, constraint, &wanted) || wanted.job != ps) return c;
  for (uint32_t i = 0; i < context->device_count; i++) {
    const char *name = context->devices[i].name;
    if (leat_device_name_parse(strings, name, &device) && device.job == ps &&
        leat_device_name_satisfies(device, wanted))
      leat_vec_push(context->scratch, &c->devices, name);
  }
  return c;
}

const char **leat_state_homes(const leat_pass_context *context, const leat_graph *session) {
  leat_map circles;
  leat_map_init(&circles, context->scratch);
  const char **homes = leat_new_array(context->scratch, const char *, session->states.count);
  const char *any_ps = leat_intern(session->strings, "/job:ps");
  for (uint32_t i = 0; i < session->states.count; i++) {
    const leat_state *state = session->states.items[i], *owner = NULL;
    homes[i] = state->device;
    if (state->slot_of) owner = leat_graph_find_state(session, state->slot_of);
    if (owner && owner->id < i) {
      homes[i] = homes[owner->id];
      continue;
    }
    circle *c =
        circle_of(context, session->strings, &circles, state->device ? state->device : any_ps);
    if (c->devices.count) homes[i] = c->devices.items[c->turn++ % c->devices.count];
  }
  return homes;
}
