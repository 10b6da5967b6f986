// Running programs through the session API, and comparing what comes out.
#include "tests/sweep/programs.h"

#include "base/half.h"
#include "base/str.h"
#include "base/tensor.h"
#include "tests/unit/kernel_cache.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// -- Running -------------------------------------------------------------------------------------

static void collect(void *context, const char *text) {
  leat_text_add(context, "%s\n", text);
}

static leat_status prepare(prepared *run, const program *p, const test_way *way) {
  const char *entry = "f";
  const char **fetches = leat_new_array(p->arena, const char *, p->results.count + 1);
  for (uint32_t i = 0; i < p->results.count; i++) fetches[i] = p->results.items[i].value.name;
  const char **donated = leat_new_array(p->arena, const char *, p->inputs.count + 1);
  int donations = 0;
  for (uint32_t i = 0; way->donates && i < p->inputs.count; i++)
    if (p->inputs.items[i].value.dtype != LEAT_str)
      donated[donations++] = p->inputs.items[i].value.name;
  leat_step_spec spec = {.entries = &entry,
                         .entry_count = 1,
                         .fetches = fetches,
                         .fetch_count = (int)p->results.count,
                         .donated = donated,
                         .donated_count = donations};
  LEAT_TRY(leat_session_extend(run->session, program_text(p, way->spread), 0, "test.leat"));
  if (way->alone) return LEAT_OK;
  return leat_session_prepare(run->session, &spec, &run->step);
}

leat_status prepared_open(prepared *out, const program *p, const test_way *way) {
  *out = (prepared){.program = p, .donates = way->donates};
  leat_session_options ours = way->options;
  ours.denormals = program_denormals(p);
  ours.print = ours.log = collect;
  ours.print_context = &out->said;
  ours.log_context = &out->log;
  LEAT_TRY(create_session(&ours, &out->session));
  if (way->least) out->session->memory_limit = 1; // for what is compiled; runs have none
  return prepare(out, p, way);
}

static void count_donated(const prepared *run, const leat_tensor *feeds, const leat_tensor *out) {
  for (uint32_t i = 0; i < run->program->results.count; i++)
    for (uint32_t k = 0; k < run->program->inputs.count; k++)
      prepared_donated += out[i].data == feeds[k].data;
}

int prepared_donated;

leat_status prepared_run(prepared *run, const leat_tensor *feeds, leat_tensor *out) {
  size_t count = run->program->results.count, inputs = run->program->inputs.count;
  memset(out, 0, count * sizeof *out);
  if (!run->step) return program_run_alone(run, feeds, out);
  leat_tensor *copies = tensors_create(inputs);
  for (size_t i = 0; run->donates && i < inputs; i++) {
    copies[i] = feeds[i];
    copies[i].data = leat_tensor_clone(&feeds[i]);
  }
  leat_status status = leat_step_run(run->step, run->donates ? copies : feeds, out);
  if (status) memset(out, 0, count * sizeof *out);
  if (run->donates && !status) count_donated(run, copies, out);
  for (size_t i = 0; i < count && !status; i++) {
    out[i].data = leat_tensor_clone(&out[i]);
  }
  tensors_destroy(copies, inputs);
  return status;
}

const char *prepared_message(const prepared *run) {
  return run->session ? leat_session_message(run->session) : "no session";
}

void prepared_close(prepared *run) {
  leat_step_destroy(run->step);
  leat_session_destroy(run->session);
  leat_text_finish(&run->said);
  leat_text_finish(&run->log);
}

leat_tensor *tensors_create(size_t count) {
  return calloc(count + 1, sizeof(leat_tensor));
}

void tensors_destroy(leat_tensor *tensors, size_t count) {
  for (size_t i = 0; tensors && i < count; i++) free(tensors[i].data);
  free(tensors);
}

// -- Comparing -----------------------------------------------------------------------------------

