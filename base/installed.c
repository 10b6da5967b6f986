// The lists are meson's; without it they are those of a usual installation.
#define _GNU_SOURCE
#include "base/installed.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if __has_include("build_dirs.h") // meson's
#include "build_dirs.h"
#endif
#ifndef LEAT_MODULE_DIRS
#define LEAT_MODULE_DIRS "/usr/local/lib/leat:/usr/lib/leat"
#define LEAT_LIB_DIRS "/usr/local/lib:/usr/lib"
#define LEAT_INCLUDE_DIRS "/usr/local/include:/usr/include"
#endif

#ifndef LEAT_HAS_LLVM
#define LEAT_HAS_LLVM 0
#endif

#define ORIGIN "$ORIGIN"

const bool leat_has_llvm = LEAT_HAS_LLVM;
const char leat_module_directories[] = LEAT_MODULE_DIRS;
const char leat_library_directories[] = LEAT_LIB_DIRS;
const char leat_include_directories[] = LEAT_INCLUDE_DIRS;

// The folder of the running program; its length, or 0 when nobody knows.
static int find_origin(char origin[LEAT_PATH_SIZE]) {
  ssize_t length = readlink("/proc/self/exe", origin, LEAT_PATH_SIZE - 1);
  if (length <= 0) return 0;
  origin[length] = '\0';
  char *slash = strrchr(origin, '/');
  return slash ? (int)(slash - origin) : 0;
}

bool leat_directory_next(const char **rest, char directory[LEAT_PATH_SIZE]) {
  while (**rest) {
    const char *item = *rest;
    int length = (int)strcspn(item, ":"), origin_length = 0;
    *rest += length + (item[length] == ':');
    char origin[LEAT_PATH_SIZE] = "";
    if (strncmp(item, ORIGIN, strlen(ORIGIN)) == 0) {
      origin_length = find_origin(origin);
      if (!origin_length) continue;
      item += strlen(ORIGIN);
      length -= (int)strlen(ORIGIN);
    }
    int size = snprintf(directory, LEAT_PATH_SIZE, "%.*s%.*s", origin_length, origin, length, item);
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
