// An image as text, for dumps: what the runtime will do, task by task.
#include "codegen/codegen.h"

#include <inttypes.h>

#define RECORDS(image, section, type)                                                              \
  ((const type *)((const char *)(image) + (image)->section.offset))

static const char *text_of(const leat_image *image, leat_text_index index) {
  return RECORDS(image, text, char) + index;
}

static void print_formula(const leat_image *image, uint32_t number, leat_text *out) {
  static const char *const names[] = {"push", "dim", "+", "*", "/", "max"};
  const leat_formula *formula = &RECORDS(image, formulas, leat_formula)[number];
  if (!formula->code_count) {
    leat_text_add(out, "%" PRId64, formula->value);
    return;
  }
  leat_text_add(out, "(");
  for (uint32_t i = 0; i < formula->code_count; i++) {
    int64_t word = RECORDS(image, code, int64_t)[formula->code_first + i];
    uint8_t op = (uint8_t)word;
    if (i) leat_text_add(out, " ");
    if (op == LEAT_FORMULA_PUSH)
      leat_text_add(out, "%" PRId64, word >> 8);
    else if (op == LEAT_FORMULA_DIM)
      leat_text_add(out, "%s",
                    text_of(image, RECORDS(image, dims, leat_image_dim)[word >> 8].name));
    else
      leat_text_add(out, "%s", names[op]);
  }
  leat_text_add(out, ")");
}

static void print_type(const leat_image *image, const leat_image_type *type, leat_text *out) {
  leat_text_add(out, "%s[", leat_dtype_name((leat_dtype)type->dtype));
  for (uint32_t i = 0; i < type->rank; i++) {
    if (i) leat_text_add(out, ", ");
    print_formula(image, type->shape_first + i, out);
  }
  leat_text_add(out, "]");
}

static void print_file(const leat_image *image, const leat_image_file *file, leat_text *out) {
  if (file->kind == LEAT_FILE_WITHIN)
    leat_text_add(out, " weights at %" PRIu64, file->where);
  else
    leat_text_add(out, " file %s", text_of(image, file->file));
}

static void print_buffers(const leat_image *image, leat_text *out) {
  const leat_image_buffer *buffers = RECORDS(image, buffers, leat_image_buffer);
  for (uint32_t i = 0; i < image->buffers.count; i++) {
    uint64_t where = buffers[i].where;
    leat_text_add(out, "b%u: ", i);
    print_type(image, &buffers[i].type, out);
    switch ((leat_buffer_kind)buffers[i].kind) {
    case LEAT_BUFFER_ARENA:
      leat_text_add(out, " arena %u at ", buffers[i].arena);
      print_formula(image, (uint32_t)where, out);
      break;
    case LEAT_BUFFER_VARIABLE:
      leat_text_add(
          out, " variable %s",
          text_of(image, RECORDS(image, variables, leat_image_variable)[where].origin.name));
      break;
    case LEAT_BUFFER_FEED:
      leat_text_add(out, " feed %s",
                    text_of(image, RECORDS(image, feeds, leat_image_feed)[where].origin.name));
      break;
    case LEAT_BUFFER_CONSTANT: leat_text_add(out, " constant at %" PRIu64, where); break;
    case LEAT_BUFFER_FILE:
      print_file(image, &RECORDS(image, files, leat_image_file)[where], out);
      break;
    case LEAT_BUFFER_RUN_COUNT: leat_text_add(out, " run count"); break;
    case LEAT_BUFFER_GROWN: leat_text_add(out, " growing %" PRIu64, where); break;
    case LEAT_BUFFER_PREPARED: leat_text_add(out, " prepared %" PRIu64, where); break;
    }
    leat_text_add(out, "\n");
  }
}

static void print_args(const leat_image *image, uint32_t first, uint32_t count, leat_text *out) {
  const leat_image_arg *args = RECORDS(image, args, leat_image_arg) + first;
  for (uint32_t i = 0; i < count; i++) {
    leat_text_add(out, i ? ", " : "(");
    if (args[i].is_scalar)
      print_formula(image, args[i].index, out);
    else
      leat_text_add(out, "b%u", args[i].index);
  }
  leat_text_add(out, "%s", count ? ")" : "()");
}

static void print_claims(const leat_image *image, leat_text *out) {
  const leat_image_claim *claims = RECORDS(image, claims, leat_image_claim);
  for (uint32_t i = 0; i < image->claims.count; i++) {
    leat_text_add(out, "claim ");
    if (claims[i].table) leat_text_add(out, "of table %u ", claims[i].table);
    print_formula(image, claims[i].room, out);
    leat_text_add(out, " for %s: %s ", text_of(image, claims[i].node.name),
                  text_of(image, claims[i].says));
    print_args(image, claims[i].arg_first, claims[i].arg_count, out);
    leat_text_add(out, "\n");
  }
}

static void print_extents(const leat_image *image, uint32_t first, uint32_t count, leat_text *out) {
  for (uint32_t i = first; i < first + count; i++) {
    const leat_image_extent *extent = &RECORDS(image, extents, leat_image_extent)[i];
    leat_text_add(out, ", %s is axis %u of growing %u",
                  text_of(image, RECORDS(image, dims, leat_image_dim)[extent->dim].name),
                  extent->axis, extent->grown);
  }
}

static void print_region(const leat_image *image, uint32_t number, leat_text *out) {
  const leat_image_region *region = &RECORDS(image, regions, leat_image_region)[number];
  leat_text_add(out, " on b%u, tables %u and %u", region->predicate, region->tables[0],
                region->tables[1]);
  print_extents(image, region->extent_first, region->extent_count, out);
  for (uint32_t i = region->rows_first; i < region->rows_first + region->rows_count; i++) {
    const leat_image_rows *rows = &RECORDS(image, rows, leat_image_rows)[i];
    leat_text_add(out, ", b%u rows of growing %u", rows->count, rows->grown);
  }
  if (!region->carried_count) return;
  leat_text_add(out, ", carries ");
  print_args(image, region->carried_first, region->carried_count, out);
}

