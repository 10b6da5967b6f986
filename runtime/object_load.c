// The object loader. One mapping holds, in this order, the executable sections, an import a symbol,
// and, from the next page, the read-only sections. An import is 16 bytes, `jmp *8(here)` and the
// address, so that it serves calls of far functions and reads of addresses (GOTPCREL) alike. The
// mapping is filled while writable, then protected.
#define _GNU_SOURCE
#include "runtime/object_load.h"

#include <elf.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LARGEST_MAPPING = 1 << 28, IMPORT_SIZE = 16, IMPORT_ADDRESS = 8 };

struct leat_loaded_object {
  unsigned char *base;
  size_t size;
  char *names; // the string table
  size_t symbol_count;
  struct {
    uint32_t name; // offset in names
    void *address;
  } symbols[];
};

// What is being loaded.
typedef struct loader {
  const unsigned char *data;
  size_t size;
  const Elf64_Ehdr *header;
  const Elf64_Shdr *sections;
  size_t section_count;
  const Elf64_Sym *symbols;
  size_t symbol_count;
  const char *names;
  size_t names_size;
  size_t *offsets; // of sections in the mapping; 0 is "not loaded", + 1 else
  size_t imports;  // offset of the imports
  unsigned char *base;
  size_t code_size, mapping_size;
  leat_error *error;
} loader;

#define REFUSE(l, ...) leat_fail((l)->error, LEAT_INVALID, "object code: " __VA_ARGS__)

// -- What code may call --------------------------------------------------------------------------

#define IMPORTS(X)                                                                                 \
  X(memcpy) X(memmove) X(memset) X(fma) X(fmaf) X(floor) X(floorf) X(rint) X(rintf) X(sqrt) X(sqrtf)

double roundeven(double);
float roundevenf(float);

static void *import_address(const char *name) {
  static const struct {
    const char *name;
    void *address;
  } table[] = {
#define X(function) {#function, (void *)(uintptr_t)function},
      IMPORTS(X) X(roundeven) X(roundevenf)
#undef X
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (strcmp(name, table[i].name) == 0) return table[i].address;
  return NULL;
}

// -- Reading -------------------------------------------------------------------------------------

static bool inside(size_t size, uint64_t offset, uint64_t length) {
  return offset <= size && length <= size - offset;
}

static leat_status read_header(loader *l) {
  const Elf64_Ehdr *h = (const Elf64_Ehdr *)l->data;
  if (l->size < sizeof *h || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
    return REFUSE(l, "not an ELF file");
  if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB ||
      h->e_type != ET_REL)
    return REFUSE(l, "not a little-endian 64-bit relocatable object");
#ifdef __x86_64__
  if (h->e_machine != EM_X86_64) return REFUSE(l, "not for x86-64 (machine %u)", h->e_machine);
#else
  return leat_fail(l->error, LEAT_UNSUPPORTED, "object code is loaded on x86-64 only");
#endif
  if (h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shoff % 8 != 0 ||
      !inside(l->size, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr)))
    return REFUSE(l, "the section table is outside the file");
  l->header = h;
  l->sections = (const Elf64_Shdr *)(l->data + h->e_shoff);
  l->section_count = h->e_shnum;
  return LEAT_OK;
}

static leat_status check_sections(loader *l) {
  for (size_t i = 0; i < l->section_count; i++) {
    const Elf64_Shdr *s = &l->sections[i];
    if (s->sh_type == SHT_NOBITS ? s->sh_size > LARGEST_MAPPING
                                 : !inside(l->size, s->sh_offset, s->sh_size))
      return REFUSE(l, "section %zu is outside the file", i);
    if (!(s->sh_flags & SHF_ALLOC) || s->sh_size == 0) continue;
    if (s->sh_flags & (SHF_WRITE | SHF_TLS)) return REFUSE(l, "section %zu is writable", i);
    if (s->sh_addralign > 4096 || (s->sh_addralign & (s->sh_addralign - 1)) != 0)
      return REFUSE(l, "section %zu has alignment %llu", i, (unsigned long long)s->sh_addralign);
  }
  return LEAT_OK;
}

static leat_status read_symbols(loader *l) {
  for (size_t i = 0; i < l->section_count; i++) {
    const Elf64_Shdr *s = &l->sections[i];
    if (s->sh_type != SHT_SYMTAB) continue;
    if (l->symbols) return REFUSE(l, "two symbol tables");
    if (s->sh_entsize != sizeof(Elf64_Sym) || s->sh_offset % 8 != 0 ||
        s->sh_link >= l->section_count || l->sections[s->sh_link].sh_type != SHT_STRTAB)
      return REFUSE(l, "the symbol table is malformed");
    const Elf64_Shdr *names = &l->sections[s->sh_link];
    l->symbols = (const Elf64_Sym *)(l->data + s->sh_offset);
    l->symbol_count = s->sh_size / sizeof(Elf64_Sym);
    l->names = (const char *)l->data + names->sh_offset;
    l->names_size = names->sh_size;
  }
  if (!l->symbols || l->names_size == 0 || l->names[l->names_size - 1] != '\0')
    return REFUSE(l, "no symbol table");
  for (size_t i = 0; i < l->symbol_count; i++)
    if (l->symbols[i].st_name >= l->names_size) return REFUSE(l, "symbol %zu has no name", i);
  return LEAT_OK;
}

