"""Values of a graph that is being built: Python's operators on them are statements of the text."""
from __future__ import annotations

import opcode
import re
import sys
from typing import TYPE_CHECKING, Any, List, Mapping, Optional, Sequence, Tuple

from . import _core
from ._arrays import NAMES, dtype_name
from ._blocks import Block, Piece
from ._text import Text, TypeOf, argument_text, split

if TYPE_CHECKING:
    from ._session import Session
    from .graph import Graph

ATTRIBUTE = re.compile(r'(\w+): (\w+)')  # of an op


def pieces_of(value: Any, graph: 'Graph') -> List[Piece]:
    """An argument, as pieces of a statement."""
    if isinstance(value, Value):
        if value.graph is not graph:
            raise ValueError(f'`{value.name}` is of another graph')
        return [value]
    if isinstance(value, TypeOf):
        extents = [graph._dim_of(item) if isinstance(item, Value) else Text(item) for item in value.extents]
        return [str(value.dtype), *pieces_of(extents, graph)]
    if isinstance(value, (list, tuple)):
        pieces: List[Piece] = ['[']
        for i, item in enumerate(value):
            pieces += [', '] * (i > 0) + pieces_of(item, graph)
        return [*pieces, ']']
    if dtype_name(value) and hasattr(value, 'shape') and value.shape != ():
        return [graph.constant(value)]
    if isinstance(value, Function):
        return [graph._function_name(value.__leat_name__)]
    if isinstance(value, Text):
        return graph._with_dims(value)
    return [argument_text(value)]


def type_pieces(of: Any, graph: 'Graph') -> List[Piece]:
    return pieces_of(of, graph) if isinstance(of, TypeOf) else [str(of)]


def operand_of(value: Any, graph: 'Graph') -> List[Piece]:
    pieces = pieces_of(value, graph)
    negative = isinstance(pieces[0], str) and pieces[0].startswith('-')
    return ['(', *pieces, ')'] if negative else pieces


def infix(name: str, operator: str, reflected: bool = False):
    def method(self: 'Value', other: Any) -> 'Value':
        left, right = operand_of(self, self.graph), operand_of(other, self.graph)
        if reflected:
            left, right = right, left
        return self.graph._bind(name, [*left, f' {operator} ', *right])
    return method


def function(name: str, reflected: bool = False):
    def method(self: 'Value', other: Any) -> 'Value':
        return self.graph._call(name, (other, self) if reflected else (self, other), {})
    return method


def names_that_wait() -> Optional[int]:
    """How many names the statement gives that goes through a value: of `a, b, c = x` three. None: it is no such one.

    Python asks for one value more than it has names for, so what is gone through has to know.
    """
    frame = sys._getframe(2)
    code, at = frame.f_code.co_code, frame.f_lasti
    return code[at + 1] if at >= 0 and opcode.opname[code[at]] == 'UNPACK_SEQUENCE' else None


# NumPy's functions that are operators here: the method, and that of the second operand.
OPERATORS = {ours: (f'__{name}__', f'__r{name}__') for ours, name in {
    'add': 'add', 'subtract': 'sub', 'multiply': 'mul', 'divide': 'truediv', 'true_divide': 'truediv',
    'floor_divide': 'floordiv', 'remainder': 'mod', 'power': 'pow', 'matmul': 'matmul'}.items()}
OPERATORS.update({'less': ('__lt__', '__gt__'), 'less_equal': ('__le__', '__ge__'), 'greater': ('__gt__', '__lt__'),
                  'greater_equal': ('__ge__', '__le__'), 'equal': ('__eq__', '__eq__'), 'not_equal': ('__ne__', '__ne__'),
                  'logical_and': ('__and__', '__rand__'), 'logical_or': ('__or__', '__ror__')})
UNARY = {'negative': '__neg__', 'absolute': '__abs__', 'fabs': '__abs__', 'invert': '__invert__',
         'logical_not': '__invert__'}
RENAMED = {'arcsin': 'asin', 'arccos': 'acos', 'arctan': 'atan',
           'arctan2': 'atan2', 'arcsinh': 'asinh', 'arccosh': 'acosh', 'arctanh': 'atanh', 'isnan': 'is_nan',
           'isinf': 'is_inf', 'isfinite': 'is_finite', 'concatenate': 'concat', 'amax': 'max', 'amin': 'min',
           'clip': 'clamp', 'conjugate': 'conj', 'float_power': 'pow'}


