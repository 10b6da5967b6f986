#include "passes/pass.h"

leat_status leat_pass_choose(leat_pass_context *context) {
  (void)context;
  return LEAT_OK;
}
