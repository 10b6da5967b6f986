// Factorisations, what the library makes of them, and Fourier transforms, in constant and run-time
// shapes: cpu and c give what ref does, up to a tolerance. What is not unique or amplifies rounding
// is compared by what it puts together again. (Special values: tests/unit/linalg_test.c.) The seed
// chooses half of the programs, with a slow build one of them, and gives one of these to the C
// compiler, which takes most of the time, every second time; LEAT_SWEEP=N: all of them.
#include "tests/sweep/op_calls.h"
#include "tests/unit/check.h"

#include <stdlib.h>

static const test_way targets[] = {
    {.name = "ref", .options = {.target = "ref", .symbolic = true, .devices = 2}},
    {.name = "cpu", .options = {.target = "cpu", .symbolic = true, .devices = 2}},
    {.name = "c", .options = {.target = "c", .symbolic = true, .devices = 2}},
};
enum { TARGETS = 3, PROGRAMS = 4, MOST_ELEMENTS = 40, MOST_TEXT = 4000 };

// What is compared: functions of matrices x (any), s and b (square, and as many rows), whose
// numbers are between -1 and 1. `definite` and `dominant` make s one that is far from singular.
static const char functions[] =
    "fn definite(s: T[...D]) {\n"
    "  return matmul(s, s, transpose_b=true) + 4 * identities(s)\n}\n"
    "fn dominant(s: T[...D, N, N]) {\n"
    "  return s / cast(maximum(N, 1), T) + 3 * identities(s)\n}\n"
    "fn check_cholesky(s: T[...D]) {\n  return cholesky(definite(s))\n}\n"
    "fn check_lu(s: T[...D]) {\n  f, p, q = lu(dominant(s))\n  return f\n}\n"
    "fn check_lu_product(s: T[...D]) {\n  f, p, q = lu(s)\n"
    "  return rows_to((tril(f, k=-1) + identities(f)) @ triu(f), q)\n}\n"
    "fn check_lower(s: T[...D], b: T[...E]) {\n"
    "  x = triangular_solve(dominant(s), b, lower=true)\n"
    "  return triangular_solve(dominant(s), x, lower=true, transpose=true, unit_diagonal=true)\n}\n"
    "fn check_upper(s: T[...D], b: T[...E]) {\n"
    "  x = triangular_solve(dominant(s), matrix_transpose(b), right=true)\n"
    "  return triangular_solve(dominant(s), x, right=true, transpose=true)\n}\n"
    "fn check_qr(x: T[...D]) {\n  q, r = qr(x)\n  return q @ r\n}\n"
    "fn check_q(x: T[...D]) {\n  q, r = qr(x, full=true)\n"
    "  return matmul(q, q, transpose_a=true)\n}\n"
    "fn check_r(s: T[...D]) {\n  q, r = qr(dominant(s))\n  return r\n}\n"
    "fn check_eigenvalues(s: T[...D]) {\n  return eigvalsh(s)\n}\n"
    "fn check_eigenvectors(s: T[...D]) {\n  w, v = eigh(s)\n"
    "  return matmul(v @ diagonal_matrix(w), v, transpose_b=true)\n}\n"
    "fn check_values(x: T[...D]) {\n  return svdvals(x)\n}\n"
    "fn check_svd(x: T[...D]) {\n  u, s, vh = svd(x)\n  return u @ diagonal_matrix(s) @ vh\n}\n"
    "fn check_solve(s: T[...D], b: T[...E]) {\n  return solve(dominant(s), b)\n}\n"
    "fn check_inverse(s: T[...D]) {\n  return inv(dominant(s)) + matrix_power(dominant(s) / 4, "
    "3)\n}\n"
    "fn dominant_complex(s: T[...D, N, N]) {\n"
    "  return complex(dominant(s), s / cast(maximum(N, 1), T))\n}\n"
    "fn both(z: T[...D]) {\n  return stack([real(z), imag(z)])\n}\n"
    "fn check_complex_cholesky(s: T[...D]) {\n"
    "  h = complex(definite(s), (s - matrix_transpose(s)) / 4)\n"
    "  l = cholesky(h)\n  return both(l)\n}\n"
    "fn check_complex_lu(s: T[...D]) {\n  f, p, q = lu(dominant_complex(s))\n"
    "  return both(f)\n}\n"
    "fn check_complex_solve(s: T[...D], b: T[...E]) {\n"
    "  return both(solve(dominant_complex(s), complex(b, -b)))\n}\n"
    "fn check_complex_upper(s: T[...D], b: T[...E]) {\n  a = dominant_complex(s)\n"
    "  x = triangular_solve(a, matrix_transpose(complex(b, b)), right=true)\n"
    "  return both(triangular_solve(a, x, right=true, transpose=true))\n}\n"
    "fn mixed(x: T[...D]) {\n  return complex(x, 1 / cast(2, T) - x * x)\n}\n"
    "fn check_complex_qr(x: T[...D]) {\n  q, r = qr(mixed(x))\n  return both(q @ r)\n}\n"
    "fn check_complex_q(x: T[...D]) {\n  q, r = qr(mixed(x), full=true)\n"
    "  return both(adjoint(q) @ q)\n}\n"
    "fn check_complex_r(s: T[...D]) {\n  q, r = qr(dominant_complex(s))\n"
    "  return both(r)\n}\n"
    "fn check_complex_eigenvalues(s: T[...D]) {\n  return eigvalsh(complex(s, s))\n}\n"
    "fn check_complex_eigenvectors(s: T[...D]) {\n  w, v = eigh(complex(s, s))\n"
    "  return both(v @ cast(diagonal_matrix(w), dtype(v)) @ adjoint(v))\n}\n"
    "fn check_complex_values(x: T[...D]) {\n  return svdvals(mixed(x))\n}\n"
    "fn check_complex_svd(x: T[...D]) {\n  u, s, vh = svd(mixed(x))\n"
    "  return both(u @ cast(diagonal_matrix(s), dtype(u)) @ vh)\n}\n"
    "fn check_complex_pinv(s: T[...D]) {\n  return both(pinv(dominant_complex(s)))\n}\n"
    "fn check_complex_det(s: T[...D]) {\n  return both(det(dominant_complex(s) / 3))\n}\n"
    "fn check_fft(x: T[...D]) {\n  y = fft(complex(x, x * x))\n"
    "  return both(y)\n}\n"
    "fn check_ifft(x: T[...D]) {\n  y = ifft(complex(x, x * x))\n"
    "  return both(y)\n}\n"
    "fn check_rfft(x: T[...D]) {\n  y = rfft(x)\n  return both(y)\n}\n"
    "fn check_irfft(x: T[...D, N]) {\n  y = rfft(x)\n"
    "  return irfft(complex(real(y), 1 - imag(y)), n=N)\n}\n"
    "fn check_pinv(s: T[...D]) {\n  return pinv(dominant(s))\n}\n";

