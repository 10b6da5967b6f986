// What an artifact is written as: a text on its way to code, or the object, alone or linked
// (session/artifact/link.c).
#include "session/artifact/files.h"

#include "base/file.h"
#include "ir/print.h"
#include "session/artifact/elf.h"
#include "session/artifact/link.h"
#include "session/artifact/runtime_library.h"
#include "session/driver.h"
#include "targets/c/c.h"

#include <string.h>

leat_status leat_artifact_write_text(leat_artifact *a, const char *path, const leat_text *text) {
  leat_bytes piece = {text->data, text->size};
  return leat_file_write(path, &piece, 1, LEAT_FILE_ATOMIC, &a->session->error);
}

// -- Text ----------------------------------------------------------------------------------------

// Variables, or how often it has run.
static bool has_state(const leat_image *image) {
  const leat_image_buffer *buffers = (const void *)((const char *)image + image->buffers.offset);
  for (uint64_t i = 0; i < image->buffers.count; i++)
    if (buffers[i].kind == LEAT_BUFFER_RUN_COUNT) return true;
  return image->variables.count;
}

static bool saves(const leat_artifact *a) {
  for (uint32_t i = 0; i < a->step_count; i++)
    if (has_state(a->steps[i].codes->compiled.image)) return true;
  return false;
}

static void print_c(leat_artifact *a, leat_text *out) {
  leat_c_print_file(&a->codegen, out);
  leat_c_print_data(&a->codegen, out);
}

// Rounding belongs to each op, and warnings that only generated text, or all of a library in one
// file, gets say nothing to its user.
static const char one_file_head[] =
    "#define _GNU_SOURCE\n"
    "#if defined __clang__\n"
    "#pragma STDC FP_CONTRACT OFF\n"
    "#pragma clang diagnostic ignored \"-Wunused\"\n"
    "#elif defined __GNUC__\n"
    "#pragma GCC optimize(\"fp-contract=off\", \"no-trapping-math\", \"no-tree-slp-vectorize\")\n"
    "#pragma GCC diagnostic ignored \"-Wclobbered\"\n"
    "#pragma GCC diagnostic ignored \"-Wmaybe-uninitialized\"\n"
    "#pragma GCC diagnostic ignored \"-Walloc-size-larger-than=\"\n"
    "#pragma GCC diagnostic ignored \"-Wstringop-overread\"\n"
    "#pragma GCC diagnostic ignored \"-Wunused-variable\"\n"
    "#pragma GCC diagnostic ignored \"-Wunused-but-set-variable\"\n"
    "#endif\n\n";

static void print_one_main(leat_artifact *a, leat_text *out) {
  leat_text_add(
      out,
      "\n#ifdef LEAT_MAIN\n"
      "int main(int argc, char **argv) {\n"
      "  return leat_executable_main((const leat_built_step *)%s_steps, %s, argc, argv);\n"
      "}\n#endif\n",
      a->name, saves(a) ? "leat_saves_variables" : "0");
}

static const char one_file_about[] =
    "// Made by leat build: kernels, tables and the runtime, in C11, with libc and libm alone.\n"
    "//\n"
    "//     cc -O3 -march=native -std=c11 -DLEAT_MAIN FILE.c -lm -o PROGRAM\n"
    "//     cc -O3 -march=native -std=c11 -c FILE.c    # to link with what includes FILE.h\n"
    "//\n"
    "// Of several models in a program one has the runtime in it: the others' files are those "
    "that\n"
    "// leat build --emit=c writes without --one-file.\n";

// What the tables name, and what their user may call.
static void take_runtime(leat_artifact *a) {
  leat_joined_take_public(&a->runtime);
  leat_joined_take(&a->runtime, "leat_executable_main");
  if (saves(a)) leat_joined_take(&a->runtime, "leat_saves_variables");
  for (size_t i = 0; i < a->codegen.pointers_count; i++) {
    const leat_object_pointers *pointers = &a->codegen.pointers[i];
    for (size_t k = 0; k < pointers->count; k++)
      if (pointers->targets[k]) leat_joined_take(&a->runtime, pointers->targets[k]);
  }
}

