// Manual pages in the man macros that groff and mandoc both read.
#include "leat/leat.h"
#include "tools/forms.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const struct {
  const char *name, *what;
} variables[] = {
    {"CC", "the C compiler that links what `leat build` makes, and compiles for the target c"},
    {"LEAT_CACHE_DIR",
     "where compiled code is kept, or off: nowhere; no other user may write there"},
    {"LEAT_CACHE_LIMIT", "how large that folder may grow, in MiB (default: 1024)"},
    {"LEAT_MODULE_PATH", "folders where the modules leat-*.so are looked for first"},
    {"LEAT_PATH", "folders where `use \"file.leat\"` looks, after that of the text and --path"},
    {"TMPDIR", "where what compilers and linkers work on lies for a moment (default: /tmp)"},
    {"XDG_CACHE_HOME", "compiled code is kept in a folder leat there (default: ~/.cache)"},
};

// The number of a UTF-8 character, and *text behind it.
static unsigned take_character(const char **text) {
  unsigned char first = (unsigned char)*(*text)++;
  unsigned code = first < 0x80 ? first : first & (first < 0xe0 ? 0x1f : first < 0xf0 ? 0x0f : 0x07);
  while (((unsigned char)**text & 0xc0) == 0x80)
    code = code << 6 | ((unsigned char)*(*text)++ & 0x3f);
  return code;
}

// What roff would read as its own is escaped; words in `` are bold.
static void print_text(const char *text) {
  bool bold = false;
  while (*text) {
    unsigned c = take_character(&text);
    if (c == '`')
      fputs((bold = !bold) ? "\\fB" : "\\fR", stdout);
    else if (c == '-')
      fputs("\\-", stdout);
    else if (c == '\\')
      fputs("\\e", stdout);
    else if (c >= 0x80)
      printf("\\[u%04X]", c);
    else
      putchar((int)c);
  }
}

static void print_line(const char *text) {
  if (*text == '.' || *text == '\'') fputs("\\&", stdout);
  print_text(text);
  putchar('\n');
}

static void print_upper(const char *text) {
  for (; *text; text++) putchar(toupper((unsigned char)*text));
}

static void print_item(const tool_option *option) {
  puts(".TP");
  if (option->letter) printf("\\fB\\-%c\\fR, ", option->letter);
  fputs("\\fB", stdout);
  print_text("--");
  print_text(option->name);
  fputs("\\fR", stdout);
  if (option->argument) fputs(" \\fI", stdout), print_text(option->argument), fputs("\\fR", stdout);
  putchar('\n');
  print_line(option->help);
}

static void print_title(const char *name) {
  printf(".TH \"");
  print_upper(name);
  printf("\" \"1\" \"\" \"leat %s\" \"User commands\"\n", LEAT_VERSION);
}

static void print_exit_status(void) {
  puts(".SH \"EXIT STATUS\"\n0: all is well; 1: the work failed; 2: the command line is wrong.");
}

static void print_variables(void) {
  puts(".SH ENVIRONMENT\nA copy that runs with another user's rights (setuid) uses none of these.");
  for (int i = 0; i < TOOL_COUNT(variables); i++) {
    printf(".TP\n.B %s\n", variables[i].name);
    print_line(variables[i].what);
  }
}

void tool_print_page(const tool_command *command, const tool_options *groups, int group_count) {
  char name[64];
  snprintf(name, sizeof name, "leat-%s", command->name);
  print_title(name);
  printf(".SH NAME\nleat\\-%s \\- ", command->name);
  print_line(command->summary);
  printf(".SH SYNOPSIS\n\\fBleat %s\\fR ", command->name);
  print_line(command->usage);
  for (int g = 0; g < group_count; g++) {
    printf(".SH \"");
    print_upper(groups[g].title);
    puts("\"");
    for (int i = 0; i < groups[g].count; i++) print_item(&groups[g].items[i]);
    if (g == 0) print_item(&tool_help_option);
  }
  print_exit_status();
  puts(".SH \"SEE ALSO\"\n.BR leat (1)");
}

void tool_print_main_page(const tool_command *const *commands, int count) {
  print_title("leat");
  puts(".SH NAME\nleat \\- a compiler of dataflow graphs\n.SH SYNOPSIS\n\\fBleat\\fR "
       "\\fICOMMAND\\fR [\\fIOPTION\\fR\\[u2026]]\n.SH DESCRIPTION");
  print_line("A text describes a whole training step: the forward pass, gradients, optimiser, "
             "variables, distribution. Leat compiles it to native code, runs it in one process or "
             "across MPI processes, and builds it into an executable or an object to link with.");
  puts(".SH COMMANDS");
  for (int i = 0; i < count; i++) {
    printf(".TP\n.BR leat\\-%s (1)\n", commands[i]->name);
    print_line(commands[i]->summary);
  }
  puts(".SH OPTIONS");
  print_item(&tool_help_option);
  puts(".TP\n\\fB\\-\\-version\\fR\nwhich version this is");
  print_variables();
  print_exit_status();
  puts(".SH \"SEE ALSO\"");
  for (int i = 0; i < count; i++)
    printf(".BR leat\\-%s (1)%s\n", commands[i]->name, i + 1 < count ? "," : "");
}
