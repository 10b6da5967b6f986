// Writing an image record by record, for the reference target: what ref_compile.c says of a graph
// becomes sections of bytes, and these one block.
#ifndef LEAT_TARGETS_REF_IMAGE_H
#define LEAT_TARGETS_REF_IMAGE_H

#include "ir/graph.h"
#include "leat/artifact.h"

// X(range of leat_image, its record)
#define REF_SECTIONS(X)                                                                            \
  X(text, char)                                                                                    \
  X(data, uint8_t)                                                                                 \
  X(code, int64_t)                                                                                 \
  X(formulas, leat_formula)                                                                        \
  X(dims, leat_image_dim)                                                                          \
  X(buffers, leat_image_buffer)                                                                    \
  X(kernels, leat_image_kernel)                                                                    \
  X(args, leat_image_arg)                                                                          \
  X(sites, leat_text_index)                                                                        \
  X(launches, leat_image_launch)                                                                   \
  X(tasks, leat_image_task)                                                                        \
  X(successors, uint32_t)                                                                          \
  X(tables, leat_image_table)                                                                      \
  X(messages, leat_image_message)                                                                  \
  X(variables, leat_image_variable)                                                                \
  X(feeds, leat_image_feed)                                                                        \
  X(fetches, leat_image_fetch)                                                                     \
  X(files, leat_image_file)

typedef struct ref_image {
  leat_arena *arena;
#define X(name, type) leat_vec(type) name;
  REF_SECTIONS(X)
#undef X
  leat_vec(const leat_atom *) atoms; // by dim number
} ref_image;

#define REF_ADD(image, section, ...) leat_vec_push((image)->arena, &(image)->section, __VA_ARGS__)

void ref_image_init(ref_image *image, leat_arena *arena);
leat_text_index ref_image_text(ref_image *image, const char *text);
uint64_t ref_image_data(ref_image *image, const void *data, size_t size); // offset
uint32_t ref_image_formula(ref_image *image, leat_dim dim);               // number
leat_image_type ref_image_type(ref_image *image, const leat_type *type);
// Everything in one block, in the image's arena; the header's other fields are `header`'s.
leat_image *ref_image_finish(ref_image *image, const leat_image *header);

#endif
