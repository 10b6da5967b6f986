// The canonical text of a graph: every type, device, attribute and control edge spelled out, read
// back by the parser (parse ∘ print = identity).
//
//     graph digits
//     dim B in 1..4096
//     $net/hidden/w/init/lo: f32[] = -0.1
//     var $net/hidden/w: f32[64, 128] = $net/hidden/w/init/add
//     entry predict(x: f32[B, 64]) -> (class: i32[B] = $predict/class) {
//       $predict/net/hidden/read: f32[64, 128] = read(state=$net/hidden/w) on "/job:ps"
//       $predict/net/hidden/matmul: f32[B, 128] = matmul($predict/x, $predict/net/hidden/read,
//                                                  transpose_a=false, transpose_b=false, family="")
//                                                  after [$a/b]
//     }
//
// In canonical text a target that starts with `$` is an absolute path; a call on its right is the
// bare op of ops.def with every attribute given (a `const` is written as its literal, an empty one
// of any shape as `[]`); nodes without an entry stand at top level, in topological order, those
// that a state's initial value needs before the state. A node without outputs has a target without
// a type: `$train/send = send($a, edge=0, to="…")`; a second output is the target `$a:1`. The head
// of an entry makes its parameters' feed nodes, `$<entry>/<parameter>`; such a node has a line of
// its own in the body only when it has a device, a colocation, a control edge, or in the step
// another name or place than in the head. Of a state only options that differ from `trainable=true
// container=""` are written; a body is `fn($p: i32[], …) {`, its nodes but the parameters, and
// `yield $a, …`; a slot has `slot_of=$path`. A partition's text starts `graph NAME
// device="/job:…"`.
#ifndef LEAT_IR_PRINT_H
#define LEAT_IR_PRINT_H

#include "ir/graph.h"

void leat_graph_print(const leat_graph *graph, leat_text *out);
void leat_node_print(const leat_node *node, leat_text *out); // one line, bodies more; no newline

#endif
