// Diagnostics: located errors and warnings about the user's text, collected and shown with the line
// and a caret.
//
//     digits.leat:12:7: error: unknown op `relv`; did you mean `relu`?
//       y = relv(x @ W + b)
//           ^~~~
#ifndef LEAT_BASE_DIAG_H
#define LEAT_BASE_DIAG_H

#include "base/arena.h"
#include "base/text.h"
#include "leat/status.h"

#include <stdbool.h>
#include <stdint.h>

// Bytes [begin, end) of source number `source`. {0} is "nowhere": shown without a line.
typedef struct leat_span {
  uint32_t source; // 0: none
  uint32_t begin, end;
} leat_span;

typedef struct leat_diag leat_diag;

leat_diag *leat_diag_create(leat_arena *arena);
enum { LEAT_LARGEST_SOURCE = 64 << 20 }; // bytes of one text, wherever it is read
// Registers a text under the name shown in messages and returns its number (from 1). Copies both.
uint32_t leat_diag_add_source(leat_diag *diag, const char *name, const char *text, size_t size);
// The source is a piece of a file that begins at this line of it.
void leat_diag_set_first_line(leat_diag *diag, uint32_t source, uint32_t line);
const char *leat_diag_source_text(const leat_diag *diag, uint32_t source, size_t *out_size);
const char *leat_diag_source_name(const leat_diag *diag, uint32_t source);
// Behind lines of a text that a model file became stands the node that each is: `  # node `X`
// (Conv)`.
#define LEAT_DIAG_NODE "  # node `"
// While it holds, texts that are added are such, which nobody wrote: what warns of them is
// forgotten. What it was before.
bool leat_diag_set_imported(leat_diag *diag, bool imported);
bool leat_diag_is_imported(const leat_diag *diag, uint32_t source);
// Adds `digits.leat:12:7`, of a model file `digits.onnx: node `X` (Conv)`; nothing for nowhere.
void leat_diag_place(const leat_diag *diag, leat_span span, leat_text *out);

void leat_error_at(leat_diag *diag, leat_span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void leat_warn_at(leat_diag *diag, leat_span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Adds "note: …" with its own place to the last error or warning.
void leat_note_at(leat_diag *diag, leat_span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Puts "what: " before the words of the last error or warning.
void leat_diag_say_of(leat_diag *diag, const char *what);

// Errors so far. At most 20 errors and 20 warnings are kept, the rest counted.
uint32_t leat_diag_errors(const leat_diag *diag);
bool leat_diag_is_full(const leat_diag *diag); // another error would only be counted
// Tells all that was collected, in the order of the text; what it is given is gone afterwards.
void leat_diag_each(const leat_diag *diag, void (*take)(void *context, const leat_problem *problem),
                    void *context);
// Adds all that was collected, in the order of the text.
void leat_diag_print(const leat_diag *diag, leat_text *out);
void leat_diag_clear(leat_diag *diag); // forgets messages, keeps sources
// While it is mute warnings are forgotten as they come, with their notes. What it was before.
bool leat_diag_mute(leat_diag *diag, bool mute);

// What came after a mark, or of that what lies in a span, can be withheld, to be told later or
// never.
typedef struct leat_diag_mark {
  uint32_t messages, counts[2];
} leat_diag_mark;
typedef struct leat_withheld leat_withheld; // in the diag's arena
leat_diag_mark leat_diag_take_mark(const leat_diag *diag);
// Takes the messages out of the diag. Nowhere: all of them. NULL, and nothing is taken: no error is
// among them.
leat_withheld *leat_diag_withhold(leat_diag *diag, leat_diag_mark mark, leat_span span);
void leat_diag_tell(leat_diag *diag, const leat_withheld *withheld);
// Its first error in the order of the text: where and what; there is one.
const char *leat_withheld_first(const leat_withheld *withheld, leat_span *out_span);
// Adds "NAME\0WORDS\0" for each error at a node of a model file that `out` does not name yet.
void leat_withheld_nodes(const leat_diag *diag, const leat_withheld *withheld, leat_text *out);

// The candidate nearest to `name` by edit distance, or NULL when none is near enough to suggest.
const char *leat_nearest(const char *name, const char *const *candidates, size_t count);

#endif
