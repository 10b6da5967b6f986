// What code generators share.
#include "targets/generator.h"

#include <stdlib.h>

void leat_object_finish(leat_object *object) {
  free(object->data);
  *object = (leat_object){0};
}
