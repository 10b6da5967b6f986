// Of the loaded object that this code is in. A linker may be told to give no id: then the file that
// was loaded stands for itself.
#define _GNU_SOURCE
#include "session/build_id.h"

#include "base/build_id.h"
#include "leat/leat.h"

#include <link.h>

static bool holds(const struct dl_phdr_info *info, uintptr_t address) {
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    uintptr_t start = info->dlpi_addr + segment->p_vaddr;
    if (segment->p_type == PT_LOAD && address - start < segment->p_memsz) return true;
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
    if (leat_build_id_of_notes(notes, segment->p_memsz, context)) return 1;
  }
  bool program = !info->dlpi_name || !*info->dlpi_name; // that has no name here
  leat_build_id_of_file(program ? "/proc/self/exe" : info->dlpi_name, context);
  return 1;
}

void leat_build_id_add(leat_text *out) {
  leat_text_add(out, "leat %s ", LEAT_VERSION);
  dl_iterate_phdr(add_of_object, out);
  leat_text_add(out, "\n");
}
