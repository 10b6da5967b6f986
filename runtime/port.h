// What the feeds and fetches of an image are called and look like, for whoever shows them.
#ifndef LEAT_RUNTIME_PORT_H
#define LEAT_RUNTIME_PORT_H

#include "runtime/image.h"
#include "runtime/runtime.h"

void leat_view_feed(const leat_view *view, size_t i, leat_port_info *out);
void leat_view_fetch(const leat_view *view, size_t i, leat_port_info *out);

#endif
