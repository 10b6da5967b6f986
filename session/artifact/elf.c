#include "session/artifact/elf.h"

#include <elf.h>
#include <string.h>

enum {
  LARGE = 0x10000000,     // SHF_X86_64_LARGE: may lie farther away than 2 GB
  LARGEST_PAGE = 1 << 16, // of any machine
};

static const char section_name[] = ".lrodata";

typedef struct elf {
  leat_arena *arena;
  unsigned char *bytes; // the copy, which has room for what is added
  uint64_t size;
  Elf64_Ehdr header;
  leat_error *error;
} elf;

#define UNKNOWN(e, what)                                                                           \
  leat_fail((e)->error, LEAT_UNSUPPORTED, "cannot put weights into this ELF file: " what)

static bool lies_in(const elf *e, uint64_t offset, uint64_t size) {
  return offset <= e->size && size <= e->size - offset;
}

static Elf64_Shdr section(const elf *e, uint32_t i) {
  Elf64_Shdr out;
  memcpy(&out, e->bytes + e->header.e_shoff + (uint64_t)i * sizeof out, sizeof out);
  return out;
}

static void set_section(elf *e, uint32_t i, const Elf64_Shdr *value) {
  memcpy(e->bytes + e->header.e_shoff + (uint64_t)i * sizeof *value, value, sizeof *value);
}

// With room for `more` bytes.
static leat_status open_elf(elf *e, leat_bytes file, uint64_t more) {
  static const unsigned char kind[] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB};
  if (file.size < sizeof e->header || memcmp(file.data, kind, sizeof kind) != 0)
    return UNKNOWN(e, "it is not of 64 bits, little-endian");
  e->bytes = leat_arena_alloc(e->arena, file.size + more);
  memcpy(e->bytes, file.data, file.size);
  e->size = file.size;
  memcpy(&e->header, e->bytes, sizeof e->header);
  const Elf64_Ehdr *h = &e->header;
  if (h->e_shentsize != sizeof(Elf64_Shdr) || !h->e_shnum || h->e_shstrndx >= h->e_shnum ||
      !lies_in(e, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr)))
    return UNKNOWN(e, "its sections");
  for (uint32_t i = 0; i < h->e_shnum; i++) {
    Elf64_Shdr s = section(e, i);
    if (s.sh_type != SHT_NOBITS && s.sh_type != SHT_NULL && !lies_in(e, s.sh_offset, s.sh_size))
      return UNKNOWN(e, "its sections");
  }
  return LEAT_OK;
}

// Of the weights, which are a segment of their own: the largest page that the machine may have.
static uint64_t page_of(const elf *e) {
  return e->header.e_machine == EM_X86_64 ? 1 << 12 : LARGEST_PAGE;
}

// Adds bytes at a multiple of `alignment`; returns where they are.
static uint64_t append(elf *e, const void *bytes, uint64_t size, uint64_t alignment) {
  uint64_t at = (e->size + alignment - 1) & ~(alignment - 1);
  memset(e->bytes + e->size, 0, at - e->size);
  if (size) memcpy(e->bytes + at, bytes, size);
  e->size = at + size;
  return at;
}

// The bytes that all behind `at` of a table of strings is, up to its NUL; "": damaged.
static const char *string_at(const elf *e, const Elf64_Shdr *strings, uint32_t at) {
  const char *begin = (const char *)e->bytes + strings->sh_offset;
  bool whole = at < strings->sh_size && memchr(begin + at, 0, strings->sh_size - at);
  return whole ? begin + at : "";
}

// -- Objects --------------------------------------------------------------------------------------

// The symbol, which nothing defines yet, is section `number`, from its beginning.
static leat_status define(elf *e, const char *symbol, uint32_t number, uint64_t size) {
  for (uint32_t i = 0; i < e->header.e_shnum; i++) {
    Elf64_Shdr table = section(e, i);
    if (table.sh_type != SHT_SYMTAB || table.sh_link >= e->header.e_shnum) continue;
    Elf64_Shdr strings = section(e, table.sh_link);
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym entry;
      unsigned char *where = e->bytes + table.sh_offset + at;
      memcpy(&entry, where, sizeof entry);
      if (entry.st_shndx != SHN_UNDEF || strcmp(string_at(e, &strings, entry.st_name), symbol) != 0)
        continue;
      entry.st_shndx = (Elf64_Half)number;
      entry.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
      entry.st_other = STV_HIDDEN; // the artifact's own
      entry.st_value = 0;
      entry.st_size = size;
      memcpy(where, &entry, sizeof entry);
      return LEAT_OK;
    }
  }
  return UNKNOWN(e, "it does not refer to them");
}

// The names of sections, with one more, which *out_name is the index of.
static void add_name(elf *e, uint32_t *out_name) {
  Elf64_Shdr names = section(e, e->header.e_shstrndx);
  char *copy = leat_arena_alloc(e->arena, names.sh_size + sizeof section_name);
  memcpy(copy, e->bytes + names.sh_offset, names.sh_size);
  memcpy(copy + names.sh_size, section_name, sizeof section_name);
  *out_name = (uint32_t)names.sh_size;
  names.sh_size += sizeof section_name;
  names.sh_offset = append(e, copy, names.sh_size, 1);
  set_section(e, e->header.e_shstrndx, &names);
}

