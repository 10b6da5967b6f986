// The header of an artifact that others link with: what the image takes and gives, and its symbols.
#include "session/artifact_files.h"

#include "runtime/port.h"

#include <string.h>

static void add_port(leat_text *out, const char *title, size_t number, const leat_port_info *port) {
  leat_text_add(out, "//   %s %zu  %s: ", title, number, port->name);
  leat_port_print(port, out);
  leat_text_add(out, "%s\n", port->has_fallback ? " (has a default)" : "");
}

// As the image has them.
static leat_status add_ports(const leat_artifact *a, leat_text *out) {
  leat_view view;
  leat_port_info port;
  LEAT_TRY(leat_image_check(a->code.image, a->code.image->size, &view, &a->session->error));
  for (size_t i = 0; i < view.image->feeds.count; i++) {
    leat_view_feed(&view, i, &port);
    add_port(out, "feed ", i, &port);
  }
  for (size_t i = 0; i < view.image->fetches.count; i++) {
    leat_view_fetch(&view, i, &port);
    add_port(out, "fetch", i, &port);
  }
  return LEAT_OK;
}

leat_status leat_artifact_write_header(leat_artifact *a) {
  const char *dot = strrchr(a->options->output, '.');
  size_t stem = dot ? (size_t)(dot - a->options->output) : strlen(a->options->output);
  const char *path = leat_arena_printf(a->arena, "%.*s.h", (int)stem, a->options->output);
  leat_text text = {0};
  leat_text_add(&text, "// Made by leat build; leat/runtime.h says how to run it.\n");
  if (a->calls_blis && a->options->kind != LEAT_ARTIFACT_SHARED)
    leat_text_add(&text, "// Link it with -lleat_blis -lleat_rt -lblis -lm.\n");
  leat_status status = add_ports(a, &text);
  leat_text_add(&text, "#pragma once\n#include \"leat/runtime.h\"\n\n#ifdef __cplusplus\n"
                       "extern \"C\" {\n#endif\n");
  leat_text_add(&text, "extern const leat_image %s_image;\n", a->name);
  leat_text_add(&text, "extern const leat_kernel_function %s_kernels[];\n", a->name);
  leat_text_add(&text, "#ifdef __cplusplus\n}\n#endif\n");
  if (!status) status = leat_artifact_write_text(a, path, &text);
  leat_text_finish(&text);
  return status;
}