typedef enum operands { ANY, SQUARE, SQUARE_AND_RIGHT, POINTS } operands;

// The op whose bound holds of what is made with it.
static const struct check {
  const char *function;
  operands operands;
  leat_op op;
} checks[] = {
    {"check_cholesky", SQUARE, LEAT_OP_cholesky},
    {"check_lu", SQUARE, LEAT_OP_lu},
    {"check_lu_product", SQUARE, LEAT_OP_lu},
    {"check_lower", SQUARE_AND_RIGHT, LEAT_OP_triangular_solve},
    {"check_upper", SQUARE_AND_RIGHT, LEAT_OP_triangular_solve},
    {"check_qr", ANY, LEAT_OP_qr},
    {"check_q", ANY, LEAT_OP_qr},
    {"check_r", SQUARE, LEAT_OP_qr},
    {"check_eigenvalues", SQUARE, LEAT_OP_eigh},
    {"check_eigenvectors", SQUARE, LEAT_OP_eigh},
    {"check_values", ANY, LEAT_OP_svd},
    {"check_svd", ANY, LEAT_OP_svd},
    {"check_solve", SQUARE_AND_RIGHT, LEAT_OP_lu},
    {"check_inverse", SQUARE, LEAT_OP_lu},
    {"check_pinv", SQUARE, LEAT_OP_svd},
    {"check_complex_cholesky", SQUARE, LEAT_OP_cholesky},
    {"check_complex_lu", SQUARE, LEAT_OP_lu},
    {"check_complex_solve", SQUARE_AND_RIGHT, LEAT_OP_lu},
    {"check_complex_upper", SQUARE_AND_RIGHT, LEAT_OP_triangular_solve},
    {"check_complex_qr", ANY, LEAT_OP_qr},
    {"check_complex_q", ANY, LEAT_OP_qr},
    {"check_complex_r", SQUARE, LEAT_OP_qr},
    {"check_complex_eigenvalues", SQUARE, LEAT_OP_eigh},
    {"check_complex_eigenvectors", SQUARE, LEAT_OP_eigh},
    {"check_complex_values", ANY, LEAT_OP_svd},
    {"check_complex_svd", ANY, LEAT_OP_svd},
    {"check_complex_pinv", SQUARE, LEAT_OP_svd},
    {"check_complex_det", SQUARE, LEAT_OP_lu},
    {"check_fft", POINTS, LEAT_OP_fft},
    {"check_ifft", POINTS, LEAT_OP_ifft},
    {"check_rfft", POINTS, LEAT_OP_rfft},
    {"check_irfft", POINTS, LEAT_OP_irfft},
};
enum { CHECKS = sizeof checks / sizeof *checks };

