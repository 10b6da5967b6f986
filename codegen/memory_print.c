// What `leat inspect --memory` shows: of each table the values that lie in arenas, the largest
// first, with their place and the units between which they are needed, where most of them are, and
// a picture; and what is not in arenas.
#include "codegen/stages.h"
#include "ir/print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 20, MOST_ROWS = 16, MOST_COLUMNS = 64, ALIGNMENT = 64, COLUMN = 15 };

// A value in an arena, or in a donated feed. What it shares the memory of is another.
typedef struct value {
  const leat_storage *storage;
  const leat_storage *feed; // donated, in which it lies; NULL: it is in an arena
  const leat_item *item;    // that it is; NULL: it is …
  const leat_unit *helps;   // … what this unit alone needs, or has more of than its outputs
  uint32_t views;           // items that are it in another shape
  bool again;               // it is made another time
  leat_dim size;            // bytes
  bool placed;              // size and offset are numbers, in the table's first arena
  uint32_t first, last;     // units
  char letter;              // in the picture
} value;

typedef struct memory_printer {
  const leat_codegen_state *cg;
  const leat_image *image;
  const leat_table *table;
  bool all;
  leat_arena *arena;
  leat_text *out;
  leat_map by_storage; // leat_storage → value
  value *values;
  uint32_t count;
} memory_printer;

// -- Numbers --------------------------------------------------------------------------------------

// 12,345,678
static const char *grouped(int64_t number, char out[32]) {
  char digits[24];
  int length = snprintf(digits, sizeof digits, "%" PRId64, number), at = 0;
  for (int i = 0; i < length; i++) {
    if (i && (length - i) % 3 == 0 && digits[i - 1] != '-') out[at++] = ',';
    out[at++] = digits[i];
  }
  out[at] = 0;
  return out;
}

static void add_number(memory_printer *p, int64_t number, int width) {
  char text[32];
  leat_text_add(p->out, "%*s", width, grouped(number, text));
}

static void add_dim(memory_printer *p, leat_dim dim, int width) {
  leat_text text = {0};
  if (leat_dim_is_const(dim)) {
    add_number(p, dim.value, width);
    return;
  }
  leat_dim_print(dim, &text);
  leat_text_add(p->out, "%*s", width, text.data);
  leat_text_finish(&text);
}

// -- Values ---------------------------------------------------------------------------------------

static leat_dim size_of(const memory_printer *p, const leat_storage *storage) {
  leat_dim size = leat_dim_const(0), width = leat_dim_const(1);
  leat_dims *dims = p->cg->graph->dims;
  width.value = (int64_t)leat_dtype_size(storage->type.dtype);
  if (storage->place.slots) width.value *= storage->place.slots;
  if (!leat_type_elements(dims, &storage->type, &size) || !leat_dim_mul(dims, size, width, &size))
    return leat_dim_const(0); // planning has refused it
  return size;
}

static double estimate(const value *v) {
  return leat_dim_is_const(v->size) ? (double)v->size.value : leat_cost_bytes(&v->storage->type);
}

static void name_values(memory_printer *p) {
  const leat_table *table = p->table;
  for (uint32_t i = 0; i < table->items.count; i++) {
    const leat_item *item = table->items.items[i];
    value *v = item->storage ? leat_map_get(&p->by_storage, item->storage) : NULL;
    if (v && item->role == LEAT_ROLE_ALIAS) v->views++;
    if (v && item->role != LEAT_ROLE_ALIAS && !v->item) v->item = item;
  }
  for (uint32_t i = 0; i < table->units.count; i++) {
    const leat_unit *unit = table->units.items[i];
    for (uint32_t k = 0; unit->again && k < unit->outputs.count; k++) {
      value *v = leat_map_get(&p->by_storage, unit->outputs.items[k].storage);
      if (v) v->item = unit->outputs.items[k].item, v->again = true;
    }
    leat_storages writes = leat_unit_writes(p->arena, unit);
    for (uint32_t k = 0; k < writes.count; k++) {
      value *v = leat_map_get(&p->by_storage, writes.items[k]);
      if (v && !v->item && !v->helps) v->helps = unit;
    }
  }
}