static bool is_float(leat_dtype dtype) {
  return leat_dtype_kind_of(dtype) == LEAT_KIND_FLOAT;
}

static double float_at(const leat_tensor *tensor, int64_t i) {
  if (leat_dtype_is_half(tensor->dtype))
    return leat_half_value(tensor->dtype, ((const uint16_t *)tensor->data)[i]);
  return tensor->dtype == LEAT_f32 ? ((const float *)tensor->data)[i]
                                   : ((const double *)tensor->data)[i];
}

double test_unit(leat_dtype dtype) {
  return dtype == LEAT_f16    ? 0x1p-10
         : dtype == LEAT_bf16 ? 0x1p-7
         : dtype == LEAT_f32  ? 0x1p-23
                              : 0x1p-52;
}

static double least_normal(leat_dtype dtype) {
  return dtype == LEAT_f16 ? 0x1p-14 : dtype == LEAT_f64 ? DBL_MIN : FLT_MIN;
}

// The bits of a float as a number that ascends with it.
static int64_t ordered(const leat_tensor *tensor, int64_t i) {
  if (leat_dtype_is_half(tensor->dtype)) {
    int16_t bits = ((const int16_t *)tensor->data)[i];
    return bits < 0 ? INT16_MIN - bits : bits;
  }
  if (tensor->dtype == LEAT_f32) {
    int32_t bits = ((const int32_t *)tensor->data)[i];
    return bits < 0 ? INT32_MIN - (int64_t)bits : bits;
  }
  int64_t bits = ((const int64_t *)tensor->data)[i];
  return bits < 0 ? INT64_MIN - bits : bits;
}

static double ulps_between(const leat_tensor *want, const leat_tensor *got, int64_t i) {
  int64_t a = ordered(want, i), b = ordered(got, i), distance;
  return __builtin_sub_overflow(a, b, &distance) ? INFINITY : fabs((double)distance);
}

#define STRING(tensor, i) (((const leat_str *)(tensor)->data)[i])

// A number beyond the largest is as good as the next one would be.
static long double near_infinity(double x, int exponent) {
  return isinf(x) ? copysignl(ldexpl(1, exponent), x) : (long double)x;
}

// How far part i, of the number whose other part is number `other`, is away in units of the last
// place of the magnitude. What stands beside a NaN has any sign.
static double part_distance(const leat_tensor *want, const leat_tensor *got, int64_t i,
                            bool flushed) {
  double a = float_at(want, i), b = float_at(got, i), other = float_at(want, i ^ 1);
  bool single = want->dtype == LEAT_f32;
  if (isnan(a) || isnan(b)) return isnan(a) && isnan(b) ? 0 : INFINITY;
  if (isnan(other)) a = fabs(a), b = fabs(b);
  if (isinf(a) && isinf(b)) return a == b ? 0 : INFINITY;
  int exponent = single ? 128 : 1024;
  long double size = fabsl((long double)a), least = least_normal(want->dtype);
  if (flushed) least /= test_unit(want->dtype);
  if (isfinite(a) && isfinite(other)) size = hypotl(a, other);
  if (size < least) size = least;
  long double distance = fabsl(near_infinity(a, exponent) - near_infinity(b, exponent));
  return (double)(distance / size) * (single ? 0x1p23 : 0x1p52);
}

