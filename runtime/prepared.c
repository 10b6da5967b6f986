// What launches prepare (leat_image_prepared): found in the device's store when a program is bound,
// made by the first run that comes to the launch, and left alone until one of its variables is
// assigned. A file that is read for that alone takes memory only meanwhile.
// It runs seldom: compiled for size.
#include "base/map.h"
#include "runtime/walk.h"

static const leat_image_buffer *buffer_of(const leat_view *view, const leat_image_arg *arg) {
  return arg->is_scalar ? NULL : &view->buffers[arg->index];
}

// -- Files that are read for it -------------------------------------------------------------------

// The number of the tensor that the argument is lent; -1: none.
static int64_t lent_to(const leat_program *program, uint32_t arg) {
  const leat_image_buffer *buffer = buffer_of(&program->view, &program->view.args[arg]);
  bool file = buffer && buffer->kind == LEAT_BUFFER_FILE && program->lent[buffer->where];
  return file ? (int64_t)buffer->where : -1;
}

static void take_back_files(const leat_program *program, uint32_t first, uint32_t count) {
  for (uint32_t i = first; i < first + count; i++) {
    int64_t file = lent_to(program, i);
    if (file >= 0) program->reader->take_back(program, (uint32_t)file);
  }
}

// -- Binding --------------------------------------------------------------------------------------

static void add_hash(const void *data, size_t size, leat_text *key) {
  leat_text_add_u64(key, leat_hash_bytes(data, size, 0));
  leat_text_add(key, " ");
  leat_text_add_u64(key, leat_hash_bytes(data, size, 1));
}

static leat_status add_constant(const leat_program *program, const leat_image_buffer *buffer,
                                leat_text *key, leat_error *error) {
  int64_t shape[LEAT_MAX_RANK], bytes;
  const void *data = NULL;
  if (leat_type_value(&program->view, &buffer->type, NULL, shape, &bytes))
    data = leat_program_data(program, buffer->where, (leat_dtype)buffer->type.dtype, bytes);
  if (!data) return leat_fail(error, LEAT_INVALID, "damaged image: a constant that is packed");
  add_hash(data, (size_t)bytes, key);
  return LEAT_OK;
}

// What the launch reads: two that read the same, by the same kernel, make the same.
static leat_status add_source(const leat_program *program, const leat_image_arg *arg,
                              leat_text *key, leat_error *error) {
  const leat_view *view = &program->view;
  const leat_image_buffer *buffer = buffer_of(view, arg);
  leat_text_add(key, ";");
  if (!buffer) {
    leat_text_add_i64(key, view->formulas[arg->index].value);
  } else if (buffer->kind == LEAT_BUFFER_VARIABLE) {
    const leat_image_variable *variable = &view->variables[buffer->where];
    leat_text_add(key, "variable %s/%s", leat_view_text(view, variable->container),
                  leat_view_text(view, variable->origin.name));
  } else if (buffer->kind == LEAT_BUFFER_CONSTANT) {
    LEAT_TRY(add_constant(program, buffer, key, error));
  } else if (view->files[buffer->where].kind == LEAT_FILE_WITHIN) {
    leat_text_add(key, "weights %p", program->files[buffer->where]);
  } else {
    program->reader->identify(program, (uint32_t)buffer->where, key);
  }
  return LEAT_OK;
}

// What another step has prepared already needs no files.
static void forgo_files(const leat_bound_part *part, uint32_t number) {
  const leat_image_launch *launch =
      &part->program->view.launches[part->program->view.prepared[number].launch];
  leat_store_lock(part->store, LEAT_STORE_READ);
  bool fresh = leat_prepared_is_fresh(part->prepared[number]);
  leat_store_unlock(part->store, LEAT_STORE_READ);
  if (fresh) take_back_files(part->program, launch->arg_first, launch->arg_count);
}

static leat_status find(leat_executor *executor, leat_bound_part *part, uint32_t number,
                        leat_text *key, leat_error *error) {
  const leat_program *program = part->program;
  const leat_view *view = &program->view;
  const leat_image_launch *launch = &view->launches[view->prepared[number].launch];
  const leat_image_arg *args = &view->args[launch->arg_first];
  leat_variable **sources = leat_new_array(executor->arena, leat_variable *, launch->arg_count);
  uint32_t count = 0;
  int64_t shape[LEAT_MAX_RANK], bytes;
  if (!leat_type_value(view, &buffer_of(view, &args[0])->type, NULL, shape, &bytes))
    return leat_fail(error, LEAT_INVALID, "damaged image: the shape of prepared value %u", number);
  leat_text_add(key, "%s %d, %lld tiles, %lld bytes",
                leat_view_text(view, view->kernels[launch->kernel].symbol),
                view->image->keep_denormals != 0, (long long)view->formulas[launch->tiles].value,
                (long long)bytes);
  for (uint32_t i = 1; i < launch->arg_count; i++) {
    const leat_image_buffer *buffer = buffer_of(view, &args[i]);
    LEAT_TRY(add_source(program, &args[i], key, error));
    if (buffer && buffer->kind == LEAT_BUFFER_VARIABLE)
      sources[count++] = part->variables[buffer->where];
  }
  if (key->cut) return leat_fail(error, LEAT_MEMORY, "no memory for the names of weights");
  uint64_t hash[2] = {leat_hash_bytes(key->data, key->size, 0),
                      leat_hash_bytes(key->data, key->size, 1)};
  return leat_store_prepared(part->store, hash, (uint64_t)bytes, sources, count,
                             &part->prepared[number], error);
}

leat_status leat_prepared_bind(leat_executor *executor, leat_bound_part *part, leat_error *error) {
  uint32_t count = (uint32_t)part->program->image->prepared.count;
  part->prepared = leat_new_array(executor->arena, leat_prepared *, count + 1);
  leat_status status = LEAT_OK;
  for (uint32_t i = 0; i < count && !status; i++) {
    leat_text key = {0};
    status = find(executor, part, i, &key, error);
    leat_text_finish(&key);
    if (!status) forgo_files(part, i);
  }
  return status;
}

// -- Preparing ------------------------------------------------------------------------------------

bool leat_prepared_lend(leat_walk *walk, uint32_t number) {
  const leat_program *program = walk->frame->program;
  const leat_image_launch *launch = &program->view.launches[number];
  for (uint32_t i = 0; i < launch->arg_count; i++) {
    int64_t file = lent_to(program, launch->arg_first + i);
    if (file < 0) continue;
    const void *data;
    leat_error why = {0};
    leat_status status = program->reader->lend(program, (uint32_t)file, &data, &why);
    walk->frame->args[launch->arg_first + i].pointer = (void *)(uintptr_t)data;
    if (!status) continue;
    leat_call call = {.heap = walk->heap};
    leat_call_explain(&call, status, "%s", why.message);
    walk->failure = (leat_failure){.result = (int32_t)status, .launch = number, .call = call};
    take_back_files(program, launch->arg_first, i);
    return false;
  }
  return true;
}

void leat_prepared_take_back(leat_walk *walk, uint32_t number) {
  const leat_program *program = walk->frame->program;
  const leat_image_launch *launch = &program->view.launches[number];
  if (!walk->failure.result) leat_prepared_made(walk->frame->prepared[program->makes[number] - 1]);
  take_back_files(program, launch->arg_first, launch->arg_count);
}
