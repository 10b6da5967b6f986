// A loaded program: the checked image, its kernels, its files, and what is looked up again and
// again in it.
#ifndef LEAT_RUNTIME_PROGRAM_H
#define LEAT_RUNTIME_PROGRAM_H

#include "base/arena.h"
#include "base/text.h"
#include "runtime/image.h"
#include "runtime/scope.h"
#include "runtime/store.h"

typedef struct leat_file_group leat_file_group; // an open file, with the tensors that it has

// What a program needs whose tasks are not all segments, or in whose segments there are branches
// or loops (control.c). Others are linked without it.
struct leat_walk;
struct leat_frame;
struct leat_task_place;
typedef struct leat_control {
  bool (*find_scopes)(leat_program *program); // leat_scopes_find
  bool (*run)(leat_run *run,
              struct leat_task_place place); // a task that is no segment; as leat_run_task
  bool (*walk)(struct leat_walk *walk, uint32_t number);     // leat_walk_region
  void (*rotate)(struct leat_frame *frame, uint32_t number); // leat_frame_rotate
} leat_control;

// What reads the files of a program, which a program without any is linked without.
typedef struct leat_file_reader {
  leat_status (*read)(leat_program *program, const char *base, leat_error *error);
  leat_status (*check)(const leat_program *program, leat_error *error); // what is read in place
  // Of a tensor that is lent (leat_program.lent): its data, until it is taken back. The store is
  // locked for writing. `identify` writes what tells it from all others.
  leat_status (*lend)(const leat_program *program, uint32_t number, const void **out,
                      leat_error *error);
  void (*take_back)(const leat_program *program, uint32_t number);
  void (*identify)(const leat_program *program, uint32_t number, leat_text *out);
  void (*close)(leat_program *program);
} leat_file_reader;

// What finds the variables of a program, and gives them their first values; likewise (keeper.c).
struct leat_bound_part;
typedef struct leat_keeper { // prepared.c has the last two
  leat_status (*bind)(leat_executor *executor, struct leat_bound_part *part, leat_error *error);
  leat_status (*initialise)(leat_run *run, uint32_t part, leat_error *error);
  // Copies what the run's tables write; then it is forgotten, having been put back if so asked.
  leat_status (*keep)(leat_run *run, uint32_t part, leat_error *error);
  leat_status (*let_go)(leat_run *run, uint32_t part, bool put_back, leat_error *error);
  // Before and after a launch that prepares: what it reads is there. False: the segment has failed.
  bool (*lend)(struct leat_walk *walk, uint32_t launch);
  void (*take_back)(struct leat_walk *walk, uint32_t launch);
} leat_keeper;

enum { LEAT_NO_TASK = UINT32_MAX };

// The buffers in a piece of an arena, and the arguments that point at them.
typedef struct leat_piece {
  leat_numbers buffers, args;
} leat_piece;

struct leat_program {
  leat_view view;
  const leat_image *image; // view.image
  void *own_image;         // a copy, when the source was not aligned
  const leat_kernel_function *kernels;
  leat_gemm_function gemm;        // NULL: no launch needs it
  const leat_control *control;    // NULL: all is segments without branches or loops
  const leat_file_reader *reader; // NULL: there are no files, but those within
  const leat_keeper *keeper;      // NULL: there are no variables
  const void *code;               // the image as it was given, in the file that has the program
  const void **files;             // each file tensor's data; NULL of what is lent
  const bool *lent;               // by file tensor: only launches that prepare, once, read it
  const uint32_t *makes;          // by launch: the number of what it prepares + 1; 0: it does not
  const bool *assigns;            // by task: it may assign variables, and does not initialise one
  const bool *prepares;           // by task: it has such launches, or reads what they make
  leat_str **strings;             // each of the image's tensors of str
  leat_file_group *groups;
  // The arguments that point at feed i: feed_args[feed_first[i] … feed_first[i + 1]).
  const uint32_t *feed_first, *feed_args;
  const uint32_t *task_tables;     // which table each task belongs to
  const uint32_t *table_owners;    // the task whose region each table is of, or LEAT_NO_TASK
  const uint32_t *table_heaps;     // of a frame: the loop's that a table is part of, else 0
  const leat_store_access *access; // each task's, to the variables
  const leat_scope *scopes;        // by table; those that bind no dims have none, but for the first
  const uint32_t *dim_scopes;      // by dim: of the table whose task binds it, if one does
  const bool *late;                // by dim: a task binds it
  bool has_late;
  const leat_piece *pieces; // by arena
  leat_arena *arena;
  void (*release)(void *context);
  void *release_context;
};

// A new program that `fill` has filled, which gives it a view of its image, and what runs it, and
// prepares it.
typedef leat_status leat_program_filler(leat_program *program, const leat_program_source *source,
                                        leat_error *error);
LEAT_MUST_USE leat_status leat_program_make(const leat_program_source *source,
                                            leat_program_filler *fill, leat_program **out,
                                            leat_error *error);
// What follows from the view.
LEAT_MUST_USE leat_status leat_program_prepare(leat_program *program,
                                               const leat_program_source *source,
                                               leat_error *error);

// The elements of a tensor of `bytes` bytes at byte `where` of `data`; NULL: it is larger than what
// is there.
const void *leat_program_data(const leat_program *program, uint64_t where, leat_dtype dtype,
                              int64_t bytes);

// Whether the files that the program reads in place are as they were when it was loaded.
LEAT_MUST_USE leat_status leat_program_check_files(const leat_program *program, leat_error *error);

// For errors: "`path` (file:line:column)", as far as it is known.
void leat_origin_print(const leat_view *view, leat_image_origin origin, leat_text *out);

#endif