// In what `match` counts in; 0: it matches whatever the tolerance, infinite: no tolerance will do.
static double element_distance(const leat_tensor *want, const leat_tensor *got, int64_t i,
                               test_match match) {
  size_t size = leat_dtype_size(want->dtype), at = (size_t)i * size;
  if (want->dtype == LEAT_str)
    return leat_str_compare(STRING(want, i), STRING(got, i)) == 0 ? 0 : INFINITY;
  if (memcmp((char *)want->data + at, (char *)got->data + at, size) == 0) return 0;
  if (match == MATCH_BITS || !is_float(want->dtype)) return INFINITY;
  if (match == MATCH_COMPLEX || match == MATCH_COMPLEX_FLUSHED)
    return part_distance(want, got, i, match == MATCH_COMPLEX_FLUSHED);
  double a = float_at(want, i), b = float_at(got, i);
  if (isnan(a) || isnan(b)) return isnan(a) && isnan(b) ? 0 : INFINITY;
  if (match == MATCH_ULPS_FLUSHED && (a == 0 || b == 0))
    return fabs(a - b) / least_normal(want->dtype);
  if (match == MATCH_ULPS || match == MATCH_ULPS_FLUSHED) return ulps_between(want, got, i);
  if (match == MATCH_ULPS_OF_1)
    return a == b ? 0 : fabs(a - b) / (test_unit(want->dtype) * fmax(1, fabs(a)));
  return match == MATCH_NEAR || match == MATCH_LARGEST ? fabs(a - b) : INFINITY;
}

static void print_element(const leat_tensor *tensor, int64_t i, leat_text *out) {
  size_t size = leat_dtype_size(tensor->dtype);
  const unsigned char *bytes = (const unsigned char *)tensor->data + (size_t)i * size;
  if (tensor->dtype == LEAT_str) {
    leat_text_add_quoted(out, STRING(tensor, i).data, STRING(tensor, i).size);
    return;
  }
  if (is_float(tensor->dtype))
    leat_text_add(out, "%.17g", float_at(tensor, i));
  else if (leat_dtype_kind_of(tensor->dtype) == LEAT_KIND_SIGNED)
    leat_text_add(out, "%" PRId64,
                  size == 1   ? ((const int8_t *)tensor->data)[i]
                  : size == 2 ? ((const int16_t *)tensor->data)[i]
                  : size == 4 ? ((const int32_t *)tensor->data)[i]
                              : ((const int64_t *)tensor->data)[i]);
  leat_text_add(out, " (0x");
  for (size_t k = size; k-- > 0;) leat_text_add(out, "%02x", bytes[k]);
  leat_text_add(out, ")");
}

static bool type_matches(const leat_tensor *want, const leat_tensor *got, leat_text *why) {
  size_t shape = (size_t)want->rank * sizeof *want->shape;
  if (want->dtype == got->dtype && want->rank == got->rank &&
      memcmp(want->shape, got->shape, shape) == 0)
    return true;
  const leat_tensor *both[] = {want, got};
  for (int k = 0; k < 2; k++) {
    leat_text_add(why, "%s %s[", k ? ", got" : "expected", leat_dtype_name(both[k]->dtype));
    for (int i = 0; i < both[k]->rank; i++)
      leat_text_add(why, "%s%" PRId64, i ? ", " : "", both[k]->shape[i]);
    leat_text_add(why, "]");
  }
  return false;
}

// A complex number is its two parts, along one more axis.
static leat_tensor as_words(const leat_tensor *tensor) {
  leat_tensor words = *tensor;
  if (leat_dtype_kind_of(tensor->dtype) != LEAT_KIND_COMPLEX) return words;
  words.dtype = tensor->dtype == LEAT_c64 ? LEAT_f32 : LEAT_f64;
  words.shape[words.rank++] = 2;
  return words;
}

#define FLUSH(BITS, exponent)                                                                      \
  for (int64_t i = 0; i < count; i++) {                                                            \
    BITS *bits = (BITS *)words.data + i, magnitude = (BITS) ~(BITS)0 >> 1;                         \
    if (!(*bits & (exponent))) *bits &= (BITS)~magnitude;                                          \
  }

void tensor_flush(leat_tensor *tensor) {
  leat_tensor words = as_words(tensor);
  int64_t count = leat_shape_elements(words.rank, words.shape);
  switch ((int)words.dtype) {
  case LEAT_f32: FLUSH(uint32_t, 0x7f800000) break;
  case LEAT_bf16: FLUSH(uint16_t, 0x7f80) break;
  case LEAT_f64: FLUSH(uint64_t, 0x7ffull << 52) break;
  }
}

