"""What a graph looks like, for people: `repr`, and a table for notebooks."""
from __future__ import annotations

import html
import re
from typing import Iterator, List, NamedTuple, Tuple

MOST_ENTRIES, MOST_ROWS = 20, 400
NAME = r'\$(?:`[^`]*`|[^\s:,=()]+)'
NODE = re.compile(rf'^\s*({NAME}: [^=]*?(?:, {NAME}: [^=]*?)*) = (.*?)(?: at="[^"]*")?$')
OUTPUT = re.compile(rf'({NAME}): ((?:[^,\[]|\[[^\]]*\])+)')
ENTRY = re.compile(r'^entry (`[^`]*`|[^\s(]+)(.*) \{$')


class Row(NamedTuple):
    name: str
    type: str
    made: str  # `tanh($f/x)`
    depth: int  # in branches and loops


class Entry(NamedTuple):
    name: str
    head: str  # `f(x: f32[N]) -> (y: f32[])`
    rows: List[Row]


class Shown(NamedTuple):
    entries: List[Entry]
    variables: List[Tuple[str, str]]
    nodes: int


def rows_of(line: str, prefix: str) -> Iterator[Row]:
    found = NODE.match(line)
    if not found:
        return
    depth = (len(line) - len(line.lstrip())) // 2 - 1
    made = found[2].rstrip(' {').replace(f'${prefix}/', '').replace(f'$`{prefix}/', '`')
    for name, of in OUTPUT.findall(found[1]):
        plain = name[1:].strip('`')
        yield Row(plain[len(prefix) + 1:] if plain.startswith(f'{prefix}/') else plain, of.strip(), made, depth)


def read(dump: str) -> Shown:
    """Of canonical text: its entries with their nodes, its variables without slots of optimisers."""
    shown, entry = Shown([], [], 0), None
    nodes = 0
    for line in dump.split('\n'):
        head = ENTRY.match(line)
        if head:
            signature = re.sub(rf' = {NAME}', '', head[2]) if '->' in head[2] else head[2]
            entry = Entry(head[1].strip('`'), head[1] + signature, [])
            shown.entries.append(entry)
        elif line == '}':
            entry = None
        elif line.startswith('var ') and 'slot_of=' not in line:
            name, _, rest = line[5:].partition(': ')
            shown.variables.append((name.strip('`'), rest.partition(' = ')[0]))
        elif NODE.match(line):
            nodes += 1
            if entry:
                entry.rows.extend(rows_of(line, entry.name))
    return shown._replace(nodes=nodes)


def counted(count: int, what: str, plural: str = '') -> str:
    return f'{count} {what if count == 1 else plural or what + "s"}'


def as_text(kind: str, name: str, dump: str) -> str:
    """`<leat.Graph mlp: 1 entry, 2 variables, 30 nodes>`, and a line for each entry."""
    shown = read(dump)
    counts = ', '.join([counted(len(shown.entries), 'entry', 'entries'), counted(len(shown.variables), 'variable'),
                        counted(shown.nodes, 'node')])
    lines = [f'<leat.{kind}{name and " " + name}: {counts}>', *(f'  {e.head}' for e in shown.entries[:MOST_ENTRIES])]
    return '\n'.join(lines + ['  …'] * (len(shown.entries) > MOST_ENTRIES))


def is_told(row: Row) -> bool:
    """Not what a constant, its broadcasting, a gradient or an update takes."""
    passes = row.made.startswith(('broadcast(', 'read(', 'ensure_shape(')) or '(' not in row.made
    return not (passes or row.name.startswith('grad/') or ' colocate ' in row.made)


def table(head: Tuple[str, ...], rows: List[Tuple[str, ...]]) -> str:
    def line(cells: Tuple[str, ...], tag: str) -> str:
        return '<tr>' + ''.join(f'<{tag} style="text-align:left">{cell}</{tag}>' for cell in cells) + '</tr>'
    body = ''.join(line(row, 'td') for row in rows[:MOST_ROWS])
    more = f'<p>and {len(rows) - MOST_ROWS} more</p>' if len(rows) > MOST_ROWS else ''
    return f'<table>{line(head, "th")}{body}</table>{more}'


def as_html(kind: str, name: str, dump: str) -> str:
    """Of each entry its values: their names, types and what makes them."""
    def code(text: str, depth: int = 0) -> str:
        return '&nbsp;' * 4 * depth + f'<code>{html.escape(text)}</code>'
    shown = read(dump)
    parts = [f'<b>leat.{kind}</b> {html.escape(name)}']
    for entry in shown.entries:
        told = [row for row in entry.rows if is_told(row)]
        rows = [(code(row.name, row.depth), code(row.type), code(row.made)) for row in told]
        more = len(entry.rows) - len(told)
        parts.append(f'<details open><summary>{code(entry.head)}: {counted(len(rows), "value")}</summary>'
                     f'{table(("name", "type", "made by"), rows)}'
                     f'{f"<p>and {more} of constants, gradients and updates</p>" if more else ""}</details>')
    if shown.variables:
        rows = [(code(variable), code(of)) for variable, of in shown.variables]
        parts.append(f'<details><summary>{counted(len(rows), "variable")}</summary>'
                     f'{table(("name", "type"), rows)}</details>')
    return '<div>' + ''.join(parts) + '</div>'
