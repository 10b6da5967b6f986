"""What a Graph has collected, and how it becomes text.

A definition (`fn`, `entry`) is a block of statements. A statement is a list of pieces, text and values; a value's name
is looked up when the text is written, so that it can still be changed, and what nobody uses gets none. `with
g.scope(…)` is a block, too, which is written as a function of its own: what it uses of outside are the parameters, what
is used of it outside the results, and the call is an instance of the scope's name. So is a function of Python's that
stands in a call, `op.map(lambda v: v * s, x)`: what it uses of outside the call hands on to it.
"""
from __future__ import annotations

import linecache
import sys
from typing import TYPE_CHECKING, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _core
from ._errors import HERE
from ._text import PLAIN, quoted

if TYPE_CHECKING:
    from ._values import Value

Piece = Union[str, 'Value', 'Traced', 'Captured']

KEYWORDS = set(_core.keywords.split())
RESERVED = KEYWORDS | set(_core.dtypes.split()) | set('training any int float type list'.split())


class Origin(NamedTuple):
    """The line of Python that made a statement."""
    file: str
    line: int

    def __str__(self) -> str:
        source = linecache.getline(self.file, self.line).strip()
        return f'made at {self.file}:{self.line}' + (f': {source}' if source else '')


def caller() -> Origin:
    """The first line on the stack that is not of this package."""
    frame = sys._getframe(1)
    while frame.f_back and frame.f_code.co_filename.startswith(HERE):
        frame = frame.f_back
    return Origin(frame.f_code.co_filename, frame.f_lineno)


class Names:
    """Names that are taken, each once."""

    def __init__(self, outer: Optional['Names'] = None) -> None:
        self.outer = outer
        self.taken: set = set()

    def __contains__(self, name: str) -> bool:
        return name in self.taken or name in RESERVED or (self.outer is not None and name in self.outer)

    def given(self, name: str) -> str:
        """`name` though it is reserved, if nothing else has it; else as `take`."""
        if name in RESERVED and name not in self.taken:
            self.taken.add(name)
            return name
        return self.take(name)

    def take(self, name: str) -> str:
        """`name`, or the next of name_1, name_2 … that is free."""
        free, count = name, 0
        while free in self:
            count += 1
            free = f'{name}_{count}'
        self.taken.add(free)
        return free


class Line(NamedTuple):
    """A statement: `targets = pieces`, where a target that nobody uses is left out unless `keeps`."""
    targets: Tuple['Value', ...]
    pieces: Tuple[Piece, ...]
    origin: Origin
    keeps: bool = False
    types: Tuple[Sequence[Piece], ...] = ()  # those that targets are declared with; none, or one for each


class Block:
    """Statements between `{` and `}`: `head {` … `} else {` … `}`."""
    traced: Optional['Traced'] = None  # it is the body of this
    parameters: Sequence['Value'] = ()  # what a loop carries, or that function takes

    def __init__(self, origin: Optional[Origin] = None, outer: Optional['Block'] = None, scope: str = '') -> None:
        self.items: List[Union[Line, 'Region', 'Block']] = []
        self.origin = origin
        self.outer = outer
        self.scope = scope  # the instance's name, of what `with g.scope(…)` made

    def home(self) -> 'Block':
        """The block of the function that it is written in: its own if it is a scope's."""
        block = self
        while block.outer and not block.scope:
            block = block.outer
        return block

    def blocks(self) -> Iterator['Block']:
        """It and all inside."""
        yield self
        for item in self.items:
            for block in item.blocks if isinstance(item, Region) else [item] if isinstance(item, Block) else []:
                yield from block.blocks()

    def lines(self) -> Iterator[Line]:
        """All statements, those of blocks inside too; the heads and ends of these among them."""
        for item in self.items:
            if isinstance(item, Region):
                yield item.head
                for block in item.blocks:
                    yield from block.lines()
            elif isinstance(item, Block):
                yield from item.lines()
            else:
                yield item


