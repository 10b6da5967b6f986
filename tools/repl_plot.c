// :plot: what an expression gives, as a picture in the terminal or in a PNG file.
#include "base/environment.h"
#include "tools/picture.h"
#include "tools/repl.h"
#include "tools/session_options.h"

#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { PNG_LINE_WIDTH = 640, PNG_LINE_HEIGHT = 400, PNG_SIDE = 4096 };
enum { COLUMNS = 80, ROWS = 24, LABELS = 12, LINE_ROWS = 16 };

static bool has(const char *variable, const char *word) {
  const char *value = leat_environment(variable);
  return value && strstr(value, word);
}

// What the terminal can show. Half blocks are characters of UTF-8.
static picture_colours colours_of_terminal(void) {
  bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
  if (!isatty(STDOUT_FILENO) || !utf8 || has("TERM", "dumb") || !leat_environment("TERM"))
    return PICTURE_PLAIN;
  return has("COLORTERM", "truecolor") || has("COLORTERM", "24bit") ? PICTURE_24_BIT : PICTURE_256;
}

// A line takes part of the height; a dot that is plain takes two characters, which are a square.
static leat_status print(const leat_tensor *value, leat_error *error) {
  struct winsize size = {.ws_row = ROWS, .ws_col = COLUMNS};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col || size.ws_row < 4)
    size = (struct winsize){.ws_row = ROWS, .ws_col = COLUMNS};
  int width = size.ws_col - 1, height = 2 * (size.ws_row - 2);
  if (value->rank == 1) {
    width = width > 2 * LABELS ? width - LABELS : LABELS;
    if (height > 2 * LINE_ROWS) height = 2 * LINE_ROWS;
  }
  picture_colours colours = colours_of_terminal();
  if (colours == PICTURE_PLAIN && value->rank != 1) width /= 2, height /= 2;
  picture p;
  LEAT_TRY(picture_draw(value, width, height, &p, error));
  picture_print(&p, colours);
  picture_finish(&p);
  return LEAT_OK;
}

static leat_status write_file(const leat_tensor *value, const char *path, leat_error *error) {
  bool line = value->rank == 1;
  picture p;
  LEAT_TRY(picture_draw(value, line ? PNG_LINE_WIDTH : PNG_SIDE, line ? PNG_LINE_HEIGHT : PNG_SIDE,
                        &p, error));
  leat_status status = picture_write_png(&p, path, error);
  picture_finish(&p);
  return status;
}

static bool is_png(const char *word) {
  size_t size = strlen(word);
  return size > 4 && strcmp(word + size - 4, ".png") == 0;
}

// [EXPRESSION] [FILE.png]
int repl_plot(repl *r, const char *argument) {
  char *expression = strdup(argument);
  if (!expression) leat_out_of_memory();
  char *space = strrchr(expression, ' ');
  const char *path = space ? space + 1 : expression;
  if (!is_png(path))
    path = NULL;
  else if (space)
    *space = '\0';
  leat_tensor value = {0};
  leat_error error = {0};
  const char *what = path == expression ? "" : expression;
  int status = repl_compute(r, *what ? what : "_", &value);
  if (!status && (path ? write_file(&value, path, &error) : print(&value, &error)))
    status = tool_fail(&error);
  free(value.data);
  free(expression);
  return status;
}