class Value:
    """A tensor, or whatever else a name in a text stands for: a variable, a list, a dim, a parameter.

    `+ - * / // % @ **`, comparisons, `& | ^ ~` and indices (`x[:, 1:3]`, `x[i]`, `x[None]`) are those of the language,
    `w.assign(e)` and `w.add(e)` change a variable, `leat.op.relu(x)` calls an op or a function.
    """
    __slots__ = ('graph', 'name', 'block', 'is_state', 'is_named', 'gives_way', 'is_list', 'items')
    __array_priority__ = 1000  # an array beside it is a constant of the graph

    def __init__(self, graph: 'Graph', name: str, block: Optional[Block], is_state: bool = False,
                 is_named: bool = False) -> None:
        self.graph = graph
        self.name = name
        self.block = block  # where it is bound; None: outside of all definitions
        self.is_state = is_state
        self.is_named = is_named
        self.gives_way = False  # its name is that of a parameter in Python, and a result's before it is its own
        self.is_list = False  # it is known to be
        self.items: Optional[int] = None  # of how many values, where that is known

    @property
    def is_global(self) -> bool:
        return self.block is None

    __hash__ = object.__hash__

    __add__, __radd__ = infix('add', '+'), infix('add', '+', True)
    __sub__, __rsub__ = infix('sub', '-'), infix('sub', '-', True)
    __mul__, __rmul__ = infix('mul', '*'), infix('mul', '*', True)
    __truediv__, __rtruediv__ = infix('div', '/'), infix('div', '/', True)
    __floordiv__, __rfloordiv__ = infix('floor_div', '//'), infix('floor_div', '//', True)
    __mod__, __rmod__ = infix('remainder', '%'), infix('remainder', '%', True)
    __matmul__, __rmatmul__ = infix('matmul', '@'), infix('matmul', '@', True)
    __lt__, __le__ = infix('less', '<'), infix('less_equal', '<=')
    __gt__, __ge__ = infix('greater', '>'), infix('greater_equal', '>=')
    __eq__ = infix('equal', '==')  # type: ignore[assignment]
    __ne__ = infix('not_equal', '!=')  # type: ignore[assignment]
    __pow__, __rpow__ = infix('pow', '**'), infix('pow', '**', True)
    __and__, __rand__ = infix('and', 'and'), infix('and', 'and', True)
    __or__, __ror__ = infix('or', 'or'), infix('or', 'or', True)
    __xor__, __rxor__ = function('logical_xor'), function('logical_xor', True)

    def __neg__(self) -> 'Value':
        return self.graph._bind('neg', ['-', self])

    def __invert__(self) -> 'Value':
        return self.graph._bind('not', ['not ', self])

    def __abs__(self) -> 'Value':
        return self.graph._call('abs', (self,), {})

    def __getitem__(self, index: Any) -> 'Value':
        items = index if isinstance(index, tuple) else (index,)
        pieces: List[Piece] = [self, '[']
        for i, item in enumerate(items):
            pieces += [', '] * (i > 0) + self._index(item)
        value = self.graph._bind('index', [*pieces, ']'])
        value.is_list = self.is_list and isinstance(index, slice)
        return value

    def _index(self, item: Any) -> List[Piece]:
        if item is Ellipsis:
            return ['...']
        if item is None:
            return ['None']
        if not isinstance(item, slice):
            return pieces_of(item, self.graph)
        pieces: List[Piece] = []
        for i, part in enumerate((item.start, item.stop, item.step)):
            if i < 2 or part is not None:
                pieces += [':'] * (i > 0) + ([] if part is None else pieces_of(part, self.graph))
        return pieces

    def __iter__(self) -> Any:
        if self.items is not None:
            return iter([self[i] for i in range(self.items)])
        count = names_that_wait()
        if count is not None:
            return iter(self.graph._unpacked(self, count))
        raise TypeError('Python cannot go through a value of a graph, as `for`, `sum`, `max` and `zip` would: x.sum() and '
                        'x.max() reduce it, op.map(f, x) and op.scan(f, init, x) take one row after another, x[0] is one '
                        'of them; `B, T = x.shape` and `q, r = op.qr(x)` give names to several values')

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError(f'no part of a value of a graph is changed in place: op.scatter_set({self.name}, indices, rows) '
                        'is one with new rows, w.assign(e) gives a variable another value')

    def __float__(self) -> float:
        raise TypeError("what a value of a graph is is known only when that runs: x.astype('f32') converts it there")

    __int__ = __complex__ = __float__  # type: ignore[assignment]

    def __index__(self) -> int:
        raise TypeError('what a value of a graph is is known only when that runs: g.while_loop and op.fori(n, f, init) '
                        'loop then, op.dynamic(n) is a dim, as leat.f32[op.dynamic(n)] has it')

    def __getattr__(self, name: str) -> Any:
        if not name.startswith('_') and _core.describe(name):
            raise AttributeError(f'a value has no method `{name}`: it is a function, op.{name}(x)')
        raise AttributeError(f'a value has no `{name}`')

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> 'Value':
        """NumPy's functions of elements: an operator, or the op of that name."""
        name = ufunc.__name__
        given = [item for item in inputs if isinstance(item, Value)]
        if method == '__call__' and not named and name in UNARY:
            return getattr(given[0], UNARY[name])()
        if method == '__call__' and not named and name in OPERATORS:
            others = [item for item in inputs if item is not given[0]] or [given[0]]  # x * x
            return getattr(given[0], OPERATORS[name][inputs[0] is not given[0]])(*others)
        name = RENAMED.get(name, name)
        if method == '__call__' and not named and _core.describe(name):
            return self.graph._call(name, inputs, {})
        raise TypeError(f'np.{ufunc.__name__} computes with arrays: of a graph\'s values `from leat import op` has functions')

    def __array_function__(self, function: Any, types: Any, arguments: Any, named: Any) -> Any:
        name = RENAMED.get(function.__name__, function.__name__)
        there = f'op.{name}(x)' if _core.describe(name) else '`from leat import op` has functions'
        raise TypeError(f'np.{function.__name__} computes with arrays: of a graph\'s values {there}')

    def __bool__(self) -> bool:
        raise TypeError('a value of a graph is known only when that runs: g.cond(p, then, otherwise) and op.where(p, x, '
                        'y) choose then; `&`, `|` and `~` are and, or, not of values')

    def __len__(self) -> int:
        raise TypeError('an extent of a graph\'s value is a value itself: x.shape[0]')

    def assign(self, value: Any) -> None:
        """Gives a variable this value: `w := value`. What stands behind it in the text reads that."""
        self.graph._state('assign', [self, ' := ', *pieces_of(value, self.graph)])

    def add(self, value: Any) -> None:
        """Adds to a variable: `w += value`."""
        self.graph._state('add', [self, ' += ', *pieces_of(value, self.graph)])

    def named(self, name: str) -> 'Value':
        """Gives the value a name, by which it can be fetched, and gives it."""
        return self.graph._name(self, name)

    @property
    def shape(self) -> 'Value':
        """The list of its dims, a value itself: x.shape[0] is a dim."""
        value = self.graph._call('shape', (self,), {})
        value.is_list = True
        return value

    @property
    def T(self) -> 'Value':
        """Its transpose."""
        return self.graph._call('transpose', (self,), {})

    def astype(self, dtype: Any) -> 'Value':
        """`cast(x, dtype)`; the dtype is a name, "f64", or NumPy's."""
        return self.graph._call('cast', (self, dtype), {})

    def reshape(self, *shape: Any) -> 'Value':
        first = shape[0] if len(shape) == 1 else None
        dims = first if isinstance(first, (list, tuple)) or isinstance(first, Value) and first.is_list else list(shape)
        return self.graph._call('reshape', (self, dims), {})

    def sum(self, axis: Any = None, keepdims: bool = False) -> 'Value':
        return self._reduce('sum', axis, keepdims)

    def mean(self, axis: Any = None, keepdims: bool = False) -> 'Value':
        return self._reduce('mean', axis, keepdims)

    def max(self, axis: Any = None, keepdims: bool = False) -> 'Value':
        return self._reduce('max', axis, keepdims)

    def min(self, axis: Any = None, keepdims: bool = False) -> 'Value':
        return self._reduce('min', axis, keepdims)

    def _reduce(self, name: str, axis: Any, keepdims: bool) -> 'Value':
        named = {'axis': axis} if axis is not None else {}
        return self.graph._call(name, (self,), {**named, 'keepdims': True} if keepdims else named)

    def __repr__(self) -> str:
        return f'<leat.Value {self.name} of {self.graph.name}>'


