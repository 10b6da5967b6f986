// The cache's files and their clearing out. Whoever can write an entry can have any code run, so
// nothing is read from a folder, or a file, that others may change. A get touches the file's time,
// so that the oldest time is the longest unused. Reading the directory takes long when it is full,
// so a put does it by chance, on average once for each CLEAR_EVERYth part of the limit that is
// written, whoever writes.
#define _GNU_SOURCE
#include "session/object_cache.h"

#include "base/arena.h"
#include "base/environment.h"
#include "base/file.h"
#include "base/trust.h"
#include "base/vec.h"

#define XXH_INLINE_ALL
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum { CLEAR_EVERY = 16, LONGEST_PATH = 4096, LARGEST_ENTRY = 1 << 30, DEFAULT_LIMIT = 1024 };

typedef struct hash {
  uint64_t words[2];
} hash;

struct leat_object_cache {
  char *directory; // without links; leat_trusted_folder
  uint64_t limit;
};

typedef struct header {
  char magic[8];
  uint64_t size; // of the bytes after the header
  hash key, checksum;
  uint64_t reserved[2];
} header;

static const char magic[8] = "leatobj1";

static hash hash_of(const void *data, size_t size) {
  XXH128_hash_t value = XXH3_128bits(data, size);
  return (hash){{value.low64, value.high64}};
}

static bool same(hash a, hash b) {
  return a.words[0] == b.words[0] && a.words[1] == b.words[1];
}

// The folder that is asked for, malloc'ed; NULL: none, or no memory.
static char *choose_directory(const char *where) {
  const char *end = "";
  char *directory = NULL;
  if (!where) where = leat_environment("LEAT_CACHE_DIR");
  if (!where && (where = leat_environment("XDG_CACHE_HOME"))) end = "/leat";
  if (!where && (where = leat_environment("HOME"))) end = "/.cache/leat";
  if (!where || strcmp(where, "off") == 0) return NULL;
  return asprintf(&directory, "%s%s", where, end) < 0 ? NULL : directory;
}

leat_status leat_object_cache_open(const char *where, leat_object_cache **out, leat_error *error) {
  const char *limit = leat_environment("LEAT_CACHE_LIMIT");
  *out = NULL;
  char *asked = choose_directory(where), *directory = NULL;
  leat_error reason = {0};
  leat_status status = asked ? leat_trusted_folder(asked, &directory, &reason) : LEAT_OK;
  free(asked);
  if (status == LEAT_INVALID)
    return leat_fail(error, status,
                     "no cache of compiled code is used, for %s; --cache or $LEAT_CACHE_DIR may "
                     "name another folder",
                     reason.message);
  if (!directory) return LEAT_OK;
  leat_object_cache *cache = calloc(1, sizeof *cache);
  if (!cache) {
    free(directory);
    return leat_fail(error, LEAT_MEMORY, "out of memory");
  }
  uint64_t megabytes = limit ? strtoull(limit, NULL, 10) : DEFAULT_LIMIT;
  cache->limit = megabytes < UINT64_MAX >> 20 ? megabytes << 20 : UINT64_MAX;
  cache->directory = directory;
  *out = cache;
  return LEAT_OK;
}

void leat_object_cache_close(leat_object_cache *cache) {
  if (!cache) return;
  free(cache->directory);
  free(cache);
}

static bool path_of(const leat_object_cache *cache, hash key, char path[LONGEST_PATH]) {
  int length = snprintf(path, LONGEST_PATH, "%s/object-%016llx%016llx", cache->directory,
                        (unsigned long long)key.words[1], (unsigned long long)key.words[0]);
  return length > 0 && length < LONGEST_PATH;
}

static bool is_whole(const char *file, size_t size, hash key) {
  const header *h = (const header *)file;
  return size >= sizeof *h && memcmp(h->magic, magic, sizeof magic) == 0 &&
         h->size == size - sizeof *h && same(h->key, key) &&
         same(h->checksum, hash_of(file + sizeof *h, h->size));
}

// The folder may have been open to others once.
static bool is_trusted_file(const char *path) {
  struct stat info;
  return !lstat(path, &info) && S_ISREG(info.st_mode) && leat_is_trusted(&info);
}

