// Has line.leat compiled in, and takes from a checkpoint what was learned:
// ./predict line.safetensors 1 2 3
#include "line.h"

#include <stdio.h>
#include <stdlib.h>

static leat_status predict(leat_model *model, const char *checkpoint, float point[3]) {
  leat_tensor x = {LEAT_f32, 2, {1, 3}, point}, y;
  LEAT_TRY(leat_model_restore(model, checkpoint));
  LEAT_TRY(leat_model_run(model, &x, &y));
  printf("%.3f\n", *(float *)y.data);
  return LEAT_OK;
}

int main(int argc, char **argv) {
  if (argc != 5) {
    fprintf(stderr, "%s CHECKPOINT X Y Z\n", argv[0]);
    return 2;
  }
  float point[3];
  for (int i = 0; i < 3; i++) point[i] = strtof(argv[2 + i], NULL);
  leat_model *model;
  leat_model_options options = {.threads = 1};
  leat_status status = leat_model_create(&line_image, line_kernels, &options, &model);
  if (!status) status = predict(model, argv[1], point);
  if (status) fprintf(stderr, "%s: %s\n", argv[0], leat_model_message(model));
  leat_model_destroy(model);
  return status != LEAT_OK;
}
