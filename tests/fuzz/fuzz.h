// A fuzz target: one function that takes any bytes, and that no bytes may crash, hang or make leak.
//
// tests/fuzz/NAME_fuzz.c becomes a program NAME_fuzz. In an ordinary build damage.c drives it: the
// seeds and a fixed number of mutants, always the same; tests/fuzz/run is that suite. With
// -Dfuzz=true it is libFuzzer that drives it, for as long as ./dev soak gives it.
#ifndef LEAT_TESTS_FUZZ_FUZZ_H
#define LEAT_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size); // 0; a wrong answer aborts

#endif
