// `leat fmt`: the canonical hand-written style.
//
// The words, the comments, the line breaks and single blank lines are the author's; indentation,
// spaces and the digits of floats are not. Code past column 100 goes on in another line, if it
// stands in brackets; comments stay as long as they are. Formatting what was formatted changes
// nothing.
#ifndef LEAT_FRONTEND_FORMAT_H
#define LEAT_FRONTEND_FORMAT_H

#include "base/diag.h"

// Adds the formatted text of a source of `diag` to *out; false, with errors in `diag`, when it does
// not parse.
bool leat_format(leat_diag *diag, uint32_t source, leat_text *out);

#endif