// -- Layout --------------------------------------------------------------------------------------

static size_t align_up(size_t n, size_t alignment) {
  return (n + alignment - 1) & ~(alignment - 1);
}

// Sizes stay far from overflow: each section is within the file or LARGEST_MAPPING, and the sum is
// checked as it grows.
static bool place_sections(loader *l, bool executable, size_t *end) {
  for (size_t i = 0; i < l->section_count; i++) {
    const Elf64_Shdr *s = &l->sections[i];
    if (!(s->sh_flags & SHF_ALLOC) || s->sh_size == 0) continue;
    if (!!(s->sh_flags & SHF_EXECINSTR) != executable) continue;
    size_t offset = align_up(*end, s->sh_addralign ? s->sh_addralign : 1);
    if (offset > LARGEST_MAPPING || s->sh_size > LARGEST_MAPPING - offset) return false;
    l->offsets[i] = offset + 1;
    *end = offset + s->sh_size;
  }
  return true;
}

static leat_status lay_out(loader *l) {
  size_t end = 0, page = (size_t)getpagesize();
  bool fits = place_sections(l, true, &end) && l->symbol_count < LARGEST_MAPPING / IMPORT_SIZE / 2;
  if (fits) {
    l->imports = align_up(end, IMPORT_SIZE);
    l->code_size = l->imports + l->symbol_count * IMPORT_SIZE;
    end = align_up(l->code_size, page);
    fits = end < LARGEST_MAPPING && place_sections(l, false, &end);
  }
  if (!fits) return REFUSE(l, "larger than %d bytes", LARGEST_MAPPING);
  l->mapping_size = align_up(end, page);
  void *base =
      mmap(NULL, l->mapping_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return leat_fail(l->error, LEAT_MEMORY, "no memory for object code");
  l->base = base;
  for (size_t i = 0; i < l->section_count; i++) {
    const Elf64_Shdr *s = &l->sections[i];
    if (l->offsets[i] && s->sh_type != SHT_NOBITS)
      memcpy(l->base + l->offsets[i] - 1, l->data + s->sh_offset, s->sh_size);
  }
  return LEAT_OK;
}

// -- Relocations ---------------------------------------------------------------------------------

// The address of symbol i: in the mapping, or of an import.
static leat_status symbol_address(loader *l, size_t i, void **out) {
  const Elf64_Sym *symbol = &l->symbols[i];
  const char *name = l->names + symbol->st_name;
  if (symbol->st_shndx == SHN_UNDEF) {
    *out = import_address(name);
    return *out ? LEAT_OK : REFUSE(l, "needs '%s', which kernels may not call", name);
  }
  size_t section = symbol->st_shndx;
  bool loaded = section < l->section_count && l->offsets[section];
  if (!loaded || symbol->st_value > l->sections[section].sh_size)
    return REFUSE(l, "symbol '%s' is not in a loaded section", name);
  *out = l->base + l->offsets[section] - 1 + symbol->st_value;
  return LEAT_OK;
}

static unsigned char *fill_import(loader *l, size_t symbol, void *address) {
  static const unsigned char jump[IMPORT_ADDRESS] = {0xff, 0x25, 2, 0, 0, 0, 0x0f, 0x0b};
  unsigned char *import = l->base + l->imports + symbol * IMPORT_SIZE;
  memcpy(import, jump, sizeof jump);
  memcpy(import + IMPORT_ADDRESS, &address, sizeof address);
  return import;
}

static leat_status apply(loader *l, const Elf64_Rela *r, size_t section) {
  size_t symbol = ELF64_R_SYM(r->r_info), room = l->sections[section].sh_size;
  unsigned type = (unsigned)ELF64_R_TYPE(r->r_info), width = type == R_X86_64_64 ? 8 : 4;
  void *address;
  if (type == R_X86_64_NONE) return LEAT_OK;
  if (symbol == 0 || symbol >= l->symbol_count) return REFUSE(l, "a relocation without a symbol");
  if (!inside(room, r->r_offset, width)) return REFUSE(l, "a relocation outside its section");
  LEAT_TRY(symbol_address(l, symbol, &address));
  unsigned char *at = l->base + l->offsets[section] - 1 + r->r_offset;
  bool imported = l->symbols[symbol].st_shndx == SHN_UNDEF;
  switch (type) {
  case R_X86_64_64: {
    uint64_t value = (uint64_t)(uintptr_t)address + (uint64_t)r->r_addend;
    memcpy(at, &value, sizeof value);
    return LEAT_OK;
  }
  case R_X86_64_PC32:
  case R_X86_64_PLT32:
    if (imported) address = fill_import(l, symbol, address);
    break;
  case R_X86_64_GOTPCREL:
  case R_X86_64_GOTPCRELX:
  case R_X86_64_REX_GOTPCRELX: address = fill_import(l, symbol, address) + IMPORT_ADDRESS; break;
  default: return REFUSE(l, "relocation type %u is not supported", type);
  }
  int64_t distance =
      (int64_t)((uint64_t)(uintptr_t)address + (uint64_t)r->r_addend - (uint64_t)(uintptr_t)at);
  int32_t near = (int32_t)distance;
  if (near != distance) return REFUSE(l, "a relocation does not reach its target");
  memcpy(at, &near, sizeof near);
  return LEAT_OK;
}

static leat_status relocate(loader *l) {
  for (size_t i = 0; i < l->section_count; i++) {
    const Elf64_Shdr *s = &l->sections[i];
    if (s->sh_type != SHT_RELA && s->sh_type != SHT_REL) continue;
    if (s->sh_info >= l->section_count) return REFUSE(l, "relocations of no section");
    if (!l->offsets[s->sh_info]) continue; // of debug sections and the like
    if (s->sh_type == SHT_REL || s->sh_entsize != sizeof(Elf64_Rela) || s->sh_offset % 8 != 0)
      return REFUSE(l, "malformed relocations");
    const Elf64_Rela *all = (const Elf64_Rela *)(l->data + s->sh_offset);
    for (size_t j = 0; j < s->sh_size / sizeof *all; j++) LEAT_TRY(apply(l, &all[j], s->sh_info));
  }
  return LEAT_OK;
}

static leat_status protect(loader *l) {
  size_t page = (size_t)getpagesize(), code = align_up(l->code_size, page);
  bool done =
      (code == 0 || mprotect(l->base, code, PROT_READ | PROT_EXEC) == 0) &&
      (code == l->mapping_size || mprotect(l->base + code, l->mapping_size - code, PROT_READ) == 0);
  return done ? LEAT_OK
              : leat_fail(l->error, LEAT_IO, "the system does not let pages be executable");
}

// -- The loaded object ---------------------------------------------------------------------------

static leat_loaded_object *make_object(loader *l) {
  size_t size =
      sizeof(leat_loaded_object) + l->symbol_count * sizeof *((leat_loaded_object *)NULL)->symbols;
  leat_loaded_object *object = calloc(1, size);
  char *names = malloc(l->names_size);
  if (!object || !names) {
    free(object);
    free(names);
    return NULL;
  }
  memcpy(names, l->names, l->names_size);
  object->base = l->base;
  object->size = l->mapping_size;
  object->names = names;
  l->error = NULL; // symbols of sections that are not loaded are left out in silence
  for (size_t i = 0; i < l->symbol_count; i++) {
    const Elf64_Sym *symbol = &l->symbols[i];
    void *address;
    bool defined = ELF64_ST_BIND(symbol->st_info) == STB_GLOBAL && symbol->st_shndx != SHN_UNDEF;
    if (!defined || symbol_address(l, i, &address)) continue;
    object->symbols[object->symbol_count].name = symbol->st_name;
    object->symbols[object->symbol_count++].address = address;
  }
  return object;
}

leat_status leat_object_load(const void *data, size_t size, leat_loaded_object **out,
                             leat_error *error) {
  loader l = {.data = data, .size = size, .error = error};
  *out = NULL;
  if ((uintptr_t)data % 8 != 0) return REFUSE(&l, "the bytes are not aligned");
  LEAT_TRY(read_header(&l));
  LEAT_TRY(check_sections(&l));
  LEAT_TRY(read_symbols(&l));
  l.offsets = calloc(l.section_count, sizeof *l.offsets);
  if (!l.offsets) return leat_fail(error, LEAT_MEMORY, "no memory for object code");
  leat_status status = lay_out(&l);
  if (!status) status = relocate(&l);
  if (!status) status = protect(&l);
  if (!status && !(*out = make_object(&l)))
    status = leat_fail(error, LEAT_MEMORY, "no memory for object code");
  if (status && l.base) munmap(l.base, l.mapping_size);
  free(l.offsets);
  return status;
}

void *leat_object_symbol(const leat_loaded_object *object, const char *name) {
  for (size_t i = 0; i < object->symbol_count; i++)
    if (strcmp(object->names + object->symbols[i].name, name) == 0)
      return object->symbols[i].address;
  return NULL;
}

void leat_object_unload(leat_loaded_object *object) {
  if (!object) return;
  munmap(object->base, object->size);
  free(object->names);
  free(object);
}
