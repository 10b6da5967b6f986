// Completion from the tables of options: what an argument may be is told by its name in the table,
// as --help shows it. `a|b|c` are the words themselves, ENTRY the entries of the text on the line,
// STAGE and STAGES what there is to dump, FILE, PATH and DIR files; of others nothing is known.
#include "base/file.h"
#include "base/text.h"
#include "frontend/frontend.h"
#include "session/driver.h"
#include "tools/forms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The word that is completed: `kept` stays as it is in front of each candidate, which begins with
// `typed`.
typedef struct completion {
  const tool_options *groups;
  int group_count;
  int count; // of words before it
  char **words;
  const char *kept, *typed;
  int kept_size;
} completion;

static void offer(const completion *c, const char *word, int size, const char *help) {
  size_t typed = strlen(c->typed);
  if ((size_t)size >= typed && strncmp(word, c->typed, typed) == 0)
    printf("%.*s%.*s\t%s\n", c->kept_size, c->kept, size, word, help);
}

static void offer_word(const completion *c, const char *word, const char *help) {
  offer(c, word, (int)strlen(word), help);
}

static void offer_files(const char *pattern) {
  printf("\t%s\n", pattern);
}

// -- Options -----------------------------------------------------------------------------------

static const tool_option *find_option(const completion *c, const char *word, size_t size) {
  for (int g = 0; g < c->group_count; g++)
    for (int i = 0; i < c->groups[g].count; i++) {
      const tool_option *option = &c->groups[g].items[i];
      bool is_long = size > 2 && word[0] == '-' && word[1] == '-' &&
                     strlen(option->name) == size - 2 &&
                     memcmp(option->name, word + 2, size - 2) == 0;
      if (is_long || (size == 2 && word[0] == '-' && option->letter == word[1])) return option;
    }
  return NULL;
}

// The option whose argument stands at `i`, alone; NULL: none does.
static const tool_option *option_before(const completion *c, int i) {
  if (i < 1) return NULL;
  const tool_option *option = find_option(c, c->words[i - 1], strlen(c->words[i - 1]));
  return option && option->argument ? option : NULL;
}

static void offer_options(const completion *c) {
  for (int g = 0; g < c->group_count; g++)
    for (int i = 0; i < c->groups[g].count; i++) {
      char word[64];
      snprintf(word, sizeof word, "--%s", c->groups[g].items[i].name);
      offer_word(c, word, c->groups[g].items[i].help);
    }
  offer_word(c, "--help", tool_help_option.help);
}

// -- Arguments ---------------------------------------------------------------------------------

static void offer_entry(void *context, const char *name, const char *help) {
  offer_word(context, name,
             leat_arena_printf(tool_arena(), "%.*s", (int)strcspn(help, "\n"), help));
}

static void offer_entries(completion *c) {
  leat_error error = {0};
  const char *path = NULL;
  char *text;
  size_t size;
  for (int i = 0; i < c->count && !path; i++)
    if (leat_ends_with(c->words[i], ".leat") && !option_before(c, i)) path = c->words[i];
  if (!path || leat_file_read(path, LEAT_LARGEST_SOURCE, &text, &size, &error)) return;
  leat_arena *arena = leat_arena_create();
  leat_diag *diag = leat_diag_create(arena);
  leat_find_entries(diag, leat_diag_add_source(diag, path, text, size), offer_entry, c);
  leat_arena_destroy(arena);
  free(text);
}

static void offer_stages(completion c, bool several) {
  const char *comma = strrchr(c.typed, ',');
  if (several && comma) { // `kept` and `typed` are of one word
    c.kept_size += (int)(comma + 1 - c.typed);
    c.typed = comma + 1;
  }
  for (uint32_t i = 0; leat_stage_name(i); i++) offer_word(&c, leat_stage_name(i), "");
  if (several) offer_word(&c, "all", "");
}

static void offer_arguments(completion *c, const char *argument) {
  if (strcmp(argument, "ENTRY") == 0)
    offer_entries(c);
  else if (strcmp(argument, "STAGES") == 0 || strcmp(argument, "STAGE") == 0)
    offer_stages(*c, strcmp(argument, "STAGES") == 0);
  else if (strcmp(argument, "FILE") == 0 || strcmp(argument, "PATH") == 0 ||
           strncmp(argument, "DIR", 3) == 0)
    offer_files(*argument == 'D' ? "*/" : "*");
  else if (strchr(argument, '|'))
    for (const char *word = argument; word; word = strchr(word, '|')) {
      word += *word == '|';
      offer(c, word, (int)strcspn(word, "|"), "");
    }
}

// What `usage` says of words that belong to no option.
static void offer_operands(const completion *c, const char *usage) {
  tool_list names = {0};
  if (strstr(usage, "NAME |")) names = tool_op_names();
  for (uint32_t i = 0; i < names.count; i++) offer_word(c, names.items[i], "");
  if (strstr(usage, "FILE")) offer_files("*.leat");
  if (strstr(usage, "PATH…")) offer_files("*");
}

// -- Words -------------------------------------------------------------------------------------

// bash divides words at `=` and passes it on as one; others do not divide `--key=value`.
static int join_words(int count, char **words) {
  int kept = 0;
  for (int i = 0; i < count; i++)
    if (strcmp(words[i], "=") != 0) words[kept++] = words[i];
  if (count && strcmp(words[count - 1], "=") == 0) words[kept++] = (char *)"";
  return kept;
}

void tool_complete(const tool_command *command, const tool_options *groups, int group_count,
                   int count, char **words) {
  count = join_words(count, words);
  completion c = {.groups = groups,
                  .group_count = group_count,
                  .count = count - 1,
                  .words = words,
                  .kept = words[count - 1],
                  .typed = words[count - 1]};
  const char *equals = strchr(c.typed, '=');
  const tool_option *option = option_before(&c, c.count);
  if (!option && equals) option = find_option(&c, c.typed, (size_t)(equals - c.typed));
  if (option && equals && *c.typed == '-') {
    c.kept_size = (int)(equals + 1 - c.typed);
    c.typed = equals + 1;
  }
  if (option && option->argument)
    offer_arguments(&c, option->argument);
  else if (*c.typed == '-')
    offer_options(&c);
  else
    offer_operands(&c, command->usage);
}

void tool_complete_main(const tool_command *const *commands, int command_count, int count,
                        char **words) {
  for (int i = 0; i + 1 < count; i++) // leat launch -n 2 -- COMMAND …
    if (strcmp(words[i], "--") == 0) {
      tool_complete_main(commands, command_count, count - i - 1, words + i + 1);
      return;
    }
  completion c = {.typed = count ? words[0] : "", .kept = ""};
  for (int i = 0; i < command_count; i++) {
    if (count < 2)
      offer_word(&c, commands[i]->name, commands[i]->summary);
    else if (strcmp(words[0], commands[i]->name) == 0)
      tool_ask(commands[i], "--complete", count - 1, words + 1);
  }
  if (count < 2 && *c.typed == '-') {
    offer_word(&c, "--help", tool_help_option.help);
    offer_word(&c, "--version", "");
  }
}