class Function:
    """An op, or a function of the library, of a text or of a Graph, by name.

    Called while a graph is built it becomes a statement there; called with arrays it computes at once, through a step
    that is compiled for their types. `as_="net"` names the instance, which a function that holds state needs;
    `outputs=2` gives two values. One that makes values of a type which it is not told, `op.normal(0, 0.1)`, is text,
    what a variable begins with.
    """

    def __init__(self, name: str, graph: Optional['Graph'] = None, outputs: Optional[int] = None,
                 doc: Optional[str] = None) -> None:
        self.__leat_name__ = name
        self.__name__ = self.__qualname__ = name
        self._graph = graph
        self._outputs = outputs
        if doc:
            self.__doc__ = doc

    def __call__(self, /, *arguments: Any, as_: Optional[str] = None, outputs: Optional[int] = None,
                 **named: Any) -> Any:
        from .graph import building, call_with_functions, eager, is_python_function
        graph = building() or next(graphs_in((arguments, list(named.values()))), None)
        if graph is None:
            session = self._graph or eager()
            if as_ is None and waits_for_type(self.__leat_name__, session, len(arguments), named):
                return call_text(self.__leat_name__, arguments, named)
            if self._graph is None and any(is_python_function(value) for value in (*arguments, *named.values())):
                return call_with_functions(self.__leat_name__, arguments, named, as_)
            return session.call(self.__leat_name__, *arguments, as_=as_, **named)
        count = outputs if outputs is not None else self._outputs
        return graph._call(self.__leat_name__, arguments, named, as_, count)

    def __get__(self, instance: Any, owner: Any = None) -> 'Function':
        return self  # what has this, pydoc shows as a function

    def __repr__(self) -> str:
        return f'<leat function {self.__leat_name__}>'


