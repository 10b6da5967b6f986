// What an artifact is written as: the kernels as C, or the object, for whoever links, or linked
// (session/link.c).
#include "session/artifact_files.h"

#include "base/file.h"
#include "session/driver.h"
#include "session/link.h"
#include "targets/c/c.h"

leat_status leat_artifact_write_text(leat_artifact *a, const char *path, const leat_text *text) {
  leat_bytes piece = {text->data, text->size};
  return leat_file_write(path, &piece, 1, LEAT_FILE_ATOMIC, &a->session->error);
}

static leat_status write_c(leat_artifact *a) {
  leat_text text = {0};
  leat_c_print_file(&a->codegen, &text);
  leat_status status = leat_artifact_write_text(a, a->options->output, &text);
  leat_text_finish(&text);
  return status;
}

static void finish_object(void *object) {
  leat_object_finish(object);
}

static leat_status write_binary(leat_artifact *a) {
  const leat_code_generator *generator;
  leat_error *error = &a->session->error;
  leat_object object = {0};
  LEAT_TRY(a->target->generator(&generator, error));
  leat_cleanup cleanup;
  leat_cleanup_hold(&cleanup, finish_object, &object);
  leat_status status = generator->compile(&a->codegen, &object, error);
  leat_link link = {.object = {object.data, object.size},
                    .name = a->name,
                    .output = a->options->output,
                    .shared = a->options->kind == LEAT_ARTIFACT_SHARED,
                    .blis = a->calls_blis,
                    .cc = a->options->cc};
  if (status) {
    // nothing to link
  } else if (a->options->kind == LEAT_ARTIFACT_OBJECT) {
    status = leat_file_write(a->options->output, &link.object, 1, LEAT_FILE_ATOMIC, error);
  } else {
    leat_text command = {0};
    status = leat_link_run(&link, &command, error);
    if (a->options->print_link) leat_session_log(a->session, "%s\n", command.data);
    leat_text_finish(&command);
  }
  leat_cleanup_run(&cleanup);
  return status;
}

leat_status leat_artifact_write(leat_artifact *a) {
  return a->options->kind == LEAT_ARTIFACT_C ? write_c(a) : write_binary(a);
}