// The kernels stand in front of the runtime's own names.
static void print_one_file(leat_artifact *a, leat_text *out) {
  take_runtime(a);
  leat_text_add(out, "%s%s", one_file_about, one_file_head);
  leat_text_add_n(out, a->runtime.public.data, a->runtime.public.size);
  leat_c_print_file(&a->codegen, out);
  leat_text_add(out, "\n");
  leat_text_add_n(out, a->runtime.private.data, a->runtime.private.size);
  leat_joined_print(&a->runtime, out);
  print_one_main(a, out);
  leat_c_print_data(&a->codegen, out);
}

static leat_status write_printed(leat_artifact *a, void (*print)(leat_artifact *, leat_text *)) {
  leat_text text = {0};
  print(a, &text);
  leat_status status = leat_artifact_write_text(a, a->options->output, &text);
  leat_text_finish(&text);
  return status;
}

static leat_status write_one_file(leat_artifact *a) {
  for (int i = 0; i < LEAT_FOREIGN_COUNT; i++)
    if (a->foreign & 1u << i)
      return leat_fail(&a->session->error, LEAT_UNSUPPORTED, "%s: --one-file holds no %s",
                       leat_foreign_libraries[i].use, leat_foreign_libraries[i].name);
  LEAT_TRY(leat_joined_read(a->arena, &a->runtime, &a->session->error));
  return write_printed(a, print_one_file);
}

// With a line that says what makes an object of it.
static leat_status write_runtime(leat_artifact *a) {
  const char *output = a->options->output, *slash = strrchr(output, '/');
  int size = slash ? (int)(slash + 1 - output) : 0;
  const char *folder = leat_arena_printf(a->arena, "%.*sleat-runtime", size, output);
  LEAT_TRY(leat_runtime_source_copy(folder, &a->session->error));
  leat_session_log(a->session,
                   "cc -O2 %s -I%s/include -I%s -o PROGRAM YOURS.c %s %s/*/*.c "
                   "%s/runtime/kernels/*.c -lm\n",
                   LEAT_C_FLAGS, folder, folder, output, folder, folder);
  return LEAT_OK;
}

static void print_graph(leat_artifact *a, leat_text *out) {
  leat_graph_print(a->steps[0].codes[a->code_count - 1].part, out);
}

static void print_kernels(leat_artifact *a, leat_text *out) {
  for (uint32_t i = 0; i < a->step_count; i++)
    for (uint32_t k = 0; k < a->code_count; k++) {
      const leat_compiled *compiled = &a->steps[i].codes[k].compiled;
      leat_print_kernels(compiled, out);
      leat_image_print(compiled->image, out);
    }
}

// -- Objects -------------------------------------------------------------------------------------

static void finish_object(void *object) {
  leat_object_finish(object);
}

typedef leat_status (*object_writer)(leat_artifact *, leat_bytes);

// Compiles, and hands the object on.
static leat_status with_object(leat_artifact *a, object_writer write) {
  const leat_code_generator *generator;
  leat_object object = {0};
  LEAT_TRY(a->target->generator(&generator, &a->session->error));
  leat_cleanup cleanup;
  leat_cleanup_hold(&cleanup, finish_object, &object);
  leat_status status = generator->compile(&a->codegen, &object, &a->session->error);
  if (!status) status = write(a, (leat_bytes){object.data, object.size});
  leat_cleanup_run(&cleanup);
  return status;
}

static leat_status write_object(leat_artifact *a, leat_bytes object) {
  const leat_weights *weights = &a->weights;
  leat_bytes *pieces = leat_new_array(a->arena, leat_bytes, (size_t)weights->pieces.count + 1);
  pieces[0] = object;
  if (weights->size)
    LEAT_TRY(leat_elf_add_weights(a->arena, object, a->weights_symbol, weights->size, true,
                                  &pieces[0], &a->session->error));
  for (uint32_t i = 0; i < weights->pieces.count; i++) pieces[i + 1] = weights->pieces.items[i];
  return leat_file_write(a->options->output, pieces, (size_t)weights->pieces.count + 1,
                         LEAT_FILE_ATOMIC, &a->session->error);
}

