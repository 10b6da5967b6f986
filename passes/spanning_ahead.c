// How far a loop's copy on one device may run ahead of that on another. What receives is never
// ahead of what sends to it, and so a device that receives from another in each iteration, be it by
// way of further ones, is ahead of it by no more than what it waits for. Where nothing comes back
// the values would pile up: there the receiver sends a token in each iteration, when it has taken
// what it gets, and the sender waits for that of `parallel` iterations ago before it sends again.
//
// The recv of the tokens lags: it is complete when all but the last so many have come that it has
// asked for. So none is left behind when the loop ends, and the loop does not wait for them then.
#include "passes/parts.h"

enum {
  AT_ONCE = 32, // of a loop that does not say: enough to hide how long a token takes over a network
};

typedef struct bounds {
  leat_spanning *s;
  uint32_t devices;
  bool *sends;   // by sender and receiver: in some iteration, also in regions inside
  bool *reaches; // by sender and receiver: in each, also by way of others
} bounds;

static bool *between(const bounds *b, bool *pairs, uint32_t from, uint32_t to) {
  return &pairs[from * b->devices + to];
}

static uint32_t device_of(const bounds *b, const char *name) {
  return (uint32_t)(uintptr_t)leat_map_get(b->s->bodies[0]->numbers, name) - 1;
}

// The other end of a send or a recv.
static const char *peer_of(const leat_node *node, leat_op op) {
  return leat_node_attr(node, op == LEAT_OP_send ? "to" : "from")->string;
}

// Whether the node, or something in its bodies, is of the op and has `device` at its other end.
static bool has_peer(const bounds *b, const leat_node *node, leat_op op, uint32_t device) {
  if (node->op == op) return device_of(b, peer_of(node, op)) == device;
  for (int k = 0; k < node->info->attr_count; k++) {
    const leat_graph *body = leat_node_body(node, k);
    for (uint32_t i = 0; body && i < body->nodes.count; i++)
      if (has_peer(b, body->nodes.items[i], op, device)) return true;
  }
  return false;
}

static const leat_node_list *listed(const bounds *b, uint32_t body, uint32_t device) {
  return &b->s->bodies[body]->parts[device].order;
}

// -- Who sends to whom ----------------------------------------------------------------------------

static void find_sends(bounds *b, uint32_t body, uint32_t from) {
  const leat_node_list *nodes = listed(b, body, from);
  for (uint32_t i = 0; i < nodes->count; i++)
    for (uint32_t to = 0; to < b->devices; to++) {
      if (!has_peer(b, nodes->items[i], LEAT_OP_send, to)) continue;
      *between(b, b->sends, from, to) = true;
      if (nodes->items[i]->op == LEAT_OP_send) *between(b, b->reaches, from, to) = true;
    }
}

static void follow(bounds *b) {
  for (uint32_t by = 0; by < b->devices; by++)
    for (uint32_t from = 0; from < b->devices; from++)
      for (uint32_t to = 0; to < b->devices; to++)
        if (*between(b, b->reaches, from, by) && *between(b, b->reaches, by, to))
          *between(b, b->reaches, from, to) = true;
}

// -- Tokens ---------------------------------------------------------------------------------------

// The nodes of the body on the device that send to, or receive from, the other.
static leat_node_list exchanging(const bounds *b, uint32_t body, uint32_t device, leat_op op,
                                 uint32_t other) {
  leat_node_list found = {0};
  const leat_node_list *nodes = listed(b, body, device);
  for (uint32_t i = 0; i < nodes->count; i++)
    if (has_peer(b, nodes->items[i], op, other))
      leat_vec_push(b->s->bodies[body]->context->scratch, &found, nodes->items[i]);
  return found;
}

// What was listed last stands before all else.
static void put_first(leat_node_list *nodes) {
  leat_node *last = nodes->items[nodes->count - 1];
  for (uint32_t i = nodes->count - 1; i > 0; i--) nodes->items[i] = nodes->items[i - 1];
  nodes->items[0] = last;
}

// In the body if something is sent there, else in the condition.
static void give_back(bounds *b, uint32_t sender, uint32_t receiver, int64_t at_once) {
  uint32_t body = 1;
  leat_node_list sends = exchanging(b, body, sender, LEAT_OP_send, receiver);
  if (!sends.count) sends = exchanging(b, --body, sender, LEAT_OP_send, receiver);
  leat_partitioner *p = b->s->bodies[body];
  leat_node_list taken = exchanging(b, body, receiver, LEAT_OP_recv, sender);
  leat_node *token, *recv = leat_parts_token(p, b->s->node, receiver, sender, at_once, &token);
  leat_node_add_controls(p->parts[receiver].graph, token, taken.items, taken.count);
  put_first(&p->parts[sender].order);
  for (uint32_t i = 0; i < sends.count; i++)
    leat_node_add_control(p->parts[sender].graph, sends.items[i], recv);
}

void leat_spanning_bound(leat_spanning *s) {
  const leat_pass_context *context = s->bodies[0]->context;
  size_t pairs = (size_t)context->device_count * context->device_count;
  bounds b = {.s = s,
              .devices = context->device_count,
              .sends = leat_new_array(context->scratch, bool, pairs),
              .reaches = leat_new_array(context->scratch, bool, pairs)};
  for (uint32_t d = 0; d < b.devices; d++)
    for (uint32_t body = 0; body < 2; body++) find_sends(&b, body, d);
  follow(&b);
  int64_t given = leat_node_attr(s->node, "parallel")->i;
  for (uint32_t from = 0; from < b.devices; from++)
    for (uint32_t to = 0; to < b.devices; to++) {
      if (!*between(&b, b.sends, from, to) || *between(&b, b.reaches, to, from)) continue;
      give_back(&b, from, to, given ? given : AT_ONCE);
      *between(&b, b.reaches, to, from) = true;
      follow(&b);
    }
}
