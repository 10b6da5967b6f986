// Images that are written as codegen writes them: the regions among them, and how they are shown.
#include "codegen/codegen.h"
#include "codegen/image_writer.h"
#include "runtime/image.h"
#include "tests/unit/check.h"

static leat_image_origin origin(leat_image_writer *w) {
  return leat_image_writer_origin(w, "net/node", NULL);
}

static uint32_t add_buffer(leat_image_writer *w, leat_dtype dtype) {
  leat_type type = {.dtype = dtype};
  leat_image_buffer buffer = {.kind = LEAT_BUFFER_ARENA,
                              .where = leat_image_writer_formula(w, leat_dim_const(0)),
                              .type = leat_image_writer_type(w, &type)};
  LEAT_IMAGE_ADD(w, buffers, buffer);
  return w->buffers.count - 1;
}

static void add_task(leat_image_writer *w, leat_task_kind kind, uint32_t first, uint32_t count) {
  leat_image_task task = {.kind = kind, .first = first, .count = count, .node = origin(w)};
  LEAT_IMAGE_ADD(w, tasks, task);
}

static void fill(leat_image_writer *w, uint32_t table, uint32_t first) {
  w->tables.items[table] =
      (leat_image_table){.task_first = first, .task_count = w->tasks.count - first};
}

// A loop that carries a string, whose condition is a segment with a branch in it, and whose body
// prints.
static leat_image *written(leat_image_writer *w) {
  uint32_t p = add_buffer(w, LEAT_bool), step = leat_image_writer_table(w);
  uint32_t loop = leat_image_writer_region(w, p);
  leat_image_writer_carried(w, loop, (const uint32_t[]){p, add_buffer(w, LEAT_str)}, 2);
  add_task(w, LEAT_TASK_WHILE, loop, 1);
  fill(w, step, 0);
  uint32_t branch = leat_image_writer_region(w, p);
  leat_image_launch launch = {.kind = LEAT_LAUNCH_IF, .region = branch, .node = origin(w)};
  LEAT_IMAGE_ADD(w, launches, launch);
  add_task(w, LEAT_TASK_SEGMENT, 0, 1);
  fill(w, w->regions.items[loop].tables[0], 1);
  LEAT_IMAGE_ADD(w, args, (leat_image_arg){.index = p});
  add_task(w, LEAT_TASK_PRINT, w->args.count - 1, 1);
  fill(w, w->regions.items[loop].tables[1], 2);
  LEAT_IMAGE_ADD(w, arenas,
                 (leat_image_arena){.size = leat_image_writer_formula(w, leat_dim_const(64))});
  return leat_image_writer_finish(w, &(leat_image){.name = leat_image_writer_text(w, "step")});
}

TEST(regions_are_written) {
  leat_arena *arena = leat_arena_create();
  leat_image_writer writer;
  leat_image_writer_init(&writer, arena);
  leat_image *image = written(&writer);
  leat_view view;
  leat_error error = {0};
  leat_text shown = {0};
  CHECK_EQ_INT(leat_image_check(image, image->size, &view, &error), LEAT_OK);
  CHECK_EQ_STR(error.message, "");
  leat_image_print(image, &shown);
  const char *tables = shown.data ? strstr(shown.data, "table 0\n") : NULL;
  CHECK_EQ_STR(tables, "table 0\n"
                       "  task 0 while_loop, after 0 tasks, on b0, tables 1 and 2, carries (b1)\n"
                       "table 1\n"
                       "  task 0 segment, after 0 tasks\n"
                       "    conditional on b0, tables 3 and 4 for net/node\n"
                       "table 2\n"
                       "  task 0 print, after 0 tasks (b0)\n"
                       "table 3\n"
                       "table 4\n");
  leat_text_finish(&shown);
  leat_arena_destroy(arena);
}

CHECK_MAIN("image_writer")
