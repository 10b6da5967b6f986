// The header of an artifact that others link with, for C and C++: of each entry a struct for what
// it takes, one for what it gives, and a function, which is inline and calls what leat/runtime.h
// declares.
//
// What is in a struct is called as in the text (session/artifact/c_names.h), in the order of the
// entry's declaration. A dim that is known only while running is a field in front of them.
#include "session/artifact/files.h"

#include "leat/leat.h"
#include "runtime/port.h"

#include <stdarg.h>
#include <string.h>

// A field of a struct: a feed or a fetch.
typedef struct field {
  leat_port_info port;
  const char *name;
  const char *extents[LEAT_MAX_RANK]; // of each axis, in C: a field of the struct, or a number
} field;

typedef struct fields {
  field *items;
  size_t count;
  leat_vec(const char *) dims;     // fields: the run-time dims
  leat_vec(const char *) dim_says; // what they are
} fields;

typedef struct header {
  leat_artifact *artifact;
  leat_arena *arena;
  const char *name; // the artifact's
  leat_text *out;
} header;

static void add(header *h, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(header *h, const char *format, ...) {
  va_list words;
  va_start(words, format);
  leat_text_add_v(h->out, format, words);
  va_end(words);
}

// -- Types ---------------------------------------------------------------------------------------

static const char *c_type(leat_dtype dtype) {
  switch (dtype) {
  case LEAT_bool: return "bool";
  case LEAT_i8: return "int8_t";
  case LEAT_i16: return "int16_t";
  case LEAT_i32: return "int32_t";
  case LEAT_i64: return "int64_t";
  case LEAT_u8: return "uint8_t";
  case LEAT_u16: return "uint16_t";
  case LEAT_u32: return "uint32_t";
  case LEAT_u64: return "uint64_t";
  case LEAT_f16:
  case LEAT_bf16: return "uint16_t"; // its bits
  case LEAT_f32:
  case LEAT_c64: return "float";
  case LEAT_f64:
  case LEAT_c128: return "double";
  case LEAT_str: return "leat_str";
  }
  return "void";
}

static bool is_pair(const field *f) {
  return leat_dtype_kind_of(f->port.dtype) == LEAT_KIND_COMPLEX;
}

// A number is a field itself; what has a default is always a pointer, which may be NULL, and so is
// what a run may write to.
static bool is_value(const field *f) {
  return f->port.rank == 0 && !f->port.has_fallback && !f->port.donated;
}

// What of its elements a reader cannot see from their C type.
static const char *remark(const field *f) {
  if (f->port.dtype == LEAT_f16 || f->port.dtype == LEAT_bf16) return ", as bits";
  return is_pair(f) ? ", each a real and an imaginary part" : "";
}

// -- Fields --------------------------------------------------------------------------------------

// The field of a run-time dim, made where it is seen first. A dim that is no name is an axis'.
static const char *dim_field(header *h, leat_c_scope *scope, fields *all, const field *f,
                             int axis) {
  const char *dim = f->port.dims[axis];
  bool named = dim && *dim != '?';
  const char *says = named ? leat_arena_printf(h->arena, "dim %s", dim)
                           : leat_arena_printf(h->arena, "axis %d of %s", axis, f->port.name);
  for (uint32_t i = 0; i < all->dims.count; i++)
    if (strcmp(all->dim_says.items[i], says) == 0) return all->dims.items[i];
  const char *wanted = named ? dim : leat_arena_printf(h->arena, "%s_dim%d", f->name, axis);
  const char *name = leat_c_name(scope, wanted);
  leat_vec_push(h->arena, &all->dims, name);
  leat_vec_push(h->arena, &all->dim_says, says);
  return name;
}

static void name_fields(header *h, fields *all) {
  leat_c_scope scope;
  leat_c_scope_init(&scope, h->arena);
  leat_c_scope_take_keywords(&scope);
  for (size_t i = 0; i < all->count; i++)
    all->items[i].name = leat_c_name(&scope, all->items[i].port.name);
  for (size_t i = 0; i < all->count; i++) {
    field *f = &all->items[i];
    for (int axis = 0; axis < f->port.rank; axis++)
      f->extents[axis] = f->port.shape[axis] >= 0
                             ? leat_arena_printf(h->arena, "%lld", (long long)f->port.shape[axis])
                             : dim_field(h, &scope, all, f, axis);
  }
}

static void find_fields(header *h, const leat_view *view, fields *feeds, fields *fetches) {
  *feeds = (fields){.count = view->image->feeds.count};
  *fetches = (fields){.count = view->image->fetches.count};
  feeds->items = leat_new_array(h->arena, field, feeds->count + 1);
  fetches->items = leat_new_array(h->arena, field, fetches->count + 1);
  for (size_t i = 0; i < feeds->count; i++) leat_view_feed(view, i, &feeds->items[i].port);
  for (size_t i = 0; i < fetches->count; i++) leat_view_fetch(view, i, &fetches->items[i].port);
  name_fields(h, feeds);
  name_fields(h, fetches);
}

static void add_field(header *h, const field *f) {
  const char *star = is_value(f) ? "" : "*";
  const char *read_only = is_value(f) || f->port.donated ? "" : "const ";
  leat_text type = {0};
  leat_port_print(&f->port, &type);
  add(h, "  %s%s %s%s%s; // ", read_only, c_type(f->port.dtype), star, f->name,
      is_value(f) && is_pair(f) ? "[2]" : "");
  if (strcmp(f->name, f->port.name) != 0) add(h, "`%s`, ", f->port.name);
  add(h, "%s%s%s%s\n", type.data, remark(f), f->port.has_fallback ? "; NULL: its default" : "",
      f->port.donated ? "; donated: results may be made in it" : "");
  leat_text_finish(&type);
}

// "typedef struct NAME_ENTRY_inputs { … }", if there is anything.
static void add_struct(header *h, const char *name, const fields *all) {
  if (!all->count) return;
  add(h, "typedef struct %s_%s {\n", h->name, name);
  for (uint32_t i = 0; i < all->dims.count; i++)
    add(h, "  int64_t %s; // %s\n", all->dims.items[i], all->dim_says.items[i]);
  for (size_t i = 0; i < all->count; i++) add_field(h, &all->items[i]);
  add(h, "} %s_%s;\n\n", h->name, name);
}

// -- Functions -----------------------------------------------------------------------------------

// NULL inputs: all of them are defaults.
static bool needs_none(const fields *feeds) {
  for (size_t i = 0; i < feeds->count; i++)
    if (!feeds->items[i].port.has_fallback) return false;
  return true;
}

static void add_feed(header *h, size_t i, const field *f, bool may_lack) {
  add(h, "  feeds[%zu] = leat_tensor_over(LEAT_%s, %d, %s%s%s%s);\n", i,
      leat_dtype_name(f->port.dtype), f->port.rank, may_lack ? "inputs ? " : "",
      is_value(f) && !is_pair(f) ? "&inputs->" : "inputs->", f->name, may_lack ? " : 0" : "");
  for (int axis = 0; axis < f->port.rank; axis++) {
    bool constant = f->port.shape[axis] >= 0;
    if (constant)
      add(h, "  feeds[%zu].shape[%d] = %s;\n", i, axis, f->extents[axis]);
    else
      add(h, "  feeds[%zu].shape[%d] = %sinputs->%s%s;\n", i, axis, may_lack ? "inputs ? " : "",
          f->extents[axis], may_lack ? " : 0" : "");
  }
}

static void add_fetch(header *h, size_t i, const field *f) {
  const char *type = c_type(f->port.dtype);
  if (!is_value(f))
    add(h, "  outputs->%s = (const %s *)fetches[%zu].data;\n", f->name, type, i);
  else
    add(h, "  memcpy(%soutputs->%s, fetches[%zu].data, sizeof outputs->%s);\n",
        is_pair(f) ? "" : "&", f->name, i, f->name);
}

// From the first result that has it.
static void add_extent(header *h, const fields *fetches, const char *dim) {
  for (size_t i = 0; i < fetches->count; i++)
    for (int axis = 0; axis < fetches->items[i].port.rank; axis++)
      if (strcmp(fetches->items[i].extents[axis], dim) == 0) {
        add(h, "  outputs->%s = fetches[%zu].shape[%d];\n", dim, i, axis);
        return;
      }
}

static void add_about(header *h, const leat_artifact_step *step) {
  for (const char *line = step->about; *line;) {
    size_t size = strcspn(line, "\n");
    add(h, "//%s%.*s\n", size ? " " : "", (int)size, line);
    line += size + (line[size] == '\n');
  }
}

static void open_function(header *h, const char *name, const leat_artifact_step *step,
                          const fields *feeds, const char *gives) {
  int indent = (int)(strlen(h->name) + strlen(name)) + 2;
  add(h, "LEAT_MUST_USE static inline leat_status\n%s_%s(%s_model *model", h->name, name, h->name);
  if (feeds->count) add(h, ",\n%*sconst %s_%s *inputs", indent, "", h->name, step->c_inputs);
  if (gives) add(h, ",\n%*s%s", indent, "", gives);
  add(h, ") {\n");
  if (feeds->count) add(h, "  leat_tensor feeds[%zu];\n", feeds->count);
}

static void add_function(header *h, uint32_t number, const leat_artifact_step *step,
                         const fields *feeds, const fields *fetches) {
  bool may_lack = needs_none(feeds);
  add_about(h, step);
  if (feeds->count && may_lack) add(h, "// `inputs` NULL: all have their defaults.\n");
  const char *gives = leat_arena_printf(h->arena, "%s_%s *outputs", h->name, step->c_outputs);
  open_function(h, step->c_name, step, feeds, fetches->count ? gives : NULL);
  if (fetches->count) add(h, "  leat_tensor fetches[%zu];\n", fetches->count);
  add(h, "  leat_status status;\n");
  for (size_t i = 0; i < feeds->count; i++) add_feed(h, i, &feeds->items[i], may_lack);
  add(h, "  status = leat_model_run(model, %u, %s, %s);\n", number, feeds->count ? "feeds" : "0",
      fetches->count ? "fetches" : "0");
  if (fetches->count) add(h, "  if (status) return status;\n");
  for (uint32_t i = 0; i < fetches->dims.count; i++) add_extent(h, fetches, fetches->dims.items[i]);
  for (size_t i = 0; i < fetches->count; i++) add_fetch(h, i, &fetches->items[i]);
  add(h, "  return status;\n}\n");
}

// How much a run needs that computes in the caller's memory (leat_model_lend).
static void add_memory(header *h, uint32_t number, const leat_artifact_step *step,
                       const leat_view *view, const fields *feeds) {
  uint32_t size = view->arenas[0].size;
  int64_t bytes;
  add(h, "\n// The memory that a run needs which computes in the caller's (leat_model_lend).\n");
  if (leat_formula_is_constant(view, size) && leat_formula_value(view, size, NULL, &bytes)) {
    add(h, "#define %s_%s ((size_t)%lld)\n", h->name, step->c_memory,
        (long long)((bytes + 63) & ~(int64_t)63));
    return;
  }
  open_function(h, step->c_memory, step, feeds, "size_t *out");
  for (size_t i = 0; i < feeds->count; i++) add_feed(h, i, &feeds->items[i], needs_none(feeds));
  add(h, "  return leat_model_memory(model, %u, %s, out);\n}\n", number,
      feeds->count ? "feeds" : "0");
}

static leat_status add_step(header *h, uint32_t number) {
  const leat_artifact_step *step = &h->artifact->steps[number];
  const leat_image *image = step->codes->compiled.image; // feeds and results are those of all
  leat_view view;
  fields feeds, fetches;
  LEAT_TRY(leat_image_check(image, image->size, &view, &h->artifact->session->error));
  find_fields(h, &view, &feeds, &fetches);
  add(h, "\n// -- %s %.*s\n\n", step->name, 91 - (int)strlen(step->name),
      "------------------------------------------------------------------------------------------"
      "-");
  add_struct(h, step->c_inputs, &feeds);
  add_struct(h, step->c_outputs, &fetches);
  add_function(h, number, step, &feeds, &fetches);
  add_memory(h, number, step, &view, &feeds);
  return LEAT_OK;
}

// -- The whole -----------------------------------------------------------------------------------

void leat_artifact_take_names(leat_c_scope *scope) {
  static const char *const names[] = {"model", "steps", "create", "destroy", "message"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) leat_c_scope_take(scope, names[i]);
}

static void add_libraries(header *h) {
  leat_foreign_set foreign = h->artifact->foreign;
  add(h, "// Link it with");
  for (int i = 0; i < LEAT_FOREIGN_COUNT; i++)
    if (foreign & 1u << i) add(h, " -lleat_%s", leat_foreign_libraries[i].module);
  add(h, " -lleat_rt");
  for (int i = 0; i < LEAT_FOREIGN_COUNT; i++)
    if (foreign & 1u << i) add(h, " -l%s", leat_foreign_libraries[i].library);
  add(h, " -lm.\n");
}

static void add_head(header *h) {
  const char *n = h->name;
  bool alone = h->artifact->options->kind == LEAT_ARTIFACT_SHARED;
  add(h, "// Made by leat build. leat/runtime.h says the rest: what a model's variables are, how\n"
         "// they are saved and restored, threads.\n");
  if (h->artifact->foreign && !alone) add_libraries(h);
  add(h,
      "//\n// What a function gives belongs to the model until its next run. What fails answers "
      "a status\n// that is not 0; %s_message says why.\n",
      n);
  leat_bytes whole = h->artifact->runtime.public;
  add(h, "#pragma once\n");
  if (whole.size)
    leat_text_add_n(h->out, whole.data, whole.size);
  else
    add(h, "#include \"leat/runtime.h\"\n");
  add(h, "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
  add(h, "extern const leat_built_step %s_steps[];\n\ntypedef leat_model %s_model;\n\n", n, n);
  add(h,
      "// *out is to be destroyed, after a failure too. `options` NULL: none.\n"
      "LEAT_MUST_USE static inline leat_status\n"
      "%s_create(const leat_model_options *options, %s_model **out) {\n"
      "  return leat_model_create(%s_steps, options, out);\n}\n",
      n, n, n);
  add(h, "static inline void %s_destroy(%s_model *model) {\n  leat_model_destroy(model);\n}\n", n,
      n);
  add(h,
      "static inline const char *%s_message(const %s_model *model) {\n"
      "  return leat_model_message(model);\n}\n",
      n, n);
}

static leat_status print_header(leat_artifact *a, leat_text *out) {
  header h = {.artifact = a, .arena = a->arena, .name = a->name, .out = out};
  add_head(&h);
  for (uint32_t i = 0; i < a->step_count; i++) LEAT_TRY(add_step(&h, i));
  add(&h, "\n#ifdef __cplusplus\n}\n#endif\n");
  return LEAT_OK;
}

// What pkg-config says of a library beside it; the runtime is inside, and its headers are those of
// leat_rt.
static leat_status write_package(leat_artifact *a, const char *stem) {
  leat_text text = {0};
  leat_text_add(&text, "Name: %s\nDescription: made by leat build\nVersion: %s\n", a->name,
                LEAT_VERSION);
  leat_text_add(&text, "Requires.private: leat_rt\nCflags: -I${pcfiledir}\n");
  leat_text_add(&text, "Libs: -L${pcfiledir} -l:%s", leat_path_last(a->options->output));
  for (int i = 0; i < LEAT_FOREIGN_COUNT; i++)
    if (a->foreign & 1u << i) leat_text_add(&text, " -l%s", leat_foreign_libraries[i].library);
  leat_text_add(&text, " -lm\n");
  leat_status status =
      leat_artifact_write_text(a, leat_arena_printf(a->arena, "%s.pc", stem), &text);
  leat_text_finish(&text);
  return status;
}

leat_status leat_artifact_write_header(leat_artifact *a) {
  const char *dot = strrchr(a->options->output, '.');
  size_t stem = dot ? (size_t)(dot - a->options->output) : strlen(a->options->output);
  const char *name = leat_arena_strndup(a->arena, a->options->output, stem);
  leat_text text = {0};
  leat_status status = print_header(a, &text);
  if (!status)
    status = leat_artifact_write_text(a, leat_arena_printf(a->arena, "%s.h", name), &text);
  leat_text_finish(&text);
  bool library =
      a->options->kind == LEAT_ARTIFACT_STATIC || a->options->kind == LEAT_ARTIFACT_SHARED;
  return status || !library ? status : write_package(a, name);
}