test_match match_flushed(test_match match) {
  return match == MATCH_ULPS      ? MATCH_ULPS_FLUSHED
         : match == MATCH_COMPLEX ? MATCH_COMPLEX_FLUSHED
                                  : match;
}

double tensor_distance(const leat_tensor *wanted, const leat_tensor *given, int64_t i,
                       test_match match) {
  leat_tensor want = as_words(wanted), got = as_words(given);
  if (want.rank == wanted->rank) return element_distance(&want, &got, i, match);
  return fmax(element_distance(&want, &got, 2 * i, match),
              element_distance(&want, &got, 2 * i + 1, match));
}

static double largest(const leat_tensor *tensor) {
  int64_t count = leat_shape_elements(tensor->rank, tensor->shape);
  double most = 0;
  for (int64_t i = 0; i < count; i++) most = fmax(most, fabs(float_at(tensor, i)));
  return most;
}

bool tensor_matches(const leat_tensor *wanted, const leat_tensor *given, test_match match,
                    double tolerance, leat_text *why) {
  if (!type_matches(wanted, given, why)) return false;
  leat_tensor want_words = as_words(wanted), got_words = as_words(given);
  const leat_tensor *want = &want_words, *got = &got_words;
  int64_t count = leat_shape_elements(want->rank, want->shape), wrong = 0, first = 0;
  if (match == MATCH_LARGEST) tolerance *= largest(want);
  for (int64_t i = count; i-- > 0;)
    if (element_distance(want, got, i, match) > tolerance) first = i, wrong++;
  if (!wrong) return true;
  leat_text_add(why, "%" PRId64 " of %" PRId64 " elements differ; at [", wrong, count);
  int64_t rest = count, at = first;
  for (int k = 0; k < want->rank; k++) {
    rest /= want->shape[k];
    leat_text_add(why, "%s%" PRId64, k ? ", " : "", at / rest);
    at %= rest;
  }
  leat_text_add(why, "] expected ");
  print_element(want, first, why);
  leat_text_add(why, ", got ");
  print_element(got, first, why);
  return false;
}

// -- Agreement -----------------------------------------------------------------------------------

enum { MOST_SHOWN = 4 }; // differences a program

// What the ways of a program have in common.
typedef struct comparison {
  program *p;
  const test_way *ways;
  int way_count;
  prepared *runs;
  leat_text *why;
  bool *wrong;
  int shown;
} comparison;

// What is prepared says of no error, either: no pass has met one and gone on.
static leat_status open_all(comparison *c) {
  for (int i = 0; i < c->way_count; i++) {
    leat_status status = prepared_open(&c->runs[i], c->p, &c->ways[i]);
    if (!status && strstr(prepared_message(&c->runs[i]), "error: ")) status = LEAT_MISMATCH;
    if (!status) continue;
    leat_text_add(c->why, "%s: not prepared: %s", c->ways[i].name, prepared_message(&c->runs[i]));
    return status;
  }
  return LEAT_OK;
}

static leat_status run_all(comparison *c, leat_tensor **outs) {
  const leat_tensor *feeds = program_feeds(c->p);
  for (int i = 0; i < c->way_count; i++) {
    leat_status status = prepared_run(&c->runs[i], feeds, outs[i]);
    leat_status expected = program_expected(c->p);
    if (status == expected) continue;
    leat_text_add(c->why, "%s: expected a run that ends with `%s`, got `%s`: %s", c->ways[i].name,
                  leat_status_name(expected), leat_status_name(status),
                  prepared_message(&c->runs[i]));
    return status ? status : LEAT_INVALID;
  }
  return LEAT_OK;
}

