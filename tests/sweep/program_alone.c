// Each statement of a program as a step of its own, which is fed what it reads and fetches what it
// gives: what the program means to passes that see one op at a time.
#include "tests/sweep/programs.h"

#include "base/file.h"
#include "base/tensor.h"

#include <ctype.h>
#include <string.h>

static bool is_word_byte(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

static bool has_word(const char *text, size_t size, const char *word) {
  size_t length = strlen(word);
  for (size_t i = 0; i + length <= size; i++)
    if (memcmp(text + i, word, length) == 0 && !(i && is_word_byte(text[i - 1])) &&
        !(i + length < size && is_word_byte(text[i + length])))
      return true;
  return false;
}

// Behind the `=` of the statement that gives the name; there is one.
static leat_bytes expression_of(const program *p, const char *name) {
  const char *line = p->body.data, *equals = strstr(line, " = ");
  while (!has_word(line, (size_t)(equals - line), name)) {
    line = strchr(line, '\n') + 1;
    equals = strstr(line, " = ");
  }
  return (leat_bytes){equals, strcspn(equals, "\n")};
}

// The number of the value that a feed of the step is: "f/y7".
static uint32_t value_of(const program *p, const leat_port *feed) {
  const char *slash = strrchr(feed->name, '/');
  uint32_t i = 0;
  while (strcmp(p->values.items[i].name, slash ? slash + 1 : feed->name) != 0) i++;
  return i;
}

static leat_status run_step(const program *p, leat_step *step, const leat_tensor *values,
                            leat_tensor *out) {
  int count = leat_step_feed_count(step);
  leat_tensor *feeds = leat_new_array(p->arena, leat_tensor, (size_t)count + 1);
  for (int i = 0; i < count; i++) feeds[i] = values[value_of(p, leat_step_feed(step, i))];
  LEAT_TRY(leat_step_run(step, feeds, out));
  out->data = leat_tensor_clone(out);
  return LEAT_OK;
}

// values: of all that stand before number i.
static leat_status run_statement(prepared *run, uint32_t i, leat_tensor *values) {
  const program *p = run->program;
  const char **reads = leat_new_array(p->arena, const char *, i + 1);
  leat_step_spec spec = {.within = "f", .feeds = reads, .fetch_count = 1};
  leat_bytes expression = expression_of(p, p->values.items[i].name);
  for (uint32_t k = 0; k < i; k++)
    if (has_word(expression.data, expression.size, p->values.items[k].name))
      reads[spec.feed_count++] = p->values.items[k].name;
  spec.fetches = (const char *const[]){p->values.items[i].name};
  leat_step *step = NULL;
  leat_status status = leat_session_prepare(run->session, &spec, &step);
  if (!status) status = run_step(p, step, values, &values[i]);
  leat_step_destroy(step);
  return status;
}

leat_status program_run_alone(prepared *run, const leat_tensor *feeds, leat_tensor *out) {
  const program *p = run->program;
  leat_tensor *values = tensors_create(p->values.count);
  leat_status status = LEAT_OK;
  for (uint32_t i = 0; i < p->values.count && !status; i++)
    if (!p->values.items[i].is_input) {
      status = run_statement(run, i, values);
    } else {
      values[i] = *feeds++;
      values[i].data = leat_tensor_clone(&values[i]);
    }
  for (uint32_t i = 0; i < p->results.count && !status; i++) {
    const leat_port port = {.name = p->results.items[i].value.name};
    out[i] = values[value_of(p, &port)];
    out[i].data = leat_tensor_clone(&out[i]);
  }
  tensors_destroy(values, p->values.count);
  return status;
}
