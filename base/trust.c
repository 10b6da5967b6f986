// realpath(3), then every folder from the root on.
#define _GNU_SOURCE
#include "base/trust.h"

#include "base/file_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WRITABLE_BY_OTHERS = S_IWGRP | S_IWOTH };

static bool is_ours(const struct stat *info) {
  return info->st_uid == geteuid() || info->st_uid == 0;
}

bool leat_is_trusted(const struct stat *info) {
  return is_ours(info) && !(info->st_mode & WRITABLE_BY_OTHERS);
}

static leat_status judge(const char *path, bool may_be_sticky, leat_error *error) {
  struct stat info;
  if (stat(path, &info)) return leat_file_fail(error, "look at", path);
  bool sticky = may_be_sticky && info.st_mode & S_ISVTX;
  if (!S_ISDIR(info.st_mode)) return leat_fail(error, LEAT_IO, "'%s' is no folder", path);
  if (!is_ours(&info))
    return leat_fail(error, LEAT_INVALID, "'%s' belongs to another user (%u)", path, info.st_uid);
  if (!sticky && info.st_mode & WRITABLE_BY_OTHERS)
    return leat_fail(error, LEAT_INVALID, "others may write to '%s' (`chmod go-w` ends that)",
                     path);
  return LEAT_OK;
}

// A path that realpath gave; of its last folder only that it may be sticky is a question.
static leat_status judge_all(char *path, bool may_be_sticky, leat_error *error) {
  leat_status status = judge("/", path[1] || may_be_sticky, error);
  for (char *end = path; path[1] && *end && !status;) {
    end += 1 + strcspn(end + 1, "/");
    char kept = *end;
    *end = '\0';
    status = judge(path, kept || may_be_sticky, error);
    *end = kept;
  }
  return status;
}

static leat_status enter(const char *path, bool may_be_sticky, char **out, leat_error *error);

// Makes the folder in the one above it, which is entered first.
static leat_status make(const char *path, leat_error *error) {
  size_t size = strlen(path);
  while (size && path[size - 1] == '/') size--;
  size_t name = size;
  while (name && path[name - 1] != '/') name--;
  char *above = name ? strndup(path, name) : strdup("."), *inside = NULL, *made = NULL;
  leat_status status = above ? enter(above, true, &inside, error) : LEAT_MEMORY;
  if (!status && asprintf(&made, "%s/%.*s", inside, (int)(size - name), path + name) < 0) {
    made = NULL;
    status = leat_fail(error, LEAT_MEMORY, "out of memory");
  }
  if (!status && mkdir(made, S_IRWXU) && errno != EEXIST)
    status = leat_file_fail(error, "make the folder", made);
  free(made);
  free(inside);
  free(above);
  return status;
}

static leat_status enter(const char *path, bool may_be_sticky, char **out, leat_error *error) {
  char *real = realpath(path, NULL);
  if (!real && errno == ENOENT && *path) {
    LEAT_TRY(make(path, error));
    real = realpath(path, NULL);
  }
  if (!real) return leat_file_fail(error, "look at", path);
  leat_status status = judge_all(real, may_be_sticky, error);
  if (status)
    free(real);
  else
    *out = real;
  return status;
}

leat_status leat_trusted_folder(const char *path, char **out, leat_error *error) {
  *out = NULL;
  return enter(path, false, out, error);
}

// The folder of the path, which is cut there.
static leat_status judge_folder(char *path, leat_error *error) {
  char *slash = strrchr(path, '/');
  if (slash) *slash = '\0';
  const char *folder = !slash ? "." : *path ? path : "/";
  char *real = realpath(folder, NULL);
  if (!real) return leat_file_fail(error, "look at", folder);
  leat_status status = judge_all(real, false, error);
  free(real);
  return status;
}

leat_status leat_trusted_file(const char *path, leat_error *error) {
  struct stat info;
  char *real = realpath(path, NULL), *named = strdup(path);
  leat_status status = named ? LEAT_OK : leat_fail(error, LEAT_MEMORY, "out of memory");
  if (!status && (!real || stat(real, &info))) status = leat_file_fail(error, "look at", path);
  if (!status && !leat_is_trusted(&info))
    status =
        leat_fail(error, LEAT_INVALID, "others may write to '%s', or it is another user's", real);
  if (!status) status = judge_folder(named, error);
  if (!status) status = judge_folder(real, error);
  free(named);
  free(real);
  return status;
}
