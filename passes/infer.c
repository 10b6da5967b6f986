#include "passes/pass.h"

leat_status leat_pass_infer(leat_pass_context *context) {
  (void)context;
  return LEAT_OK;
}