bool leat_object_cache_get(leat_object_cache *cache, const void *key, size_t key_size,
                           void **out_data, size_t *out_size) {
  char path[LONGEST_PATH], *file = NULL;
  size_t size = 0;
  if (!cache) return false;
  hash name = hash_of(key, key_size);
  if (!path_of(cache, name, path) || !is_trusted_file(path) ||
      leat_file_read(path, LARGEST_ENTRY, &file, &size, NULL))
    return false;
  if (!is_whole(file, size, name)) {
    free(file);
    return false;
  }
  utimensat(AT_FDCWD, path, NULL, 0); // used now
  *out_size = size - sizeof(header);
  *out_data = memmove(file, file + sizeof(header), *out_size);
  return true;
}

// -- Clearing out --------------------------------------------------------------------------------

typedef struct cached_file {
  char *name;
  uint64_t size;
  struct timespec used;
} cached_file;

typedef leat_vec(cached_file) cached_files;

static int by_use(const void *a, const void *b) {
  const cached_file *x = a, *y = b;
  if (x->used.tv_sec != y->used.tv_sec) return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
  if (x->used.tv_nsec != y->used.tv_nsec) return x->used.tv_nsec < y->used.tv_nsec ? -1 : 1;
  return strcmp(x->name, y->name);
}

// Whether the cache named a file so, "kind-" and 32 digits: nothing else in the directory is
// touched. What stands behind a dot is a file aside (base/file_write.c), of a put that goes on,
// which the newest are, or whose process was killed.
static bool is_ours(const char *name) {
  enum { KIND = 7, DIGITS = 32 };
  if (strncmp(name, "object-", KIND) != 0) return false;
  const char *end = name + KIND + strspn(name + KIND, "0123456789abcdef");
  return end == name + KIND + DIGITS && (!*end || *end == '.');
}

static uint64_t list_files(int directory, DIR *stream, leat_arena *arena, cached_files *files) {
  uint64_t total = 0;
  struct stat info;
  for (struct dirent *entry; (entry = readdir(stream));) {
    if (!is_ours(entry->d_name) || fstatat(directory, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) ||
        !S_ISREG(info.st_mode))
      continue;
    cached_file file = {.size = (uint64_t)info.st_size, .used = info.st_mtim};
    file.name = leat_arena_strndup(arena, entry->d_name, strlen(entry->d_name));
    leat_vec_push(arena, files, file);
    total += file.size;
  }
  return total;
}

// Removes the longest unused files until the rest is under 3/4 of the limit.
static leat_status remove_oldest(const leat_object_cache *cache, DIR *stream) {
  leat_arena *arena = leat_arena_create();
  cached_files files = {0};
  int directory = dirfd(stream);
  uint64_t total = list_files(directory, stream, arena, &files);
  if (total > cache->limit) {
    qsort(files.items, files.count, sizeof *files.items, by_use);
    for (uint32_t i = 0; i < files.count && total > cache->limit / 4 * 3; i++)
      if (unlinkat(directory, files.items[i].name, 0) == 0) total -= files.items[i].size;
  }
  leat_arena_destroy(arena);
  return LEAT_OK;
}

static void clear_out(const leat_object_cache *cache) {
  DIR *stream = opendir(cache->directory);
  leat_status status;
  if (!stream) return;
  LEAT_RECOVER(status, remove_oldest(cache, stream));
  (void)status; // another time
  closedir(stream);
}

// The chance is the key's, which is as good as a random number.
static bool is_time_to_clear(const leat_object_cache *cache, hash key, size_t size) {
  return key.words[0] % (cache->limit / CLEAR_EVERY + 1) < size;
}

void leat_object_cache_put(leat_object_cache *cache, const void *key, size_t key_size,
                           const void *data, size_t size) {
  char path[LONGEST_PATH];
  if (!cache || size > cache->limit || size > LARGEST_ENTRY - sizeof(header)) return;
  header h = {.size = size, .key = hash_of(key, key_size), .checksum = hash_of(data, size)};
  memcpy(h.magic, magic, sizeof magic);
  leat_bytes pieces[] = {{&h, sizeof h}, {data, size}};
  if (!path_of(cache, h.key, path)) return;
  if (leat_file_write(path, pieces, 2, LEAT_FILE_PRIVATE, NULL)) return;
  if (is_time_to_clear(cache, h.key, size)) clear_out(cache);
}
