// Statements from the op table.
#include "tests/sweep/op_calls.h"

#include "base/half.h"
#include "tests/sweep/call.h"

#include <stdio.h>
#include <string.h>

static const leat_dtype computed[] = {LEAT_bool, LEAT_i8,  LEAT_i16, LEAT_i32, LEAT_i64,
                                      LEAT_u8,   LEAT_u16, LEAT_u32, LEAT_u64, LEAT_f16,
                                      LEAT_bf16, LEAT_f32, LEAT_f64, LEAT_c64, LEAT_c128};
enum { COMPUTED = sizeof computed / sizeof *computed };

// No complex numbers have parts of halves, and the functions of runtime/kernels take none.
bool op_takes(leat_op op, leat_dtype dtype) {
  const leat_op_info *info = leat_op_info_of(op);
  bool library = info->kind == LEAT_KIND_LIBRARY &&
                 (info->dtypes == LEAT_CLASS_FLOAT || info->dtypes == LEAT_CLASS_INEXACT);
  bool whole = library || op == LEAT_OP_complex || op == LEAT_OP_number_to_str ||
               op == LEAT_OP_format_number;
  bool halves = whole && leat_dtype_is_half(dtype);
  return !halves && leat_dtype_in_class(dtype, info->dtypes);
}

int op_variants(leat_op op) {
  return op == LEAT_OP_cast ? COMPUTED : 1;
}

// -- Ops -----------------------------------------------------------------------------------------

static leat_dtype operand_dtype(const call *c, int i) {
  return c->op == LEAT_OP_where && i == 0 ? LEAT_bool : c->dtype;
}

static bool is_comparison(leat_op op) {
  switch ((int)op) {
  case LEAT_OP_equal:
  case LEAT_OP_not_equal:
  case LEAT_OP_less:
  case LEAT_OP_less_equal:
  case LEAT_OP_greater:
  case LEAT_OP_greater_equal: return true;
  }
  return false;
}

static leat_dtype string_result(leat_op op) {
  switch ((int)op) {
  case LEAT_OP_str_compare: return LEAT_i32;
  case LEAT_OP_str_starts_with:
  case LEAT_OP_str_ends_with: return LEAT_bool;
  case LEAT_OP_str_find:
  case LEAT_OP_str_rfind:
  case LEAT_OP_str_count:
  case LEAT_OP_str_length:
  case LEAT_OP_str_hash: return LEAT_i64;
  }
  return LEAT_str;
}

static leat_dtype result_dtype(const call *c) {
  const leat_op_info *info = leat_op_info_of(c->op);
  bool complex = leat_dtype_kind_of(c->dtype) == LEAT_KIND_COMPLEX;
  if (is_comparison(c->op)) return LEAT_bool;
  if (info->dtypes == LEAT_CLASS_STRING) return string_result(c->op);
  if (c->op == LEAT_OP_complex) return c->dtype == LEAT_f32 ? LEAT_c64 : LEAT_c128;
  if (complex && (c->op == LEAT_OP_real || c->op == LEAT_OP_imag || c->op == LEAT_OP_abs))
    return c->dtype == LEAT_c64 ? LEAT_f32 : LEAT_f64;
  return c->dtype;
}

// Element-wise: operands of one shape, or broadcast to that of one of them.
void make_elementwise(call *c) {
  program *p = c->p;
  int count = leat_op_info_of(c->op)->min_inputs, wide = (int)rng_below(&p->random, count);
  bool broadcasts = count > 1 && !p->reuse && !p->aliased && rng_percent(&p->random, 40);
  test_dim dims[LEAT_MAX_RANK];
  if (!broadcasts) {
    test_value shape = call_first_operand(c, operand_dtype(c, 0), 0, SHAPE_RANK, false);
    for (int i = 1; i < count; i++) call_operand(c, operand_dtype(c, i), shape.rank, shape.dims);
  } else {
    c->out.rank = program_shape(p, 0, SHAPE_RANK, false, c->out.dims);
    for (int i = 0; i < count; i++) {
      int rank = c->out.rank;
      memcpy(dims, c->out.dims, sizeof dims);
      if (i != wide) rank = call_narrowed(p, &c->out, dims);
      call_operand(c, operand_dtype(c, i), rank, dims);
    }
  }
  c->out.dtype = result_dtype(c);
}

