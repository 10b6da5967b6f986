// Messages are kept in the arena as they come and sorted by place when printed; a note hangs on its
// message. After twenty of a kind the rest are only counted, so that one early mistake cannot bury
// a terminal, and so are notes after eight, and what is said again of one place. A source line
// is shown with tabs expanded, control bytes hidden and, when it is very long, only the part around
// the caret.
#include "base/diag.h"

#include "base/printable.h"
#include "base/vec.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 20, NOTES_KEPT = 8, TAB = 8, WIDEST_LINE = 160, LONGEST_NAME = 64 };

static const char *const severity_names[] = {"error", "warning", "note"};

typedef struct source {
  const char *name, *text;
  size_t size;
  uint32_t first_line;      // of the file that it is a piece of
  bool imported;            // lines end with the node that they are
  leat_vec(uint32_t) lines; // where each begins; the first at 0
} source;

typedef struct message {
  leat_severity severity;
  leat_span span;
  const char *words;
  uint32_t order;      // of arrival
  uint32_t again;      // how often the same was said of the same place after it
  uint32_t note_count; // with those not kept
  struct message *notes, *last_note, *next;
} message;

struct leat_diag {
  leat_arena *arena;
  leat_vec(source) sources;
  leat_vec(message *) messages;
  message *latest;    // what a note belongs to; NULL when that was only counted
  uint32_t counts[2]; // of errors and warnings, with those not kept
  uint32_t kept[2];
  uint32_t most; // that are kept of each
  bool mute;     // warnings are not taken
  bool imported; // texts that are added are of model files
};

leat_diag *leat_diag_create(leat_arena *arena) {
  leat_diag *diag = leat_new(arena, leat_diag);
  diag->arena = arena;
  diag->most = KEPT;
  return diag;
}

uint32_t leat_diag_add_source(leat_diag *diag, const char *name, const char *text, size_t size) {
  source added = {.first_line = 1,
                  .imported = diag->imported,
                  .name = leat_arena_strndup(diag->arena, name, strlen(name)),
                  .text = leat_arena_strndup(diag->arena, text, size),
                  .size = size};
  leat_vec_push(diag->arena, &added.lines, 0);
  for (const char *at = added.text; (at = memchr(at, '\n', size - (size_t)(at - added.text)));)
    leat_vec_push(diag->arena, &added.lines, (uint32_t)(++at - added.text));
  leat_vec_push(diag->arena, &diag->sources, added);
  return diag->sources.count;
}

void leat_diag_set_first_line(leat_diag *diag, uint32_t source, uint32_t line) {
  diag->sources.items[source - 1].first_line = line;
}

bool leat_diag_set_imported(leat_diag *diag, bool imported) {
  bool before = diag->imported;
  diag->imported = imported;
  return before;
}

static const source *find_source(const leat_diag *diag, uint32_t number) {
  return number && number <= diag->sources.count ? &diag->sources.items[number - 1] : NULL;
}

bool leat_diag_is_imported(const leat_diag *diag, uint32_t number) {
  const source *s = find_source(diag, number);
  return s && s->imported;
}

const char *leat_diag_source_text(const leat_diag *diag, uint32_t number, size_t *out_size) {
  const source *s = find_source(diag, number);
  if (out_size) *out_size = s ? s->size : 0;
  return s ? s->text : NULL;
}

const char *leat_diag_source_name(const leat_diag *diag, uint32_t number) {
  const source *s = find_source(diag, number);
  return s ? s->name : NULL;
}

// Where a span begins: its line, and the bytes [start, stop) of that line without the newline, and
// without the node behind it, "node `X` (Conv)".
typedef struct place {
  uint32_t line;
  size_t start, begin, stop;
  const char *node; // NULL: there is none
  int node_size;
} place;

// The last one is it: what a line has in strings stands before it.
static void find_node(const source *s, place *p) {
  size_t size = strlen(LEAT_DIAG_NODE), end = p->stop;
  for (size_t at = p->stop; !p->node && at-- > p->start + size;) {
    const char *begin = s->text + at - size;
    if (memcmp(begin, LEAT_DIAG_NODE, size) != 0) continue;
    p->stop = (size_t)(begin - s->text);
    p->node = begin + strlen("  # ");
    p->node_size = (int)(s->text + end - p->node);
  }
}

