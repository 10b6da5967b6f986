// Calls what `leat build -o made.a` made, and prints what it gives.
#include <made.h> // in the folder where it is built

#include <stdio.h>

int main(void) {
  static const float rows[2][6] = {{1, 2, 3, 4, 5, 6}, {-1, 0, 1, 0, -1, 0}};
  made_model *model;
  made_predict_outputs out;
  leat_status status = made_create(NULL, &model);
  if (!status) status = made_predict(model, &(made_predict_inputs){.B = 2, .x = rows[0]}, &out);
  if (status) fprintf(stderr, "%s\n", made_message(model));
  for (int i = 0; !status && i < 10; i++) printf("%a\n", out.y[i]);
  made_destroy(model);
  return status != LEAT_OK;
}
