// Feeds that a run may write to: what lies in the same memory as another feed would change under
// the hands of whoever reads that.
// It runs seldom: compiled for size.
#include "runtime/executor.h"

#include <stdlib.h>

typedef struct leat_feed_range {
  const char *begin, *end;
  uint32_t feed;
  bool donated;
} leat_feed_range;

static bool is_donated(const leat_executor *executor, uint32_t i) {
  leat_port_place place = executor->feeds[i];
  return executor->parts[place.part].program->view.feeds[place.index].donated;
}

void leat_executor_find_donated(leat_executor *executor) {
  bool any = false;
  for (uint32_t i = 0; i < executor->feed_count; i++) any |= is_donated(executor, i);
  if (any)
    executor->ranges = leat_new_array(executor->arena, leat_feed_range, executor->feed_count);
}

static int compare(const void *a, const void *b) {
  const leat_feed_range *x = a, *y = b;
  if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
  return x->feed < y->feed ? -1 : 1;
}

static uint32_t find_ranges(const leat_executor *executor, const leat_tensor *feeds) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < executor->feed_count; i++) {
    int64_t bytes = feeds[i].data ? leat_tensor_bytes(&feeds[i]) : 0;
    const char *begin = feeds[i].data;
    if (bytes > 0)
      executor->ranges[count++] =
          (leat_feed_range){begin, begin + bytes, i, is_donated(executor, i)};
  }
  qsort(executor->ranges, count, sizeof *executor->ranges, compare);
  return count;
}

static leat_status refuse(const leat_executor *executor, const leat_feed_range *a,
                          const leat_feed_range *b, leat_error *error) {
  const leat_feed_range *given = a->donated ? a : b, *other = a->donated ? b : a;
  leat_port_info port;
  leat_executor_feed(executor, other->feed, &port);
  return leat_executor_wrong_feed(executor, given->feed, error,
                                  ": it is donated, and `%s` lies in the same memory: feed a copy",
                                  port.name);
}

// In ascending order: each may overlap the one that reaches furthest of those before it, and of
// these the donated one that does.
leat_status leat_executor_check_donated(const leat_executor *executor, const leat_tensor *feeds,
                                        leat_error *error) {
  const leat_feed_range *furthest = NULL, *given = NULL;
  uint32_t count = find_ranges(executor, feeds);
  for (uint32_t i = 0; i < count; i++) {
    const leat_feed_range *range = &executor->ranges[i];
    const leat_feed_range *before = range->donated ? furthest : given;
    if (before && range->begin < before->end) return refuse(executor, before, range, error);
    if (!furthest || range->end > furthest->end) furthest = range;
    if (range->donated && (!given || range->end > given->end)) given = range;
  }
  return LEAT_OK;
}
