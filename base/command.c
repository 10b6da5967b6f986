// posix_spawnp, with what the program says going through a pipe.
#define _GNU_SOURCE
#include "base/command.h"

#include "base/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_SAID = 800 };

void leat_command_add(leat_command *command, const char *word) {
  if (command->count < LEAT_COMMAND_WORDS)
    command->words[command->count++] = leat_arena_strndup(command->arena, word, strlen(word));
}

void leat_command_add_words(leat_command *command, const char *text, const char *separators,
                            const char *prefix) {
  while (*(text += strspn(text, separators))) {
    int length = (int)strcspn(text, separators);
    leat_command_add(command, leat_arena_printf(command->arena, "%s%.*s", prefix, length, text));
    text += length;
  }
}

static void print_word(const char *word, leat_text *out) {
  static const char plain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (*word && !word[strspn(word, plain)]) {
    leat_text_add(out, "%s", word);
    return;
  }
  leat_text_add(out, "'");
  for (; *word; word++)
    if (*word == '\'')
      leat_text_add(out, "'\\''");
    else
      leat_text_add_n(out, word, 1);
  leat_text_add(out, "'");
}

void leat_command_print(const leat_command *command, leat_text *out) {
  for (int i = 0; i < command->count; i++) {
    if (i) leat_text_add(out, " ");
    print_word(command->words[i], out);
  }
}

const char *leat_c_compiler(void) {
  const char *cc = leat_environment("CC");
  return cc ? cc : "cc";
}

// Keeps the first bytes and reads the rest away, so that the program never waits.
static size_t listen(int from, char said[MOST_SAID]) {
  size_t size = 0;
  char rest[4096];
  for (ssize_t count; (count = read(from, rest, sizeof rest)) != 0;) {
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) break;
    size_t kept = (size_t)count < MOST_SAID - size ? (size_t)count : MOST_SAID - size;
    memcpy(said + size, rest, kept);
    size += kept;
  }
  return size;
}

static leat_status wait_for(leat_command *command, pid_t child, int from, leat_error *error) {
  char said[MOST_SAID];
  size_t size = listen(from, said);
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return leat_fail(error, LEAT_IO, "waiting for %s failed", command->words[0]);
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (code == 0) return LEAT_OK;
  return leat_fail(error, LEAT_FOREIGN, "%s failed with exit code %d%s%.*s", command->words[0],
                   code, size ? ": " : "", (int)size, said);
}

leat_status leat_command_run(leat_command *command, leat_error *error) {
  int ends[2];
  if (!command->count || command->count == LEAT_COMMAND_WORDS) // full: words may be missing
    return leat_fail(error, LEAT_INVALID, "a command of %d words", command->count);
  if (pipe2(ends, O_CLOEXEC)) return leat_fail(error, LEAT_IO, "no pipe: %s", strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  pid_t child;
  int failed = posix_spawnp(&child, command->words[0], &actions, NULL, command->words, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  leat_status status = failed ? leat_fail(error, LEAT_UNSUPPORTED, "cannot run `%s`: %s",
                                          command->words[0], strerror(failed))
                              : wait_for(command, child, ends[0], error);
  close(ends[0]);
  return status;
}

// Where the shell would find the first word.
static bool find_program(const char *words, char *out, size_t size) {
  const char *path = getenv("PATH");
  int length = (int)strcspn(words, " \t");
  if (memchr(words, '/', (size_t)length)) path = "";
  for (; path; path = strchr(path, ':') ? strchr(path, ':') + 1 : NULL) {
    int directory = (int)strcspn(path, ":");
    snprintf(out, size, "%.*s%s%.*s", directory, path, directory ? "/" : "", length, words);
    if (access(out, X_OK) == 0) return true;
  }
  return false;
}

bool leat_command_exists(const char *name) {
  char path[4096];
  return find_program(name, path, sizeof path);
}

void leat_command_key(const char *words, leat_text *out) {
  char path[4096];
  struct stat info;
  if (!find_program(words, path, sizeof path) || stat(path, &info)) return;
  leat_text_add(out, "%s %s %lld %lld", words, path, (long long)info.st_size,
                (long long)info.st_mtim.tv_sec);
}
