"""Python's values as the language writes them."""
from __future__ import annotations

import math
import re
from typing import Any, List, NamedTuple, Tuple

from ._arrays import DTYPES, NAMES, numpy

PLAIN = re.compile(r'[A-Za-z_][A-Za-z0-9_]*')


class Text(str):
    """A piece of a text that stands as it is: a type, `leat.Text('f32[3, N]')`, a dtype, `leat.f32`, an expression."""
    __slots__ = ()

    def __repr__(self) -> str:
        return f'leat.Text({str(self)!r})'


class Dtype(Text):
    """`leat.f32`; with extents it is a type: `leat.f32[2, 'N']`, `leat.f32[()]`, `leat.f32[n]` of a dim `n` of a graph."""
    __slots__ = ()

    def __getitem__(self, extents: Any) -> Any:  # type: ignore[override]
        parts = extents if isinstance(extents, tuple) else (extents,)
        for part in parts:
            if hasattr(part, '__index__') or isinstance(part, str):
                continue
            raise TypeError(f'an extent of {self} is a number, a dim of a graph, or a string, \'N\', not a '
                            f'{type(part).__name__}')
        if any(hasattr(part, 'graph') for part in parts):
            return TypeOf(self, parts)
        return Text(f'{self}[{", ".join(map(str, parts))}]')


class TypeOf(NamedTuple):
    """A type that has dims of a graph as extents."""
    dtype: Dtype
    extents: Tuple[Any, ...]


dtypes = {name: Dtype(name) for name in DTYPES}


def quoted(text: 'str | bytes') -> str:
    data = text.encode('utf-8', 'surrogateescape') if isinstance(text, str) else text
    escapes = {'\\': '\\\\', '"': '\\"', '\n': '\\n', '\t': '\\t', '\r': '\\r', '{': '\\{', '}': '\\}'}
    if isinstance(text, str) and text.isprintable():
        return '"' + ''.join(escapes.get(c, c) for c in text) + '"'
    return '"' + ''.join(escapes.get(chr(b), chr(b)) if chr(b) in escapes or 0x20 <= b < 0x7f else f'\\x{b:02x}'
                         for b in data) + '"'


def number_text(value: Any) -> str:
    if isinstance(value, complex):
        return f'complex({number_text(value.real)}, {number_text(value.imag)})'
    if isinstance(value, int):
        return str(value)
    if math.isnan(value):
        return 'nan'
    if math.isinf(value):
        return '-inf' if value < 0 else 'inf'
    text = repr(float(value))
    return text if '.' in text else text.replace('e', '.0e') if 'e' in text else text + '.0'


def argument_text(value: Any) -> str:
    """A value that is known while compiling: a number, a string, none, a dtype, a function, or a list of these."""
    if isinstance(value, Text):
        return str(value)
    if value is None:
        return 'none'
    if isinstance(value, bool):
        return 'true' if value else 'false'
    if isinstance(value, (int, float, complex)):
        return number_text(value)
    if isinstance(value, (str, bytes)):
        return quoted(value)
    if isinstance(value, (list, tuple)):
        return '[' + ', '.join(map(argument_text, value)) + ']'
    if numpy and (isinstance(value, numpy.generic) or isinstance(value, numpy.ndarray) and not value.ndim):
        return argument_text(value.item())
    if numpy and isinstance(value, (numpy.dtype, type)):
        name = NAMES.get(numpy.dtype(value).name)
        if name:
            return name
    name = getattr(value, '__leat_name__', None)
    if name:
        return name
    if callable(value):
        raise TypeError('a function of Python\'s stands in a call of `leat.op`, or of a graph that is being built')
    raise TypeError(f'a {type(value).__name__} cannot stand in a text')


def split(text: str) -> List[str]:
    """At commas outside of brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in '[(') - (c in '])')
        if c == ',' and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [part for part in [*parts, text[start:]] if part.strip()]
