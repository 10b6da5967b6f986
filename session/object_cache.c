// The cache's files and their clearing out. A get touches the file's time, so that the oldest time
// is the longest unused; a put counts bytes, and only after every CLEAR_EVERYth part of the limit
// (and on the first put) is the directory read.
#define _GNU_SOURCE
#include "session/object_cache.h"

#include "base/arena.h"
#include "base/vec.h"

#define XXH_INLINE_ALL
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

enum { CLEAR_EVERY = 16, LONGEST_PATH = 4096 };

struct leat_cache {
  char directory[LONGEST_PATH - 128]; // "": off
  uint64_t limit;
  pthread_mutex_t lock;
  uint64_t written; // bytes since the directory was last read
  bool ready;       // the directory exists and was read once
};

typedef struct header {
  char magic[8];
  uint64_t size; // of the bytes after the header
  leat_cache_key key, checksum;
  uint64_t reserved[2];
} header;

_Static_assert(sizeof(header) == 64, "the bytes after the header stay aligned");

static const char magic[8] = "leatobj1";

leat_cache_key leat_cache_key_of(const void *data, size_t size) {
  XXH128_hash_t hash = XXH3_128bits(data, size);
  return (leat_cache_key){{hash.low64, hash.high64}};
}

static bool same(leat_cache_key a, leat_cache_key b) {
  return a.words[0] == b.words[0] && a.words[1] == b.words[1];
}

static const char *environment(const char *name) {
  const char *value = getenv(name);
  return value && *value ? value : NULL;
}

leat_cache *leat_cache_create(const char *directory, uint64_t limit) {
  leat_cache *cache = calloc(1, sizeof *cache);
  if (!cache) leat_out_of_memory();
  pthread_mutex_init(&cache->lock, NULL);
  cache->limit = limit;
  const char *end = "", *home;
  if (!directory) directory = environment("LEAT_CACHE_DIR");
  if (!directory && (directory = environment("XDG_CACHE_HOME"))) end = "/leat";
  if (!directory && (home = environment("HOME"))) directory = home, end = "/.cache/leat";
  bool off = !directory || limit == 0 || strcmp(directory, "off") == 0;
  int length =
      off ? 0 : snprintf(cache->directory, sizeof cache->directory, "%s%s", directory, end);
  if (length < 0 || (size_t)length >= sizeof cache->directory) cache->directory[0] = '\0';
  return cache;
}

void leat_cache_destroy(leat_cache *cache) {
  if (!cache) return;
  pthread_mutex_destroy(&cache->lock);
  free(cache);
}

static void path_of(const leat_cache *cache, const char *kind, leat_cache_key key,
                    char path[LONGEST_PATH]) {
  snprintf(path, LONGEST_PATH, "%s/%.32s-%016llx%016llx", cache->directory, kind,
           (unsigned long long)key.words[1], (unsigned long long)key.words[0]);
}

bool leat_cache_get(leat_cache *cache, const char *kind, leat_cache_key key,
                    leat_cache_entry *out) {
  *out = (leat_cache_entry){0};
  if (!cache->directory[0]) return false;
  char path[LONGEST_PATH];
  path_of(cache, kind, key, path);
  if (leat_file_view_open(&out->file, path, NULL)) return false;
  const header *h = (const header *)out->file.data;
  const unsigned char *data = out->file.data + sizeof *h;
  if (out->file.size < sizeof *h || memcmp(h->magic, magic, sizeof magic) != 0 ||
      h->size != out->file.size - sizeof *h || !same(h->key, key) ||
      !same(h->checksum, leat_cache_key_of(data, h->size))) {
    leat_cache_release(out);
    return false;
  }
  out->data = data;
  out->size = h->size;
  utimensat(AT_FDCWD, path, NULL, 0);
  return true;
}

void leat_cache_release(leat_cache_entry *entry) {
  leat_file_view_close(&entry->file);
  *entry = (leat_cache_entry){0};
}

// -- Clearing out
// -----------------------------------------------------------------------------------------------------

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
// touched.
static bool is_ours(const char *name) {
  const char *digits = strrchr(name, '-');
  return digits && strlen(digits + 1) == 32 && strspn(digits + 1, "0123456789abcdef") == 32;
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
static void clear_out(const leat_cache *cache) {
  DIR *stream = opendir(cache->directory);
  if (!stream) return;
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
  closedir(stream);
}

leat_status leat_cache_put(leat_cache *cache, const char *kind, leat_cache_key key,
                           const void *data, size_t size, leat_error *error) {
  if (!cache->directory[0] || size > cache->limit) return LEAT_OK;
  header h = {.size = size, .key = key, .checksum = leat_cache_key_of(data, size)};
  memcpy(h.magic, magic, sizeof magic);
  leat_bytes pieces[] = {{&h, sizeof h}, {data, size}};
  char path[LONGEST_PATH];
  path_of(cache, kind, key, path);
  pthread_mutex_lock(&cache->lock);
  bool first = !cache->ready;
  pthread_mutex_unlock(&cache->lock);
  if (first) LEAT_TRY(leat_file_make_directories(cache->directory, error));
  LEAT_TRY(leat_file_write(path, pieces, 2, LEAT_FILE_ATOMIC, error));
  pthread_mutex_lock(&cache->lock);
  cache->written += size;
  bool clear = !cache->ready || cache->written > cache->limit / CLEAR_EVERY;
  if (clear) cache->written = 0;
  cache->ready = true;
  pthread_mutex_unlock(&cache->lock);
  if (clear) clear_out(cache);
  return LEAT_OK;
}
