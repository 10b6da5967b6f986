// A fuzz target: one function that takes any bytes, and that no bytes may crash, hang or make leak.
//
// tests/fuzz/NAME_fuzz.c becomes a program NAME_fuzz in a build with -Dfuzz=true, which libFuzzer
// drives: for half a minute in the suite (tests/fuzz/run), for as long as one likes in ./dev soak.
#ifndef LEAT_TESTS_FUZZ_FUZZ_H
#define LEAT_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size); // 0; a wrong answer aborts

#endif