static place place_of(const source *s, leat_span span) {
  place p = {.begin = span.begin < s->size ? span.begin : s->size};
  uint32_t line = 0, behind = s->lines.count; // it begins in [line, behind)
  while (behind - line > 1) {
    uint32_t middle = line + (behind - line) / 2;
    if (s->lines.items[middle] <= p.begin)
      line = middle;
    else
      behind = middle;
  }
  p.line = s->first_line + line;
  p.start = s->lines.items[line];
  const char *newline = memchr(s->text + p.begin, '\n', s->size - p.begin);
  p.stop = newline ? (size_t)(newline - s->text) : s->size;
  if (p.stop > p.begin && s->text[p.stop - 1] == '\r') p.stop--;
  if (s->imported) find_node(s, &p);
  return p;
}

static message *new_message(leat_diag *diag, leat_severity level, leat_span span,
                            const char *format, va_list arguments) {
  message *m = leat_new(diag->arena, message);
  m->severity = level;
  m->span = span;
  char *words = leat_arena_vprintf(diag->arena, format, arguments);
  leat_mask_controls(words);
  m->words = words;
  return m;
}

// What a function does wrong is shown once, for its first call: further errors of the same place
// are of other calls, whatever types and numbers they name. A warning may be one of several.
static message *said_before(leat_diag *diag, leat_severity level, leat_span span,
                            const char *words) {
  for (uint32_t i = 0; i < diag->messages.count && span.source; i++) {
    message *old = diag->messages.items[i];
    bool there = old->severity == level && old->span.source == span.source &&
                 old->span.begin == span.begin && old->span.end == span.end;
    if (there && (level == LEAT_SEVERITY_ERROR || !strcmp(old->words, words))) return old;
  }
  return NULL;
}

static void report(leat_diag *diag, leat_severity level, leat_span span, const char *format,
                   va_list arguments) {
  diag->latest = NULL;
  bool wanted = !diag->mute && !diag->imported;
  if (!wanted && level == LEAT_SEVERITY_WARNING) return;
  diag->counts[level]++;
  if (diag->kept[level] >= diag->most) return;
  message *made = new_message(diag, level, span, format, arguments);
  message *old = said_before(diag, level, span, made->words);
  if (old) {
    old->again++;
    return;
  }
  diag->kept[level]++;
  diag->latest = made;
  made->order = diag->messages.count;
  leat_vec_push(diag->arena, &diag->messages, made);
}

void leat_error_at(leat_diag *diag, leat_span span, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  report(diag, LEAT_SEVERITY_ERROR, span, format, arguments);
  va_end(arguments);
}

void leat_warn_at(leat_diag *diag, leat_span span, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  report(diag, LEAT_SEVERITY_WARNING, span, format, arguments);
  va_end(arguments);
}

void leat_note_at(leat_diag *diag, leat_span span, const char *format, ...) {
  message *owner = diag->latest;
  if (!owner || owner->note_count++ >= NOTES_KEPT) return;
  va_list arguments;
  va_start(arguments, format);
  message *note = new_message(diag, LEAT_SEVERITY_NOTE, span, format, arguments);
  va_end(arguments);
  if (owner->last_note)
    owner->last_note->next = note;
  else
    owner->notes = note;
  owner->last_note = note;
}

void leat_diag_say_of(leat_diag *diag, const char *what) {
  message *latest = diag->latest;
  if (latest) latest->words = leat_arena_printf(diag->arena, "%s: %s", what, latest->words);
}

uint32_t leat_diag_errors(const leat_diag *diag) {
  return diag->counts[LEAT_SEVERITY_ERROR];
}

bool leat_diag_is_full(const leat_diag *diag) {
  return diag->kept[LEAT_SEVERITY_ERROR] >= diag->most;
}

