#include "base/float_mode.h"

#if defined __x86_64__
enum { HAS_MODE = 1, ZERO = 1 << 15 | 1 << 6 }; // FTZ, DAZ

// stmxcsr (%rax) and ldmxcsr (%rax), by their bytes: tcc has no names for them.
leat_float_mode leat_float_mode_of_thread(void) {
  uint32_t word;
  __asm__ volatile(".byte 0x0f, 0xae, 0x18" : : "a"(&word) : "memory");
  return word;
}

static void set(leat_float_mode mode) {
  uint32_t word = (uint32_t)mode;
  __asm__ volatile(".byte 0x0f, 0xae, 0x10" : : "a"(&word) : "memory");
}

#elif defined __aarch64__ && defined __GNUC__
enum { HAS_MODE = 1, ZERO = 1 << 24 }; // FZ

leat_float_mode leat_float_mode_of_thread(void) {
  leat_float_mode mode;
  __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
}

static void set(leat_float_mode mode) {
  __asm__ volatile("msr fpcr, %0" : : "r"(mode) : "memory");
}

#else
enum { HAS_MODE = 0, ZERO = 0 };

leat_float_mode leat_float_mode_of_thread(void) {
  return 0;
}

static void set(leat_float_mode mode) {
  (void)mode;
}
#endif

// Reading costs a few cycles, writing some dozens.
static void change(leat_float_mode from, leat_float_mode to) {
  if (from != to) set(to);
}

leat_float_mode leat_float_mode_begin(bool keep_denormals) {
  leat_float_mode before = leat_float_mode_of_thread(), rest = before & ~(leat_float_mode)ZERO;
  change(before, keep_denormals ? rest : rest | ZERO);
  return before;
}

void leat_float_mode_end(leat_float_mode before) {
  change(leat_float_mode_of_thread(), before);
}

bool leat_denormals_are_zero(void) {
  return HAS_MODE && (leat_float_mode_of_thread() & ZERO) == ZERO;
}

bool leat_denormals_can_be_zero(void) {
  return HAS_MODE;
}
