// The rows of ops.def. A version of an op means what its latest row up to that version says.
#include "frontend/importer/onnx/writer.h"

#include <string.h>

static const onnx_op ops[] = {
#define OP(domain, name, since, write, inputs, outputs, gives, attributes)                         \
  {domain, #name, since, write, inputs, outputs, gives, attributes},
#include "frontend/importer/onnx/ops.def"
#undef OP
};

bool onnx_domain_is(const char *domain, const char *name) {
  if (!domain || strcmp(domain, "ai.onnx") == 0) domain = "";
  return strcmp(domain, name) == 0;
}

int64_t onnx_newest(const char *domain) {
  static const struct {
    const char *domain;
    int64_t newest;
  } known[] = {{"", 28}, {"ai.onnx.ml", 5}, {"ai.onnx.preview.training", 1}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (onnx_domain_is(domain, known[i].domain)) return known[i].newest;
  return 0;
}

const onnx_op *onnx_op_at(size_t i) {
  return i < sizeof ops / sizeof *ops ? &ops[i] : NULL;
}

const onnx_op *onnx_op_find(const char *domain, const char *name, int64_t version) {
  const onnx_op *found = NULL;
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
    if (*name == *ops[i].name && strcmp(name, ops[i].name) == 0 &&
        onnx_domain_is(domain, ops[i].domain) && ops[i].since <= version &&
        (!found || ops[i].since > found->since))
      found = &ops[i];
  return found;
}

const onnx_op *onnx_op_earliest(const char *domain, const char *name) {
  const onnx_op *found = NULL;
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
    if (onnx_domain_is(domain, ops[i].domain) && strcmp(name, ops[i].name) == 0 &&
        (!found || ops[i].since < found->since))
      found = &ops[i];
  return found;
}
