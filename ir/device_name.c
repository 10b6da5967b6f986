// Device names are read part by part; a name that is wrong anywhere is wrong as a whole.
#include "ir/device_name.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static bool skip(const char **at, const char *prefix) {
  size_t length = strlen(prefix);
  if (strncmp(*at, prefix, length) != 0) return false;
  *at += length;
  return true;
}

static bool parse_word(leat_strings *strings, const char **at, const char **out) {
  size_t length = 0;
  while (isalnum((unsigned char)(*at)[length]) || (*at)[length] == '_') length++;
  if (length == 0) return false;
  *out = leat_intern_n(strings, *at, length);
  *at += length;
  return true;
}

static bool parse_number(const char **at, int64_t *out) {
  int64_t value = 0;
  size_t digits = 0;
  for (; isdigit((unsigned char)**at); (*at)++) {
    if (++digits > 9) return false;
    value = value * 10 + (**at - '0');
  }
  *out = value;
  return digits > 0;
}

bool leat_device_name_parse(leat_strings *strings, const char *text, leat_device_name *out) {
  leat_device_name name = {.task = -1, .index = -1};
  const char *at = text;
  if (skip(&at, "/job:") && !parse_word(strings, &at, &name.job)) return false;
  if (skip(&at, "/task:") && !parse_number(&at, &name.task)) return false;
  if (skip(&at, "/device:")) {
    if (!parse_word(strings, &at, &name.type)) return false;
    if (skip(&at, ":") && !parse_number(&at, &name.index)) return false;
  }
  if (at == text || *at) return false;
  *out = name;
  return true;
}

const char *leat_device_name_format(leat_strings *strings, leat_device_name name) {
  char task[32] = "", index[32] = "";
  if (name.task >= 0) snprintf(task, sizeof task, "/task:%lld", (long long)name.task);
  if (name.index >= 0) snprintf(index, sizeof index, ":%lld", (long long)name.index);
  return leat_intern_printf(strings, "%s%s%s%s%s%s", name.job ? "/job:" : "",
                            name.job ? name.job : "", task, name.type ? "/device:" : "",
                            name.type ? name.type : "", index);
}

static bool merge_word(const char *a, const char *b, const char **out) {
  *out = a ? a : b;
  return !a || !b || a == b;
}

static bool merge_number(int64_t a, int64_t b, int64_t *out) {
  *out = a >= 0 ? a : b;
  return a < 0 || b < 0 || a == b;
}

bool leat_device_name_merge(leat_device_name a, leat_device_name b, leat_device_name *out) {
  leat_device_name both;
  if (!merge_word(a.job, b.job, &both.job) || !merge_number(a.task, b.task, &both.task) ||
      !merge_word(a.type, b.type, &both.type) || !merge_number(a.index, b.index, &both.index))
    return false;
  *out = both;
  return true;
}

bool leat_device_name_satisfies(leat_device_name device, leat_device_name constraint) {
  leat_device_name both;
  if (device.task < 0) device.task = 0;
  return leat_device_name_merge(device, constraint, &both);
}
