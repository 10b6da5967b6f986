// The module leat-pcre2 and the library of executables libleat_pcre2: regular expressions by PCRE2
// (base/regex.h), of RE2's syntax (regex_syntax.c). Its matcher goes back, which may take more
// steps than there is time for; so these are counted.
#include "base/regex.h"

#include "base/str.h"
#include "leat/artifact.h"
#include "runtime/pcre2/regex_cache.h"

#include <string.h>

typedef struct matcher {
  leat_regex *regex;
  pcre2_match_data *data;
  pcre2_match_context *limits;
  leat_str x; // the element `i`
  int64_t i;
  bool is_utf8, is_not; // or nobody knows yet
} matcher;

static void finish(matcher *m) {
  pcre2_match_data_free(m->data);
  pcre2_match_context_free(m->limits);
  leat_regex_release(m->regex);
}

static leat_status begin(matcher *m, leat_str pattern, leat_error *error) {
  *m = (matcher){0};
  LEAT_TRY(leat_regex_acquire(pattern, &m->regex, error));
  m->data = pcre2_match_data_create_from_pattern(leat_regex_code(m->regex, false), NULL);
  m->limits = pcre2_match_context_create(NULL);
  if (!m->data || !m->limits) {
    finish(m);
    return leat_fail(error, LEAT_MEMORY, "no memory for a match");
  }
  pcre2_set_match_limit(m->limits, LEAT_REGEX_STEPS);
  pcre2_set_heap_limit(m->limits, LEAT_REGEX_KILOBYTES);
  return LEAT_OK;
}

static void look_at(matcher *m, const leat_regex_work *work, int64_t i) {
  m->x = work->x[i].size ? work->x[i] : (leat_str){"", 0};
  m->i = i;
  m->is_utf8 = m->is_not = false;
}

static leat_status fail(const matcher *m, int code, leat_error *error) {
  leat_text shown = {0};
  PCRE2_UCHAR why[160] = "";
  if (code == PCRE2_ERROR_NOMEMORY) return leat_fail(error, LEAT_MEMORY, "no memory for a match");
  pcre2_get_error_message(code, why, sizeof why);
  leat_str_show(m->x, &shown);
  const char *what = code == PCRE2_ERROR_MATCHLIMIT  ? "the pattern takes too many steps"
                     : code == PCRE2_ERROR_HEAPLIMIT ? "the pattern takes too much memory"
                                                     : (const char *)why;
  leat_status status = leat_fail(error, LEAT_INVALID, "element %lld, %s: %s", (long long)m->i,
                                 shown.data ? shown.data : "", what);
  leat_text_finish(&shown);
  return status;
}

static int ask(const matcher *m, size_t start, uint32_t options) {
  if (m->is_utf8) options |= PCRE2_NO_UTF_CHECK;
  return pcre2_match(leat_regex_code(m->regex, m->is_not), (PCRE2_SPTR)m->x.data, m->x.size, start,
                     options, m->data, m->limits);
}

// Whether the pattern matches from `start` on; where is in the match data.
static leat_status match(matcher *m, size_t start, uint32_t options, bool *out, leat_error *error) {
  int code = ask(m, start, options);
  m->is_not |= code <= PCRE2_ERROR_UTF8_ERR1 && code >= PCRE2_ERROR_UTF8_ERR21;
  m->is_utf8 = !m->is_not;
  if (m->is_not) code = ask(m, start, options);
  *out = code > 0;
  return code > 0 || code == PCRE2_ERROR_NOMATCH ? LEAT_OK : fail(m, code, error);
}

static bool is_over(const leat_regex_work *work) {
  return work->ends && *work->ends;
}

// -- Full matches ---------------------------------------------------------------------------------

