#!/usr/bin/env python3
"""Joins the source of libleat_rt into one file, of which `leat build --emit=c --one-file` takes what a program needs.

    join_runtime.py ROOT OUTPUT.c FILE.c...

The file has sections, each behind a line `//@ …` (session/artifact/one_file.c reads them): the public headers, all others, and
the units, which are the FILEs, each with what it defines for others and which units it needs. What is `static` in
two units, or a type, gets the unit's name behind it by a macro that ends with the unit.
"""
import collections
import re
import sys

WORD = re.compile(r'\b[A-Za-z_]\w*\b')
INCLUDE = re.compile(r'#include (?:"(.+)"|PASS)$')
PUBLIC = 'leat/runtime.h'


class Joiner:
    def __init__(self, root):
        self.root, self.seen, self.passed = root, set(), None

    def read(self, name):
        for folder in ('', 'include/'):
            try:
                with open(f'{self.root}/{folder}{name}') as source:
                    return source.read()
            except FileNotFoundError:
                pass
        sys.exit(f'{name} is nowhere')

    def expand(self, name, headers):
        """The lines of a file: a header that may be read once goes to `headers`, others stand where they are included."""
        out = []
        for line in self.read(name).splitlines():
            found = INCLUDE.match(line)
            if line.startswith('#define PASS "'):
                self.passed = line.split('"')[1]
            if not found:
                out.append(line)
            elif found[1] != 'build_dirs.h':
                self.include(found[1] or self.passed, headers, out)
        return out

    def include(self, name, headers, out):
        if not re.search(r'^#ifndef LEAT_\w*H$', self.read(name), re.M):
            out += self.expand(name, headers)
        elif name not in self.seen:
            self.seen.add(name)
            headers += self.expand(name, headers)


def system_first(lines):
    """With what it includes of the system at its beginning, but for what stands in an #if."""
    first, rest, depth = [], [], 0
    for line in lines:
        depth += line.startswith('#if') - line.startswith('#endif')
        (first if depth == 0 and line.startswith('#include <') else rest).append(line)
    return first, rest


def without_comments(text):
    return re.sub(r'//[^\n]*|"(?:\\.|[^"\\\n])*"', ' ', text)


def private_names(text):
    names = set(re.findall(r'^static [^=;({]*?\b([A-Za-z_]\w*)\s*(?:\(|=|;|\[)', text, re.M))
    names |= set(re.findall(r'^(?:typedef )?(?:struct|enum|union) (\w+) \{', text, re.M))
    names |= set(re.findall(r'^\} (\w+);', text, re.M))
    names |= set(re.findall(r'^typedef [^;({]*?\b(\w+);', text, re.M))
    names |= set(re.findall(r'^typedef [^;({]*\(\*(\w+)\)', text, re.M))
    for constants in re.findall(r'^(?:typedef )?enum(?: \w+)? \{([^}]*)\}', text, re.M):
        names |= set(re.findall(r'(?:^|,)\s*([A-Za-z_]\w*)', constants))
    return names


def public_names(text):
    names = set(re.findall(r'^[A-Z_]+\((leat_\w+)', text, re.M))  # of which a macro makes a function
    for start in re.finditer(r'^(?!static|typedef|#|extern|struct \w+ \{)[A-Za-z][^;{}=]*?\b(leat_\w+)(?:\[\w*\])*\s*([({=;])',
                             text, re.M):
        opens = start[2]
        if opens == '(':
            rest = text[start.end():]
            opens = re.search(r'[;{]', rest)[0]
            if opens == ';':
                continue
        names.add(start[1])
    return names


def main():
    root, output, *paths = sys.argv[1:]
    joiner, public, private = Joiner(root), [], []
    joiner.include(PUBLIC, public, [])
    units = {path: joiner.expand(path, private) for path in paths}
    plain = {name: without_comments('\n'.join(lines)) for name, lines in units.items()}
    names = {name: private_names(text) for name, text in plain.items()}
    owners = collections.Counter(word for words in names.values() for word in words)
    defined = {word: name for name, text in plain.items() for word in public_names(text)}
    out = ['//@ public', *public, '//@ private', *private]
    for name, lines in units.items():
        own = re.sub(r'\W', '_', name.rsplit('/', 1)[-1][:-2])
        macros = sorted(set(re.findall(r'^#define (\w+)', plain[name], re.M)) - {'_GNU_SOURCE'})
        renamed = sorted(word for word in names[name] if owners[word] > 1 and word not in macros)
        needs = {defined[word] for word in WORD.findall(plain[name]) if word in defined} - {name}
        first, rest = system_first(line for line in lines if line != '#define _GNU_SOURCE')
        out += [f'//@ unit {name}', ' '.join(['//@ defines', *sorted(word for word in defined if defined[word] == name)]),
                ' '.join(['//@ needs', *sorted(needs)]), *first, *(f'#define {word} {word}_of_{own}' for word in renamed),
                *rest, *(f'#undef {word}' for word in renamed + macros)]
    with open(output, 'w') as file:
        file.write('\n'.join(out) + '\n')


main()