static void print_launch(const leat_image *image, const leat_image_launch *launch, leat_text *out) {
  static const char *const names[] = {"kernel", "copy",        "gemm",
                                      "rotate", "conditional", "while_loop"};
  leat_text_add(out, "    %s", names[launch->kind]);
  if (leat_launch_has_region(launch->kind)) {
    print_region(image, launch->region, out);
    leat_text_add(out, " for %s\n", text_of(image, launch->node.name));
    return;
  }
  if (launch->kind == LEAT_LAUNCH_KERNEL) leat_text_add(out, " %u", launch->kernel);
  print_args(image, launch->arg_first, launch->arg_count, out);
  leat_text_add(out, " tiles ");
  print_formula(image, launch->tiles, out);
  leat_text_add(out, " work ");
  print_formula(image, launch->work, out);
  leat_text_add(out, " for %s\n", text_of(image, launch->node.name));
}

static void print_task(const leat_image *image, uint32_t number, const leat_image_task *task,
                       leat_text *out) {
  static const char *const names[LEAT_TASK_COUNT] = {
#define X(kind, op, range) #op,
      LEAT_TASKS(X)
#undef X
  };
  leat_text_add(out, "  task %u %s, after %u tasks", number, names[task->kind], task->dependencies);
  if (leat_task_range_of(task->kind) == LEAT_RANGE_MESSAGE) {
    const leat_image_message *message = &RECORDS(image, messages, leat_image_message)[task->first];
    leat_text_add(out, ", edge %u b%u %s with %s", message->edge, message->buffer,
                  text_of(image, message->name), text_of(image, message->peer));
    if (message->lag) leat_text_add(out, ", lag %u", message->lag);
  } else if (leat_task_range_of(task->kind) == LEAT_RANGE_ARGS) {
    leat_text_add(out, " ");
    print_args(image, task->first, task->count, out);
  } else if (leat_task_range_of(task->kind) == LEAT_RANGE_REGION) {
    leat_text_add(out, ",");
    print_region(image, task->first, out);
  }
  if (task->kind == LEAT_TASK_BIND)
    leat_text_add(out, " is %s",
                  text_of(image, RECORDS(image, dims, leat_image_dim)[task->dim].name));
  if (task->kind == LEAT_TASK_GROW || task->kind == LEAT_TASK_APPEND)
    leat_text_add(out, " is growing %u", task->grown);
  if (task->kind == LEAT_TASK_ASSERT) leat_text_add(out, ": %s", text_of(image, task->message));
  for (uint32_t i = 0; i < task->successor_count; i++)
    leat_text_add(out, "%s%u", i ? ", " : ", before ",
                  RECORDS(image, successors, uint32_t)[task->successor_first + i]);
  leat_text_add(out, "\n");
  for (uint32_t i = 0; task->kind == LEAT_TASK_SEGMENT && i < task->count; i++)
    print_launch(image, &RECORDS(image, launches, leat_image_launch)[task->first + i], out);
}

void leat_image_print(const leat_image *image, leat_text *out) {
  leat_text_add(out, "image %s on %s\n", text_of(image, image->name),
                text_of(image, image->device));
  if (*text_of(image, image->entry)) leat_text_add(out, "is %s\n", text_of(image, image->entry));
  for (uint32_t i = 0; i < image->arenas.count; i++) {
    leat_text_add(out, "arena %u: ", i);
    const leat_image_arena *arena = &RECORDS(image, arenas, leat_image_arena)[i];
    print_formula(image, arena->size, out);
    if (arena->within) {
      leat_text_add(out, " in arena %u at ", arena->within - 1);
      print_formula(image, arena->where, out);
    }
    if (arena->table) leat_text_add(out, " of table %u", arena->table);
    leat_text_add(out, "\n");
  }
  print_claims(image, out);
  print_buffers(image, out);
  const leat_image_kernel *kernels = RECORDS(image, kernels, leat_image_kernel);
  for (uint32_t i = 0; i < image->kernels.count; i++)
    leat_text_add(out, "kernel %u %s: %s\n", i, text_of(image, kernels[i].symbol),
                  text_of(image, kernels[i].title));
  const leat_image_table *tables = RECORDS(image, tables, leat_image_table);
  for (uint32_t i = 0; i < image->tables.count; i++) {
    leat_text_add(out, "table %u", i);
    print_extents(image, tables[i].extent_first, tables[i].extent_count, out);
    leat_text_add(out, "\n");
    for (uint32_t j = 0; j < tables[i].task_count; j++)
      print_task(image, j, &RECORDS(image, tasks, leat_image_task)[tables[i].task_first + j], out);
  }
  const leat_image_fetch *fetches = RECORDS(image, fetches, leat_image_fetch);
  for (uint32_t i = 0; i < image->fetches.count; i++)
    leat_text_add(out, "fetch %s b%u\n", text_of(image, fetches[i].name), fetches[i].buffer);
  const leat_image_entry *entries = RECORDS(image, entries, leat_image_entry);
  for (uint32_t i = 0; i < image->entries.count; i++)
    leat_text_add(out, "entry %s%s, %llu earlier runs\n", text_of(image, entries[i].name),
                  entries[i].completes ? "" : ", in part", (unsigned long long)entries[i].runs);
  const leat_image_frozen *frozen = RECORDS(image, frozen, leat_image_frozen);
  for (uint32_t i = 0; i < image->frozen.count; i++)
    leat_text_add(out, "frozen %s\n", text_of(image, frozen[i].name));
}
