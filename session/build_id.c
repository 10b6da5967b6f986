// The linker's build id is a note (NT_GNU_BUILD_ID) of the loaded object that this code is in.
#define _GNU_SOURCE
#include "session/build_id.h"

#include "leat/leat.h"

#include <elf.h>
#include <link.h>
#include <string.h>

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

static int add_of_object(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  if (!holds(info, (uintptr_t)&leat_build_id_add)) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    if (segment->p_type != PT_NOTE) continue;
    const char *notes = (const char *)(info->dlpi_addr + segment->p_vaddr);
    if (add_note(context, notes, segment->p_memsz)) break;
  }
  return 1;
}

void leat_build_id_add(leat_text *out) {
  leat_text_add(out, "leat %s ", LEAT_VERSION);
  dl_iterate_phdr(add_of_object, out);
  leat_text_add(out, "\n");
}
