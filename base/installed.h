// Where Leat's own files lie, as lists of directories between `:`. `$ORIGIN` at a directory's
// beginning is the folder of the object that this code is in, as in the run path of an object: of
// the program, or of the shared library. So a tree works that was moved, or installed below another
// root, and a library that another program loaded.
#ifndef LEAT_BASE_INSTALLED_H
#define LEAT_BASE_INSTALLED_H

#include <stdbool.h>

enum { LEAT_PATH_SIZE = 4096 };

extern const bool leat_has_llvm; // the module leat-llvm was built with this
extern const char leat_module_directories[], leat_library_directories[];
extern const char leat_runtime_directories[]; // of the runtime's source: base/, runtime/, include/

// Writes the next directory of *rest, which goes on behind it; false at the end. One that is too
// long is left out.
bool leat_directory_next(const char **rest, char directory[LEAT_PATH_SIZE]);

// Writes the path of the readable file `name` in the first directory that has one; false: none has.
// NULL is a list without directories.
bool leat_directory_find(const char *directories, const char *name, char path[LEAT_PATH_SIZE]);

// The folder of the runtime's source, whose include/ has the public headers too; false: there is
// none.
bool leat_runtime_source(char path[LEAT_PATH_SIZE]);

// The file that the code or constant data at an address was loaded from: the executable, or a
// shared object. False: nobody knows.
bool leat_path_of_code(const void *address, char path[LEAT_PATH_SIZE]);

#endif
