// A file is "!<arch>\n", the index "/" (big-endian: how many symbols, for each where the member
// that defines it begins, the names), the long names "//", each ended by "/\n", and the members,
// each behind a header of text and at an even place.
#include "session/artifact/archive.h"

#include <ar.h>
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static size_t even(size_t size) {
  return size + (size & 1);
}

// -- Reading -------------------------------------------------------------------------------------

void leat_archive_add(leat_archive *archive, const char *name, leat_bytes object) {
  leat_vec_push(archive->arena, &archive->members, ((leat_archive_member){name, object, 0}));
}

// A number of a header's field, which ends with blanks.
static size_t field(const char *text, size_t size) {
  size_t value = 0;
  for (size_t i = 0; i < size && text[i] >= '0' && text[i] <= '9'; i++)
    value = 10 * value + (size_t)(text[i] - '0');
  return value;
}

// "name/", or "/N": the name at byte N of the long ones.
static const char *name_of(const leat_archive *archive, const struct ar_hdr *header,
                           leat_bytes long_names) {
  const char *from = header->ar_name;
  size_t room = sizeof header->ar_name;
  if (*from == '/') {
    size_t at = field(from + 1, room - 1);
    if (at >= long_names.size) return "member.o";
    from = (const char *)long_names.data + at;
    room = long_names.size - at;
  }
  const char *end = memchr(from, '/', room);
  return leat_arena_strndup(archive->arena, from, end ? (size_t)(end - from) : room);
}

leat_status leat_archive_add_all(leat_archive *archive, leat_bytes other, const char *path,
                                 leat_error *error) {
  const char *bytes = other.data;
  leat_bytes long_names = {0};
  if (other.size < SARMAG || memcmp(bytes, ARMAG, SARMAG) != 0)
    return leat_fail(error, LEAT_INVALID, "%s is no archive of objects", path);
  for (size_t at = SARMAG; at < other.size;) {
    struct ar_hdr header;
    if (other.size - at < sizeof header)
      return leat_fail(error, LEAT_INVALID, "%s is cut short", path);
    memcpy(&header, bytes + at, sizeof header);
    at += sizeof header;
    size_t size = field(header.ar_size, sizeof header.ar_size);
    if (memcmp(header.ar_fmag, ARFMAG, sizeof header.ar_fmag) != 0 || size > other.size - at)
      return leat_fail(error, LEAT_INVALID, "%s is damaged", path);
    leat_bytes content = {bytes + at, size};
    at += even(size);
    bool long_ones = memcmp(header.ar_name, "// ", 3) == 0;
    bool index = memcmp(header.ar_name, "/ ", 2) == 0 || memcmp(header.ar_name, "/SYM64/", 7) == 0;
    if (long_ones)
      long_names = content;
    else if (!index)
      leat_archive_add(archive, name_of(archive, &header, long_names), content);
  }
  return LEAT_OK;
}

// -- Symbols -------------------------------------------------------------------------------------

static bool inside(leat_bytes file, uint64_t offset, uint64_t size) {
  return offset <= file.size && size <= file.size - offset;
}

// The sections of an object; 0: it is none.
static size_t section_count(leat_bytes object, Elf64_Ehdr *header) {
  if (object.size < sizeof *header) return 0;
  memcpy(header, object.data, sizeof *header);
  bool fits = memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
              header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
              header->e_shentsize == sizeof(Elf64_Shdr) &&
              inside(object, header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr));
  return fits ? header->e_shnum : 0;
}

static Elf64_Shdr section(leat_bytes object, const Elf64_Ehdr *header, size_t i) {
  Elf64_Shdr found;
  memcpy(&found, (const char *)object.data + header->e_shoff + i * sizeof found, sizeof found);
  return found;
}

// Those of a table that others may refer to: their names go to `names`, each with its NUL.
static bool list_table(leat_bytes object, Elf64_Shdr table, Elf64_Shdr strings, leat_text *names,
                       uint32_t *count) {
  const char *bytes = object.data;
  if (!inside(object, table.sh_offset, table.sh_size) || !strings.sh_size ||
      !inside(object, strings.sh_offset, strings.sh_size) ||
      bytes[strings.sh_offset + strings.sh_size - 1])
    return false;
  for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    memcpy(&symbol, bytes + table.sh_offset + at, sizeof symbol);
    if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL || symbol.st_shndx == SHN_UNDEF) continue;
    if (symbol.st_name >= strings.sh_size) return false;
    const char *name = bytes + strings.sh_offset + symbol.st_name;
    leat_text_add_n(names, name, strlen(name) + 1);
    ++*count;
  }
  return true;
}

