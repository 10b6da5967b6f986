// What a reference kernel is told about its node.
#ifndef LEAT_TARGETS_REF_SITE_H
#define LEAT_TARGETS_REF_SITE_H

#include "ops/ops.h"

typedef struct leat_ref_site {
  leat_node *node;
  const leat_atom **atoms; // the image's dims, whose values follow in the kernel's arguments
  uint32_t dim_count;
} leat_ref_site;

#endif