static leat_status full_match_with(matcher *m, const leat_regex_work *work, bool *out,
                                   leat_error *error) {
  for (int64_t i = work->begin; i < work->end; i++) {
    if (is_over(work)) return LEAT_ABORTED;
    look_at(m, work, i);
    LEAT_TRY(match(m, 0, PCRE2_ANCHORED | PCRE2_ENDANCHORED, &out[i], error));
    if (m->is_not) out[i] = false; // as nothing matches what is no UTF-8
  }
  return LEAT_OK;
}

static leat_status full_match(const leat_regex_work *work, bool *out, leat_error *error) {
  matcher m;
  LEAT_TRY(begin(&m, work->pattern, error));
  leat_status status = full_match_with(&m, work, out, error);
  finish(&m);
  return status;
}

// -- Replacements ---------------------------------------------------------------------------------

// \0 to \9 are what matched and its groups, \\ is a backslash.
static leat_status check_rewrite_with(const leat_regex *regex, leat_str rewrite,
                                      leat_error *error) {
  uint32_t groups = 0;
  pcre2_pattern_info(leat_regex_code(regex, false), PCRE2_INFO_CAPTURECOUNT, &groups);
  for (size_t i = 0; i < rewrite.size; i++) {
    if (rewrite.data[i] != '\\') continue;
    char c = ++i < rewrite.size ? rewrite.data[i] : '\0';
    if (c != '\\' && (c < '0' || c > '9'))
      return leat_fail(error, LEAT_INVALID,
                       "byte %zu of the rewrite: \\ stands in front of a digit or of \\", i - 1);
    if (c != '\\' && (uint32_t)(c - '0') > groups)
      return leat_fail(error, LEAT_INVALID,
                       "byte %zu of the rewrite: \\%c, but the pattern has %u %s", i - 1, c,
                       (unsigned)groups, groups == 1 ? "group" : "groups");
  }
  return LEAT_OK;
}

static void add_rewrite(const matcher *m, leat_str rewrite, leat_text *out) {
  const PCRE2_SIZE *found = pcre2_get_ovector_pointer(m->data);
  for (size_t i = 0; i < rewrite.size; i++) {
    const char *at = rewrite.data + i;
    bool is_group = *at == '\\' && at[1] != '\\';
    i += *at == '\\';
    if (!is_group) {
      leat_text_add_n(out, at, 1);
      continue;
    }
    const PCRE2_SIZE *group = found + 2 * (at[1] - '0');
    if (group[0] != PCRE2_UNSET) leat_text_add_n(out, m->x.data + group[0], group[1] - group[0]);
  }
}

// As RE2's GlobalReplace: where a match ended no empty one begins.
static leat_status replace_one(matcher *m, const leat_regex_work *work, leat_text *out,
                               leat_error *error) {
  const PCRE2_SIZE *found = pcre2_get_ovector_pointer(m->data);
  const char *data = m->x.data;
  size_t at = 0, size = m->x.size, last = SIZE_MAX;
  for (bool goes_on = true; goes_on && at <= size;) {
    bool matches;
    if (is_over(work)) return LEAT_ABORTED;
    LEAT_TRY(match(m, at, 0, &matches, error));
    if (!matches) break;
    size_t first = found[0], end = found[1];
    bool again = first == end && first == last;
    if (again) {
      size_t character = leat_utf8_character(data + first, size - first);
      end = first + (character ? character : 1);
    }
    size_t copied = again ? end : first;
    leat_text_add_n(out, data + at, (copied < size ? copied : size) - at);
    if (!again) add_rewrite(m, work->rewrite, out);
    at = end;
    last = again ? last : end;
    goes_on = work->all;
  }
  if (at < size) leat_text_add_n(out, data + at, size - at);
  return out->cut ? leat_fail(error, LEAT_MEMORY, "no memory for the new strings") : LEAT_OK;
}

// The bytes of all go to one place.
static leat_status keep(const leat_regex_work *work, const leat_text *text, leat_str *out,
                        leat_error *error) {
  char *bytes = work->allocate(work->context, text->size);
  if (!bytes) return leat_fail(error, LEAT_MEMORY, "no memory for the new strings");
  if (text->size) memcpy(bytes, text->data, text->size);
  for (int64_t i = work->begin; i < work->end; i++) out[i].data = bytes + (uintptr_t)out[i].data;
  return LEAT_OK;
}