static leat_status write_linked(leat_artifact *a, leat_bytes object) {
  leat_link link = {.object = object,
                    .weights = a->weights.pieces.items,
                    .weights_count = a->weights.pieces.count,
                    .weights_size = a->weights.size,
                    .weights_symbol = a->weights_symbol,
                    .name = a->name,
                    .saves = saves(a),
                    .foreign = a->foreign,
                    .options = a->options,
                    .machine = &a->machine,
                    .cache = a->session->cache};
  leat_text command = {0};
  leat_status status = leat_link_run(&link, &command, &a->session->error);
  if (a->options->print_link && command.data) leat_session_log(a->session, "%s\n", command.data);
  leat_text_finish(&command);
  return status;
}

static leat_status ignore_object(leat_artifact *a, leat_bytes object) {
  (void)a, (void)object;
  return LEAT_OK;
}

// What the generator passes through; only LLVM's has these languages.
static leat_status write_dump(leat_artifact *a, leat_text **dump) {
  leat_text text = {0};
  if (strcmp(a->target->name, "cpu") != 0)
    return leat_fail(&a->session->error, LEAT_UNSUPPORTED,
                     "the target `%s` is a C compiler: --emit=c writes what it compiles",
                     a->target->name);
  *dump = &text;
  leat_status status = with_object(a, ignore_object);
  if (!status) status = leat_artifact_write_text(a, a->options->output, &text);
  leat_text_finish(&text);
  return status;
}

// As many as compilers read without gigabytes of memory.
static leat_status spell_weights(leat_artifact *a) {
  enum { MOST = 1 << 27 };
  const leat_weights *weights = &a->weights;
  if (!weights->size) return LEAT_OK;
  if (weights->size > MOST)
    return leat_fail(&a->session->error, LEAT_UNSUPPORTED,
                     "%llu bytes of weights are too many for --emit=%s, a text, which takes %d: "
                     "--weights=beside puts them into %s, --weights=load leaves them where they "
                     "are",
                     (unsigned long long)weights->size, leat_artifact_kinds[a->options->kind].name,
                     MOST, weights->file);
  char *bytes = leat_arena_alloc(a->arena, weights->size), *at = bytes;
  for (uint32_t i = 0; i < weights->pieces.count; i++) {
    memcpy(at, weights->pieces.items[i].data, weights->pieces.items[i].size);
    at += weights->pieces.items[i].size;
  }
  leat_object_data *last = (leat_object_data *)&a->codegen.data[a->codegen.data_count - 1];
  *last = (leat_object_data){a->weights_symbol, bytes, weights->size};
  return LEAT_OK;
}

// -- Kinds ---------------------------------------------------------------------------------------

const leat_artifact_kind_info leat_artifact_kinds[LEAT_ARTIFACT_KIND_COUNT] = {
#define X(kind, name, suffix, has_header) [LEAT_ARTIFACT_##kind] = {#name, suffix, has_header},
    LEAT_ARTIFACT_KINDS(X)
#undef X
};

leat_status leat_artifact_write(leat_artifact *a) {
  leat_artifact_kind kind = a->options->kind;
  if (kind == LEAT_ARTIFACT_C || kind == LEAT_ARTIFACT_LLVM || kind == LEAT_ARTIFACT_ASSEMBLY)
    LEAT_TRY(spell_weights(a));
  switch (kind) {
  case LEAT_ARTIFACT_EXECUTABLE:
  case LEAT_ARTIFACT_STATIC:
  case LEAT_ARTIFACT_SHARED: return with_object(a, write_linked);
  case LEAT_ARTIFACT_OBJECT: return with_object(a, write_object);
  case LEAT_ARTIFACT_C:
    if (a->options->with_runtime) LEAT_TRY(write_runtime(a));
    return a->options->one_file ? write_one_file(a) : write_printed(a, print_c);
  case LEAT_ARTIFACT_LLVM: return write_dump(a, &a->codegen.dump);
  case LEAT_ARTIFACT_ASSEMBLY: return write_dump(a, &a->codegen.assembly);
  case LEAT_ARTIFACT_GRAPH:
    if (a->step_count > 1)
      return leat_fail(
          &a->session->error, LEAT_INVALID,
          "--emit=graph writes the graph of one --entry: each makes a graph of its own");
    return write_printed(a, print_graph);
  case LEAT_ARTIFACT_KERNELS: return write_printed(a, print_kernels);
  case LEAT_ARTIFACT_KIND_COUNT: break;
  }
  return LEAT_INTERNAL;
}
