// A graph as a text: variables, then entries; names, lines, and what cannot be said.
#include "base/intern.h"
#include "frontend/importer/graphdef/writer.h"

#include <string.h>

static const char *node_name(tf_writer *w) {
  return leat_arena_printf(w->arena, "%s%s", w->scope ? w->scope->prefix : "", w->node->def->name);
}

void tf_line(tf_writer *w, const char *format, ...) {
  bool says = w->options->says_nodes && w->node && w->node->def;
  va_list arguments;
  va_start(arguments, format);
  leat_model_line(w->arena, &w->lines, w->indent, says ? node_name(w) : NULL,
                  says ? w->node->def->op : "", format, arguments);
  va_end(arguments);
}

const char *tf_quote(tf_writer *w, const char *string, size_t size) {
  leat_text text = {0};
  leat_text_add_quoted(&text, string ? string : "", size);
  return leat_model_take_text(w->arena, &text);
}

void tf_refuse(tf_writer *w, const char *format, ...) {
  const char *of =
      w->node && w->node->def
          ? leat_arena_printf(w->arena, "node `%s` (%s): ", node_name(w), w->node->def->op)
          : "";
  va_list arguments;
  va_start(arguments, format);
  leat_model_say(w->arena, &w->refused, of, format, arguments);
  va_end(arguments);
}

// -- Names ----------------------------------------------------------------------------------------

const char *tf_written(tf_writer *w, const char *name) {
  return leat_model_print_name(w->arena, leat_model_plain_name(w->arena, name));
}

const char *tf_global(tf_writer *w, const char *name) {
  return w->options->as ? leat_arena_printf(w->arena, "%s/%s", w->options->as, name) : name;
}

// A number behind a name makes no name of what another result is called.
const char *tf_name(tf_writer *w, const char *name) {
  const char *prefix = w->scope ? w->scope->prefix : "";
  name = leat_model_plain_name(w->arena, leat_arena_printf(w->arena, "%s%s", prefix, name));
  name = leat_model_take_name(w->arena, &w->taken, &w->results, name);
  return leat_model_print_name(w->arena, name);
}

tf_aside tf_step_aside(tf_writer *w) {
  tf_aside aside = {w->lines, w->taken, w->indent};
  w->lines = (leat_text){0};
  w->indent = 2;
  leat_bytes_map_init(&w->taken, w->arena);
  return aside;
}

leat_text tf_step_back(tf_writer *w, tf_aside aside) {
  leat_text lines = w->lines;
  w->lines = aside.lines;
  w->taken = aside.taken;
  w->indent = aside.indent;
  return lines;
}

// -- The whole ------------------------------------------------------------------------------------

static void report(void *context, const tf_node_def *def, const char *words) {
  tf_writer *w = context;
  leat_vec_push(w->arena, &w->model->problems,
                leat_arena_printf(w->arena, "node `%s` (%s): %s", def->name, def->op, words));
}

static void heed(tf_writer *w) {
  leat_bytes pairs = w->options->refused;
  const char *at = pairs.data, *end = pairs.size ? at + pairs.size : at;
  while (at < end) {
    const char *words = at + strlen(at) + 1;
    leat_bytes_map_set(&w->heeded, at, strlen(at), (void *)(uintptr_t)words);
    at = words + strlen(words) + 1;
  }
}

const char *tf_heeded(tf_writer *w) {
  const char *name = w->heeded.count ? leat_model_plain_name(w->arena, node_name(w)) : NULL;
  return name ? leat_bytes_map_get(&w->heeded, name, strlen(name)) : NULL;
}

static void write_text(tf_writer *w, leat_text *out) {
  const Tensorflow__MetaGraphDef *meta = w->saved->meta;
  const char *version = meta && meta->meta_info_def ? meta->meta_info_def->tensorflow_version : "";
  leat_text entries = {0};
  tf_write_entries(w, &entries);
  leat_text_add(out, "# Made of %s, %s", leat_path_last(w->model->path), w->saved->kind);
  if (*version) leat_text_add(out, " of TensorFlow %s", version);
  for (char *c = out->data; *c; c++)
    if ((unsigned char)*c < ' ') *c = ' ';
  leat_text_add_string(out, ".\n");
  leat_text_add_n(out, w->head.data ? w->head.data : "", w->head.size);
  leat_text_add_n(out, entries.data ? entries.data : "", entries.size);
  leat_text_finish(&entries);
}

leat_status leat_model_write(leat_model_file *model, const leat_import_options *options,
                             char **out) {
  tf_writer w = {.model = model,
                 .saved = model->content,
                 .arena = model->arena,
                 .options = options,
                 .indent = 2};
  tf_reporter reporter = {report, tf_effect_of, &w};
  leat_text text = {0};
  leat_bytes_map *maps[] = {&w.taken,   &w.results,    &w.variables, &w.keys,
                            &w.library, &w.call_sizes, &w.effects,   &w.heeded};
  for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) leat_bytes_map_init(maps[i], w.arena);
  tf_list_functions(&w);
  heed(&w);
  w.graph = tf_block_of_graph(w.arena, w.saved->graph, &reporter);
  if (!model->problems.count) {
    tf_find_variables(&w);
    write_text(&w, &text);
  }
  leat_text_finish(&w.head);
  leat_text_finish(&w.lines);
  if (!text.size) leat_text_add_string(&text, "\n");
  *out = leat_text_take(&text);
  return LEAT_OK;
}