static void find_values(memory_printer *p) {
  const leat_table *table = p->table;
  leat_map_init(&p->by_storage, p->arena);
  p->count = table->planned.count;
  p->values = leat_new_array(p->arena, value, p->count + 1);
  for (uint32_t i = 0; i < p->count; i++) {
    value *v = &p->values[i];
    const leat_arena_place *place = &table->planned.items[i]->place;
    v->storage = table->planned.items[i];
    v->size = size_of(p, v->storage);
    const leat_storage *owner = leat_storage_owner(table->planned.items[i]);
    v->feed = owner->kind == LEAT_BUFFER_FEED ? owner : NULL;
    v->placed =
        leat_dim_is_const(v->size) && leat_dim_is_const(place->offset) && !place->arena && !v->feed;
    leat_storage_life(v->storage, &v->first, &v->last);
    leat_map_set(&p->by_storage, v->storage, v);
  }
  name_values(p);
}

static int by_size(const void *a, const void *b) {
  const value *x = *(value *const *)a, *y = *(value *const *)b;
  double s = estimate(x), t = estimate(y);
  if (s != t) return s > t ? -1 : 1;
  return x < y ? -1 : x > y; // by who is first
}

static value **sorted(memory_printer *p) {
  value **list = leat_new_array(p->arena, value *, p->count + 1);
  for (uint32_t i = 0; i < p->count; i++) list[i] = &p->values[i];
  qsort(list, p->count, sizeof *list, by_size);
  return list;
}

static const leat_node *node_of(const leat_unit *unit) {
  if (unit->kind == LEAT_UNIT_ROTATE) return unit->rotation->node;
  if (unit->kind == LEAT_UNIT_ROOM) return unit->room_for;
  if (unit->kind != LEAT_UNIT_COPY) return unit->members.items[unit->members.count - 1]->node;
  return unit->copy.assign ? unit->copy.assign->node : NULL;
}

static void add_unit(memory_printer *p, const leat_unit *unit) {
  const leat_node *node = node_of(unit);
  leat_text_add(p->out, "%s%s%s%s", leat_unit_kind_name(unit), node ? " `" : "",
                node ? node->name : "", node ? "`" : "");
}

static bool is_panels_of(const leat_unit *unit, const leat_storage *storage) {
  for (uint32_t i = 0; unit->kind == LEAT_UNIT_REGION && i < unit->region.panels.count; i++)
    if (unit->region.panels.items[i] == storage) return true;
  return false;
}

static void add_name(memory_printer *p, const value *v) {
  if (v->item && v->item->port)
    leat_text_add(p->out, "%s:%u", v->item->node->name, v->item->port);
  else if (v->item)
    leat_text_add(p->out, "%s", v->item->node->name);
  else if (!v->helps)
    leat_text_add(p->out, "what is copied");
  else if (v->helps->kind == LEAT_UNIT_REGION &&
           (v->storage == v->helps->region.predicate || v->storage == v->helps->region.goes_on))
    leat_text_add(p->out, "predicate of "), add_unit(p, v->helps);
  else if (v->helps->kind == LEAT_UNIT_REGION && v->storage == v->helps->scratch)
    leat_text_add(p->out, "inside of "), add_unit(p, v->helps);
  else if (is_panels_of(v->helps, v->storage))
    leat_text_add(p->out, "panels for "), add_unit(p, v->helps);
  else
    leat_text_add(p->out, "scratch of "), add_unit(p, v->helps);
}

static void add_value(memory_printer *p, const value *v) {
  const leat_arena_place *place = &v->storage->place;
  const value *shares = place->shares ? leat_map_get(&p->by_storage, place->shares) : NULL;
  leat_text_add(p->out, "  %c", v->letter ? v->letter : ' ');
  add_dim(p, v->size, COLUMN);
  leat_text_add(p->out, " ");
  if (v->feed)
    leat_text_add(p->out, "%*s", COLUMN, "");
  else
    add_dim(p, place->offset, COLUMN);
  leat_text_add(p->out, "  %5u - %-5u  ", v->first, v->last);
  add_name(p, v);
  leat_text_add(p->out, " ");
  leat_type_print(&v->storage->type, p->out);
  if (v->again) leat_text_add(p->out, ", made again");
  if (place->arena) leat_text_add(p->out, ", in arena %u", place->arena);
  if (place->slots > 1) leat_text_add(p->out, ", %u that change places", place->slots);
  if (shares) leat_text_add(p->out, ", in place of "), add_name(p, shares);
  if (v->feed && !shares) leat_text_add(p->out, ", in the feed %s", v->feed->node->name);
  if (v->views) leat_text_add(p->out, ", %u view%s of it", v->views, v->views > 1 ? "s" : "");
  leat_text_add(p->out, "%s\n", place->lasts ? ", fetched" : "");
}