class Region(NamedTuple):
    """`targets = if p { … } else { … }`, `… = while (…) p { … }`, `on "…" { … }`."""
    head: Line
    blocks: Tuple[Block, ...]


class Traced:
    """A function of Python's in a call, whose body is `block`. As a piece it is its name in the text."""

    def __init__(self, block: Block, kinds: Sequence[str]) -> None:
        self.block = block
        self.kinds = kinds
        self.name = ''  # once it is written


class Captured:
    """What functions in a call use of outside, as a piece: the arguments that hand it on to them, `, s, t`."""

    def __init__(self, callee: str, functions: Sequence[Traced], doc: str) -> None:
        self.callee = callee
        self.hands_on = ', ...' in doc.rpartition(f'fn {callee}(')[2].partition(') {')[0]  # as its head says
        self.functions = functions
        self.values: Optional[List['Value']] = None


class Written(NamedTuple):
    text: str
    origin: Optional[Origin]


class Writer:
    """Writes a definition: functions of its scopes first."""

    def __init__(self, name: str, functions: Names, body: Block, results: Sequence['Value']) -> None:
        self.name = name
        self.functions = functions
        self.before: List[Written] = []
        self.uses: Dict['Value', List[Block]] = {}  # where each value is used, by the function that it is written in
        for block in self.functions_of(body):
            for line in self.own_lines(block):
                for piece in [*line.pieces, *(piece for of in line.types for piece in of)]:
                    if not isinstance(piece, (str, Traced, Captured)):
                        self.uses.setdefault(piece, []).append(block)
        for value in results:
            self.uses.setdefault(value, []).append(body)

    @staticmethod
    def functions_of(body: Block) -> List[Block]:
        found, left = [], [body]
        while left:
            block = left.pop()
            if block is body or block.scope:
                found.append(block)
            for item in block.items:
                left += item.blocks if isinstance(item, Region) else [item] if isinstance(item, Block) else []
        return found

    def own_lines(self, block: Block) -> Iterator[Line]:
        """The statements that are written in this function, not in one of a scope inside."""
        for item in block.items:
            if isinstance(item, Region):
                yield item.head
                for inner in item.blocks:
                    yield from self.own_lines(inner)
            elif isinstance(item, Line):
                yield item

    def reference(self, value: 'Value', block: Block) -> str:
        """The value's name, as the function that `block` is written in says it."""
        home = block.home()
        path: List[str] = []
        inside = value.block.home() if value.block else home
        while value.is_state and inside is not home and inside.scope and not self.is_inside(home, inside):
            path.insert(0, inside.scope)
            inside = inside.outer.home() if inside.outer else home
        return '$' + '/'.join([*path, value.name]) if path else written_name(value.name)

    @staticmethod
    def is_inside(block: Block, outer: Block) -> bool:
        while block is not outer and block.outer:
            block = block.outer
        return block is outer

    def pieces(self, pieces: Sequence[Piece], block: Block) -> str:
        return ''.join(self.piece(piece, block) for piece in pieces)

    def piece(self, piece: Piece, block: Block) -> str:
        if isinstance(piece, str):
            return piece
        if isinstance(piece, Traced):
            return written_name(piece.name)
        if isinstance(piece, Captured):
            return ''.join(f', {self.reference(value, block)}' for value in piece.values or [])
        return self.reference(piece, block)

    def targets(self, line: Line, block: Block) -> str:
        used = [line.keeps or value in self.uses or value.is_named for value in line.targets]
        if not any(used):
            return ''
        names = [written_name(value.name) if use else '_' for value, use in zip(line.targets, used)]
        types = [': ' + self.pieces(of, block) for of in line.types] or [''] * len(names)
        return ', '.join(map(str.__add__, names, types)) + ' = '

    def write(self, block: Block, indent: int) -> List[Written]:
        out: List[Written] = []
        space = '  ' * indent
        for item in block.items:
            if isinstance(item, Line):
                for piece in item.pieces:
                    if isinstance(piece, Captured):
                        self.write_traced(piece)
                text = self.targets(item, block) + self.pieces(item.pieces, block)
                out.append(Written(space + text, item.origin))
            elif isinstance(item, Region):
                head = self.targets(item.head, block) + self.pieces(item.head.pieces, block)
                for i, inner in enumerate(item.blocks):
                    out.append(Written(space + ('} else {' if i else f'{head} {{'), item.head.origin))
                    out += self.write(inner, indent + 1)
                out.append(Written(space + '}', item.head.origin))
            elif item.traced is None:  # else the line that calls it writes it
                out.append(self.call_of(item, block, space))
        return out

    def captured_by(self, scope: Block) -> List['Value']:
        """What it uses that is neither made in it nor seen everywhere."""
        return [v for v in self.uses_in(scope) if not (v.is_global or v.block and self.is_inside(v.block, scope))]

    def write_traced(self, captured: Captured) -> None:
        """Writes the functions of a call, each of which gets what any of them uses of outside."""
        values: Dict['Value', None] = {}  # == is theirs
        for function in captured.functions:
            values.update(dict.fromkeys(self.captured_by(function.block)))
        captured.values = list(values)
        if values and not captured.hands_on:
            raise TypeError(f'`{captured.callee}` hands nothing on to the function that it calls, which uses '
                            f'{", ".join(f"`{value.name}`" for value in values)} of outside')
        for function in captured.functions:
            function.name = self.functions.take(f'{self.name}_{function.block.scope}')
            used = self.uses_in(function.block)
            kinds = [*zip(function.block.parameters, function.kinds),
                     *((value, 'var' if value.is_state else 'any') for value in captured.values)]
            unused, names = '_', {value.name for value, _ in kinds}
            while any(unused + name in names for name in names):
                unused += '_'
            heads = [f'{written_name(v.name if v in used else unused + v.name)}: {of}' for v, of in kinds]
            head = Written(f'fn {written_name(function.name)}({", ".join(heads)}) {{', function.block.origin)
            body = self.write(function.block, 1)
            self.before += [Written('', None), head, *body, Written('}', function.block.origin)]

    def uses_in(self, scope: Block) -> Dict['Value', None]:
        inside = self.functions_of(scope)
        return {value: None for value, where in self.uses.items() if any(block in inside for block in where)}

    def call_of(self, scope: Block, block: Block, space: str) -> Written:
        """Writes the function of a scope, and gives the line that calls it."""
        inside = self.functions_of(scope)
        own = {value: None for value in self.uses if value.block and self.is_inside(value.block, scope)}  # == is theirs
        parameters = self.captured_by(scope)
        results = [value for value in own if not value.is_state and any(b not in inside for b in self.uses[value])]
        name = self.functions.take(f'{self.name}_{scope.scope}'.replace('/', '_'))
        kinds = ', '.join(f'{written_name(v.name)}: {"var" if v.is_state else "any"}' for v in parameters)
        body = self.write(scope, 1)
        if results:
            body.append(Written('  return ' + ', '.join(written_name(v.name) for v in results), scope.origin))
        head = Written(f'fn {name}({kinds}) {{', scope.origin)
        self.before += [Written('', None), head, *body, Written('}', scope.origin)]
        given = ', '.join(self.reference(value, block) for value in parameters)
        targets = ', '.join(written_name(value.name) for value in results)
        call = f'{name}({given}) as {instance_text(scope.scope)}'
        return Written(space + (f'{targets} = ' if targets else '') + call, scope.origin)


def written_name(name: str) -> str:
    """As it stands in a text: between backquotes if it is no plain one, or a keyword."""
    return name if PLAIN.fullmatch(name) and name not in KEYWORDS else f'`{name}`'


def instance_text(name: str) -> str:
    return name if PLAIN.fullmatch(name) and name not in RESERVED else quoted(name)