static void make_cast(call *c) {
  call_first(c);
  bool complex = leat_dtype_kind_of(c->dtype) == LEAT_KIND_COMPLEX; // no cast to others
  c->out.dtype = !complex ? computed[c->variant] : c->variant % 2 ? LEAT_c64 : LEAT_c128;
  call_add_words(c, ", ");
  call_add_words(c, leat_dtype_name(c->out.dtype));
}

static void make_bitcast(call *c) {
  static const leat_dtype to[][4] = {[1] = {LEAT_i8, LEAT_u8, LEAT_i8, LEAT_u8},
                                     [2] = {LEAT_i16, LEAT_u16, LEAT_f16, LEAT_bf16},
                                     [4] = {LEAT_i32, LEAT_u32, LEAT_f32, LEAT_f32},
                                     [8] = {LEAT_i64, LEAT_u64, LEAT_f64, LEAT_f64}};
  call_first(c);
  c->out.dtype = to[leat_dtype_size(c->dtype)][rng_below(&c->p->random, 4)];
  call_add_words(c, ", ");
  call_add_words(c, leat_dtype_name(c->out.dtype));
}

typedef void (*call_function)(call *c);

static const call_function functions[LEAT_OP_COUNT] = {
    [LEAT_OP_cast] = make_cast,
    [LEAT_OP_bitcast] = make_bitcast,
    [LEAT_OP_reshape] = make_reshape,
    [LEAT_OP_transpose] = make_transpose,
    [LEAT_OP_broadcast] = make_broadcast,
    [LEAT_OP_concat] = make_concat,
    [LEAT_OP_slice] = make_slice,
    [LEAT_OP_pad] = make_pad,
    [LEAT_OP_unfold] = make_unfold,
    [LEAT_OP_gather] = make_gather,
    [LEAT_OP_check_index] = make_check_index,
    [LEAT_OP_one_hot] = make_one_hot,
    [LEAT_OP_iota] = make_iota,
    [LEAT_OP_matmul] = make_matmul,
    [LEAT_OP_sort] = make_sort,
    [LEAT_OP_argsort] = make_sort,
    [LEAT_OP_top_k] = make_sort,
    [LEAT_OP_searchsorted] = make_searchsorted,
    [LEAT_OP_cumsum] = make_cumulation,
    [LEAT_OP_cumprod] = make_cumulation,
    [LEAT_OP_cummax] = make_cumulation,
    [LEAT_OP_cummin] = make_cumulation,
    [LEAT_OP_substring] = make_substring,
    [LEAT_OP_str_length] = make_str_length,
    [LEAT_OP_strip_string] = make_strip_string,
    [LEAT_OP_split_strings] = make_split_strings,
    [LEAT_OP_regex_full_match] = make_regex,
    [LEAT_OP_regex_replace] = make_regex,
    [LEAT_OP_join_strings] = make_join_strings,
    [LEAT_OP_random_bits] = make_random_bits,
    [LEAT_OP_permutation] = make_permutation,
};

static call_function function_of(leat_op op) {
  const leat_op_info *info = leat_op_info_of(op);
  if (functions[op]) return functions[op];
  if (info->kind == LEAT_KIND_REDUCE) return make_reduction;
  if (info->kind == LEAT_KIND_SCATTER) return make_scatter;
  bool each = info->kind == LEAT_KIND_ELEMENT || info->dtypes == LEAT_CLASS_STRING;
  bool plain = each && !info->attr_count && info->min_inputs > 0;
  return plain ? make_elementwise : NULL;
}

bool op_calls_cover(leat_op op) {
  return function_of(op) != NULL;
}

