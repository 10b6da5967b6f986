// Data files: the tensors of a file by name, whatever its format. NumPy's .npy (one tensor, whose
// name is "") and .npz, safetensors and their sharded index (model.safetensors.index.json) are read
// here; what else a program can read, it says once (leat_data_extend). `load`, checkpoints and
// programs read files through here, and nowhere else; a feed is one .npy (base/npy.h), several are
// a .npz.
//
// A format is told by a file's first bytes; by its name only where these say nothing. What a file
// names (the shards of an index) lies beside it. Every failure names the path.
#ifndef LEAT_BASE_DATA_FILE_H
#define LEAT_BASE_DATA_FILE_H

#include "base/file.h"
#include "base/safetensors.h"
#include "base/text.h"

typedef struct leat_data_format leat_data_format;

typedef struct leat_data_part leat_data_part; // another file that it has data in

// A zeroed one is closed. One thread at a time uses it. Large files are mapped
// (leat_file_view_map).
typedef struct leat_data_file {
  leat_named_tensor *tensors; // sorted by name; `data` is NULL of what is not read yet
  size_t count;
  leat_metadata *metadata; // sorted by key
  size_t metadata_count;
  size_t checksums;    // that the file has; 0: others wrote it
  leat_file_view view; // of the file itself
  const char *path;    // as it was opened; its own copy
  leat_data_part *parts;
  const leat_data_format *format;
  void *content; // the format's
} leat_data_file;

// Lists the tensors of a file. With `verified`, for what is to be believed, the checksums that it
// has are compared, and the error names what is damaged or missing.
LEAT_MUST_USE leat_status leat_data_file_open(leat_data_file *out, const char *path, bool verified,
                                              leat_error *error);
// The same for a file that lies in memory, borrowed until closed. What it names is not there.
LEAT_MUST_USE leat_status leat_data_file_parse(leat_data_file *out, const void *bytes, size_t size,
                                               bool verified, leat_error *error);
// The same for a .npz alone, which is read into memory, without linking what reads other formats
// (npz.c).
LEAT_MUST_USE leat_status leat_npz_open(leat_data_file *out, const char *path, leat_error *error);
void leat_data_file_close(leat_data_file *file);

// Dtype and shape, and the data if it is there already; NULL when absent.
const leat_tensor *leat_data_file_find(const leat_data_file *file, const char *name);
// LEAT_NOT_FOUND: that there is no such tensor, and which there are.
LEAT_MUST_USE leat_status leat_data_file_lacks(const leat_data_file *file, const char *name,
                                               leat_error *error);
// As find, with its data, which is read-only, perhaps not aligned, and valid until the file is
// closed.
LEAT_MUST_USE leat_status leat_data_file_read(leat_data_file *file, const char *name,
                                              const leat_tensor **out, leat_error *error);

// Whoever has copied what it needs of a tensor says so: what was made to read it, or read of a
// mapped file, takes no memory any more. It may be read again.
void leat_data_file_drop(leat_data_file *file, const char *name);
// Whether tensors are made, or lie in much that nobody needs: who uses them for long copies and
// drops each, and closes the file.
bool leat_data_file_is_scattered(const leat_data_file *file);

// All have their data then.
LEAT_MUST_USE leat_status leat_data_file_read_all(leat_data_file *file, leat_error *error);
// The bytes of the file, with those of others that it has data in.
uint64_t leat_data_file_size(const leat_data_file *file);

// Whether all that it has data in is as it was when it was opened: before and after what is read of
// it is used. (leat_data_file_read asks by itself.)
LEAT_MUST_USE leat_status leat_data_file_check(const leat_data_file *file, leat_error *error);

// Writes what tells the file, and others that it has data in, from all files as they were at
// another time; false: that is not known.
bool leat_data_file_identify(const leat_data_file *file, leat_text *out);

// -- Formats --------------------------------------------------------------------------------------

struct leat_data_format {
  const char *name; // for people: "npz"
  // Whether it is this format, by the bytes of a file that is open, and its path ("": none).
  bool (*recognises)(const char *path, const unsigned char *bytes, size_t size);
  // Fills in tensors, count (the array is malloc'ed; the names and what `data` points to are the
  // content's; in any order) and content; metadata if there is any. On failure `close` is called.
  leat_status (*open)(leat_data_file *file, bool verified, leat_error *error);
  // Fills in the data of a tensor that has none; NULL: all have theirs from the beginning.
  leat_status (*read)(leat_data_file *file, leat_named_tensor *tensor, leat_error *error);
  // Takes the data away again, and gives back what `read` has made for it; NULL: the file is not
  // scattered (leat_data_file_is_scattered).
  void (*drop)(leat_data_file *file, leat_named_tensor *tensor);
  void (*close)(leat_data_file *file); // frees the content, which may be NULL
};

// For a format's `open` and `read`: another file of that name, beside the file, which is closed
// with it. LEAT_INVALID: the name leads elsewhere.
LEAT_MUST_USE leat_status leat_data_file_add_part(leat_data_file *file, const char *name,
                                                  const leat_file_view **out, leat_error *error);

// What a program can read beyond that. The base library, which is linked into what `leat build`
// makes, needs no library of others for it.
typedef struct leat_data_extension {
  // The first `to_size` bytes of what was packed by deflate (RFC 1951). LEAT_INVALID: it is none,
  // or less; LEAT_NOT_FOUND: what unpacks it is not installed.
  leat_status (*inflate)(const void *from, size_t from_size, void *to, size_t to_size,
                         leat_error *error);
  // Model files of other systems, asked before safetensors. NULL at the end.
  const leat_data_format *const *formats;
} leat_data_extension;

// For the whole process, and as long as it lives; called again, it replaces what was said before.
void leat_data_extend(const leat_data_extension *extension);

#endif