// -- The peak -------------------------------------------------------------------------------------

static int64_t aligned(int64_t size) {
  return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static int64_t held(const value *v) {
  return v->placed && !v->storage->place.shares ? aligned(v->size.value) : 0;
}

// Bytes that the values take which are needed when each unit runs.
static int64_t *live_bytes(memory_printer *p) {
  uint32_t units = p->table->units.count;
  int64_t *live = leat_new_array(p->arena, int64_t, units + 1), sum = 0;
  for (uint32_t i = 0; i < p->count; i++) {
    live[p->values[i].first] += held(&p->values[i]);
    live[p->values[i].last + 1] -= held(&p->values[i]);
  }
  for (uint32_t i = 0; i < units; i++) sum += live[i], live[i] = sum;
  return live;
}

static int64_t extent_of(const memory_printer *p) {
  int64_t end = 0;
  for (uint32_t i = 0; i < p->count; i++) {
    const value *v = &p->values[i];
    int64_t high = v->placed ? v->storage->place.offset.value + aligned(v->size.value) : 0;
    if (high > end) end = high;
  }
  return end;
}

static void add_peak(memory_printer *p) {
  int64_t *live = live_bytes(p), extent = extent_of(p);
  uint32_t units = p->table->units.count, at = 0, places = 0, symbolic = 0, again = 0;
  for (uint32_t i = 1; i < units; i++)
    if (live[i] > live[at]) at = i;
  for (uint32_t i = 0; i < p->count; i++) {
    places += !p->values[i].storage->place.shares;
    symbolic += !p->values[i].placed && !p->values[i].feed;
    again += p->values[i].again;
  }
  leat_text_add(p->out, "  %u values", p->count);
  if (again) leat_text_add(p->out, ", of which %u are made again,", again);
  leat_text_add(p->out, " in %u places, %u units; ", places, units);
  add_number(p, extent, 0);
  leat_text_add(p->out, " bytes");
  if (extent) {
    leat_text_add(p->out, ", of which unit %u, ", at);
    add_unit(p, p->table->units.items[at]);
    leat_text_add(p->out, ", needs most: ");
    add_number(p, live[at], 0);
  }
  if (symbolic) leat_text_add(p->out, "; %u more of a size that is known while running", symbolic);
  leat_text_add(p->out, "\n");
}

// -- The picture ----------------------------------------------------------------------------------

// Rows of bytes, columns of units; in each cell what takes most of it.
typedef struct cell {
  double taken;
  char letter;
} cell;

typedef struct picture {
  int rows, columns;
  double bytes, units; // of a cell
  cell *cells;
} picture;

static double overlap(double low, double high, double from, double to) {
  double begin = low > from ? low : from, end = high < to ? high : to;
  return end > begin ? end - begin : 0;
}

static void draw_value(const picture *pic, const value *v) {
  double low = (double)v->storage->place.offset.value / pic->bytes;
  double high = low + (double)held(v) / pic->bytes;
  double from = v->first / pic->units, to = (v->last + 1) / pic->units;
  for (int y = (int)low; y < pic->rows && y < high; y++)
    for (int x = (int)from; x < pic->columns && x < to; x++) {
      double taken = overlap(low, high, y, y + 1) * overlap(from, to, x, x + 1);
      cell *c = &pic->cells[y * pic->columns + x];
      if (taken > c->taken) *c = (cell){taken, v->letter ? v->letter : '+'};
    }
}

static void print_picture(memory_printer *p, const picture *pic) {
  leat_text_add(p->out, "\n  byte by unit, 0 - %u:\n", p->table->units.count - 1);
  for (int y = 0; y < pic->rows; y++) {
    leat_text_add(p->out, "   ");
    add_number(p, (int64_t)(y * pic->bytes), COLUMN);
    leat_text_add(p->out, " |");
    for (int x = 0; x < pic->columns; x++) {
      char letter = pic->cells[y * pic->columns + x].letter;
      leat_text_add(p->out, "%c", letter ? letter : ' ');
    }
    leat_text_add(p->out, "|\n");
  }
}

static void add_picture(memory_printer *p) {
  int64_t extent = extent_of(p), lines = extent / ALIGNMENT;
  uint32_t units = p->table->units.count;
  picture pic = {.rows = lines < MOST_ROWS ? (int)lines : MOST_ROWS,
                 .columns = units < MOST_COLUMNS ? (int)units : MOST_COLUMNS};
  if (lines < 2 || units < 2) return;
  pic.bytes = (double)extent / pic.rows;
  pic.units = (double)units / pic.columns;
  pic.cells = leat_new_array(p->arena, cell, (size_t)pic.rows * (size_t)pic.columns);
  for (uint32_t i = 0; i < p->count; i++)
    if (held(&p->values[i])) draw_value(&pic, &p->values[i]);
  print_picture(p, &pic);
}

// -- Tables ---------------------------------------------------------------------------------------

static void give_letters(value *const *list, uint32_t count) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  uint32_t next = 0;
  for (uint32_t i = 0; i < count && letters[next]; i++) {
    if (list[i]->storage->place.shares) continue;
    list[i]->letter = held(list[i]) ? letters[next++] : 0;
  }
}

