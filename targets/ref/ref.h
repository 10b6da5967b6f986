// The reference target: one device's graph run node by node with ref_X, which is the meaning of
// each op. Nothing is fused, reordered or shared, so a value that differs elsewhere is elsewhere's
// mistake.
//
// The graph becomes an image like any other, so feeds, variables, messages and prints are the
// runtime's business; only its kernels are all the same function, which finds its node by address.
// Such an image is therefore valid in this process only, and as long as the graph lives.
#ifndef LEAT_TARGETS_REF_REF_H
#define LEAT_TARGETS_REF_REF_H

#include "codegen/codegen.h"
#include "ir/graph.h"
#include "leat/artifact.h"
#include "leat/status.h"

// The image is in `arena`; `files` and `keep_denormals` as in leat_codegen_options.
LEAT_MUST_USE leat_status leat_ref_compile(leat_graph *graph, leat_arena *arena,
                                           const leat_file_table *files, bool keep_denormals,
                                           leat_image **out, leat_error *error);

// Every kernel of such an image.
int32_t leat_ref_kernel(leat_call *call, const leat_arg *args, int64_t tile_begin,
                        int64_t tile_end);

#endif
