// A program of a user of `leat build`: runs a model once and prints its results by their numbers.
//
//     driver LIBRARY NAME FEED…      FEED: `-` takes the default, else SHAPE:FILE, as 2,3:x.raw
//
// Compiled with -DMODEL=NAME -DHEADER='"NAME.h"' it is linked with the model, and ignores the first
// two words; else it takes all that it calls from the shared object LIBRARY. Behind the run, which
// may fail, it writes the checkpoint $SAVE if there is one.
#define _GNU_SOURCE
#include "leat/runtime.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

#ifdef MODEL
#include HEADER
#define PASTE(a, b) a##b
#define NAMED(a, b) PASTE(a, b)
#define SYMBOL(name) (&(name))
#define STEPS ((void)library, (void)prefix, NAMED(MODEL, _steps))
#else
static void *symbol(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (!found) fprintf(stderr, "%s\n", dlerror()), exit(3);
  return found;
}

static void *named(void *library, const char *prefix, const char *suffix) {
  char name[256];
  snprintf(name, sizeof name, "%s%s", prefix, suffix);
  return symbol(library, name);
}
#define SYMBOL(name) ((__typeof__(&(name)))symbol(library, #name))
#define STEPS named(library, prefix, "_steps")
#endif

static leat_tensor read_feed(const char *words, leat_dtype dtype) {
  leat_tensor feed = {.dtype = dtype};
  if (*words == '-') return feed;
  for (; *words != ':'; words += *words == ',') {
    char *end;
    feed.shape[feed.rank++] = strtoll(words, &end, 10);
    words = end;
  }
  FILE *file = fopen(words + 1, "rb");
  feed.data = calloc(1, 1 << 16);
  if (!file) perror(words), exit(3);
  fread(feed.data, 1, 1 << 16, file);
  fclose(file);
  return feed;
}

static void show(const char *name, const char *type, const leat_tensor *value, int64_t bytes) {
  printf("fetch %s %s ", name, type);
  for (int64_t i = 0; i < bytes; i++) printf("%02x", ((const unsigned char *)value->data)[i]);
  printf("\n");
}

int main(int argc, char **argv) {
  const char *prefix = argv[2];
  void *library = NULL;
#ifndef MODEL
  library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) return fprintf(stderr, "%s\n", dlerror()), 3;
#endif
  leat_model *model;
  leat_tensor feeds[MOST] = {0}, fetches[MOST];
  if (SYMBOL(leat_model_create)(STEPS, &(leat_model_options){.threads = 1}, &model)) {
    fprintf(stderr, "%s\n", SYMBOL(leat_model_message)(model));
    return 1;
  }
  for (int i = 3; i < argc; i++)
    feeds[i - 3] = read_feed(argv[i], SYMBOL(leat_model_feed_dtype)(model, 0, i - 3));
  for (int i = 0; i < SYMBOL(leat_model_feed_count)(model, 0); i++)
    printf("feed %s %s\n", SYMBOL(leat_model_feed_name)(model, 0, i),
           SYMBOL(leat_model_feed_type)(model, 0, i));
  leat_status status = SYMBOL(leat_model_run)(model, 0, feeds, fetches);
  if (status) fprintf(stderr, "%s\n", SYMBOL(leat_model_message)(model));
  if (getenv("SAVE") && SYMBOL(leat_model_save)(model, getenv("SAVE"))) return 2;
  if (status) return 1;
  for (int i = 0; i < SYMBOL(leat_model_fetch_count)(model, 0); i++)
    show(SYMBOL(leat_model_fetch_name)(model, 0, i), SYMBOL(leat_model_fetch_type)(model, 0, i),
         &fetches[i], SYMBOL(leat_tensor_bytes)(&fetches[i]));
  SYMBOL(leat_model_destroy)(model);
  for (int i = 0; i < MOST; i++) free(feeds[i].data);
#ifndef MODEL // its threads may still sleep in its code
  dlclose(library);
  if (!dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD)) return fprintf(stderr, "it was unloaded\n"), 4;
#endif
  return 0;
}
