#include "passes/pass.h"

leat_status leat_pass_fold(leat_pass_context *context) {
  (void)context;
  return LEAT_OK;
}