// What is made in the memory of another looks as that does.
static void copy_letters(memory_printer *p) {
  for (uint32_t i = 0; i < p->count; i++) {
    leat_storage *owner = leat_storage_owner((leat_storage *)p->values[i].storage);
    const value *whose = leat_map_get(&p->by_storage, owner);
    if (whose) p->values[i].letter = whose->letter;
  }
}

static void add_values(memory_printer *p) {
  uint32_t shown = p->all || p->count <= SHOWN + 1 ? p->count : SHOWN;
  value **list = sorted(p);
  if (!p->count) return;
  give_letters(list, shown);
  copy_letters(p);
  leat_text_add(p->out, "   %*s %*s  %13s  value\n", COLUMN, "bytes", COLUMN, "at", "units");
  for (uint32_t i = 0; i < shown; i++) add_value(p, list[i]);
  if (shown < p->count)
    leat_text_add(p->out, "  and %u smaller ones, which --all shows\n", p->count - shown);
  add_picture(p);
}

static void add_title(memory_printer *p, const char *which) {
  const leat_table *table = p->table;
  if (table->initialises)
    leat_text_add(p->out, "\nThe initial value of `%s`\n", table->initialises->name);
  else if (!table->body)
    leat_text_add(p->out, "\nThe step\n");
  else
    leat_text_add(p->out, "\nThe %s of `%s`, %s\n", which, table->body->owner->name,
                  table->in_kernel ? "in registers and local arrays of its kernel"
                  : table->memory  ? "in the memory that the table around has for its inside"
                                   : "in an arena of its own");
}

// All are of known sizes, and none shares another's room.
static void add_kernel(memory_printer *p) {
  int64_t bytes = 0;
  for (uint32_t i = 0; i < p->count; i++)
    if (!p->values[i].storage->place.shares) bytes += p->values[i].size.value;
  leat_text_add(p->out, "  %u value%s, ", p->count, p->count > 1 ? "s" : "");
  add_number(p, bytes, 0);
  leat_text_add(p->out, " bytes\n");
}

static void print_table(memory_printer *around, const leat_table *table, const char *which) {
  leat_arena *arena = leat_arena_create();
  memory_printer p = *around;
  p.table = table;
  p.arena = arena;
  if (table->planned.count) {
    add_title(&p, which);
    find_values(&p);
    if (table->in_kernel) {
      add_kernel(&p);
    } else {
      add_peak(&p);
      add_values(&p);
    }
  }
  leat_arena_destroy(arena);
  for (uint32_t i = 0; i < table->units.count; i++) {
    const leat_unit *unit = table->units.items[i];
    if (unit->kind != LEAT_UNIT_REGION) continue;
    bool loop = unit->members.items[0]->node->op == LEAT_OP_while_loop;
    print_table(around, unit->region.tables[0], loop ? "condition" : "branch that is taken");
    print_table(around, unit->region.tables[1], loop ? "body" : "other branch");
  }
}

// -- What is not in arenas ------------------------------------------------------------------------

// A line: what it is, and the bytes of all.
typedef struct total {
  const char *title;
  int64_t bytes; // of those whose size is known
  uint32_t count, unknown;
} total;

