// A program of a user of net.h, in C and in C++: each kind of field, defaults, NULL, the variables,
// and what fails.
#include HEADER // "net.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void show(const net_class_outputs *out) {
  int64_t i;
  printf("%lld rows, %lld new\n", (long long)out->B, (long long)out->many_dim0_);
  for (i = 0; i < out->B; i++)
    printf("%g %d %.*s\n", (double)out->y[i], (int)out->class_[i], (int)out->hello[i].size,
           out->hello[i].data);
  for (i = 0; i < out->many_dim0_; i++) printf("many %g\n", (double)out->many[i]);
  printf("many_dim0 %g\n", (double)out->many_dim0);
  printf("twice %g %g, old %d\n", (double)out->twice[0], (double)out->twice[1], out->old);
}

static leat_status use(net_model *model) {
  static const float rows[2][3] = {{1, 0, 0}, {1, 1, 1}};
  static const bool fresh[2] = {false, true};
  static const uint16_t halves[2] = {0x3c00, 0x4000}, wrong[2] = {0x3c00, 0x7e00};
  const leat_str who[2] = {{"you", 3}, {"all", 3}};
  const float three = 3;
  net_class_inputs in;
  net_class_outputs out;
  net_grow_inputs by;
  net_grow_outputs grown;
  net_tell_inputs told;
  leat_tensor w;
  memset(&in, 0, sizeof in);
  in.B = 2;
  in.x = rows[0];
  in.new_ = fresh;
  in.int_ = 40;
  in.z[0] = 1, in.z[1] = -2;
  in.h = halves;
  in.who = who;
  LEAT_TRY(net_class(model, &in, &out));
  show(&out);
  LEAT_TRY(net_grow(model, NULL, &grown));
  by.by = &three;
  LEAT_TRY(net_grow(model, &by, &grown));
  printf("sum %g after %lld\n", (double)grown.sum, (long long)grown.n);
  LEAT_TRY(net_class(model, &in, &out)); // with the same weights
  printf("%g\n", (double)out.y[1]);
  LEAT_TRY(leat_model_variable_read(model, "w", &w));
  printf("w[2] is %g\n", (double)((float *)w.data)[2]);
  ((float *)w.data)[2] = 0;
  LEAT_TRY(leat_model_variable_write(model, "w", &w));
  free(w.data);
  told.text.data = "words";
  told.text.size = 5;
  LEAT_TRY(net_tell(model, &told));
  LEAT_TRY(leat_model_variable_read(model, "said", &w));
  printf("%.*s\n", (int)((leat_str *)w.data)->size, ((leat_str *)w.data)->data);
  free(w.data);
  LEAT_TRY(leat_model_save(model, "use.ck"));
  LEAT_TRY(net_grow(model, NULL, &grown));
  LEAT_TRY(leat_model_restore(model, "use.ck"));
  LEAT_TRY(net_grow(model, NULL, &grown));
  printf("sum %g after %lld\n", (double)grown.sum, (long long)grown.n);
  in.B = 65;
  if (!net_class(model, &in, &out)) return LEAT_INTERNAL;
  printf("%s\n", net_message(model));
  in.B = 2;
  in.h = wrong;
  if (!net_class(model, &in, &out)) return LEAT_INTERNAL;
  printf("%s\n", net_message(model));
  if (!leat_model_variable_read(model, "v", &w)) return LEAT_INTERNAL;
  printf("%s\n", net_message(model));
  return LEAT_OK;
}

int main(void) {
  net_model *model;
  leat_status status = net_create(NULL, &model);
  int i;
  for (i = 0; i < leat_model_entry_count(model); i++)
    printf("%s: %s\n", leat_model_entry_name(model, i), leat_model_entry_about(model, i));
  for (i = 0; i < leat_model_variable_count(model); i++)
    printf("%s: %s\n", leat_model_variable_name(model, i), leat_model_variable_type(model, i));
  if (!status) status = use(model);
  if (status) printf("%s: %s\n", leat_status_name(status), net_message(model));
  net_destroy(model);
  return status != LEAT_OK;
}
