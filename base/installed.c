// The lists are meson's; without it they are those of a usual installation.
#define _GNU_SOURCE
#include "base/installed.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>
#ifndef __TINYC__ // glibc says it with __int128
#include <link.h>
#endif

#if __has_include("build_dirs.h") // meson's
#include "build_dirs.h"
#endif
#ifndef LEAT_MODULE_DIRS
#define LEAT_MODULE_DIRS "/usr/local/lib/leat:/usr/lib/leat"
#define LEAT_LIB_DIRS "/usr/local/lib:/usr/lib"
#define LEAT_RUNTIME_DIRS "/usr/local/share/leat/runtime:/usr/share/leat/runtime"
#endif

#ifndef LEAT_HAS_LLVM
#define LEAT_HAS_LLVM 0
#endif

#define ORIGIN "$ORIGIN"

const bool leat_has_llvm = LEAT_HAS_LLVM;
const char leat_module_directories[] = LEAT_MODULE_DIRS;
const char leat_library_directories[] = LEAT_LIB_DIRS;
const char leat_runtime_directories[] = LEAT_RUNTIME_DIRS;

static char origin[LEAT_PATH_SIZE];
static int origin_length; // 0 when nobody knows

static void find_origin(void) {
  if (leat_path_of_code(leat_module_directories, origin))
    origin_length = (int)(strrchr(origin, '/') - origin);
}

bool leat_directory_next(const char **rest, char directory[LEAT_PATH_SIZE]) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  while (**rest) {
    const char *item = *rest;
    int length = (int)strcspn(item, ":"), replaced = 0;
    *rest += length + (item[length] == ':');
    if (strncmp(item, ORIGIN, strlen(ORIGIN)) == 0) {
      pthread_once(&once, find_origin);
      if (!origin_length) continue;
      replaced = origin_length;
      item += strlen(ORIGIN);
      length -= (int)strlen(ORIGIN);
    }
    int size = snprintf(directory, LEAT_PATH_SIZE, "%.*s%.*s", replaced, origin, length, item);
    if (size > 0 && size < LEAT_PATH_SIZE) return true;
  }
  return false;
}

bool leat_directory_find(const char *directories, const char *name, char path[LEAT_PATH_SIZE]) {
  char directory[LEAT_PATH_SIZE];
  struct stat info;
  while (directories && leat_directory_next(&directories, directory)) {
    size_t length = strlen(directory), size = strlen(name) + 1;
    if (length + 1 + size > LEAT_PATH_SIZE) continue;
    memcpy(path, directory, length);
    path[length] = '/';
    memcpy(path + length + 1, name, size);
    if (access(path, R_OK) == 0 && stat(path, &info) == 0 && S_ISREG(info.st_mode)) return true;
  }
  return false;
}

bool leat_runtime_source(char path[LEAT_PATH_SIZE]) {
  static const char header[] = "include/leat/artifact.h";
  if (!leat_directory_find(leat_runtime_directories, header, path)) return false;
  path[strlen(path) - sizeof header] = '\0'; // and the slash before it
  return true;
}

// Where there is no /proc: what the dynamic linker opened, and the name by which the program was
// started.
typedef struct loaded_code {
  uintptr_t address;
  char *path;
  bool found;
} loaded_code;

#ifdef __TINYC__
static void find_loaded_code(loaded_code *code) {
  (void)code;
}
#else
static int find_loaded(struct dl_phdr_info *info, size_t size, void *context) {
  loaded_code *code = context;
  (void)size;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    bool here = segment->p_type == PT_LOAD &&
                code->address - (info->dlpi_addr + segment->p_vaddr) < segment->p_memsz;
    if (!here) continue;
    const char *name = info->dlpi_name;
    if (!name || !*name) name = (const char *)(uintptr_t)getauxval(AT_EXECFN);
    char *whole = name ? realpath(name, NULL) : NULL;
    code->found = whole && strlen(whole) < LEAT_PATH_SIZE;
    if (code->found) strcpy(code->path, whole);
    free(whole);
    return 1;
  }
  return 0;
}

static void find_loaded_code(loaded_code *code) {
  dl_iterate_phdr(find_loaded, code);
}
#endif

// The system lists what is mapped: "5581-5591 r--p 00000000 08:01 123   /usr/bin/x", by address.
bool leat_path_of_code(const void *address, char path[LEAT_PATH_SIZE]) {
  char line[LEAT_PATH_SIZE + 128];
  FILE *maps = fopen("/proc/self/maps", "re");
  bool found = false;
  if (!maps) {
    loaded_code code = {(uintptr_t)address, path, false};
    find_loaded_code(&code);
    return code.found;
  }
  while (!found && fgets(line, sizeof line, maps)) {
    char *end;
    uintptr_t from = (uintptr_t)strtoull(line, &end, 16);
    uintptr_t to = *end == '-' ? (uintptr_t)strtoull(end + 1, NULL, 16) : 0;
    if ((uintptr_t)address < from || (uintptr_t)address >= to) continue;
    const char *name = strchr(line, '/');
    size_t length = name ? strcspn(name, "\n") : 0;
    found = length && length < LEAT_PATH_SIZE;
    if (!found) break;
    memcpy(path, name, length);
    path[length] = '\0';
  }
  fclose(maps);
  return found;
}