def waits_for_type(name: str, session: 'Session', count: int, named: Mapping[str, Any]) -> bool:
    """Whether the function makes values of a type `out`, which the call does not say."""
    if 'out' in named:
        return False
    parameters = parameters_of(name, session)
    return ('out', 'type') in parameters and count <= parameters.index(('out', 'type'))


def parameters_of(name: str, session: 'Session') -> List[Tuple[str, str]]:
    """Names and kinds of what an op or a function takes, in order, `('dtype', 'type')`; an input of an op has none."""
    doc = session.describe(name) or _core.describe(name) or ''
    _, is_function, head = doc.rpartition(f'fn {name}(')
    if not is_function:  # cast  (x)  1 out  any dtype but str  dtype: dtype
        inputs, _, attributes = doc.partition('\n')[0].partition('(')[2].partition(')')
        return [(part.strip(), '') for part in split(inputs)] + ATTRIBUTE.findall(attributes)
    parts = (part.partition(':') for part in split(head.partition(') {')[0].partition(') ->')[0]))
    return [(part.strip(), of.partition('=')[0].strip()) for part, _, of in parts]


def with_types(name: str, session: 'Session', arguments: Sequence[Any], named: Mapping[str, Any]) -> Tuple[list, dict]:
    """A call's arguments, where strings that stand for types are such: 'i32', 'f32[N]', NumPy's 'float32'."""
    given, keys = list(arguments), dict(named)
    if any(type(value) is str for value in (*given, *keys.values())):
        parameters = parameters_of(name, session)
        for i, (key, kind) in enumerate(parameters):
            if kind in ('type', 'dtype'):
                if i < len(given) and type(given[i]) is str:
                    given[i] = Text(NAMES.get(given[i], given[i]))
                if type(keys.get(key)) is str:
                    keys[key] = Text(NAMES.get(keys[key], keys[key]))
    return given, keys


def call_text(name: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> Text:
    given = [*map(argument_text, arguments), *(f'{key}={argument_text(value)}' for key, value in named.items())]
    return Text(f'{name}({", ".join(given)})')


def graphs_in(value: Any):
    if isinstance(value, Value):
        yield value.graph
    elif isinstance(value, TypeOf):
        yield from graphs_in(value.extents)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from graphs_in(item)
