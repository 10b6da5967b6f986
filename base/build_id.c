#define _GNU_SOURCE
#include "base/build_id.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_SEGMENTS = 64, MOST_NOTES = 16 << 10 };

static size_t padded(size_t size) {
  return (size + 3) & ~(size_t)3;
}

bool leat_build_id_of_notes(const char *notes, size_t size, leat_text *out) {
  for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= size;) {
    ElfW(Nhdr) note;
    memcpy(&note, notes + at, sizeof note);
    const char *name = notes + at + sizeof note, *id = name + padded(note.n_namesz);
    at += sizeof note + padded(note.n_namesz) + padded(note.n_descsz);
    if (at > size) return false;
    if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 || memcmp(name, "GNU", 4)) continue;
    for (size_t i = 0; i < note.n_descsz; i++) leat_text_add(out, "%02x", (unsigned char)id[i]);
    return true;
  }
  return false;
}

static bool read_at(int file, void *to, size_t size, uint64_t offset) {
  return pread(file, to, size, (off_t)offset) == (ssize_t)size;
}

static bool find_in_file(int file, leat_text *out) {
  ElfW(Ehdr) header;
  ElfW(Phdr) segments[MOST_SEGMENTS];
  char notes[MOST_NOTES];
  if (!read_at(file, &header, sizeof header, 0) || memcmp(header.e_ident, ELFMAG, SELFMAG) ||
      header.e_phentsize != sizeof *segments || header.e_phnum > MOST_SEGMENTS ||
      !read_at(file, segments, header.e_phnum * sizeof *segments, header.e_phoff))
    return false;
  for (int i = 0; i < header.e_phnum; i++) {
    const ElfW(Phdr) *segment = &segments[i];
    if (segment->p_type == PT_NOTE && segment->p_filesz <= sizeof notes &&
        read_at(file, notes, segment->p_filesz, segment->p_offset) &&
        leat_build_id_of_notes(notes, segment->p_filesz, out))
      return true;
  }
  return false;
}

bool leat_build_id_of_file(const char *path, leat_text *out) {
  struct stat info;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  bool there = fstat(file, &info) == 0;
  if (there && !find_in_file(file, out))
    leat_text_add(out, "%lld %lld.%09ld", (long long)info.st_size, (long long)info.st_mtim.tv_sec,
                  info.st_mtim.tv_nsec);
  close(file);
  return there;
}
