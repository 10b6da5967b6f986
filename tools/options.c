// getopt_long under the tables.
#define _GNU_SOURCE
#include "tools/options.h"

#include "base/diag.h"
#include "base/number.h"
#include "base/show.h"
#include "tools/forms.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPTIONS = 64, FIRST_LONG = 256, HELP_OPTION = 'h', HELP_COLUMN = 28 };

int tool_usage_error(const tool_command *command, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  leat_show(stderr, "leat %s: ", command->name);
  leat_show_v(stderr, format, arguments);
  leat_show(stderr, "\nusage: leat %s %s (`leat %s --help` says more)\n", command->name,
            command->usage, command->name);
  va_end(arguments);
  return TOOL_USAGE;
}

const tool_option tool_help_option = {"help", 'h', TOOL_FLAG, NULL, NULL, "this text"};

// -- Help --------------------------------------------------------------------------------------

static void print_option(const tool_option *option) {
  char text[128];
  int length =
      snprintf(text, sizeof text, "  %s%c%s --%s%s%s", option->letter ? "-" : "",
               option->letter ? option->letter : ' ', option->letter ? "," : "  ", option->name,
               option->argument ? " " : "", option->argument ? option->argument : "");
  if (length < HELP_COLUMN)
    leat_show(stdout, "%-*s%s\n", HELP_COLUMN, text, option->help);
  else
    leat_show(stdout, "%s\n%*s%s\n", text, HELP_COLUMN, "", option->help);
}

static void print_help(const tool_command *command, const tool_options *groups, int group_count) {
  leat_show(stdout, "usage: leat %s %s\n\n%s\n", command->name, command->usage, command->summary);
  for (int g = 0; g < group_count; g++) {
    leat_show(stdout, "\n%s:\n", groups[g].title);
    for (int i = 0; i < groups[g].count; i++) print_option(&groups[g].items[i]);
    if (g == 0) print_option(&tool_help_option);
  }
}

void tool_ask(const tool_command *command, const char *form, int count, char **words) {
  char **asked = leat_new_array(tool_arena(), char *, (size_t)count + 3);
  asked[0] = (char *)command->name;
  asked[1] = (char *)form;
  for (int i = 0; i < count; i++) asked[2 + i] = words[i];
  command->run(command, count + 2, asked);
}

// Whether the command was asked for another form of --help, and it was given.
static bool print_other_form(const tool_command *command, const tool_options *groups,
                             int group_count, int argc, char **argv) {
  bool page = argc == 2 && strcmp(argv[1], "--man") == 0;
  bool words = argc > 2 && strcmp(argv[1], "--complete") == 0;
  if (page) tool_print_page(command, groups, group_count);
  if (words) tool_complete(command, groups, group_count, argc - 2, argv + 2);
  return page || words;
}

// -- Parsing -----------------------------------------------------------------------------------

leat_arena *tool_arena(void) {
  static leat_arena *arena;
  if (!arena) arena = leat_arena_create();
  return arena;
}

static bool parse_number(const char *text, int *out) {
  char *end;
  errno = 0;
  long value = strtol(text, &end, 10);
  *out = (int)value;
  return end != text && !*end && !errno && value >= 0 && value <= INT_MAX;
}

bool tool_parse_seconds(const char *text, double *out) {
  char *end;
  *out = leat_read_f64(text, &end);
  return end != text && !*end && isfinite(*out) && *out >= 0;
}

static bool store(const tool_option *option, const char *argument) {
  switch (option->kind) {
  case TOOL_FLAG: *(bool *)option->target = true; return true;
  case TOOL_TEXT: *(const char **)option->target = argument; return true;
  case TOOL_NUMBER: return parse_number(argument, option->target);
  case TOOL_SECONDS: return tool_parse_seconds(argument, option->target);
  case TOOL_LIST: leat_vec_push(tool_arena(), (tool_list *)option->target, argument); return true;
  }
  return false;
}

// The options by number (what getopt_long returns is its letter, or FIRST_LONG + number).
typedef struct parser {
  const tool_option *options[MOST_OPTIONS];
  struct option longs[MOST_OPTIONS + 2];
  char letters[2 * MOST_OPTIONS + 4];
  int count;
} parser;

static void add_option(parser *p, const tool_option *option) {
  int value = option->letter ? option->letter : FIRST_LONG + p->count;
  p->longs[p->count] = (struct option){
      option->name, option->argument ? required_argument : no_argument, NULL, value};
  if (option->letter) {
    char letter[3] = {option->letter, option->argument ? ':' : '\0', '\0'};
    strcat(p->letters, letter);
  }
  p->options[p->count++] = option;
}

// What docs/language.md has and marks as not yet there.
static bool is_planned(const char *word) {
  static const char *const planned[] = {"--checkpoint-dir", "--locking", "--plugin", "--replicas"};
  size_t length = strcspn(word, "=");
  for (int i = 0; i < TOOL_COUNT(planned); i++)
    if (strlen(planned[i]) == length && memcmp(planned[i], word, length) == 0) return true;
  return false;
}

static const tool_option *find_option(const parser *p, int value) {
  for (int i = 0; i < p->count; i++)
    if (p->longs[i].val == value) return p->options[i];
  return NULL;
}

// "; did you mean --feed?"
static const char *meant_option(const parser *p, const char *word) {
  const char *names[MOST_OPTIONS + 2];
  size_t dashes = strspn(word, "-"), length = strcspn(word, "="), count = 0;
  if (!dashes || length - dashes < 2) return "";
  for (; p->longs[count].name; count++) names[count] = p->longs[count].name;
  const char *name = leat_arena_strndup(tool_arena(), word + dashes, length - dashes);
  const char *near = leat_nearest(name, names, count);
  return near ? leat_arena_printf(tool_arena(), "; did you mean --%s?", near) : "";
}

bool tool_parse(const tool_command *command, const tool_options *groups, int group_count, int argc,
                char **argv, int *first, int *status) {
  *status = TOOL_OK;
  if (print_other_form(command, groups, group_count, argc, argv)) return false;
  parser p = {.letters = ":h"}; // `:`: mistakes are told apart and reported here
  for (int g = 0; g < group_count; g++)
    for (int i = 0; i < groups[g].count; i++) add_option(&p, &groups[g].items[i]);
  p.longs[p.count] = (struct option){"help", no_argument, NULL, HELP_OPTION};
  optind = 1;
  for (int value; (value = getopt_long(argc, argv, p.letters, p.longs, NULL)) != -1;) {
    const char *word = argv[optind - 1];
    const tool_option *option = find_option(&p, value);
    if (value == HELP_OPTION)
      print_help(command, groups, group_count);
    else if (value == ':')
      *status = tool_usage_error(command, "%s needs an argument", word);
    else if (!option && is_planned(word))
      *status = tool_usage_error(command, "%s is not supported yet", word);
    else if (!option)
      *status = tool_usage_error(command, "unknown option %s%s", word, meant_option(&p, word));
    else if (!store(option, optarg))
      *status = tool_usage_error(command, "--%s: `%s` is no such number", option->name, optarg);
    else
      continue;
    return false;
  }
  *first = optind;
  return true;
}
