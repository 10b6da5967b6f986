// The keys that libedit gets. They are read here, so that a ^C comes between two keys and never
// within libedit, whose own handler would leave the terminal half set up; and so that up and down
// go through the lines of a block that was recalled.
//
// What a key stands for is put into a queue: ^C becomes "to the end" and Enter, which leaves the
// screen in order, and what was read is thrown away then. The place of the cursor is known in
// functions that libedit calls for a key alone: an arrow becomes such a key, and its function
// queues what moves the cursor.
#define _GNU_SOURCE
#include "tools/repl_keys.h"
#include "tools/repl_interrupt.h"

#ifdef LEAT_HAVE_LIBEDIT
#include <editline/readline.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

enum { END = 0x05, BACK = 0x02, FORWARD = 0x06, PREVIOUS = 0x10, NEXT = 0x0e, ESCAPE = 0x1b };
enum { UP = 0x1e, DOWN = 0x1f }; // ^^ and ^_, which nobody types
enum { BEHIND_ESCAPE_MS = 20, LONGEST_QUEUE = 4096 };

static bool told; // of an interrupt: the keys that end the line are queued

static int queue[LONGEST_QUEUE], first, count;

static void put(int key) {
  if (count < LONGEST_QUEUE) queue[(first + count++) % LONGEST_QUEUE] = key;
}

static int take(void) {
  int key = queue[first];
  first = (first + 1) % LONGEST_QUEUE;
  count--;
  return key;
}

// Of several bytes the character.
static int read_character(int byte) {
  mbstate_t state = {0};
  wchar_t character;
  for (char part = (char)byte;; part = (char)byte) {
    size_t size = mbrtowc(&character, &part, 1, &state);
    if (size != (size_t)-2) return size == (size_t)-1 ? byte : (int)character;
    if ((byte = repl_interrupt_read(-1)) < 0) return byte;
  }
}

// The rest of what an arrow sends; anything else goes on as it came.
static int read_sequence(void) {
  int second = repl_interrupt_read(BEHIND_ESCAPE_MS);
  if (second < 0) return ESCAPE;
  int third = second == '[' || second == 'O' ? repl_interrupt_read(BEHIND_ESCAPE_MS) : -1;
  if (third == 'A' || third == 'B') return third == 'A' ? UP : DOWN;
  put(second);
  if (third >= 0) put(third);
  return ESCAPE;
}

static int read_key(FILE *stream) {
  (void)stream;
  repl_interrupt_catch(); // libedit sets handlers of its own when a line begins
  if (count && !(repl_interrupted() && !told)) return take();
  int byte = repl_interrupt_read(-1);
  if (repl_interrupted() && !told) {
    told = true;
    count = 0;
    put('\n');
    return END;
  }
  if (byte < 0) return EOF;
  return byte == ESCAPE ? read_sequence() : byte < 0x80 ? byte : read_character(byte);
}

// -- Lines of a block --------------------------------------------------------------------------

static void move(int characters) {
  for (; characters < 0; characters++) put(BACK);
  for (; characters > 0; characters--) put(FORWARD);
}

static int characters_between(const char *from, const char *to) {
  int found = 0;
  for (; from < to; from++) found += (*from & 0xc0) != 0x80;
  return found;
}

static const char *line_of(const char *text, const char *at) {
  while (at > text && at[-1] != '\n') at--;
  return at;
}

// To the same column of the line above; of the first line what was typed before.
static int go_up(int times, int key) {
  const char *text = rl_line_buffer, *at = text + rl_point, *line = line_of(text, at);
  (void)times, (void)key;
  if (line == text) {
    put(PREVIOUS);
    return 0;
  }
  const char *above = line_of(text, line - 1);
  int column = characters_between(line, at), width = characters_between(above, line - 1);
  move((column < width ? column : width) - width - 1 - column);
  return 0;
}

static int go_down(int times, int key) {
  const char *text = rl_line_buffer, *at = text + rl_point, *line = line_of(text, at);
  const char *end = at + strcspn(at, "\n");
  (void)times, (void)key;
  if (!*end) {
    put(NEXT);
    return 0;
  }
  int column = characters_between(line, at),
      width = characters_between(end + 1, end + 1 + strcspn(end + 1, "\n"));
  move(characters_between(at, end) + 1 + (column < width ? column : width));
  return 0;
}

void repl_open_keys(void) {
  rl_getc_function = read_key;
  rl_initialize();
  rl_add_defun("leat-up", go_up, UP);
  rl_add_defun("leat-down", go_down, DOWN);
}

char *repl_edit_line(const char *prompt) {
  told = false;
  first = count = 0;
  return readline(prompt);
}
#endif