static leat_status add_weights(elf *e, const char *symbol, uint64_t size, bool filled) {
  uint32_t count = e->header.e_shnum, name;
  if (e->header.e_type != ET_REL || count + 1 >= SHN_LORESERVE)
    return UNKNOWN(e, "it is no object, or has too many sections");
  add_name(e, &name);
  LEAT_TRY(define(e, symbol, count, size));
  uint64_t table = append(e, e->bytes + e->header.e_shoff, count * sizeof(Elf64_Shdr), 8);
  e->header.e_shoff = table;
  e->size += sizeof(Elf64_Shdr);
  e->header.e_shnum++;
  Elf64_Shdr weights = {.sh_name = name,
                        .sh_type = filled ? SHT_PROGBITS : SHT_NOBITS,
                        .sh_flags = SHF_ALLOC | (e->header.e_machine == EM_X86_64 ? LARGE : 0),
                        .sh_offset = e->size,
                        .sh_size = size,
                        .sh_addralign = page_of(e)};
  if (filled) weights.sh_offset = append(e, NULL, 0, 64);
  set_section(e, count, &weights);
  memcpy(e->bytes, &e->header, sizeof e->header);
  return LEAT_OK;
}

leat_status leat_elf_add_weights(leat_arena *arena, leat_bytes object, const char *symbol,
                                 uint64_t size, bool filled, leat_bytes *out, leat_error *error) {
  elf e = {.arena = arena, .error = error};
  // The names and the sections are written once more, each with one more.
  LEAT_TRY(open_elf(&e, object, object.size + 1024));
  LEAT_TRY(add_weights(&e, symbol, size, filled));
  *out = (leat_bytes){e.bytes, e.size};
  return LEAT_OK;
}

// -- What was linked ------------------------------------------------------------------------------

static Elf64_Phdr segment(const elf *e, uint32_t i) {
  Elf64_Phdr out;
  memcpy(&out, e->bytes + e->header.e_phoff + (uint64_t)i * sizeof out, sizeof out);
  return out;
}

static void set_segment(elf *e, uint32_t i, const Elf64_Phdr *value) {
  memcpy(e->bytes + e->header.e_phoff + (uint64_t)i * sizeof *value, value, sizeof *value);
}

static bool find_section(const elf *e, uint32_t *out) {
  Elf64_Shdr names = section(e, e->header.e_shstrndx);
  for (*out = 0; *out < e->header.e_shnum; ++*out)
    if (strcmp(string_at(e, &names, section(e, *out).sh_name), section_name) == 0) return true;
  return false;
}

// The segment that the section, which has no bytes in the file, is the end of.
static bool find_segment(const elf *e, const Elf64_Shdr *weights, uint32_t *out) {
  for (*out = 0; *out < e->header.e_phnum; ++*out) {
    Elf64_Phdr s = segment(e, *out);
    if (s.p_type == PT_LOAD && weights->sh_addr >= s.p_vaddr + s.p_filesz &&
        weights->sh_addr + weights->sh_size == s.p_vaddr + s.p_memsz)
      return true;
  }
  return false;
}

// Makes room for one more segment behind number `after`, in the place of a note, of which there are
// some that nobody needs to run a program; *after is where the room is.
static bool take_note(elf *e, uint32_t *after) {
  for (uint32_t i = 0; i < e->header.e_phnum; i++) {
    if (segment(e, i).p_type != PT_NOTE) continue;
    for (; i > *after + 1; i--) {
      Elf64_Phdr earlier = segment(e, i - 1);
      set_segment(e, i, &earlier);
    }
    for (; i < *after; i++) {
      Elf64_Phdr later = segment(e, i + 1);
      set_segment(e, i, &later);
    }
    *after = i;
    return true;
  }
  return false;
}

static leat_status fill_weights(elf *e, uint64_t size) {
  uint32_t number, at;
  if (e->header.e_phentsize != sizeof(Elf64_Phdr) ||
      !lies_in(e, e->header.e_phoff, (uint64_t)e->header.e_phnum * sizeof(Elf64_Phdr)) ||
      !find_section(e, &number))
    return UNKNOWN(e, "the linker has left nothing of their section");
  Elf64_Shdr weights = section(e, number);
  uint64_t padding = weights.sh_size - size; // GNU ld begins the section earlier
  weights.sh_addr += padding;
  weights.sh_size = size;
  if (weights.sh_type != SHT_NOBITS || padding >= page_of(e) || weights.sh_addr % page_of(e) ||
      !find_segment(e, &weights, &at))
    return UNKNOWN(e, "the linker has placed their section among others");
  Elf64_Phdr held = segment(e, at);
  if (held.p_vaddr != weights.sh_addr) { // of the segment only what is before them stays
    held.p_memsz = weights.sh_addr - held.p_vaddr;
    set_segment(e, at, &held);
    if (!take_note(e, &at)) return UNKNOWN(e, "it has no room for one more segment");
  }
  weights.sh_type = SHT_PROGBITS;
  weights.sh_offset = append(e, NULL, 0, page_of(e));
  set_section(e, number, &weights);
  Elf64_Phdr own = {.p_type = PT_LOAD,
                    .p_flags = PF_R,
                    .p_offset = weights.sh_offset,
                    .p_vaddr = weights.sh_addr,
                    .p_paddr = weights.sh_addr,
                    .p_filesz = size,
                    .p_memsz = size,
                    .p_align = page_of(e)};
  set_segment(e, at, &own);
  return LEAT_OK;
}

leat_status leat_elf_fill_weights(leat_arena *arena, leat_bytes linked, uint64_t size,
                                  leat_bytes *out, leat_error *error) {
  elf e = {.arena = arena, .error = error};
  LEAT_TRY(open_elf(&e, linked, LARGEST_PAGE));
  LEAT_TRY(fill_weights(&e, size));
  *out = (leat_bytes){e.bytes, e.size};
  return LEAT_OK;
}
