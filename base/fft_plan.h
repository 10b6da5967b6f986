// How a discrete Fourier transform of n points is carried out: what the compiler must know to set
// memory aside and the runtime to compute.
//
// A length whose prime factors are all small goes through one Stockham pass a factor. Any other is
// a convolution (Bluestein) of a smooth length of at least 2n - 1.
#ifndef LEAT_BASE_FFT_PLAN_H
#define LEAT_BASE_FFT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  LEAT_FFT_MOST_RADIX = 31,           // larger prime factors go through Bluestein's algorithm
  LEAT_FFT_ROWS = 16,                 // rows of a tile
  LEAT_FFT_MOST_LENGTH_BESIDE = 4096, // longer rows are transformed one by one
  LEAT_FFT_MOST_REALS = 192,          // scratch for each point, whatever n is; and for each tile
  LEAT_FFT_MORE_REALS = 64,
};

typedef enum leat_fft_kind {
  LEAT_FFT_FORWARD,
  LEAT_FFT_INVERSE,
  LEAT_FFT_FROM_REAL, // to the first n / 2 + 1 of the spectrum
  LEAT_FFT_TO_REAL,   // from these
} leat_fft_kind;

typedef struct leat_fft_plan {
  int64_t n;
  int64_t length; // of the passes: n, or Bluestein's
  int64_t beside; // rows that are transformed side by side
  int passes;
  uint8_t radix[64];
} leat_fft_plan;

// `size` of a real number. False: n is too large. n 0 has no passes.
bool leat_fft_plan_make(int64_t n, size_t size, leat_fft_plan *out);

// Real numbers of scratch that a tile of complex (or real) transforms of n points needs.
int64_t leat_fft_plan_reals(const leat_fft_plan *plan);

#endif
