// It runs seldom: compiled for size.
#include "runtime/main_report.h"

#include "base/cpuid.h"
#include "base/show.h"
#include "leat/leat.h"
#include "runtime/model.h"
#include "runtime/signal.h"

#include <stdio.h>
#include <stdlib.h>

// -- What it is -----------------------------------------------------------------------------------

static void print_levels(const leat_built_step *steps) {
  size_t count = leat_count_levels(steps);
  if (!steps->image->level) return;
  for (size_t i = 0; i < count; i++)
    leat_show(stdout, "%s%s", i ? "," : "  cpu ",
              leat_cpu_level_name((leat_cpu_level)(steps[i].image->level - 1)));
  leat_show(stdout, "\n");
}

static void print_entry(const leat_model *model, int e) {
  leat_show(stdout, "%s\n", leat_model_entry_name(model, e));
  for (int i = 0; i < leat_model_feed_count(model, e); i++)
    leat_show(stdout, "  feed %s: %s%s\n", leat_model_feed_name(model, e, i),
              leat_model_feed_type(model, e, i),
              leat_model_feed_has_fallback(model, e, i) ? " (has a default)" : "");
  for (int i = 0; i < leat_model_fetch_count(model, e); i++)
    leat_show(stdout, "  result %s: %s\n", leat_model_fetch_name(model, e, i),
              leat_model_fetch_type(model, e, i));
  const leat_view *view = &model->entries[e].program->view;
  const char *last = "";
  print_levels(model->entries[e].levels);
  for (uint32_t i = 0; i < view->image->files.count; i++) {
    const char *file = leat_view_text(view, view->files[i].file);
    if (strcmp(file, last) != 0) leat_show(stdout, "  file %s\n", file);
    last = file;
  }
  leat_show(stdout, "  constants: %llu bytes\n", (unsigned long long)view->image->data.count);
}

void leat_info_print(const leat_model *model) {
  int64_t bytes = 0;
  int variables = leat_model_variable_count(model);
  leat_show(stdout, "made with Leat %s\n", LEAT_VERSION);
  for (int e = 0; e < leat_model_entry_count(model); e++) print_entry(model, e);
  for (int i = 0; i < variables; i++) {
    leat_variable_info info;
    leat_store_info(model->store, (size_t)i, &info);
    leat_tensor value = {.dtype = info.dtype, .rank = info.rank};
    memcpy(value.shape, info.shape, sizeof value.shape);
    bytes += leat_tensor_bytes(&value);
    leat_show(stdout, "variable %s: %s\n", info.name, leat_model_variable_type(model, i));
  }
  uint64_t weights = model->entries[0].program->image->weights; // of all entries
  if (weights) leat_show(stdout, "weights: %llu bytes\n", (unsigned long long)weights);
  if (variables) leat_show(stdout, "variables: %lld bytes\n", (long long)bytes);
}

// -- How fast it is -------------------------------------------------------------------------------

// The time that so many percent are not above: halved until it is the least of those.
static double milliseconds(const int64_t *times, int count, int percent) {
  int64_t before = (int64_t)(count - 1) * percent / 100, low = 0, high = INT64_MAX;
  while (low < high) {
    int64_t middle = low + (high - low) / 2, within = 0;
    for (int i = 0; i < count; i++) within += times[i] <= middle;
    if (within > before)
      high = middle;
    else
      low = middle + 1;
  }
  return (double)low * 1e-6;
}

leat_status leat_bench_run(leat_model *model, int runs,
                           leat_status (*run)(void *context, bool *goes_on), void *context) {
  enum { MOST = 1000000 };
  int most = runs ? runs : MOST, count = 0;
  int64_t *times = malloc((size_t)most * sizeof *times);
  if (!times) return leat_fail(&model->error, LEAT_MEMORY, "no memory for %d times", most);
  bool goes_on;
  leat_status status = run(context, &goes_on);
  int64_t end = leat_clock_after(1), begin = leat_clock();
  while (goes_on && count < most && (runs || count == 0 || begin < end)) {
    status = run(context, &goes_on);
    int64_t now = leat_clock();
    times[count++] = now - begin;
    begin = now;
  }
  if (!status && count)
    leat_show(stdout, "%d runs: median %.4f ms, p10 %.4f, p90 %.4f, least %.4f, most %.4f\n", count,
              milliseconds(times, count, 50), milliseconds(times, count, 10),
              milliseconds(times, count, 90), milliseconds(times, count, 0),
              milliseconds(times, count, 100));
  free(times);
  return status;
}
