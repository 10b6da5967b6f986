// Parts → images and objects. The kernels of all parts of a step are compiled together: each that
// the kernel cache does not have is a job, and a few threads take jobs until none is left.
#include "session/step_code.h"

#include "base/cpuid.h"
#include "kernel/kernel.h"
#include "session/object_cache.h"
#include "targets/ref/ref.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <pthread.h>
#include <stdatomic.h>

enum { MOST_COMPILERS = 16 };

// One object to be made.
typedef struct compile_job {
  const leat_target *target;
  const leat_code_generator *generator;
  leat_codegen_request request;
  const char *device; // for the dump
  leat_text key, dump, assembly;
  leat_object object;
  leat_error error;
} compile_job;

typedef leat_vec(compile_job *) job_list;

typedef struct compilation {
  leat_session *session;
  leat_arena *arena;
  job_list jobs, missed;
  atomic_uint next; // of `missed`
} compilation;

// -- Jobs --------------------------------------------------------------------------------------

static void make_key(compilation *c, compile_job *job) {
  leat_text_add(&job->key, "kernel\n%s ", job->target->name);
  job->target->add_key(&job->key);
  leat_text_add(&job->key, "\n%s\n", c->session->cpu);
  job->target->add_text(&job->request, &job->key);
}

static void add_job(compilation *c, const leat_target *target, const char *device,
                    const leat_compiled *code, uint32_t first, uint32_t count) {
  compile_job *added = leat_new(c->arena, compile_job);
  added->target = target;
  added->device = device;
  added->request =
      (leat_codegen_request){.kernels = (const leat_kernel *const *)(void *)(code->kernels + first),
                             .symbols = code->symbols + first,
                             .kernel_count = count,
                             .target = c->session->target};
  if (leat_stage_dumped(c->session, "code")) added->request.dump = &added->dump;
  if (leat_stage_dumped(c->session, "asm")) added->request.assembly = &added->assembly;
  leat_vec_push(c->arena, &c->jobs, added);
}

static void add_jobs(compilation *c, const leat_target *target, const char *device,
                     const leat_compiled *code) {
  uint32_t step = target->whole ? code->kernel_count : 1;
  for (uint32_t i = 0; i < code->kernel_count; i += step) add_job(c, target, device, code, i, step);
}

// Objects that the cache has need no generator.
static leat_status look_up(compilation *c) {
  for (uint32_t i = 0; i < c->jobs.count; i++) {
    compile_job *job = c->jobs.items[i];
    make_key(c, job);
    bool dumped = job->request.dump || job->request.assembly;
    if (!dumped && leat_object_cache_get(c->session->cache, job->key.data, job->key.size,
                                         &job->object.data, &job->object.size))
      continue;
    LEAT_TRY(job->target->generator(&job->generator, &c->session->error));
    leat_vec_push(c->arena, &c->missed, job);
  }
  return LEAT_OK;
}

// -- Threads -----------------------------------------------------------------------------------

static void *compile_jobs(void *context) {
  compilation *c = context;
  for (uint32_t i; (i = atomic_fetch_add(&c->next, 1)) < c->missed.count;) {
    compile_job *job = c->missed.items[i];
    if (leat_runtime_is_interrupted(c->session->runtime)) break; // it is said where all meet
    leat_status status;
    LEAT_RECOVER(status, job->generator->compile(&job->request, &job->object, &job->error));
    if (status) leat_fail(&job->error, status, "%s", leat_status_name(status));
  }
  return NULL;
}

static leat_status first_failure(const compilation *c) {
  for (uint32_t i = 0; i < c->missed.count; i++) {
    const leat_error *failure = &c->missed.items[i]->error;
    if (failure->status)
      return leat_fail(&c->session->error, failure->status, "%s", failure->message);
  }
  return LEAT_OK;
}

// This thread works too, so a thread that does not start costs only time.
static leat_status compile_missed(compilation *c) {
  pthread_t threads[MOST_COMPILERS];
  int count = 0, wanted = leat_cpu_cores() - 1;
  if (wanted > (int)c->missed.count - 1) wanted = (int)c->missed.count - 1;
  if (wanted > MOST_COMPILERS) wanted = MOST_COMPILERS;
  while (count < wanted && pthread_create(&threads[count], NULL, compile_jobs, c) == 0) count++;
  compile_jobs(c);
  for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
  LEAT_TRY(leat_session_check(c->session));
  return first_failure(c);
}

