// A ring of the last patterns. What falls out of it lives on with those that still use it.
#include "runtime/pcre2/regex_cache.h"

#include "base/str.h"
#include "runtime/pcre2/regex_syntax.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct leat_regex {
  int users; // under the lock
  pcre2_code *code, *anyhow;
  size_t size;
  char pattern[];
};

enum { KEPT = 64 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static leat_regex *kept[KEPT];
static unsigned next;

const pcre2_code *leat_regex_code(const leat_regex *regex, bool anyhow) {
  return anyhow ? regex->anyhow : regex->code;
}

static void release(leat_regex *regex) {
  if (!regex || --regex->users) return;
  pcre2_code_free(regex->code);
  pcre2_code_free(regex->anyhow);
  free(regex);
}

void leat_regex_release(leat_regex *regex) {
  pthread_mutex_lock(&lock);
  release(regex);
  pthread_mutex_unlock(&lock);
}

static leat_status refuse(leat_str pattern, size_t place, const char *why, leat_error *error) {
  leat_text shown = {0};
  leat_str_show(pattern, &shown);
  leat_status status = leat_fail(error, LEAT_INVALID, "the pattern %s is wrong at byte %zu: %s",
                                 shown.data ? shown.data : "", place, why);
  leat_text_finish(&shown);
  return status;
}

static leat_status no_memory(leat_error *error) {
  return leat_fail(error, LEAT_MEMORY, "no memory for a pattern");
}

// As RE2 has them: `$` is the very end, with (?m) `^` also behind a newline that ends the text.
static leat_status compile(leat_str pattern, const leat_text *text, uint32_t options,
                           pcre2_code **out, leat_error *error) {
  options |= PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ALT_CIRCUMFLEX | PCRE2_NEVER_BACKSLASH_C;
  pcre2_compile_context *context = pcre2_compile_context_create(NULL);
  if (!context) return no_memory(error);
  pcre2_set_newline(context, PCRE2_NEWLINE_LF);
  int code;
  PCRE2_SIZE at;
  *out = pcre2_compile((PCRE2_SPTR)(text->data ? text->data : ""), text->size, options, &code, &at,
                       context);
  pcre2_compile_context_free(context);
  if (*out) return LEAT_OK;
  PCRE2_UCHAR why[160] = "";
  if (code == PCRE2_ERROR_HEAP_FAILED) return no_memory(error);
  pcre2_get_error_message(code, why, sizeof why);
  return refuse(pattern, leat_regex_place(pattern, at), (const char *)why, error);
}

static leat_status compile_both(leat_regex *regex, leat_str pattern, leat_error *error) {
  leat_text text = {0};
  size_t place;
  const char *wrong = leat_regex_translate(pattern, &text, &place);
  leat_status status = wrong      ? refuse(pattern, place, wrong, error)
                       : text.cut ? no_memory(error)
                                  : compile(pattern, &text, 0, &regex->code, error);
  if (!status) status = compile(pattern, &text, PCRE2_MATCH_INVALID_UTF, &regex->anyhow, error);
  leat_text_finish(&text);
  return status;
}

static leat_status make(leat_str pattern, leat_regex **out, leat_error *error) {
  leat_regex *regex = malloc(sizeof *regex + pattern.size);
  if (!regex) return no_memory(error);
  *regex = (leat_regex){.users = 1, .size = pattern.size};
  if (pattern.size) memcpy(regex->pattern, pattern.data, pattern.size);
  leat_status status = compile_both(regex, pattern, error);
  if (status) {
    release(regex);
    return status;
  }
  release(kept[next]);
  kept[next] = regex;
  next = (next + 1) % KEPT;
  *out = regex;
  return LEAT_OK;
}

static leat_regex *find(leat_str pattern) {
  for (int i = 0; i < KEPT; i++)
    if (kept[i] && kept[i]->size == pattern.size &&
        (!pattern.size || memcmp(kept[i]->pattern, pattern.data, pattern.size) == 0))
      return kept[i];
  return NULL;
}

leat_status leat_regex_acquire(leat_str pattern, leat_regex **out, leat_error *error) {
  leat_status status = LEAT_OK;
  pthread_mutex_lock(&lock);
  *out = find(pattern);
  if (!*out) status = make(pattern, out, error);
  if (!status) (*out)->users++;
  pthread_mutex_unlock(&lock);
  return status;
}
