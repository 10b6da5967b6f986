#include "tools/values.h"

#include "runtime/format.h"
#include "tools/options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool tool_split(const char *text, char **out_name, const char **out_value) {
  const char *equals = strchr(text, '=');
  if (!equals || equals == text) return false;
  *out_name = leat_arena_strndup(tool_arena(), text, (size_t)(equals - text));
  *out_value = equals + 1;
  return true;
}

// -- Output ------------------------------------------------------------------------------------

leat_status tool_check_writable(const char *path, leat_error *error) {
  const char *slash = path ? strrchr(path, '/') : NULL;
  size_t length = slash ? (size_t)(slash - path) + 1 : 0;
  const char *folder = length ? leat_arena_strndup(tool_arena(), path, length) : ".";
  if (!path || !access(path, W_OK) || !access(folder, W_OK)) return LEAT_OK; // `path`: /dev/stdout
  return leat_fail(error, LEAT_IO, "cannot write '%s': %s", path, strerror(errno));
}

void tool_print_value(const char *name, const leat_tensor *tensor) {
  leat_text text = {0};
  leat_text_add(&text, "%s%s%s[", name ? name : "", name ? ": " : "",
                leat_dtype_name(tensor->dtype));
  for (int i = 0; i < tensor->rank; i++)
    leat_text_add(&text, "%s%" PRId64, i ? ", " : "", tensor->shape[i]);
  leat_text_add(&text, tensor->rank > 1 ? "] =\n" : "] = ");
  leat_tensor_format(tensor, &text);
  puts(text.data);
  leat_text_finish(&text);
}