void leat_diag_clear(leat_diag *diag) {
  diag->most = KEPT;
  diag->messages.count = 0;
  diag->latest = NULL;
  memset(diag->counts, 0, sizeof diag->counts);
  memset(diag->kept, 0, sizeof diag->kept);
}

// -- Withholding ---------------------------------------------------------------------------------

struct leat_withheld {
  leat_vec(message *) items;
  uint32_t counts[2];
};

leat_diag_mark leat_diag_take_mark(const leat_diag *diag) {
  return (leat_diag_mark){diag->messages.count, {diag->counts[0], diag->counts[1]}};
}

static bool is_inside(leat_span inner, leat_span outer) {
  return !outer.source ||
         (inner.source == outer.source && inner.begin >= outer.begin && inner.end <= outer.end);
}

bool leat_diag_mute(leat_diag *diag, bool mute) {
  bool before = diag->mute;
  diag->mute = mute;
  return before;
}

leat_withheld *leat_diag_withhold(leat_diag *diag, leat_diag_mark mark, leat_span span) {
  leat_withheld *taken = leat_new(diag->arena, leat_withheld);
  uint32_t kept = mark.messages;
  for (uint32_t i = mark.messages; i < diag->messages.count; i++) {
    message *m = diag->messages.items[i];
    if (!is_inside(m->span, span)) continue;
    leat_vec_push(diag->arena, &taken->items, m);
    taken->counts[m->severity] += 1 + m->again;
  }
  if (!taken->counts[LEAT_SEVERITY_ERROR]) return NULL;
  for (uint32_t i = mark.messages; i < diag->messages.count; i++)
    if (!is_inside(diag->messages.items[i]->span, span))
      diag->messages.items[kept++] = diag->messages.items[i];
  diag->messages.count = kept;
  for (leat_severity s = LEAT_SEVERITY_ERROR; s <= LEAT_SEVERITY_WARNING; s++) {
    if (!span.source) taken->counts[s] = diag->counts[s] - mark.counts[s]; // those not kept, too
    diag->counts[s] -= taken->counts[s];
  }
  memset(diag->kept, 0, sizeof diag->kept);
  for (uint32_t i = 0; i < kept; i++) diag->kept[diag->messages.items[i]->severity]++;
  diag->latest = NULL;
  return taken;
}

void leat_diag_tell(leat_diag *diag, const leat_withheld *withheld) {
  for (uint32_t i = 0; i < withheld->items.count; i++) {
    message *m = withheld->items.items[i];
    if (diag->kept[m->severity] >= diag->most) continue;
    diag->kept[m->severity]++;
    m->order = diag->messages.count;
    leat_vec_push(diag->arena, &diag->messages, m);
  }
  for (leat_severity s = LEAT_SEVERITY_ERROR; s <= LEAT_SEVERITY_WARNING; s++)
    diag->counts[s] += withheld->counts[s];
  diag->latest = NULL;
}

