#include "base/fft_plan.h"

// The factors of n as passes; false when one is too large.
static bool factor(int64_t n, leat_fft_plan *out) {
  out->passes = 0;
  while (n % 8 == 0 && n != 16) out->radix[out->passes++] = 8, n /= 8;
  while (n % 4 == 0) out->radix[out->passes++] = 4, n /= 4;
  for (int radix = 2; radix <= LEAT_FFT_MOST_RADIX; radix++)
    while (n % radix == 0) out->radix[out->passes++] = (uint8_t)radix, n /= radix;
  return n == 1;
}

static bool is_smooth(int64_t n) {
  while (n % 2 == 0) n /= 2;
  while (n % 3 == 0) n /= 3;
  while (n % 5 == 0) n /= 5;
  return n == 1;
}

bool leat_fft_plan_make(int64_t n, size_t size, leat_fft_plan *out) {
  *out = (leat_fft_plan){.n = n, .length = n, .beside = 1};
  if (n < 0 || n > INT64_MAX / 4096) return false;
  if (n == 0) return true;
  if (!factor(n, out)) {
    out->length = (2 * n - 1 + 15) / 16 * 16;
    while (!is_smooth(out->length)) out->length += 16;
  }
  if (out->length <= LEAT_FFT_MOST_LENGTH_BESIDE) out->beside = 64 / (int64_t)size;
  return factor(out->length, out);
}

// Twiddle factors of the passes, those of a real transform, the two buffers of the passes; of
// Bluestein's algorithm also the chirp and its transform.
int64_t leat_fft_plan_reals(const leat_fft_plan *plan) {
  int64_t reals = 2 * plan->length + 2 * plan->n + 4 * plan->length * plan->beside;
  if (plan->length != plan->n) reals += 2 * plan->n + 2 * plan->length;
  return (reals + LEAT_FFT_MORE_REALS) / 16 * 16;
}
