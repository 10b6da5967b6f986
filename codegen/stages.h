// The stages of code generation, in the order in which codegen.c runs them; each writes the members
// of units.h that stand behind the name of its file.
#ifndef LEAT_CODEGEN_STAGES_H
#define LEAT_CODEGEN_STAGES_H

#include "codegen/units.h"

// -- sink.c: of a graph before all else -----------------------------------------------------------
void leat_sink(void *context, leat_graph *graph);               // the context: a leat_codegen_state
void leat_transpose_operands(void *context, leat_graph *graph); // likewise

// -- codegen.c: the stages of a table, in four parts ----------------------------------------------
void leat_table_arrange(leat_table *table); // up to the order of its units
// Scratch memory, what shares memory, which regions are one kernel: all that kernels depend on.
LEAT_MUST_USE leat_status leat_table_prepare(leat_table *table);
LEAT_MUST_USE leat_status leat_table_plan(leat_table *table);
LEAT_MUST_USE leat_status leat_table_lower(leat_table *table);

// -- Arrange --------------------------------------------------------------------------------------
// access.c: collects what the table's effects and what it stores need as items, and decides roles
// and accesses.
void leat_table_collect(leat_table *table);
// region_results.c: stores what the inputs of a body's `yield`, an item, are where they go.
void leat_region_store_results(leat_table *body, leat_item *yield);
// in_place.c: chooses the places that the results of a body are made in: `results`, of which some
// are exchanged then. Makes the results lie there from where they are first made: what nodes in the
// body change on the way is theirs to keep (leat_region_places.kept).
leat_storage **leat_region_update_in_place(leat_table *body, leat_item *yield,
                                           leat_storage **results);
// units.c: the items whose reads keep a copy, as what is held changes before these are used; then
// the unit of an item, if it is computed or has an effect, in the order of the items.
void leat_units_find_copied_reads(leat_table *table);
void leat_unit_make(leat_table *table, leat_item *item);
void leat_region_arrange(leat_table *table,
                         leat_unit *unit);                 // region.c: the tables of a new REGION
void leat_append_find(leat_table *table, leat_unit *loop); // append.c: what it appends to
void leat_units_order(leat_table *table); // units.c: what goes before what, when all are there
void leat_fuse(leat_table *table);
// remake.c: makes members free that cost less to compute again than to store; before outputs are
// found.
void leat_remake(leat_table *table, const leat_unit *unit);
// row_chain.c: joins products whose rows become operands of others with these, when outputs are
// found.
void leat_chain_rows(leat_table *table);
void leat_schedule(leat_table *table);

// -- Prepare --------------------------------------------------------------------------------------
// concat.c: makes concats where their parts can be stored there at once.
LEAT_MUST_USE leat_status leat_concats_in_place(leat_table *table);
// contract_plan.c, lower_loops.c, library.c: how it is done, and the scratch memory of the unit.
void leat_contract_prepare(leat_table *table, leat_unit *unit);
void leat_loops_prepare(leat_table *table, leat_unit *unit);
void leat_library_prepare(leat_table *table, leat_unit *unit);
// region.c: lowers the bodies and decides whether they are one kernel; if not, plans their memory.
LEAT_MUST_USE leat_status leat_region_prepare(leat_table *table, leat_unit *unit);
// append.c: behind the loop's condition: whether it turns again.
void leat_append_ask_for_room(leat_unit *loop);
// one_kernel.c: sets `kernel` or `why` of a region whose tables are lowered and wait for nothing.
LEAT_MUST_USE leat_status leat_decide_one_kernel(leat_table *table, leat_unit *unit);

// -- Plan -----------------------------------------------------------------------------------------
// recompute_choose.c: has values made again where they are read late, if the table takes more
// memory than there is to be (leat_codegen_options.memory_limit), until it does not or nothing
// helps.
LEAT_MUST_USE leat_status leat_recompute(leat_table *table);
// plan.c: who touches each value, and what takes the memory of another; of units that have changed,
// anew. Then where all lies.
void leat_plan_lives(leat_table *table);
LEAT_MUST_USE leat_status leat_plan_places(leat_table *table);

// -- Lower ----------------------------------------------------------------------------------------
LEAT_MUST_USE leat_status leat_lower_unit(leat_table *table, leat_unit *unit);
// append.c: a copy that appends; and a loop, lowered to the launch, becomes what runs that again
// whenever there is more room.
void leat_lower_append(leat_table *body, leat_unit *copy);
void leat_append_wrap(leat_table *table, leat_unit *loop, leat_launch *launch);
// Of the table and the tables of its regions, when all are lowered.
void leat_merge_kernels(leat_table *table);

// -- image.c --------------------------------------------------------------------------------------
void leat_image_begin(leat_codegen_state *cg);
void leat_image_add_table(leat_table *table);
LEAT_MUST_USE leat_status leat_image_end(leat_codegen_state *cg, leat_compiled *out);

// -- What people ask ------------------------------------------------------------------------------
void leat_units_print(const leat_table *table, leat_text *out);
// memory_print.c: where the values of the step, of its bodies and of what initialises its variables
// lie.
void leat_memory_print(const leat_codegen_state *cg, const leat_image *image, bool all,
                       leat_text *out);
// contract_print.c: how contractions are computed, the costliest first: few of them, or all.
void leat_plans_print(const leat_codegen_state *cg, bool all, leat_text *out);

#endif
