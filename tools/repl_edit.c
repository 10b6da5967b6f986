// :edit: the text that was typed last, in the editor that $VISUAL or $EDITOR names, else vi. What
// the user leaves in the file is evaluated as if it were typed.
#include "base/environment.h"
#include "base/file.h"
#include "base/temporary.h"
#include "tools/repl.h"
#include "tools/session_options.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void repl_set_typed(repl *r, const leat_text *text) {
  r->typed.size = 0;
  leat_text_add_n(&r->typed, text->data, text->size);
}

static const char *editor(void) {
  const char *name = leat_environment("VISUAL");
  if (!name || !*name) name = leat_environment("EDITOR");
  return name && *name ? name : "vi";
}

// The shell splits the words of `code --wait`; ^C is the editor's.
static int run_editor(const char *path) {
  char command[8192];
  if (snprintf(command, sizeof command, "%s \"$1\"", editor()) >= (int)sizeof command) return -1;
  struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
  sigaction(SIGINT, &ignore, &before);
  fflush(stdout);
  int status = -1;
  pid_t child = fork();
  if (child == 0) {
    signal(SIGINT, SIG_DFL);
    execl("/bin/sh", "sh", "-c", command, "sh", path, (char *)NULL);
    _exit(127);
  }
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  sigaction(SIGINT, &before, NULL);
  return status;
}

static int evaluate_file(repl *r, const char *path) {
  leat_file_view view;
  leat_error error = {0};
  if (leat_file_view_open(&view, path, &error)) return tool_fail(&error);
  leat_text text = {0};
  leat_text_add_n(&text, (const char *)view.data, view.size);
  leat_file_view_close(&view);
  while (text.size && strchr(" \t\n", text.data[text.size - 1])) text.size--;
  leat_text_add(&text, "\n");
  int status = TOOL_OK;
  if (text.size > 1) {
    fwrite(text.data, 1, text.size, stdout); // as if it were typed
    fflush(stdout);
    repl_set_typed(r, &text);
    if (r->terminal) repl_remember(&text);
    status = repl_evaluate(r, text.data, text.size);
  }
  leat_text_finish(&text);
  return status;
}

int repl_edit(repl *r, const char *argument) {
  leat_temporary *folder;
  leat_error error = {0};
  (void)argument;
  if (leat_temporary_make(&folder, &error)) return tool_fail(&error);
  const char *path = leat_arena_printf(tool_arena(), "%s/typed.leat", leat_temporary_path(folder));
  leat_bytes bytes = {r->typed.data ? r->typed.data : "", r->typed.size};
  int status = TOOL_FAILED;
  if (leat_file_write(path, &bytes, 1, LEAT_FILE_ATOMIC, &error))
    tool_fail(&error);
  else if (run_editor(path))
    fprintf(stderr, "error: the editor `%s` failed ($VISUAL or $EDITOR names it)\n", editor());
  else
    status = evaluate_file(r, path);
  leat_temporary_remove(folder);
  return status;
}
