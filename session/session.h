// A session's own structures, for the files of this folder.
//
//   session.c    create, extend, messages         devices.c   what the session computes on
//   request.c    names of a Run → graph           step.c      prepare, specialise, run
//   driver.c     passes and codegen, dumps        compile.c   kernels → objects → programs
//   step_cache.c whole steps kept on disk         variables.c values by name, checkpoints
//   snapshot.h   what a checkpoint holds
//   artifact.c, artifact_files.c, artifact_header.c, c_names.c, link.c   ahead of time
//   target.c     the table of targets
//   problems.c   what a call has to say, as data  inspect.c   what is decided for a step, as text
//   held.c       what a REPL's line shows and runs; values under names
//   cluster.c    several processes                master.c, worker.c  their two sides
//
// A public call begins with leat_session_begin, which refuses what is no session, and ends with
// leat_session_end, which makes the message from what was collected in between.
#ifndef LEAT_SESSION_SESSION_H
#define LEAT_SESSION_SESSION_H

#include "base/handle.h"
#include "base/target_info.h"
#include "frontend/frontend.h"
#include "leat/leat.h"
#include "runtime/runtime.h"
#include "session/devices.h"

struct leat_session {
  leat_handle handle;
  bool made; // it was created without a failure: more can be asked than its message
  struct leat_step *steps_made; // that are not destroyed
  leat_arena *arena;            // the graph, names, copies of the options
  leat_strings *strings;
  leat_diag *diag;
  leat_frontend *frontend;
  leat_session_options options;
  const char *cpu;                // the level that code is made for: "x86-64-v4"
  const leat_target_info *target; // what it has
  bool keep_denormals, strict;    // what the options say
  uint64_t memory_limit;          // so do they: bytes; 0: any number
  bool remakes_steps;             // the cache is asked for kernels alone
  leat_devices devices;
  leat_runtime *runtime;
  struct leat_object_cache *cache; // NULL: off
  struct leat_cluster *cluster;    // NULL: this process is alone
  uint64_t steps;                  // runs begun: the number of the next one
  uint64_t unnamed_runs;           // of steps that belong to no entry: stays 0
  leat_run_counts counts;          // completed runs of the entries, by this client
  leat_map restored; // interned variable name → leat_tensor *: to be put into a store
  leat_map known;    // interned variable name → itself: its value is no initialiser's any more
  leat_map held;     // interned name of a feed → leat_tensor *: what it is always fed
  bool trains;       // a step of a training entry was prepared
  const leat_last_text *last; // NULL: none, or it was refused
  leat_bytes
      left_out; // of the last model file: "NODE\0WORDS\0"… of what it runs and its text does not
  const char *folder; // of the first file that was read, with its slash; NULL: none
  leat_error error;   // of the call in progress
  leat_text message;
  leat_arena *told; // what the last call had to say, which its failure takes nothing from
  leat_vec(leat_problem) problems;
};

// Whether it is a session, though perhaps one whose creation failed.
bool leat_session_is_live(const leat_session *session);
// Whether it can be asked for anything: not NULL, nor destroyed, nor one whose creation failed.
bool leat_session_is_made(const leat_session *session);
// The error record of the call that begins; forgets the last call's messages. NULL, and nothing is
// changed: it is not made.
leat_error *leat_session_begin(leat_session *session);
leat_status leat_session_end(leat_session *session, leat_status status);
// Ends the call: an argument is not what the header asks for, "`path` is NULL".
leat_status leat_session_refuse(leat_session *session, const char *says);

// What was collected, and the error of the call if that is none of it, as problems.
void leat_session_tell(leat_session *session, leat_status status);
void leat_session_tell_nothing(leat_session *session);
void leat_session_tell_no_memory(leat_session *session); // which takes none

// LEAT_ABORTED when it is interrupted.
leat_status leat_session_check(leat_session *session);
// Whether this machine has what code is made for: not asked by who looks at it only.
LEAT_MUST_USE leat_status leat_session_check_cpu(leat_session *session);

// As leat_session_create, in a world that has been joined already; takes the transport over.
leat_status leat_session_create_on(const leat_session_options *options, leat_transport *transport,
                                   leat_session **out);

// What a feed that no step has as a port is fed; NULL: nothing.
const leat_tensor *leat_session_held(const leat_session *session, const char *feed);

// Whether the checkpoint has the variables of the graph (leat_checkpoint_check).
LEAT_MUST_USE leat_status leat_graph_check_restored(const leat_graph *graph,
                                                    const leat_data_file *file, const char *path,
                                                    bool partial, leat_error *error);

// Puts values that wait (restored or written before a step needed their variable) into the stores
// that have declared these variables by now.
leat_status leat_session_deliver(leat_session *session, leat_error *error);
void leat_session_forget_waiting(leat_session *session);
void leat_session_forget_held(leat_session *session);

// Warns of an entry that uses variables which were neither trained here nor restored.
void leat_session_warn_untrained(leat_session *session, const struct leat_step_request *step);

// "x: f32[3]", "fn f(x: f32[N])", …: a line for each name that the texts bind; malloc'ed.
leat_status leat_session_show_names(leat_session *session, char **out);
// What the texts define and nothing calls is checked too, for names and types.
leat_status leat_session_check_definitions(leat_session *session);

#endif