static int by_place(const void *a, const void *b) {
  const message *x = *(message *const *)a, *y = *(message *const *)b;
  if (x->span.source != y->span.source) return x->span.source < y->span.source ? -1 : 1;
  if (x->span.begin != y->span.begin) return x->span.begin < y->span.begin ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

const char *leat_withheld_first(const leat_withheld *withheld, leat_span *out_span) {
  const message *first = NULL;
  for (uint32_t i = 0; i < withheld->items.count; i++) {
    const message *m = withheld->items.items[i];
    if (m->severity == LEAT_SEVERITY_ERROR && (!first || by_place(&m, &first) < 0)) first = m;
  }
  *out_span = first->span;
  return first->words;
}

// Of "node `X` (Conv)" the X.
static const char *name_of_node(const leat_diag *diag, place p) {
  const char *begin = memchr(p.node, '`', (size_t)p.node_size) + 1, *end = p.node + p.node_size;
  while (end > begin && *end != '`') end--;
  return leat_arena_strndup(diag->arena, begin, (size_t)(end - begin));
}

static bool names(const leat_text *pairs, const char *name) {
  for (size_t at = 0; at < pairs->size; at += strlen(pairs->data + at) + 1) {
    if (strcmp(pairs->data + at, name) == 0) return true;
    at += strlen(pairs->data + at) + 1;
  }
  return false;
}

void leat_withheld_nodes(const leat_diag *diag, const leat_withheld *withheld, leat_text *out) {
  for (uint32_t i = 0; i < withheld->items.count; i++) {
    const message *m = withheld->items.items[i];
    const source *s = find_source(diag, m->span.source);
    place p = s ? place_of(s, m->span) : (place){0};
    const char *name = p.node ? name_of_node(diag, p) : NULL;
    if (!name || m->severity != LEAT_SEVERITY_ERROR || names(out, name)) continue;
    leat_text_add_n(out, name, strlen(name) + 1);
    leat_text_add_n(out, m->words, strlen(m->words) + 1);
  }
}

static bool starts_character(char c) {
  return ((unsigned char)c & 0xc0) != 0x80;
}

// Terminal columns of the character at text[i] when it is shown at `column`.
static size_t width_at(const char *text, size_t i, size_t column) {
  if (text[i] == '\t') return TAB - column % TAB;
  return starts_character(text[i]) ? 1 : 0;
}

static size_t columns_between(const char *text, size_t from, size_t to, size_t column) {
  size_t first = column;
  for (size_t i = from; i < to; i++) column += width_at(text, i, column);
  return column - first;
}

// Narrows [p->start, p->stop) to about WIDEST_LINE characters with the caret among them.
static void clip_line(const char *text, place *p) {
  size_t stop = p->begin;
  for (size_t seen = 0; stop < p->stop && seen < WIDEST_LINE / 2; stop++)
    seen += starts_character(text[stop]);
  while (stop < p->stop && !starts_character(text[stop])) stop++;
  size_t start = p->begin;
  for (size_t seen = 0; start > p->start && seen < WIDEST_LINE / 2;)
    seen += starts_character(text[--start]);
  p->start = start;
  p->stop = stop;
}

static void print_line(leat_text *out, const char *text, place p, size_t span_end) {
  if (p.stop - p.start > WIDEST_LINE) clip_line(text, &p);
  size_t column = 0;
  for (size_t i = p.start; i < p.stop; i++) {
    size_t width = width_at(text, i, column);
    if (text[i] == '\t')
      leat_text_add(out, "%*s", (int)width, "");
    else
      leat_text_add_n(out, (unsigned char)text[i] < 0x20 || text[i] == 0x7f ? "?" : &text[i], 1);
    column += width;
  }
  size_t before = columns_between(text, p.start, p.begin, 0);
  size_t end = span_end < p.stop ? span_end : p.stop;
  size_t marked = columns_between(text, p.begin, end, before);
  leat_text_add(out, "\n%*s^", (int)before, "");
  for (size_t i = 1; i < marked; i++) leat_text_add_n(out, "~", 1);
  leat_text_add_n(out, "\n", 1);
}

// In characters, as editors count.
static size_t column_of(const source *s, place p) {
  size_t column = 1;
  for (size_t i = p.start; i < p.begin; i++) column += starts_character(s->text[i]);
  return column;
}

void leat_diag_place(const leat_diag *diag, leat_span span, leat_text *out) {
  const source *s = find_source(diag, span.source);
  if (!s) return;
  place p = place_of(s, span);
  if (p.node)
    leat_text_add(out, "%s: %.*s", s->name, p.node_size, p.node);
  else
    leat_text_add(out, "%s:%u:%zu", s->name, p.line, column_of(s, p));
}

static void print_message(const leat_diag *diag, const message *m, leat_text *out) {
  const source *s = find_source(diag, m->span.source);
  if (!s) {
    leat_text_add(out, "%s: %s\n", severity_names[m->severity], m->words);
    return;
  }
  leat_diag_place(diag, m->span, out);
  leat_text_add(out, ": %s: %s\n", severity_names[m->severity], m->words);
  print_line(out, s->text, place_of(s, m->span), m->span.end);
}

// NULL: there is none, and nothing is kept for a call that says nothing.
static message **sort(const leat_diag *diag) {
  uint32_t count = diag->messages.count;
  if (!count) return NULL;
  message **sorted = leat_new_array(diag->arena, message *, count);
  memcpy(sorted, diag->messages.items, count * sizeof *sorted);
  qsort(sorted, count, sizeof *sorted, by_place);
  return sorted;
}

static leat_problem problem_of(const leat_diag *diag, const message *m) {
  leat_problem problem = {.severity = m->severity, .message = m->words};
  const source *s = find_source(diag, m->span.source);
  if (!s) return problem;
  place p = place_of(s, m->span);
  problem.file = s->name;
  problem.line = (int)p.line;
  problem.column = (int)column_of(s, p);
  if (p.node)
    problem.message = leat_arena_printf(diag->arena, "%.*s: %s", p.node_size, p.node, m->words);
  return problem;
}

void leat_diag_each(const leat_diag *diag, void (*take)(void *context, const leat_problem *problem),
                    void *context) {
  uint32_t count = diag->messages.count;
  message **sorted = sort(diag);
  for (uint32_t i = 0; i < count; i++)
    for (const message *m = sorted[i]; m; m = m == sorted[i] ? m->notes : m->next) {
      leat_problem problem = problem_of(diag, m);
      take(context, &problem);
    }
}

// Names of files, and lines of texts, may hold anything.
void leat_diag_print(const leat_diag *diag, leat_text *out) {
  uint32_t count = diag->messages.count;
  size_t begin = out->size;
  message **sorted = sort(diag);
  for (uint32_t i = 0; i < count; i++) {
    print_message(diag, sorted[i], out);
    for (message *note = sorted[i]->notes; note; note = note->next) print_message(diag, note, out);
    uint32_t more = sorted[i]->note_count > NOTES_KEPT ? sorted[i]->note_count - NOTES_KEPT : 0;
    if (more) leat_text_add(out, "note: and %u more of these\n", more);
    if (sorted[i]->again)
      leat_text_add(out, "note: and %u more like this, of other calls\n", sorted[i]->again);
  }
  for (leat_severity s = LEAT_SEVERITY_ERROR; s <= LEAT_SEVERITY_WARNING; s++) {
    uint32_t more = diag->counts[s] - diag->kept[s];
    for (uint32_t i = 0; i < count; i++) more -= sorted[i]->severity == s ? sorted[i]->again : 0;
    if (more)
      leat_text_add(out, "and %u more %s%s\n", more, severity_names[s], more == 1 ? "" : "s");
  }
  if (out->size > begin) leat_mask_controls_n(out->data + begin, out->size - begin);
}

static size_t smaller(size_t a, size_t b) {
  return a < b ? a : b;
}

// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment), with
// three rows of its table; both texts are at most LONGEST_NAME bytes.
static size_t edit_distance(const char *a, size_t a_size, const char *b, size_t b_size) {
  size_t rows[3][LONGEST_NAME + 1];
  size_t *before = rows[0], *above = rows[1], *row = rows[2];
  for (size_t j = 0; j <= b_size; j++) row[j] = j;
  for (size_t i = 1; i <= a_size; i++) {
    size_t *free_row = before;
    before = above, above = row, row = free_row;
    row[0] = i;
    for (size_t j = 1; j <= b_size; j++) {
      row[j] = smaller(above[j - 1] + (a[i - 1] != b[j - 1]), smaller(above[j], row[j - 1]) + 1);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = smaller(row[j], before[j - 2] + 1);
    }
  }
  return row[b_size];
}

const char *leat_nearest(const char *name, const char *const *candidates, size_t count) {
  size_t size = strlen(name);
  if (size == 0 || size > LONGEST_NAME) return NULL;
  const char *nearest = NULL;
  size_t least = size / 4 + 2; // one more than the most edits that still suggest
  for (size_t i = 0; i < count; i++) {
    size_t other = strlen(candidates[i]);
    if (other == 0 || other > LONGEST_NAME) continue;
    size_t distance = edit_distance(name, size, candidates[i], other);
    if (distance >= least || distance >= size) continue;
    least = distance;
    nearest = candidates[i];
  }
  return nearest;
}
