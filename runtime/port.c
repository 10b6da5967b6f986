// Names and types of feeds and fetches, from the records of an image.
// It runs seldom: compiled for size.
#include "runtime/port.h"

#include <string.h>

static void describe(const leat_view *view, leat_text_index name, const leat_image_type *type,
                     leat_port_info *out) {
  *out = (leat_port_info){.name = leat_view_text(view, name),
                          .dtype = (leat_dtype)type->dtype,
                          .rank = (int32_t)type->rank};
  for (uint32_t i = 0; i < type->rank; i++) {
    uint32_t formula = type->shape_first + i;
    int64_t dim = leat_formula_dim(view, formula);
    if (!leat_formula_is_constant(view, formula) ||
        !leat_formula_value(view, formula, NULL, &out->shape[i]))
      out->shape[i] = -1;
    if (dim != LEAT_NO_DIM) out->dims[i] = leat_view_text(view, view->dims[dim].name);
  }
}

void leat_view_feed(const leat_view *view, size_t i, leat_port_info *out) {
  const leat_image_feed *feed = &view->feeds[i];
  describe(view, feed->origin.name, &feed->type, out);
  out->has_fallback = feed->has_fallback;
  out->donated = feed->donated;
}

void leat_view_fetch(const leat_view *view, size_t i, leat_port_info *out) {
  const leat_image_fetch *fetch = &view->fetches[i];
  describe(view, fetch->name, &view->buffers[fetch->buffer].type, out);
}

void leat_port_print(const leat_port_info *port, leat_text *out) {
  leat_text_add(out, "%s[", leat_dtype_name(port->dtype));
  for (int32_t i = 0; i < port->rank; i++) {
    if (i) leat_text_add(out, ", ");
    if (port->shape[i] >= 0)
      leat_text_add(out, "%lld", (long long)port->shape[i]);
    else
      leat_text_add(out, "%s", port->dims[i] ? port->dims[i] : "?");
  }
  leat_text_add(out, "]");
}

void leat_tensor_type_print(leat_dtype dtype, int32_t rank, const int64_t *shape, leat_text *out) {
  leat_port_info port = {.dtype = dtype, .rank = rank};
  if (rank) memcpy(port.shape, shape, (size_t)rank * sizeof *shape);
  leat_port_print(&port, out);
}