static leat_status compare_result(comparison *c, uint32_t i, int way, leat_tensor *want,
                                  leat_tensor *got) {
  const test_result *result = &c->p->results.items[i];
  leat_text how = {0};
  test_match match = result->value.match;
  if (c->p->flushes) {
    tensor_flush(want);
    tensor_flush(got);
    match = match_flushed(match);
  }
  bool same = tensor_matches(want, got, match, result->value.tolerance, &how);
  if (!same && c->wrong) c->wrong[result->group] = true;
  if (!same && c->shown++ < MOST_SHOWN)
    leat_text_add(c->why, "%s%s: %s, not as %s: %s\n", c->ways[way].name,
                  c->p->flushes ? " flushing" : "", result->value.label, c->ways[0].name, how.data);
  leat_text_finish(&how);
  return same ? LEAT_OK : LEAT_MISMATCH;
}

// Behind the device; of a negative dim, which a specialised step refuses while compiling, the
// words, and over several devices, which may find several of them at once, that it is one.
static const char *reason(const comparison *c, bool spread, const char *message) {
  const char *words = c->p->shrinks ? " would have " : ": node ", *from = strstr(message, words);
  if (!from) return NULL;
  bool which = !c->p->shrinks || !spread;
  return leat_arena_strndup(c->p->arena, from,
                            which ? strcspn(from, c->p->shrinks ? "\n" : "") : strlen(words));
}

// What a run that ends early says must be the same too, but for the device.
static leat_status compare_messages(comparison *c) {
  leat_status status = LEAT_OK;
  for (int way = 1; way < c->way_count; way++) {
    bool spread = c->ways[way].spread;
    const char *said = prepared_message(&c->runs[way]), *got = reason(c, spread, said);
    const char *want = reason(c, spread, prepared_message(&c->runs[0]));
    if (want && got && !strcmp(want, got)) continue;
    leat_text_add(c->why, "%s: %s\nnot as %s: %s\n", c->ways[way].name, said, c->ways[0].name,
                  prepared_message(&c->runs[0]));
    status = LEAT_MISMATCH;
  }
  return status;
}

static leat_status compare_all(comparison *c, leat_tensor **outs) {
  leat_status status = LEAT_OK;
  for (int way = 1; way < c->way_count; way++) {
    for (uint32_t i = 0; i < c->p->results.count; i++)
      if (compare_result(c, i, way, &outs[0][i], &outs[way][i])) status = LEAT_MISMATCH;
    const leat_text *want = &c->runs[0].said, *got = &c->runs[way].said;
    if (want->size == got->size && (!want->size || !memcmp(want->data, got->data, want->size)))
      continue;
    leat_text_add(c->why, "%s says\n%snot as %s\n%s", c->ways[way].name, got->size ? got->data : "",
                  c->ways[0].name, want->size ? want->data : "");
    status = LEAT_MISMATCH;
  }
  return status;
}

static leat_status round_agrees(comparison *c) {
  size_t count = c->p->results.count;
  leat_tensor **outs = calloc((size_t)c->way_count, sizeof *outs);
  for (int i = 0; i < c->way_count; i++) outs[i] = tensors_create(count);
  leat_status status = run_all(c, outs);
  if (!status) status = program_expected(c->p) ? compare_messages(c) : compare_all(c, outs);
  for (int i = 0; i < c->way_count; i++) tensors_destroy(outs[i], count);
  free(outs);
  return status;
}

leat_status program_agrees(program *p, const test_way *ways, int way_count, int rounds,
                           leat_text *why, bool *wrong) {
  prepared *runs = calloc((size_t)way_count, sizeof *runs);
  comparison c = {p, ways, way_count, runs, why, wrong, 0};
  leat_status status = open_all(&c);
  for (int round = 0; round < rounds && !status; round++) {
    if (round) program_choose_dims(p);
    status = round_agrees(&c);
  }
  for (int i = 0; i < way_count; i++) prepared_close(&runs[i]);
  free(runs);
  return status;
}