// What compiling took, the process may need for what is compiled.
static void give_back(const compilation *c) {
  for (uint32_t i = 0; i < c->missed.count; i++) {
    const compile_job *job = c->missed.items[i];
    bool first = i == 0 || c->missed.items[i - 1]->generator != job->generator;
    if (first && job->generator->rest) job->generator->rest();
  }
#ifdef __GLIBC__
  if (c->missed.count) malloc_trim(0);
#endif
}

static leat_status compile_jobs_in_threads(compilation *c) {
  double start = leat_seconds();
  LEAT_TRY(look_up(c));
  LEAT_TRY(compile_missed(c));
  give_back(c);
  for (uint32_t i = 0; i < c->missed.count; i++) {
    const compile_job *job = c->missed.items[i];
    if (job->request.dump) leat_session_dump(c->session, "code", job->device, job->dump.data);
    if (job->request.assembly)
      leat_session_dump(c->session, "asm", job->device, job->assembly.data);
    leat_object_cache_put(c->session->cache, job->key.data, job->key.size, job->object.data,
                          job->object.size);
  }
  leat_session_time(c->session, "compile", start);
  return LEAT_OK;
}

// -- The step ----------------------------------------------------------------------------------

// Makes the image of every part, and jobs for their kernels.
static leat_status generate(leat_driver *driver, compilation *c, leat_step_code *out) {
  for (uint32_t i = 0; i < driver->context.parts.count; i++) {
    leat_graph *part = driver->context.parts.items[i];
    const leat_target *target = leat_devices_find(&c->session->devices, part->device)->target;
    leat_part_code code = {.device = part->device};
    leat_compiled compiled = {0};
    if (target->generator) {
      LEAT_TRY(leat_driver_codegen(driver, part, &compiled));
      add_jobs(c, target, part->device, &compiled);
    } else {
      leat_file_table files = {0};
      LEAT_TRY(leat_file_sizes(part, out->arena, &files.sizes, &c->session->error));
      LEAT_TRY(leat_ref_compile(part, out->arena, &files, c->session->keep_denormals,
                                &compiled.image, &c->session->error));
      out->keepable = false;
    }
    code.image = (leat_bytes){compiled.image, compiled.image->size};
    leat_vec_push(out->arena, &out->parts, code);
  }
  return LEAT_OK;
}

// Jobs stand in the order of the parts and their kernels; the objects move into the code's arena.
static void collect_objects(const compilation *c, leat_step_code *out) {
  for (uint32_t i = 0, j = 0; i < out->parts.count; i++) {
    leat_part_code *part = &out->parts.items[i];
    for (; j < c->jobs.count && c->jobs.items[j]->device == part->device; j++) {
      const leat_object *object = &c->jobs.items[j]->object;
      leat_bytes bytes = {leat_arena_memdup(out->arena, object->data, object->size), object->size};
      leat_vec_push(out->arena, &part->objects, bytes);
    }
  }
}

static void finish_objects(void *compiled) {
  compilation *c = compiled;
  for (uint32_t i = 0; i < c->jobs.count; i++) leat_object_finish(&c->jobs.items[i]->object);
}

static void finish_texts(compilation *c) {
  for (uint32_t i = 0; i < c->jobs.count; i++) {
    leat_text_finish(&c->jobs.items[i]->key);
    leat_text_finish(&c->jobs.items[i]->dump);
    leat_text_finish(&c->jobs.items[i]->assembly);
  }
}

leat_status leat_step_compile(leat_driver *driver, leat_step_code *out) {
  out->keepable = true;
  LEAT_TRY(leat_driver_run(driver, NULL));
  if (driver->stopped) return LEAT_OK;
  compilation c = {.session = driver->session, .arena = out->arena};
  leat_cleanup cleanup;
  leat_cleanup_hold(&cleanup, finish_objects, &c);
  leat_status status = generate(driver, &c, out);
  if (!status && !driver->stopped) status = compile_jobs_in_threads(&c);
  if (!status && !driver->stopped) collect_objects(&c, out);
  finish_texts(&c);
  leat_cleanup_run(&cleanup);
  return status;
}
