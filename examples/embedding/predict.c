// Has line.leat compiled in, and takes from a checkpoint what was learned:
// ./predict line.safetensors 1 2 3
#include "line.h"

#include <stdio.h>
#include <stdlib.h>

static leat_status predict(line_model *model, const char *checkpoint, float point[3]) {
  line_predict_inputs in = {.N = 1, .x = point};
  line_predict_outputs out;
  LEAT_TRY(leat_model_restore(model, checkpoint));
  LEAT_TRY(line_predict(model, &in, &out));
  printf("%.3f\n", out.y[0]);
  return LEAT_OK;
}

int main(int argc, char **argv) {
  if (argc != 5) {
    fprintf(stderr, "%s CHECKPOINT X Y Z\n", argv[0]);
    return 2;
  }
  float point[3];
  for (int i = 0; i < 3; i++) point[i] = strtof(argv[2 + i], NULL);
  line_model *model;
  leat_model_options options = {.threads = 1};
  leat_status status = line_create(&options, &model);
  if (!status) status = predict(model, argv[1], point);
  if (status) fprintf(stderr, "%s: %s\n", argv[0], line_message(model));
  line_destroy(model);
  return status != LEAT_OK;
}
