// Trains line.leat in a session and saves what it has learned: ./learn line.leat line.safetensors
#include <leat/leat.h>

#include <stdio.h>

static float points[4][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
static float values[4] = {1, 2, 3, 6};

static leat_status learn(leat_session *session, const char *text, const char *checkpoint) {
  leat_step *train;
  const char *entry = "train";
  leat_step_spec spec = {.entries = &entry, .entry_count = 1};
  LEAT_TRY(leat_session_extend_file(session, text));
  LEAT_TRY(leat_session_prepare(session, &spec, &train));
  leat_tensor feeds[] = {{LEAT_f32, 2, {4, 3}, points}, {LEAT_f32, 1, {4}, values}}, loss;
  for (int i = 0; i < 500; i++) LEAT_TRY(leat_step_run(train, feeds, &loss));
  printf("loss %.6f\n", *(float *)loss.data);
  return leat_session_save(session, checkpoint);
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "%s TEXT CHECKPOINT\n", argv[0]);
    return 2;
  }
  leat_session *session;
  leat_session_options options = {.threads = 1, .overwrite = true};
  leat_status status = leat_session_create(&options, &session);
  if (!status) status = learn(session, argv[1], argv[2]);
  fprintf(stderr, "%s", leat_session_message(session)); // errors, and warnings when all is well
  leat_session_destroy(session);
  return status != LEAT_OK;
}
