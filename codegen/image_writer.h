// Writing an image record by record: sections grow as vectors, and become one block in the end.
// Texts and numbers are kept once.
#ifndef LEAT_CODEGEN_IMAGE_WRITER_H
#define LEAT_CODEGEN_IMAGE_WRITER_H

#include "codegen/codegen.h"
#include "ir/graph.h"
#include "leat/artifact.h"

typedef struct leat_image_writer {
  leat_arena *arena;
#define X(name, type) leat_vec(type) name;
  LEAT_IMAGE_RANGES(X)
#undef X
  leat_vec(const leat_atom *) atoms; // by dim number
  leat_bytes_map known;              // a text, or a dim's bytes → index + 1
  leat_map ports;                    // a feed or fetch node → its number
} leat_image_writer;

#define LEAT_IMAGE_ADD(writer, section, ...)                                                       \
  leat_vec_push((writer)->arena, &(writer)->section, __VA_ARGS__)

void leat_image_writer_init(leat_image_writer *writer, leat_arena *arena);
leat_text_index leat_image_writer_text(leat_image_writer *writer, const char *text);
uint64_t leat_image_writer_tensor(leat_image_writer *writer, const leat_tensor *tensor); // offset
uint32_t leat_image_writer_formula(leat_image_writer *writer, leat_dim dim);             // number
// `place` may be NULL.
leat_image_origin leat_image_writer_origin(leat_image_writer *writer, const char *name,
                                           const char *place);
// Of the check_dims of the graph itself, for its table.
void leat_image_writer_claims(leat_image_writer *writer, const leat_graph *graph, uint32_t table);
// The kind of task that the op becomes by itself; SEGMENT: none.
leat_task_kind leat_task_kind_of(leat_op op);
// A task of the node's own kind; `buffers`: those of its inputs, of a recv that of its output.
leat_image_task leat_image_writer_task(leat_image_writer *writer, const leat_node *node,
                                       const uint32_t *buffers);
// The dim is the extent of an axis of what grows.
void leat_image_writer_extent(leat_image_writer *writer, leat_dim dim, uint32_t grown,
                              uint32_t axis);
// An empty table, to be filled in when the tasks of those before it are all written: the tasks of a
// table follow one another. Returns its number.
uint32_t leat_image_writer_table(leat_image_writer *writer);
// A region, with two tables made for it. It stands in a table that was made before: a region is
// made when its task or launch is, and its tables are filled in later. Returns its number.
uint32_t leat_image_writer_region(leat_image_writer *writer, uint32_t predicate);
// The buffers of what a loop carries.
void leat_image_writer_carried(leat_image_writer *writer, uint32_t region, const uint32_t *buffers,
                               uint32_t count);
leat_image_type leat_image_writer_type(leat_image_writer *writer, const leat_type *type);
// The file that a `load` names, or where an artifact has the tensor; its number. A failure is left
// in the error.
uint32_t leat_image_writer_file(leat_image_writer *writer, const leat_node *load,
                                const leat_file_table *files, leat_error *error);
uint32_t leat_image_writer_placed(leat_image_writer *writer, const leat_placed_file *place,
                                  const leat_type *type);
// The records of the feeds and fetches of a step, in the order of its request; the buffers of the
// fetches are missing. A port's number is its node's place among them.
void leat_image_writer_ports(leat_image_writer *writer, const leat_graph *graph);
uint32_t leat_image_writer_port(const leat_image_writer *writer, const leat_node *node);
// Everything in one block, in the image's arena and aligned as an image is; the header's other
// fields are `header`'s.
leat_image *leat_image_writer_finish(leat_image_writer *writer, const leat_image *header);

#endif
