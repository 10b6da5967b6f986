// The safetensors file format: u64 length, a JSON table of named tensors, their data
// (https://github.com/huggingface/safetensors, README, "Format").
//
// Read strictly, as its specification says: the header is at most 100,000,000 bytes, no key comes
// twice, offsets cover the data exactly (no hole, no overlap), sizes equal dtype × shape. Limits of
// ours: rank at most LEAT_MAX_RANK; dtypes that the language lacks (the 8-bit and smaller floats)
// are refused by name; no other fields; names hold no NUL. A tensor of str is a pair in the file,
// `NAME#sizes` and `NAME#bytes` (base/safetensors_strings.h), and one tensor here; one of c128 is
// `NAME#parts` (base/safetensors_complex.h). What is written has checksums in the metadata
// (base/safetensors_checksums.h), which are not listed among it here.
#ifndef LEAT_BASE_SAFETENSORS_H
#define LEAT_BASE_SAFETENSORS_H

#include "base/file.h"
#include "leat/dtype.h"

typedef struct leat_named_tensor {
  const char *name;
  leat_tensor tensor;
} leat_named_tensor;

typedef struct leat_metadata {
  const char *key, *value;
} leat_metadata;

// Everything is valid until closed. The data lies in the file: read-only, and perhaps not aligned.
typedef struct leat_safetensors {
  leat_named_tensor *tensors; // sorted by name
  size_t count;
  leat_metadata *metadata; // sorted by key
  size_t metadata_count;
  size_t checksums;   // that the file has; 0: others wrote it
  char *strings;      // the decoded names, keys and values
  leat_str *elements; // of tensors of str, which point into the file
  leat_file_view file;
} leat_safetensors;

LEAT_MUST_USE leat_status leat_safetensors_open(leat_safetensors *out, const char *path,
                                                leat_error *error);
// The same for a file that lies in memory, which is borrowed until closed; and of what is to be
// believed: compares the checksums, if it has any; the error names what is damaged or missing.
LEAT_MUST_USE leat_status leat_safetensors_parse(leat_safetensors *out, const void *bytes,
                                                 size_t size, leat_error *error);
LEAT_MUST_USE leat_status leat_safetensors_parse_verified(leat_safetensors *out, const void *bytes,
                                                          size_t size, leat_error *error);
void leat_safetensors_close(leat_safetensors *file);

const leat_tensor *leat_safetensors_find(const leat_safetensors *file,
                                         const char *name); // NULL when absent

// Writes a file whole or not at all. Its bytes do not depend on the order of the lists.
LEAT_MUST_USE leat_status leat_safetensors_write(const char *path, const leat_named_tensor *tensors,
                                                 size_t count, const leat_metadata *metadata,
                                                 size_t metadata_count, leat_error *error);

#endif
