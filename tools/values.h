// NAME=VALUE of the command line, and values shown. What a feed is given is read by runtime/feed.h.
#ifndef LEAT_TOOLS_VALUES_H
#define LEAT_TOOLS_VALUES_H

#include "leat/leat.h"

// Splits NAME=VALUE (leat_name_given); false when there is no `=` or no name. *out_name lies in
// tool_arena.
bool tool_split(const char *text, char **out_name, const char **out_value);

// `name: f32[2, 3] =` and the value, as NumPy prints it; name NULL: without.
void tool_print_value(const char *name, const leat_tensor *tensor);

// `name: f32[64, 128] from -0.66 to 0.979, mean 0.0012`, on one line whatever its size.
void tool_print_summary(const char *name, const leat_tensor *tensor);

// Element i of bools, integers or floats as a number; NaN of any other dtype.
double tool_element(const leat_tensor *tensor, int64_t i);

#endif