// The ops of programs that are written by hand.
const char *op_tested_by(leat_op op) {
  static const char structure[] = "structure_test", linalg[] = "linalg_sweep_test";
  static const char control[] = "control";
  static const char *const others[LEAT_OP_COUNT] = {
      [LEAT_OP_const] = structure,
      [LEAT_OP_load] = structure,
      [LEAT_OP_feed] = structure,
      [LEAT_OP_fetch] = structure,
      [LEAT_OP_parameter] = control,
      [LEAT_OP_yield] = control,
      [LEAT_OP_conditional] = control,
      [LEAT_OP_while_loop] = control,
      [LEAT_OP_switch] = control,
      [LEAT_OP_merge] = control,
      [LEAT_OP_enter] = control,
      [LEAT_OP_leave] = control,
      [LEAT_OP_next_iteration] = control,
      [LEAT_OP_loop_cond] = control,
      [LEAT_OP_read] = structure,
      [LEAT_OP_assign] = structure,
      [LEAT_OP_print] = structure,
      [LEAT_OP_assert] = structure,
      [LEAT_OP_assign_add] = structure,
      [LEAT_OP_run_count] = structure,
      [LEAT_OP_send] = structure,
      [LEAT_OP_recv] = structure,
      [LEAT_OP_dim] = structure,
      [LEAT_OP_bind] = structure,
      [LEAT_OP_check_dims] = structure,
      [LEAT_OP_ensure_shape] = structure,
      [LEAT_OP_positions] = structure,
      [LEAT_OP_str_to_number] = structure,
      [LEAT_OP_number_to_str] = structure,
      [LEAT_OP_format_number] = structure,
      [LEAT_OP_winograd] = "winograd_test",
      [LEAT_OP_winograd_weights] = "winograd_test",
      [LEAT_OP_depthwise] = "depthwise_test",
      [LEAT_OP_depthwise_weights] = "depthwise_test",
      [LEAT_OP_cholesky] = linalg,
      [LEAT_OP_lu] = linalg,
      [LEAT_OP_triangular_solve] = linalg,
      [LEAT_OP_qr] = linalg,
      [LEAT_OP_eigh] = linalg,
      [LEAT_OP_svd] = linalg,
      [LEAT_OP_fft] = linalg,
      [LEAT_OP_ifft] = linalg,
      [LEAT_OP_rfft] = linalg,
      [LEAT_OP_irfft] = linalg,
  };
  return op_calls_cover(op) ? "sweep_test" : others[op];
}

// -- Statements ----------------------------------------------------------------------------------

static void write_statement(call *c) {
  leat_text *body = &c->p->body;
  const char *name = leat_op_name(c->op), *operands = c->text.data ? c->text.data : "";
  const char *comma = *c->second.name ? ", " : "";
  leat_text_add(body, "  %s%s%s = ", c->out.name, comma, c->second.name);
  if (!op_is_word(c->op))
    leat_text_add(body, "%s(%s)\n", name, operands);
  else
    leat_text_add(body, "%s%s\n", c->op == LEAT_OP_not ? "not " : "", operands);
}

// What the value is called in messages, and how near it must be on other targets.
static void describe(call *c) {
  const leat_op_info *info = leat_op_info_of(c->op);
  const char *operands = c->label.data ? c->label.data : "";
  c->out.label = leat_arena_printf(c->p->arena, "%s of %s: %s = %s(%s)", info->name,
                                   leat_dtype_name(c->dtype), c->out.name, info->name, operands);
  bool moves = info->dtypes == LEAT_CLASS_ALL && !c->p->reuse; // and its operands are inputs
  c->out.match = moves ? MATCH_BITS : MATCH_VALUES;
  if (c->p->smooth && c->out.error > 0) {
    c->out.match = MATCH_NEAR;
    c->out.tolerance = c->out.error;
  } else if (op_ulps(c->op, c->dtype)) {
    c->out.match = op_match(c->op, c->out.dtype);
    c->out.tolerance = op_ulps(c->op, c->dtype) * (op_turns(c->op, c->dtype) ? MOST_TURNS : 1);
  }
}

// Integers, which are the same everywhere.
static void add_second(call *c) {
  c->second.label = c->out.label;
  c->second.match = MATCH_VALUES;
  leat_vec_push(c->p->arena, &c->p->values, c->second);
}

bool op_call(program *p, leat_op op, leat_dtype dtype, int variant) {
  call c = {.p = p, .op = op, .dtype = dtype, .variant = variant};
  bool possible = function_of(op) && op_takes(op, dtype) &&
                  !(p->smooth && op_ulps(op, dtype) && !op_is_smooth(op)); // no bounds are known
  if (possible) {
    function_of(op)(&c);
    call_propagate(&c);
    snprintf(c.out.name, sizeof c.out.name, "y%u", p->values.count);
    c.out.op = c.second.op = op;
    describe(&c);
    write_statement(&c);
    leat_vec_push(p->arena, &p->values, c.out);
    if (*c.second.name) add_second(&c);
  }
  leat_text_finish(&c.text);
  leat_text_finish(&c.label);
  return possible;
}

bool lists_dtypes(int *argc, char ***argv) {
  bool lists = *argc == 2 && strcmp((*argv)[1], "--list") == 0;
  for (int dtype = 0; lists && dtype < LEAT_DTYPE_COUNT; dtype++)
    puts(leat_dtype_name((leat_dtype)dtype));
  if (*argc > 2 && strcmp((*argv)[1], "--case") == 0) ++*argv, --*argc;
  return lists;
}
