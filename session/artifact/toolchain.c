// What a compiler makes code for, it says itself: it preprocesses a text that asks.
#include "session/artifact/toolchain.h"

#include "base/command.h"
#include "base/environment.h"
#include "base/file.h"

#include <stdlib.h>
#include <string.h>

#if __has_include("build_dirs.h") // meson's
#include "build_dirs.h"
#endif

static const char question[] = "#include <limits.h>\n"
                               "#if defined __x86_64__\n"
                               "leat_machine x86_64\n"
                               "#elif defined __aarch64__\n"
                               "leat_machine aarch64\n"
                               "#elif defined __riscv && __riscv_xlen == 64\n"
                               "leat_machine riscv64\n"
                               "#elif defined __loongarch64\n"
                               "leat_machine loongarch64\n"
                               "#elif defined __powerpc64__ && defined __LITTLE_ENDIAN__\n"
                               "leat_machine powerpc64le\n"
                               "#else\n"
                               "leat_machine another\n"
                               "#endif\n"
                               "#ifdef __GLIBC__\n"
                               "leat_libc glibc\n"
                               "#else\n"
                               "leat_libc another\n"
                               "#endif\n";

#ifdef __GLIBC__
static const bool glibc_here = true;
#else
static const bool glibc_here = false;
#endif

enum { LONGEST_ANSWER = 1 << 20 };

// -- Finding -------------------------------------------------------------------------------------

static leat_status no_compiler(const leat_machine *machine, leat_error *error) {
  return leat_fail(error, LEAT_UNSUPPORTED,
                   "there is no %s-gcc to make a program for %s: --cc names another compiler, "
                   "--sysroot says where clang finds that machine's libc, and --emit=obj needs "
                   "neither",
                   machine->triple, machine->name);
}

// clang, which needs to be told of that machine's linker, if its own is there.
static const char *clang_for(const leat_machine *machine, leat_arena *arena) {
  bool own = leat_command_exists("ld.lld");
  return leat_arena_printf(arena, "clang --target=%s%s", machine->triple,
                           own ? " -fuse-ld=lld -Wno-unused-command-line-argument" : "");
}

// NULL: this system's.
static leat_status choose(const leat_machine *machine, const char *cc, const char *sysroot,
                          leat_arena *arena, const char **out, leat_error *error) {
  *out = cc;
  if (cc || !machine->triple) return LEAT_OK;
  *out = leat_arena_printf(arena, "%s-gcc", machine->triple);
  if (leat_command_exists(*out)) return LEAT_OK;
  if (!sysroot || !leat_command_exists("clang")) return no_compiler(machine, error);
  *out = clang_for(machine, arena);
  return LEAT_OK;
}

leat_status leat_toolchain_words(const leat_machine *machine, const char *cc, const char *sysroot,
                                 leat_arena *arena, const char **out, leat_error *error) {
  LEAT_TRY(choose(machine, cc, sysroot, arena, out, error));
  if (sysroot)
    *out = leat_arena_printf(arena, "%s --sysroot=%s", *out ? *out : leat_c_compiler(), sysroot);
  return LEAT_OK;
}

// -- Asking --------------------------------------------------------------------------------------

// The word behind `key`, of which the answer has one; "" when it has none.
static const char *answer_to(const char *key, const char *text, leat_arena *arena) {
  const char *at = strstr(text, key);
  if (!at) return "";
  at += strlen(key);
  at += strspn(at, " ");
  return leat_arena_strndup(arena, at, strcspn(at, " \n"));
}

static leat_status ask(const char *words, const char *folder, leat_arena *arena,
                       const char **answer, leat_error *error) {
  const char *source = leat_arena_printf(arena, "%s/question.c", folder);
  const char *target = leat_arena_printf(arena, "%s/answer", folder);
  leat_command command = {.arena = arena};
  leat_bytes piece = {question, sizeof question - 1};
  char *text;
  size_t size;
  LEAT_TRY(leat_file_write(source, &piece, 1, LEAT_FILE_ATOMIC, error));
  leat_command_add_words(&command, words, " \t", "");
  leat_command_add_words(&command, "-E -P -o", " ", "");
  leat_command_add(&command, target);
  leat_command_add(&command, source);
  LEAT_TRY(leat_command_run(&command, error));
  LEAT_TRY(leat_file_read(target, LONGEST_ANSWER, &text, &size, error));
  *answer = leat_arena_strndup(arena, text, strlen(text));
  free(text);
  return LEAT_OK;
}

leat_status leat_toolchain_find(const leat_machine *machine, const char *cc, const char *sysroot,
                                const char *folder, leat_arena *arena, leat_toolchain *out,
                                leat_error *error) {
  *out = (leat_toolchain){.native = true, .glibc = glibc_here};
  LEAT_TRY(leat_toolchain_words(machine, cc, sysroot, arena, &out->words, error));
#ifdef LEAT_LINKER // the libraries need more than any compiler
  if (!out->words) {
    out->words = LEAT_LINKER;
    return LEAT_OK;
  }
  out->native = strcmp(out->words, LEAT_LINKER) == 0;
#endif
  bool usual = !out->words && !leat_environment("CC");
  if (!out->words) out->words = leat_c_compiler();
  if (usual) return LEAT_OK; // what this program was made with, as far as anybody knows
  const char *answer;
  LEAT_TRY(ask(out->words, folder, arena, &answer, error));
  const char *name = answer_to("leat_machine", answer, arena);
  out->glibc = strcmp(answer_to("leat_libc", answer, arena), "glibc") == 0;
  if (strcmp(name, machine->name) != 0)
    return leat_fail(error, LEAT_INVALID,
                     "%s makes programs for %s, not for %s: --triple and --cc "
                     "must agree",
                     out->words, *name ? name : "another machine", machine->name);
  if (!leat_machine_is_here(machine) || out->glibc != glibc_here) out->native = false;
  return LEAT_OK;
}
