// What the front end takes for a text: parsing, compile-time evaluation and typing, from nothing.
//
//     frontend NODES hand|canonical     then, a line each on standard input: how many times
//
// By hand: a chain of blocks, each a call of a function, in a `for`. Canonical: that graph as a
// dump prints it, a statement a node.
#include "frontend/frontend.h"
#include "bench/bench.h"
#include "ir/print.h"

#include <string.h>

static const char by_hand[] = "graph blocks(blocks: int = %d)\n"
                              "fn block(h: T[N, M]) -> T[N, M] {\n"
                              "  a = tanh(h * 0.5)\n"
                              "  b = maximum(a - h, 0)\n"
                              "  return (a + b) * exp(-b)\n"
                              "}\n"
                              "entry chain(x: f32[16, 64]) -> (y: f32[16, 64]) {\n"
                              "  h[0] = x\n"
                              "  for i in 0..blocks { h[i + 1] = block(h[i]) as \"block{i}\" }\n"
                              "  y = h[blocks]\n"
                              "}\n";

typedef struct result {
  double seconds;
  size_t bytes;
  uint32_t nodes;
} result;

// Takes the text through a new front end; `canonical`, when given, becomes its graph's text.
static result take(const leat_text *text, leat_text *canonical) {
  double start = now();
  leat_arena *arena = leat_arena_create();
  leat_strings *strings = leat_strings_create(arena);
  leat_diag *diag = leat_diag_create(arena);
  leat_frontend_options options = {0};
  leat_frontend *frontend = leat_frontend_create(arena, strings, diag, &options);
  bool ok = leat_frontend_extend(frontend, "bench", text->data, text->size, false);
  leat_graph *graph = leat_frontend_graph(frontend);
  result r = {now() - start, leat_arena_used(arena), graph->nodes.count};
  if (!ok) exit(fprintf(stderr, "the text has an error\n") > 0);
  if (canonical) leat_graph_print(graph, canonical);
  leat_arena_destroy(arena);
  return r;
}

int main(int argc, char **argv) {
  if (argc != 3) return fprintf(stderr, "usage: frontend NODES hand|canonical\n"), 2;
  leat_text text = {0}, canonical = {0};
  leat_text_add(&text, by_hand, 1);
  int nodes_of_block = (int)take(&text, NULL).nodes - 1; // but the feed
  text.size = 0;
  leat_text_add(&text, by_hand, atoi(argv[1]) / nodes_of_block + 1);
  result r = take(&text, &canonical);
  const leat_text *measured = strcmp(argv[2], "hand") == 0 ? &text : &canonical;
  for (int runs; (runs = next_round()) > 0;) {
    double *seconds = calloc((size_t)runs, sizeof *seconds);
    if (!seconds) return 1;
    for (int i = 0; i < runs; i++) {
      r = take(measured, NULL);
      seconds[i] = r.seconds;
    }
    printf("{\"ms\": %.6f, \"mb\": %.1f, \"nodes\": %u}\n", 1e3 * median(seconds, runs),
           (double)r.bytes / 1e6, r.nodes);
    fflush(stdout);
    free(seconds);
  }
  leat_text_finish(&text);
  leat_text_finish(&canonical);
  return 0;
}
