#!/usr/bin/env python3
"""Writes the C source that embeds the library, stdlib/**/*.leat, in libleat: the texts, and the index of what they define.

    embed_stdlib.py OUTPUT.c FILE.leat...

A library file holds nothing but comments and the definitions `fn NAME` and `gradient NAME`; whatever else stands
outside a definition is an error here, with its place. The tables are declared in stdlib/stdlib.h.
"""
import re
import sys

TOKEN = re.compile(rb'(?P<comment>#[^\n]*)|(?P<string>"(?:\\.|[^"\\\n])*")|(?P<open>[{(\[])|(?P<close>[})\]])'
                   rb'|(?P<word>[A-Za-z_]\w*)|(?P<newline>\n)|(?P<space>[ \t\r]+)|(?P<other>.)', re.S)
KINDS = {b'fn': 'LEAT_STDLIB_FN', b'gradient': 'LEAT_STDLIB_GRADIENT'}


class Bad(Exception):
    pass


def definitions(path, text):
    """Yields (kind, name, offset, size, line) of each definition in the text."""
    def line(offset):
        return text.count(b'\n', 0, offset) + 1

    def bad(offset, message):
        return Bad(f'{path}:{line(offset)}: {message}')

    depth, start, kind, name, doc = 0, None, None, None, None
    for token in TOKEN.finditer(text):
        group, word, at = token.lastgroup, token.group(), token.start()
        if start is None:  # between definitions
            if group == 'comment' and word.startswith(b'##'):
                doc = at if doc is None else doc
            elif group == 'word' and word in KINDS:
                kind, name, start = word, None, at if doc is None else doc
            elif group == 'newline' and text[at + 1:at + 2] == b'\n':
                doc = None  # a blank line ends a comment block
            elif group not in ('comment', 'newline', 'space'):
                raise bad(at, f'expected `fn` or `gradient`, found `{word.decode()}`')
        elif name is None:
            if group == 'word':
                name = word
            elif group != 'space':
                raise bad(at, f'expected a name after `{kind.decode()}`')
        elif group == 'open':
            depth += 1
        elif group == 'close':
            depth -= 1
            if depth < 0:
                raise bad(at, f'`{word.decode()}` closes nothing')
            if depth == 0 and word == b'}':
                yield kind, name, start, token.end() - start, line(start)
                start = doc = None
    if start is not None:
        raise bad(start, f'the definition of `{name.decode()}` does not end' if name else 'a definition without a name')


def literal(text):
    """The text as C string literals, one a line."""
    escapes = {9: '\\t', 10: '\\n', 13: '\\r', 34: '\\"', 92: '\\\\'}
    encode = lambda byte: escapes.get(byte) or (chr(byte) if 32 <= byte < 127 else f'\\{byte:03o}')
    return '\n'.join('    "' + ''.join(map(encode, line)) + '"' for line in text.splitlines(keepends=True)) or '    ""'


def main():
    output, *paths = sys.argv[1:]
    files, index = [], {}
    for path in paths:
        name = path[path.rindex('stdlib/'):]
        with open(path, 'rb') as source:
            text = source.read()
        for kind, defined, offset, size, line in definitions(name, text):
            key = (list(KINDS).index(kind), defined)
            if key in index:
                raise Bad(f'{name}:{line}: `{kind.decode()} {defined.decode()}` is defined a second time')
            index[key] = (KINDS[kind], defined.decode(), len(files), offset, size, line)
        files.append((name, text))
    with open(output, 'w') as out:
        out.write('// Made by tools/embed_stdlib.py from stdlib/**/*.leat.\n#include "stdlib/stdlib.h"\n\n')
        out.write('const leat_stdlib_file leat_stdlib_files[] = {\n')
        for name, text in files:
            out.write(f'  {{"{name}",\n{literal(text)},\n   {len(text)}}},\n')
        out.write('  {0}\n};\n' f'const uint32_t leat_stdlib_file_count = {len(files)};\n\n')
        out.write('const leat_stdlib_entry leat_stdlib_index[] = {\n')
        for key in sorted(index):
            kind, name, *numbers = index[key]
            out.write(f'  {{{kind}, "{name}", {", ".join(map(str, numbers))}}},\n')
        out.write('  {0}\n};\n' f'const uint32_t leat_stdlib_index_count = {len(index)};\n')


try:
    main()
except (Bad, OSError) as error:
    sys.exit(f'{error}')
