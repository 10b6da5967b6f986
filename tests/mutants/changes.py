"""The small wrong changes (mutants) that tests/mutants/run makes: those of `chosen`, and what it may do to a line of C, Python or Leat."""
import collections
import contextlib
import hashlib
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, '..', '..'))

# What a drawn change may do to a line of C: (what is looked for, what stands there instead).
CHANGES = [
    (r' < ', ' <= '), (r' <= ', ' < '), (r' > ', ' >= '), (r' >= ', ' > '), (r' == ', ' != '), (r' != ', ' == '),
    (r' && ', ' || '), (r' \|\| ', ' && '), (r' \+ ', ' - '), (r' - ', ' + '), (r' \* ', ' + '), (r' / ', ' * '),
    (r' % ', ' / '), (r' \+ 1\b', ''), (r' - 1\b', ''), (r'\b0;', '1;'), (r'\b1;', '0;'), (r'\btrue\b', 'false'),
    (r'\bfalse\b', 'true'), (r'!(?=[\w(])', ''), (r'\+\+', '--'), (r' \+= ', ' -= '), (r' \|= ', ' &= '),
    (r'\bif \((?=.*\) )', 'if (false && '), (r'\bif \((?=.*\) )', 'if (true || '), (r'^\s+[a-z]\w*\([^;]*\);\s*$', ''),
    (r'\bbreak;', ';'), (r'\bcontinue;', ';'),
]
PYTHON = [(r' < ', ' <= '), (r' <= ', ' < '), (r' > ', ' >= '), (r' >= ', ' > '), (r' == ', ' != '), (r' != ', ' == '),
          (r' and ', ' or '), (r' or ', ' and '), (r' \+ ', ' - '), (r' - ', ' + '), (r' \+ 1\b', ''), (r' - 1\b', ''),
          (r'\bTrue\b', 'False'), (r'\bFalse\b', 'True'), (r'\bnot (?!in\b)', ''), (r' is not ', ' is '), (r' not in ', ' in '),
          (r'\bif (?=[^:]*:$)', 'if not '), (r'\[0\]', '[-1]'), (r'\[-1\]', '[0]')]
LEAT = [(r' < ', ' <= '), (r' <= ', ' < '), (r' > ', ' >= '), (r' >= ', ' > '), (r' == ', ' != '), (r' != ', ' == '),
        (r' and ', ' or '), (r' or ', ' and '), (r' \+ ', ' - '), (r' - ', ' + '), (r' \* ', ' + '), (r' / ', ' * '),
        (r' \+ 1\b', ''), (r' - 1\b', ''), (r'\btrue\b', 'false'), (r'\bfalse\b', 'true'), (r'\bif (?=[^{]*\{$)', 'if not '),
        (r'\b0\b', '1'), (r'\b1\b', '0')]
DRAWN = 'drawn'  # what such a change is about
HARMFUL = re.compile(r'\b(unlink|unlinkat|rmdir|remove|rename|truncate|ftruncate|kill|killpg)\(')


class Mutant:
    """One change: file, number of its line (from 0), the line before and after it, and what it is about."""

    def __init__(self, file, number, before, after, what=DRAWN):
        self.file, self.number, self.before, self.after, self.what = file, number, before, after, what

    def __str__(self):
        return f'{self.file}:{self.number + 1}: {self.what}\n  - {self.before.strip()}\n  + {self.after.strip()}'

    def key(self):
        return self.file, self.before.strip(), self.after.strip()


def read_lines(root, file):
    with open(os.path.join(root, file), encoding='utf-8') as source:
        return source.read().split('\n')


def listed(name, problems):
    """The changes of `chosen` or `known`: blocks of a line FILE: WORDS, a line `- BEFORE` and a line `+ AFTER`, where
    BEFORE is a whole line of the file that stands there once. One that does not apply is a problem."""
    with open(os.path.join(HERE, name), encoding='utf-8') as text:
        blocks = re.findall(r'^(\S+): (.*)\n- (.*)\n\+ ?(.*)$', text.read(), re.M)
    for file, what, before, after in blocks:
        path = os.path.join(ROOT, file)
        lines = read_lines(ROOT, file) if os.path.exists(path) else []
        places = [i for i, line in enumerate(lines) if line.strip() == before.strip()]
        if len(places) != 1:
            problems.append(f'{name}: {file}: {len(places)} lines are `{before}`')
        else:
            line = lines[places[0]]
            indent = line[:len(line) - len(line.lstrip())]
            yield Mutant(file, places[0], line, indent + after, what)


def code_of(line):
    """The line with blanks for what is no code: texts, characters and a comment."""
    blank = lambda found: ' ' * len(found[0]) if found[0][:2] == '//' else '"' + '_' * (len(found[0]) - 2) + '"'
    return re.sub(r'//.*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'', blank, line)


def changes_of_script(file, number, line, changes):
    """All changes of one line of Python or Leat, outside of texts."""
    code = re.sub(r"#.*|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"", lambda found: '_' * len(found[0]), line)
    for pattern, instead in changes:
        for found in re.finditer(pattern, code):
            yield Mutant(file, number, line, line[:found.start()] + instead + line[found.end():])


def is_python(text):
    with contextlib.suppress(SyntaxError):
        return compile(text, 'changed', 'exec') is not None
    return False


def changes_of(file, number, line):
    """All changes of one line of C, Python or Leat."""
    if not file.endswith('.c'):
        return (yield from changes_of_script(file, number, line, PYTHON if file.endswith('.py') else LEAT))
    code = code_of(line)
    if re.match(r'\s*(#|assert|static_assert|static|const|extern|typedef)', code) and not line.startswith('  '):
        return
    if re.match(r'\s*(#|assert|static_assert|LEAT_TRACE)', code):
        return
    for pattern, instead in CHANGES:
        for found in re.finditer(pattern, code):
            end = line[found.end():]
            if instead.endswith(('&& ', '|| ')) and 'if' in instead:
                close = closing(code, found.end())
                if not close:
                    continue
                end = '(' + line[found.end():close] + ')' + line[close:]
            yield Mutant(file, number, line, line[:found.start()] + instead + end)


def closing(code, at):
    """Where the parenthesis that is open at `at` closes; 0: on another line."""
    depth = 1
    for i in range(at, len(code)):
        depth += (code[i] == '(') - (code[i] == ')')
        if not depth:
            return i
    return 0


def is_sound(mutant, lines):
    """Of Python: it still is."""
    text = '\n'.join([*lines[:mutant.number], mutant.after, *lines[mutant.number + 1:]])
    return not mutant.file.endswith('.py') or is_python(text)


def documentation(lines):
    """Numbers of the lines of texts of several lines."""
    inside, found = False, set()
    for number, line in enumerate(lines):
        marks = line.count('"""') + line.count("'''")
        if inside or marks:
            found.add(number)
        inside ^= marks % 2 == 1
    return found


def drawn(files, runs, seed):
    """Changes of those lines of the files that stand there once and of which `runs` (a function of file and line) is true,
    in an order that the seed says; none where a wrong one may end what is not its own."""
    every = []
    for file in files:
        lines = read_lines(ROOT, file)
        if any(HARMFUL.search(line) for line in lines):
            continue
        times = collections.Counter(line.strip() for line in lines)
        documented = documentation(lines) if file.endswith('.py') else set()
        for number, line in enumerate(lines):
            if times[line.strip()] == 1 and number not in documented and runs(file, line):
                every += [one for one in changes_of(file, number, line) if is_sound(one, lines)]
    return sorted(every, key=lambda mutant: hashlib.sha256(f'{seed} {mutant.key()}'.encode()).digest())