// A matrix input in a batch, or none; its last axes are rows and columns.
static test_value matrix(program *p, leat_dtype dtype, int batch, test_dim *dims) {
  return program_input(p, dtype, batch + 2, dims, FILL_UNIT, dim_const(0));
}

static void add_check(program *p, const struct check *check, leat_dtype dtype, int number) {
  test_dim dims[4];
  double unit = dtype == LEAT_f32 ? 0x1p-23 : 0x1p-52;
  int batch = (int)rng_below(&p->random, 3);
  for (int i = 0; i < batch; i++) dims[i] = dim_const(rng_below(&p->random, 4));
  program_shape(p, 1, 1, false, &dims[batch]);
  program_shape(p, 1, 1, false, &dims[batch + 1]);
  if (check->operands == SQUARE || check->operands == SQUARE_AND_RIGHT)
    dims[batch + 1] = dims[batch];
  test_value x = matrix(p, dtype, batch, dims), b = {.name = ""};
  int64_t most = dim_most(dims[batch + 1]);
  if (check->operands != POINTS) most += dim_most(dims[batch]);
  if (check->operands == SQUARE_AND_RIGHT) {
    program_shape(p, 1, 1, false, &dims[batch + 1]);
    b = matrix(p, dtype, batch, dims);
  }
  test_value y = {.dtype = dtype, .match = MATCH_LARGEST};
  y.tolerance = unit * op_growth(check->op) * (double)most;
  snprintf(y.name, sizeof y.name, "y%d", number);
  leat_text_add(&p->body, "  %s = %s(%s%s%s)\n", y.name, check->function, x.name,
                *b.name ? ", " : "", b.name);
  y.label = leat_arena_printf(p->arena, "%s = %s", y.name, check->function);
  program_fetch(p, &y);
}

// Of the program: none if it has not been chosen.
static int targets_of(int number) {
  uint64_t turn = (test_seed() + (uint64_t)number) % PROGRAMS;
  bool slow = getenv("LEAT_SANITIZED");
  if (getenv("LEAT_SWEEP")) return TARGETS;
  if (turn == 0 && !slow && test_seed() / PROGRAMS % 2) return TARGETS;
  return turn == 0 || (turn == 1 && !slow) ? TARGETS - 1 : 0;
}

static void run(int number, uint64_t seed, bool symbolic) {
  int target_count = targets_of(number);
  if (!target_count) CHECK_SKIP("another seed's turn");
  program p;
  leat_text why = {0};
  program_init(&p, seed);
  p.symbolic = symbolic;
  p.most_elements = MOST_ELEMENTS;
  leat_text_add(&p.declarations, "%s", functions);
  for (int i = 0; i < 2 * CHECKS; i++)
    add_check(&p, &checks[i / 2], i % 2 ? LEAT_f32 : LEAT_f64, i);
  if (getenv("LEAT_SWEEP_SHOW")) fputs(program_text(&p, false), stderr);
  if (program_agrees(&p, targets, target_count, symbolic ? 2 : 1, &why, NULL))
    CHECK_FAILED("seed %llu: %s\n%.*s", (unsigned long long)seed, why.data, MOST_TEXT,
                 program_text(&p, false) + sizeof functions);
  leat_text_finish(&why);
  program_finish(&p);
}

TEST(fixed_shapes) {
  run(0, 1, false);
}

TEST(run_time_shapes) {
  run(1, 2, true);
}

TEST(sampled_fixed_shapes) {
  run(2, test_seed(), false);
}

TEST(sampled_run_time_shapes) {
  run(3, test_seed(), true);
}

CHECK_MAIN("linalg_sweep")