// What a member defines. False: it is no object.
static bool list_symbols(leat_bytes object, leat_text *names, uint32_t *count) {
  Elf64_Ehdr header;
  size_t sections = section_count(object, &header);
  for (size_t i = 0; i < sections; i++) {
    Elf64_Shdr table = section(object, &header, i);
    if (table.sh_type != SHT_SYMTAB) continue;
    if (table.sh_link >= sections) return false;
    Elf64_Shdr strings = section(object, &header, table.sh_link);
    if (!list_table(object, table, strings, names, count)) return false;
  }
  return sections != 0;
}

// -- Writing -------------------------------------------------------------------------------------

static void add_header(leat_text *out, const char *name, size_t size) {
  leat_text_add(out, "%-16s%-12d%-6d%-6d%-8s%-10zu" ARFMAG, name, 0, 0, 0, "644", size);
}

static void add_content(leat_text *out, const void *data, size_t size) {
  leat_text_add_n(out, data, size);
  if (size & 1) leat_text_add_n(out, "\n", 1);
}

static void add_big_endian(leat_text *out, size_t value) {
  const unsigned char word[] = {(unsigned char)(value >> 24), (unsigned char)(value >> 16),
                                (unsigned char)(value >> 8), (unsigned char)value};
  leat_text_add_n(out, (const char *)word, sizeof word);
}

// What the parts of an archive become, before the places of members are known.
typedef struct layout {
  leat_text symbols; // of all members
  leat_text long_names;
  uint32_t count, *counts; // of symbols, of each member's
  size_t *places;          // of each member's long name
} layout;

static leat_status lay_out(const leat_archive *archive, layout *l, leat_error *error) {
  l->counts = leat_new_array(archive->arena, uint32_t, archive->members.count + 1);
  l->places = leat_new_array(archive->arena, size_t, archive->members.count + 1);
  for (uint32_t i = 0; i < archive->members.count; i++) {
    const leat_archive_member *member = &archive->members.items[i];
    if (!list_symbols(member->object, &l->symbols, &l->counts[i]))
      return leat_fail(error, LEAT_INVALID, "%s is no object of a 64-bit little-endian machine",
                       member->name);
    l->count += l->counts[i];
    l->places[i] = l->long_names.size;
    leat_text_add(&l->long_names, "%s/\n", member->name);
  }
  return LEAT_OK;
}

static void print(const leat_archive *archive, const layout *l, leat_text *out) {
  size_t index = 4 + 4 * (size_t)l->count + l->symbols.size;
  size_t at = SARMAG + 2 * sizeof(struct ar_hdr) + even(index) + even(l->long_names.size);
  leat_text_add_n(out, ARMAG, SARMAG);
  add_header(out, "/", index);
  add_big_endian(out, l->count);
  for (uint32_t i = 0; i < archive->members.count; i++) {
    for (uint32_t j = 0; j < l->counts[i]; j++) add_big_endian(out, at);
    at += sizeof(struct ar_hdr) + even(archive->members.items[i].object.size);
  }
  leat_text_add_n(out, l->symbols.data, l->symbols.size);
  if (index & 1) leat_text_add_n(out, "", 1);
  add_header(out, "//", l->long_names.size);
  add_content(out, l->long_names.data, l->long_names.size);
  for (uint32_t i = 0; i < archive->members.count; i++) {
    const leat_archive_member *member = &archive->members.items[i];
    add_header(out, leat_arena_printf(archive->arena, "/%zu", l->places[i]),
               member->object.size + member->rest);
    add_content(out, member->object.data, member->object.size);
  }
}

leat_status leat_archive_print(const leat_archive *archive, leat_text *out, leat_error *error) {
  layout l = {0};
  leat_status status = lay_out(archive, &l, error);
  if (!status) print(archive, &l, out);
  leat_text_finish(&l.symbols);
  leat_text_finish(&l.long_names);
  return status;
}
