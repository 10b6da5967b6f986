// The linker's build id is a note (NT_GNU_BUILD_ID) of the loaded object that this code is in. A
// linker may be told to make none: then the file that was loaded stands for itself.
#define _GNU_SOURCE
#include "session/build_id.h"

#include "leat/leat.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>

static bool holds(const struct dl_phdr_info *info, uintptr_t address) {
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    uintptr_t start = info->dlpi_addr + segment->p_vaddr;
    if (segment->p_type == PT_LOAD && address - start < segment->p_memsz) return true;
  }
  return false;
}

static size_t padded(size_t size) {
  return (size + 3) & ~(size_t)3;
}

static bool add_note(leat_text *out, const char *notes, size_t size) {
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

// The program itself has no name here.
static void add_file(const char *name, leat_text *out) {
  struct stat info;
  if (stat(name && *name ? name : "/proc/self/exe", &info)) return;
  leat_text_add(out, "%lld %lld.%09ld", (long long)info.st_size, (long long)info.st_mtim.tv_sec,
                info.st_mtim.tv_nsec);
}

static int add_of_object(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  if (!holds(info, (uintptr_t)&leat_build_id_add)) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    if (segment->p_type != PT_NOTE) continue;
    const char *notes = (const char *)(info->dlpi_addr + segment->p_vaddr);
    if (add_note(context, notes, segment->p_memsz)) return 1;
  }
  add_file(info->dlpi_name, context);
  return 1;
}

void leat_build_id_add(leat_text *out) {
  leat_text_add(out, "leat %s ", LEAT_VERSION);
  dl_iterate_phdr(add_of_object, out);
  leat_text_add(out, "\n");
}
