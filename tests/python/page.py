"""docs/python.md: its programs run as they stand there, one after the other, and print what the page shows.

A ```python block is run; a ```text block behind it is what it prints, where `…` stands for anything within a line. A
```leat block is the file that its first line names.
"""
import contextlib
import io
import re
import warnings

import leat
from cases import ROOT, case

BLOCK = re.compile(r'^```(\w+)\n(.*?)^```$', re.M | re.S)


def agrees(shown, wanted):
    pattern = '.*'.join(re.escape(part) for part in wanted.split('…'))
    return re.fullmatch(pattern, shown) is not None


@case
def the_page():
    with open(f'{ROOT}/docs/python.md', encoding='utf-8') as file:
        text = file.read()
    names, said, count = {'__name__': 'page'}, '', 0
    warnings.filterwarnings('ignore', '.*was not restored', leat.Warning)
    for block in BLOCK.finditer(text):
        kind, body = block.groups()
        line = text.count('\n', 0, block.start(2)) + 1
        if kind == 'leat':
            with open(body.split()[1], 'w', encoding='utf-8') as file:
                file.write(body)
        elif kind == 'python':
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile('\n' * (line - 1) + body, 'docs/python.md', 'exec'), names)
            said, count = out.getvalue(), count + 1
        elif kind == 'text':
            assert agrees(said, body), f'docs/python.md:{line}: it prints\n{said}'
    assert count > 5