static void add_total(memory_printer *p, const total *t, const char *of) {
  if (!t->count) return;
  leat_text_add(p->out, "  %-10s", t->title);
  add_number(p, t->bytes, COLUMN);
  leat_text_add(p->out, " bytes  %u %s%s", t->count, of, t->count > 1 ? "s" : "");
  if (t->unknown) leat_text_add(p->out, ", %u of run-time size", t->unknown);
  leat_text_add(p->out, "\n");
}

static void count_type(total *t, const leat_type *type) {
  int64_t elements = leat_type_static_elements(type);
  t->count++;
  t->unknown += elements < 0;
  if (elements > 0) t->bytes += elements * (int64_t)leat_dtype_size(type->dtype);
}

// With --all each of them stands below.
static void add_one(memory_printer *p, const char *what, const char *name, const leat_type *type) {
  if (!p->all) return;
  leat_text_add(p->out, "    %s %s ", what, name);
  leat_type_print(type, p->out);
  leat_text_add(p->out, "\n");
}

static void add_each(memory_printer *p) {
  const leat_graph *graph = p->cg->graph;
  for (uint32_t i = 0; i < graph->states.count; i++)
    add_one(p, "variable", graph->states.items[i]->name, &graph->states.items[i]->type);
  for (uint32_t i = 0; i < p->cg->leaves.count; i++) {
    const leat_storage *leaf = p->cg->leaves.entries[i].value;
    bool file = leaf->kind == LEAT_BUFFER_FILE;
    if (leaf->node != p->cg->leaves.entries[i].key) continue;
    if (file || leaf->kind == LEAT_BUFFER_FEED)
      add_one(p, file ? "file" : "feed", leaf->node->name, &leaf->type);
  }
  for (uint32_t i = 0; i < p->cg->prepared.count; i++) {
    const leat_storage *prepared = p->cg->prepared.items[i];
    add_one(p, "prepared, for", prepared->node->name, &prepared->type);
  }
}

static void add_arenas(memory_printer *p) {
  for (uint32_t i = 0; i < p->cg->arenas.count; i++) {
    const leat_arena_plan *arena = &p->cg->arenas.items[i];
    if (arena->within) continue;
    leat_text_add(p->out, "  arena %-4u", i);
    add_dim(p, arena->size, COLUMN);
    leat_text_add(p->out, " bytes%s%s%s\n", arena->table ? "  of the body of `" : "",
                  arena->table ? arena->table->body->owner->name : "", arena->table ? "`" : "");
  }
}

static void add_totals(memory_printer *p) {
  const leat_graph *graph = p->cg->graph;
  total variables = {.title = "variables"}, files = {.title = "files"};
  total constants = {.title = "constants", .bytes = (int64_t)p->image->data.count};
  total feeds = {.title = "feeds"}, donated = {.title = "donated"},
        prepared = {.title = "prepared"};
  for (uint32_t i = 0; i < graph->states.count; i++)
    count_type(&variables, &graph->states.items[i]->type);
  for (uint32_t i = 0; i < p->cg->leaves.count; i++) {
    const leat_storage *leaf = p->cg->leaves.entries[i].value;
    if (leaf->node != p->cg->leaves.entries[i].key) continue; // a parameter of a body, which is it
    if (leaf->kind == LEAT_BUFFER_FILE) count_type(&files, &leaf->type);
    if (leaf->kind == LEAT_BUFFER_FEED) count_type(leaf->donated ? &donated : &feeds, &leaf->type);
    constants.count += leaf->kind == LEAT_BUFFER_CONSTANT;
  }
  for (uint32_t i = 0; i < p->cg->prepared.count; i++)
    count_type(&prepared, &p->cg->prepared.items[i]->type);
  add_arenas(p);
  add_total(p, &variables, "variable");
  add_total(p, &files, "tensor");
  add_total(p, &constants, "constant");
  add_total(p, &feeds, "feed");
  add_total(p, &donated, "feed");
  add_total(p, &prepared, "packed weight");
  add_each(p);
}

void leat_memory_print(const leat_codegen_state *cg, const leat_image *image, bool all,
                       leat_text *out) {
  memory_printer p = {.cg = cg, .image = image, .all = all, .out = out};
  add_totals(&p);
  for (uint32_t i = 0; i < cg->tables.count; i++) print_table(&p, cg->tables.items[i], NULL);
}
