// What the two files that print a kernel share.
#ifndef LEAT_TARGETS_C_C_PRINTER_H
#define LEAT_TARGETS_C_C_PRINTER_H

#include "base/text.h"
#include "kernel/kernel.h"

typedef struct c_printer {
  leat_text *out;
  uint32_t *numbers, next; // of values by id
  int indent;
  bool plain; // of C11 alone: a vector is a struct of lanes, which a loop computes one by one
  bool each;  // in that loop: what is printed is about lane i
} c_printer;

void c_line(c_printer *p);                  // the spaces that a line begins with
void c_define(c_printer *p, k_value value); // the declaration of a variable for it, up to the name
void c_print_type(c_printer *p, leat_dtype dtype, int lanes);
// bool is a byte in memory, of which any but 0 is true.
const char *c_memory_type(leat_dtype dtype);
void c_print_buffer(c_printer *p, const k_buffer *buffer);

// A value where any expression may stand; of a constant vector its lane, which vector operators
// widen.
void c_print_value(c_printer *p, k_value value);
void c_print_whole(c_printer *p, k_value value); // of vector type even when it is constant
void c_print_lane(c_printer *p, k_value value);  // lane i, or the value itself when it is a scalar
// How many lanes, the first ones, the mask (NULL: all) lets pass; 0: it is no such mask, or
// unknown.
int c_leading_lanes(k_value mask, int lanes);
// The element of memory for lane i: of a gather at index v[i], else at index + i.
void c_print_element(c_printer *p, const k_instr *instr, int lanes);

void c_print_expression(c_printer *p, const k_instr *instr); // what the instruction gives

#endif