static leat_status replace_with(matcher *m, const leat_regex_work *work, leat_str *out,
                                leat_error *error) {
  leat_text text = {0};
  leat_status status = check_rewrite_with(m->regex, work->rewrite, error);
  for (int64_t i = work->begin; !status && i < work->end; i++) {
    uintptr_t begin = text.size;
    look_at(m, work, i);
    status = replace_one(m, work, &text, error);
    out[i] = (leat_str){(const char *)begin, text.size - begin};
  }
  if (!status) status = keep(work, &text, out, error);
  leat_text_finish(&text);
  return status;
}

static leat_status replace(const leat_regex_work *work, leat_str *out, leat_error *error) {
  matcher m;
  LEAT_TRY(begin(&m, work->pattern, error));
  leat_status status = replace_with(&m, work, out, error);
  finish(&m);
  return status;
}

static leat_status check(leat_str pattern, leat_error *error) {
  leat_regex *regex;
  LEAT_TRY(leat_regex_acquire(pattern, &regex, error));
  leat_regex_release(regex);
  return LEAT_OK;
}

static leat_status check_rewrite(leat_str pattern, leat_str rewrite, leat_error *error) {
  leat_regex *regex;
  LEAT_TRY(leat_regex_acquire(pattern, &regex, error));
  leat_status status = check_rewrite_with(regex, rewrite, error);
  leat_regex_release(regex);
  return status;
}

extern const leat_regex_functions leat_pcre2;
__attribute__((visibility("default"))) const leat_regex_functions leat_pcre2 = {
    .check = check, .check_rewrite = check_rewrite, .full_match = full_match, .replace = replace};

// -- Kernels --------------------------------------------------------------------------------------

static void *allocate(void *heap, uint64_t size) {
  return leat_string_heap_allocate(heap, size);
}

// scalars: how many elements there are, how many a tile has, and whether all matches are replaced.
static leat_regex_work work_of(const leat_call *call, const leat_arg *x, const leat_arg *scalars,
                               int64_t tile_begin, int64_t tile_end) {
  int64_t count = scalars[0].value, each = scalars[1].value, end = tile_end * each;
  return (leat_regex_work){.x = x->pointer,
                           .begin = tile_begin * each,
                           .end = end < count ? end : count,
                           .allocate = allocate,
                           .context = call->heap,
                           .ends = call->ends};
}

static int32_t explain(leat_call *call, leat_status status, const leat_error *error) {
  if (!status || status == LEAT_ABORTED) return (int32_t)status;
  return leat_call_explain(call, status, "%s", error->message);
}

// Arguments: out, x, the pattern, then the first scalars of work_of.
__attribute__((visibility("default"))) int32_t leat_pcre2_full_match(leat_call *call,
                                                                     const leat_arg *args,
                                                                     int64_t tile_begin,
                                                                     int64_t tile_end) {
  leat_error error = {0};
  leat_regex_work work = work_of(call, args + 1, args + 3, tile_begin, tile_end);
  work.pattern = *(const leat_str *)args[2].pointer;
  return explain(call, full_match(&work, args[0].pointer, &error), &error);
}

// Arguments: out, x, the pattern, the rewrite, then the scalars of work_of.
__attribute__((visibility("default"))) int32_t leat_pcre2_replace(leat_call *call,
                                                                  const leat_arg *args,
                                                                  int64_t tile_begin,
                                                                  int64_t tile_end) {
  leat_error error = {0};
  leat_regex_work work = work_of(call, args + 1, args + 4, tile_begin, tile_end);
  work.pattern = *(const leat_str *)args[2].pointer;
  work.rewrite = *(const leat_str *)args[3].pointer;
  work.all = args[6].value != 0;
  return explain(call, replace(&work, args[0].pointer, &error), &error);
}
