"""`leat.Graph`: a session whose text Python writes."""
from __future__ import annotations

import ast
import inspect
import keyword
import os
import re
import shutil
import tempfile
import threading
import weakref
from contextlib import contextmanager
from typing import (TYPE_CHECKING, Any, Callable, ContextManager, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple,
                    Union)

from . import _core, _errors
from ._arrays import dtype_name, numpy
from ._blocks import (Block, Captured, Line, Names, Origin, Piece, Region, Traced, Writer, Written, caller,
                      instance_text, written_name)
from ._options import Options, with_options
from ._session import Functions, Session
from ._text import PLAIN, Text, argument_text, quoted, split
from ._values import Function, Value, operand_of, pieces_of, type_pieces, waits_for_type, with_types

if TYPE_CHECKING:
    from typing_extensions import Unpack

CALL = re.compile(r'\s*(\w+)\((.*)\)\s*', re.S)
GROWS = re.compile(r'declared as `(\w+): (.*?) = …` it may (grow|have either)')  # a note
LARGEST_INLINE = 256  # elements of a constant that stands in the text
# Of the library's loops: which argument a parameter of the function is, or a part of, and which one the first result is.
HANDED = {'fori': {1: 2}, 'scan': {0: 1, 1: 2}, 'map': {0: 1}}
CARRIED = {'fori': 2, 'scan': 1}

_local = threading.local()
_sources: 'weakref.WeakValueDictionary[str, Graph]' = weakref.WeakValueDictionary()
_eager: Optional[Session] = None


def building() -> Optional['Graph']:
    """The graph a definition of which is being built in this thread."""
    stack = getattr(_local, 'graphs', None)
    return stack[-1] if stack else None


def eager() -> Session:
    """Where functions called with arrays compute."""
    global _eager
    if _eager is None:
        _eager = Session()
    return _eager


def type_text(annotation: Any) -> str:
    """A type, as Python's annotations say it."""
    if annotation in (inspect.Parameter.empty, None, Any):
        return 'any'
    if isinstance(annotation, type):
        if annotation in (int, float, bool, str):
            return annotation.__name__
        raise TypeError(f'an annotation says a type of the language, \'f32[N]\' or int, not {annotation.__name__}')
    if isinstance(annotation, str) and str(annotation)[:1] in '\'"':  # from __future__ import annotations
        return str(ast.literal_eval(annotation))
    return str(annotation)


class Definition:
    """A `fn` or an `entry` while it is built."""

    def __init__(self, graph: 'Graph', name: str, origin: Origin) -> None:
        self.name = name
        self.names = Names(graph._names)
        self.body = Block(origin)
        self.block: Optional[Block] = self.body
        self.parameters: List[Value] = []
        self.dims: Dict[str, Value] = {}  # that types of parameters name, `N` of f32[N]
        self.origin = origin
        self.after: List[Value] = []  # what a statement that is built now runs behind
        self.colocate: List[Value] = []  # the last is what it is computed beside


class Graph(Session):
    """A session whose text Python writes: what is called with values becomes statements, `print(g)` shows them.

        g = leat.Graph('line')

        @g.fn
        def net(x: 'f32[N, 3]') -> 'f32[N]':
            w = g.var('w', 'f32[3]')
            b = g.var('b', 'f32[]')
            return x @ w + b

        @g.entry(training=True)
        def train(x: 'f32[N, 3]', y: 'f32[N]', lr: 'f32[]' = 0.1) -> 'loss: f32[]':
            loss = op.mean(op.square(net(x, as_='net') - y))
            g.minimize(loss, 'sgd', lr=lr)
            return loss

        train(x, y, steps=100)               # it is compiled, and run with arrays
        g.write('line.leat')                 # a text like any other: `use "line.leat"`, leat run line.leat

    A decorated function is called once, with a `Value` for each parameter; an annotation is the parameter's type in the
    language, `any` without one. The text of a definition is added to the session as soon as it is there, so a mistake
    is an exception at the definition, which names the line of the text and the line of Python that made it.

    Python's `for` and `if` unroll and choose while the graph is built; `g.cond`, `g.while_loop` and `op.scan` are run.
    `parameters` are those of the text's `graph NAME(…)`, as `{'seed': 'int = 1'}`, which `settings` gives values to;
    the other options are those of `Session`.
    """

    @with_options
    def __init__(self, name: str = 'main', *, parameters: Optional[Mapping[str, str]] = None,
                 **options: 'Unpack[Options]') -> None:
        self.name = name
        self._source = self._unused_source(name)
        self._names = Names()
        self._functions = Names()
        self._written: List[Written] = []
        self._definition: Optional[Definition] = None
        self._inline: List[Block] = []
        self._folder: Optional[str] = None
        self._constants: Dict[str, Any] = {}
        self._has_f64 = False  # a constant of f64
        super().__init__(**options)
        _sources[self._source] = self
        heads = ', '.join(f'{key}: {of}' for key, of in (parameters or {}).items())
        self._names.taken.update(parameters or {})
        self._add([Written(f'graph {written_name(name)}' + (f'({heads})' if heads else ''), caller())])

    @staticmethod
    def _unused_source(name: str) -> str:
        count = 1
        while (source := f'<{name}>' if count == 1 else f'<{name} {count}>') in _sources:
            count += 1
        return source

    # -- The text ------------------------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """The text so far."""
        return '\n'.join(line.text for line in self._written) + '\n'

    def __str__(self) -> str:
        return self.text.rstrip('\n')

    def write(self, path: Union[str, os.PathLike]) -> None:
        """Writes the text to a file, and large constants beside it, to NAME.safetensors."""
        text, path = self.text, os.fspath(path)
        if self._constants:
            file = os.path.splitext(path)[0] + '.safetensors'
            write_safetensors(file, self._constants)
            for name in self._constants:
                text = text.replace(f'load({quoted(self._constant_file(name))}, {quoted(name)})',
                                    f'load({quoted(os.path.basename(file))}, {quoted(name)})')
        with open(path, 'w', encoding='utf-8') as out:
            out.write(text)

    def _add(self, lines: List[Written]) -> None:
        """Adds lines to the session, as lines of the whole text."""
        before = len(self._written)
        self._written += lines
        try:
            self._core.extend('\n' * before + '\n'.join(line.text for line in lines) + '\n', self._source)
        except BaseException as error:
            del self._written[before:]
            grows = GROWS.search(str(error)) if isinstance(error, _errors.Error) else None
            if grows and grows[3] == 'grow':
                error.hint = f"g.while_loop(…, types={{'{grows[1]}': '{grows[2]}'}}) declares it so"
            elif grows:
                error.hint = f"g.cond(…, types=['{grows[2]}']) declares it so"
            elif isinstance(error, _errors.Error) and self._has_f64 and 'f64' in error.message:
                error.hint = "NumPy's floats are f64 where nothing says otherwise: np.ones(3, 'float32'), x.astype('float32')"
            raise

    def extend(self, text: str, name: str = '') -> 'Graph':
        """Adds lines of the language to the text: what Python has no words for, `gradient f(x) -> y, dy { … }`.

        They are part of this graph's text, so `name` is of no interest.
        """
        origin = caller()
        self._add([Written(line, origin) for line in text.rstrip('\n').split('\n')])
        return self

    def load(self, path: Union[str, os.PathLike]) -> 'Graph':
        """Adds the text at `path`, as `use` does."""
        self.use(path)
        return self

    def _origin(self, line: int) -> Optional[Origin]:
        return self._written[line - 1].origin if 0 < line <= len(self._written) else None

    # -- Statements ----------------------------------------------------------------------------------------------------

    def _emit(self, targets: Sequence[Value], pieces: Sequence[Piece], keeps: bool = False) -> None:
        self._put(Line(tuple(targets), tuple(pieces), caller(), keeps))

    def _suffixes(self) -> List[Piece]:
        definition = self._definition
        if definition is None or self._inline:  # an expression has none
            return []
        beside: List[Piece] = [' colocate ', definition.colocate[-1]] if definition.colocate else []
        return beside + ([*self._list(' after [', definition.after), ']'] if definition.after else [])

    def _put(self, item: Union[Line, Region, Block]) -> None:
        block = self._inline[-1] if self._inline else self._definition and self._definition.block
        if block:
            block.items.append(item)
            return
        top = Block()
        top.items.append(item)
        targets = item.targets if isinstance(item, Line) else item.head.targets if isinstance(item, Region) else ()
        writer = Writer(self.name, self._functions, top, targets)
        lines = writer.write(top, 0)
        self._add(writer.before + lines)

    def _new(self, name: str, is_state: bool = False, is_named: bool = False) -> Value:
        definition = self._definition
        names = definition.names if definition else self._names
        return Value(self, names.given(name) if is_named else names.take(name), definition.block if definition else None, is_state, is_named)

    def _bind(self, name: str, pieces: Sequence[Piece]) -> Value:
        value = self._new(name)
        self._emit([value], [*pieces, *self._suffixes()])
        return value

    def _unpacked(self, value: Value, count: int) -> List[Value]:
        """The values of a list, or of what a call gives, of which there must be so many."""
        targets = [self._new(value.name) for _ in range(count)]
        self._emit(targets, [value])
        return targets

    def _state(self, what: str, pieces: Sequence[Piece]) -> None:
        if self._inline:
            raise ValueError(f'{what}: what stands here is one expression, which changes nothing')
        self._emit([], [*pieces, *self._suffixes()])

    def _name(self, value: Value, name: str) -> Value:
        definition = self._definition
        names = definition.names if definition else self._names
        if value.block is None or value.is_state or value.is_named or name in names:
            named = self._new(name, is_named=True)
            self._emit([named], [value], keeps=True)
            return named
        names.taken.discard(value.name)
        value.name = names.take(name)
        value.is_named = True
        return value

    def _with_dims(self, text: str) -> List[Piece]:
        """A piece of the language, in which dims of the definition are values, that functions inside are handed."""
        dims = self._definition.dims if self._definition else {}
        return [dims.get(part, part) for part in re.split(r'(\w+)', text) if part] if dims else [str(text)]

    def _dims_in(self, kinds: Sequence[str], block: Block) -> Dict[str, Value]:
        names = {name for of in kinds for extents in re.findall(r'\[(.*?)\]', of)
                 for name in re.findall(r'(?<!\.)\b[A-Z]\w*', extents)}
        return {name: Value(self, name, block, False, True) for name in sorted(names) if name not in self._names}

    def _dim_of(self, value: Value) -> Value:
        """The value under a name that a type can have: it begins with a capital."""
        if value.name[0].isupper():
            return value
        name = value.name.lstrip('_').capitalize() or 'Dim'
        definition = self._definition
        if definition is None or value.block is None or value.is_state or value.is_named:
            return self._bind(name, pieces_of(value, self))
        definition.names.taken.discard(value.name)
        value.name = definition.names.take(name)
        return value

    def _call(self, name: str, arguments: Sequence[Any], named: Mapping[str, Any], as_: Optional[str] = None,
              outputs: Optional[int] = None) -> Any:
        arguments, named = with_types(name, self, arguments, named)
        pieces: List[Piece] = [name if name == 'not' else written_name(name), '(']
        given = [(None, value) for value in arguments] + list(named.items())
        traced: List[Traced] = []
        lists = {i: len(value) for i, value in enumerate(arguments) if isinstance(value, (list, tuple))}
        called = any(is_python_function(value) for _, value in given)
        captured = Captured(name, traced, (self.describe(name) or _core.describe(name) or '') if called else '')
        for i, (key, value) in enumerate(given):
            if i == len(arguments) and called:
                pieces.append(captured)
            pieces += [', '] * (i > 0) + ([f'{key}='] if key else [])
            if is_python_function(value):
                traced.append(self._trace(name, value, lists))
                pieces.append(traced[-1])
            else:
                pieces += pieces_of(value, self)
        pieces += [captured] if called and not named else []
        pieces.append(')')
        if as_:
            pieces.append(f' as {instance_text(as_)}')
        stem = as_ if as_ and PLAIN.fullmatch(as_) else name
        targets = [self._new(stem) for _ in range(1 if outputs is None else outputs)]
        self._emit(targets, pieces + self._suffixes())
        if called and CARRIED.get(name) in lists:
            targets[0].items = lists[CARRIED[name]]
        return targets[0] if outputs in (None, 1) else tuple(targets) if targets else None

    def _trace(self, callee: str, function: Callable[..., Any], lists: Mapping[int, int]) -> Traced:
        """A function of Python's in a call is called once, as a decorated one is, and stands before the definition.

        `lists` says of how many values the call's arguments are that are lists.
        """
        name = function.__name__ if PLAIN.fullmatch(function.__name__) else f'{callee}_body'
        origin = caller()
        with self._inside(Block(origin, scope=name)) as block:
            definition = self._definition
            assert definition
            outer = definition.after, definition.colocate
            dims, definition.after, definition.colocate = definition.dims, [], []
            parameters, kinds = [], []
            for parameter in inspect.signature(function).parameters.values():
                if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.KEYWORD_ONLY):
                    raise TypeError(f'{name}: what `{callee}` calls takes its arguments by position')
                if parameter.default is not parameter.empty:  # lambda v, i=i: …, as Python's loops want it
                    continue
                taken = definition.names.take(parameter.name)
                parameters.append(Value(self, taken, block, False, True))
                parameters[-1].gives_way = True
                parameters[-1].items = lists.get(HANDED.get(callee, {}).get(len(parameters) - 1, -1))
                kinds.append(type_text(parameter.annotation))
            definition.dims = {**dims, **self._dims_in(kinds, block)}
            values = function(*parameters)
            if callee == 'fori' and isinstance(values, tuple) and CARRIED[callee] in lists:
                values = list(values)
            values = as_list(values)
            if values:
                self._emit([], self._list('return ', values))
            definition.dims = dims
            definition.after, definition.colocate = outer
        block.parameters, block.traced = parameters, Traced(block, kinds)
        self._put(block)
        return block.traced

    def _function_name(self, name: str) -> str:
        """Of a function that stands where a value does: no value is to have its name."""
        definition = self._definition
        if not definition:
            return written_name(name)
        blocks, block = list(self._inline), definition.block
        while block:
            blocks.append(block)
            block = block.outer
        targets = [value for block in blocks for line in block.lines() for value in line.targets]
        for value in [*definition.parameters, *targets]:
            if value.name == name and value.is_named:
                raise ValueError(f'`{name}` is a value of `{definition.name}`, which hides the function: rename it')
            if value.name == name:
                value.name = definition.names.take(name)
        definition.names.taken.add(name)
        return written_name(name)

    # -- What a text declares ------------------------------------------------------------------------------------------

    def dim(self, name: str, low: Optional[int] = None, high: Optional[int] = None) -> Value:
        """A named dimension with its bounds: `dim B in 1..4096`. In types it stands by its name."""
        bounds = f' in {low or 0}..{high}' if high is not None else ''
        self._emit([], [f'dim {name}{bounds}'])
        self._names.taken.add(name)
        return Value(self, name, None)

    def use(self, path: Union[str, os.PathLike]) -> 'GraphFunctions':
        """Adds a text of another file: `use "layers.leat"`. Its functions are attributes of what this gives."""
        self._emit([], [f'use {quoted(os.fspath(path))}'])
        return self.fn

    def expression(self, text: str) -> Any:
        """A value that a piece of the language says: `g.expression('N * 2')`.

        `g.expression('normal(0, 0.1)')`, which has no type yet, is what a variable begins with.
        """
        return Text(text) if self._lacks_type(text) else self._bind('expression', self._with_dims(text))

    def _lacks_type(self, text: str) -> bool:
        """Of a piece of the language: it is a call that makes values of a type which it does not say."""
        called = CALL.match(text)
        return bool(called) and 'out=' not in text and waits_for_type(
            called[1], self, len([part for part in split(called[2]) if '=' not in part]), {})

    def var(self, name: str, type: str, init: Any = None, trainable: bool = True,  # noqa: A002
            on: Optional[str] = None, **options: Any) -> Value:
        """Declares a variable: `var name: type = init`. In a function it is the instance's.

        `init` is a number, an array, a function (`op.glorot_uniform`), a call of one that is told no type
        (`op.normal(0, 0.1)`), or a function without parameters that gives a value (`lambda: 2 * op.uniform(-1, 1)`);
        without it the variable begins with 0.
        """
        value = self._new(name, is_state=True, is_named=True)
        pieces: List[Piece] = [f'var {written_name(value.name)}: ', *type_pieces(type, self), ' = ', *self._initial(init)]
        if not trainable:
            pieces.append(' trainable=false')
        pieces += [f' {key}={argument_text(option)}' for key, option in options.items()]
        if on:
            pieces.append(f' on {quoted(on)}')
        self._emit([], pieces)
        return value

    def _initial(self, init: Any) -> List[Piece]:
        if init is None:
            return ['0']
        if isinstance(init, Function):
            return [f'{init.__leat_name__}()']
        if callable(init):
            return self._expression_of(init)
        if dtype_name(init):
            return [self._constant_text(init)]
        return self._taken_back(init) if isinstance(init, Value) else pieces_of(init, self)

    def _taken_back(self, value: Value) -> List[Piece]:
        """Of `normal = normal(0, 0.1)`, which has a type only where a variable begins with it, the call instead."""
        block = self._definition and self._definition.block
        for i, line in enumerate(block.items if block else ()):
            if isinstance(line, Line) and [target for target in line.targets if target is value] and self._lacks_type(
                    ''.join(piece if isinstance(piece, str) else '_' for piece in line.pieces)):
                del block.items[i]
                return list(line.pieces)
        return pieces_of(value, self)

    def constant(self, array: Any) -> Value:
        """An array as a constant of the graph. A large one is kept in a file, as texts load it."""
        return self._bind('constant', [self._constant_text(array)])

    def _constant_text(self, array: Any) -> str:
        if numpy is None:
            raise TypeError('constants need NumPy')
        array = numpy.asarray(array)
        dtype = dtype_name(array)
        self._has_f64 |= dtype == 'f64'
        if not array.size:
            return f'zeros({dtype}[{", ".join(map(str, array.shape))}])'
        if array.size <= LARGEST_INLINE:
            return f'cast({argument_text(array.tolist())}, {dtype})'
        name = f'constant_{len(self._constants) + 1}'
        self._constants[name] = array
        write_safetensors(self._constant_file(name), {name: array})
        return f'load({quoted(self._constant_file(name))}, {quoted(name)})'

    def _constant_file(self, name: str) -> str:
        if self._folder is None:
            self._folder = tempfile.mkdtemp(prefix='leat-')
            weakref.finalize(self, shutil.rmtree, self._folder, True)
        return os.path.join(self._folder, f'{name}.safetensors')

    # -- Definitions ---------------------------------------------------------------------------------------------------

    @property
    def fn(self) -> 'GraphFunctions':
        """`@g.fn` decorates a function, which becomes `fn name(…) { … }` of the text; `g.fn.net` is one that the texts
        define, or the library."""
        return GraphFunctions(self)

    def _define_function(self, function: Callable[..., Any]) -> Function:
        name = function.__name__ if PLAIN.fullmatch(function.__name__) else self._functions.take('body')  # a lambda
        definition = Definition(self, name, caller())
        heads, values = self._parameters(function, definition)
        returned = self._build(definition, lambda: [pieces_of(value, self) for value in as_list(function(**values))])
        annotation = inspect.signature(function).return_annotation
        gives = '' if annotation in (inspect.Signature.empty, None) else results_text(type_text(annotation))
        if returned:
            pieces: List[Piece] = ['return ']
            for i, value in enumerate(returned):
                pieces += [', '] * (i > 0) + value
            definition.body.items.append(Line((), tuple(pieces), definition.origin))
        head = f'fn {written_name(definition.name)}({", ".join(heads)}){gives} {{'
        self._define(definition, function, head, [])
        return Function(definition.name, self, len(returned), self.describe(definition.name))

    def entry(self, function: Optional[Callable[..., Any]] = None, *, training: bool = False) -> Any:
        """Decorates a function that becomes `entry name(…) { … }`, and is then a `Step` to be called with arrays.

        Its results are named by the annotation, `-> 'loss: f32[], y: f32[N]'` or `-> 'loss, y'`, or it gives a dict.
        """
        if function is None:
            return lambda function: self.entry(function, training=training)
        definition = Definition(self, function.__name__, caller())
        for parameter in inspect.signature(function).parameters.values():
            if parameter.annotation is parameter.empty:
                raise TypeError(f'{function.__name__}: a parameter of an entry has a type, `{parameter.name}: \'f32[N]\'`')
        heads, values = self._parameters(function, definition)
        annotation = inspect.signature(function).return_annotation
        gives, returned = self._build(definition, lambda: self._results(definition, function(**values), annotation))
        word = 'training ' if training else ''
        head = f'entry {written_name(definition.name)}({", ".join(heads)}) {word}{gives}{{'
        self._define(definition, function, head, returned)
        return LazyStep(self, definition.name)

    def _parameters(self, function: Callable[..., Any], definition: Definition) -> Tuple[List[str], Dict[str, Value]]:
        heads, values = [], {}
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                raise TypeError(f'{function.__name__}: a parameter of a graph\'s function has a name')
            plain, of = parameter.name.rstrip('_'), type_text(parameter.annotation)
            name = plain if keyword.iskeyword(plain) else parameter.name
            default = '' if parameter.default is parameter.empty else f' = {argument_text(parameter.default)}'
            heads.append(f'{written_name(name)}: {of}{default}')
            definition.names.taken.add(name)
            values[parameter.name] = Value(self, name, definition.body, of == 'var' or of.startswith('var '), True)
            definition.parameters.append(values[parameter.name])
        definition.dims = self._dims_in(heads, definition.body)
        return heads, values

    def _build(self, definition: Definition, run: Callable[[], Any]) -> Any:
        """Calls a decorated function, whose statements are the definition's."""
        if self._definition:
            raise ValueError(f'`{definition.name}` is defined within `{self._definition.name}`: functions stand side '
                             'by side')
        stack = _local.__dict__.setdefault('graphs', [])
        stack.append(self)
        self._definition = definition
        try:
            return run()
        finally:
            self._definition = None
            stack.pop()

    def _results(self, definition: Definition, results: Any, annotation: Any) -> Tuple[str, List[Value]]:
        """(`-> (loss: f32[])`, the values): each bound to its name."""
        types = {}
        if annotation not in (inspect.Signature.empty, None):
            for part in split(type_text(annotation).strip().removeprefix('(').removesuffix(')')):
                name, _, of = part.partition(':')
                types[name.strip()] = of.strip()
        if isinstance(results, dict):
            named = dict(results)
        else:
            values = as_list(results)
            names = list(types) or (['y'] if len(values) == 1 else [f'y{i}' for i in range(len(values))])
            if len(names) != len(values):
                why = ': it has no `return`' if results is None else ''
                raise TypeError(f'`{definition.name}` gives {len(values)} results, and names {len(names)}{why}')
            named = dict(zip(names, values))
        for name, value in named.items():  # of one outside whose name another result gets: as it is before that
            if isinstance(value, Value) and value.is_global and value.name in named and value.name != name:
                named[name] = self._bind(value.name, pieces_of(value, self))
        bound = [self._bind_result(definition, name, value) for name, value in named.items()]
        head = ', '.join(f'{written_name(name)}: {types[name]}' if types.get(name) else written_name(name)
                         for name in named)
        return (f'-> ({head}) ' if named else ''), bound

    def _rename_others(self, definition: Definition, name: str) -> None:
        """Gives those that nobody named, but have this name, another, which leaves it free."""
        inner = [value for block in definition.body.blocks() for value in block.parameters]
        others = {value for value in [*inner, *(value for line in definition.body.lines() for value in line.targets)]
                  if value.name == name and (value.gives_way or not (value.is_named or value.is_state))}
        if others:
            free = definition.names.take(name)
            for value in others:
                value.name = free
            definition.names.taken.discard(name)

    def _bind_result(self, definition: Definition, name: str, value: Any) -> Value:
        is_inside = isinstance(value, Value) and value.block is definition.body
        if is_inside and value.name == name:  # a parameter, or a variable of the entry's, too
            value.is_named = True
            return value
        self._rename_others(definition, name)
        if is_inside and name not in definition.names and not (value.is_state or value.is_named):
            value.name = definition.names.take(name)
            value.is_named = True
            return value
        if name in definition.names.taken:
            what = 'a parameter' if name in (value.name for value in definition.parameters) else 'another value'
            raise ValueError(f'the result `{name}` of `{definition.name}` has the name of {what} there, and each is fed '
                             f'or fetched by its own: -> \'{name}_out\' gives it another')
        definition.names.taken.add(name)  # it may hide one outside: no statement is behind it
        bound = Value(self, name, definition.body, False, True)
        definition.body.items.append(Line((bound,), tuple(pieces_of(value, self)), definition.origin, True))
        return bound

    def _define(self, definition: Definition, function: Callable[..., Any], head: str, results: List[Value]) -> None:
        writer = Writer(definition.name, self._functions, definition.body, results)
        body = writer.write(definition.body, 1)
        help_lines = (inspect.getdoc(function) or '').splitlines()
        doc = [Written(f'## {line}'.rstrip(), definition.origin) for line in help_lines]
        lines = [*doc, Written(head, definition.origin), *body, Written('}', definition.origin)]
        self._add([*writer.before, Written('', None), *lines])
        self._names.taken.add(definition.name)
        self._functions.taken.add(definition.name)

    # -- Blocks --------------------------------------------------------------------------------------------------------

    @contextmanager
    def _inside(self, block: Block) -> Iterator[Block]:
        definition = self._definition
        if definition is None:
            raise ValueError('a block stands in a function or an entry')
        outer, definition.block = definition.block, block
        block.outer = outer
        try:
            yield block
        finally:
            definition.block = outer

    @contextmanager
    def on(self, device: str) -> Iterator[None]:
        """What is built inside is computed on this device: `with g.on('/job:worker/task:0'):`."""
        head = Line((), (f'on {quoted(device)}',), caller())
        with self._inside(Block(head.origin)) as block:
            yield
        self._put(Region(head, (block,)))

    @contextmanager
    def _suffixed(self, of: str, values: Sequence[Value]) -> Iterator[None]:
        for value in values:
            if not isinstance(value, Value) or value.graph is not self:
                raise TypeError(f'{of}: {value!r} is no value of this graph')
        if self._definition is None:
            raise ValueError(f'{of}: stands in a function or an entry')
        pushed = getattr(self._definition, of)
        before = len(pushed)
        pushed += values
        try:
            yield
        finally:
            del pushed[before:]

    def after(self, *values: Value) -> ContextManager[None]:
        """What is built inside runs when these have run: `with g.after(loss):`."""
        return self._suffixed('after', values)

    def colocate(self, value: Value) -> ContextManager[None]:
        """What is built inside is computed on the device of this value or variable: `with g.colocate(w):`."""
        return self._suffixed('colocate', [value])

    @contextmanager
    def scope(self, name: str) -> Iterator[None]:
        """What is built inside has names and variables below `name/`: `with g.scope('encoder'):`.

        It is an instance: the text has a function of what stands inside, and a call of it `as name`.
        """
        with self._inside(Block(caller(), scope=name)) as block:
            yield
        self._put(block)

    def cond(self, p: Any, then: Callable[[], Any], otherwise: Optional[Callable[[], Any]] = None,
             types: Optional[Sequence[str]] = None) -> Any:
        """`then()` where p holds, else `otherwise()`: a branch that is chosen when the graph runs.

        `types` has the type of each result, where both sides give another extent: `['f64[?, N]']`.
        """
        origin, blocks, given = caller(), [], []
        for side in (then, otherwise):
            if side is None:
                continue
            with self._inside(Block(origin)) as block:
                values = as_list(side())
                if values:
                    self._emit([], self._list('yield ', values))
            blocks.append(block)
            given.append(len(values))
        if len(set(given)) > 1:
            raise TypeError(f'cond: {given[0]} results where p holds, {given[1]} elsewhere')
        if types is not None and (isinstance(types, str) or len(types) != given[0]):
            raise TypeError(f'cond: `types` is a list with a type for each of {given[0]} results')
        targets = [self._new('cond') for _ in range(given[0])]
        of = tuple(type_pieces(of, self) for of in types or ())
        self._put(Region(Line(tuple(targets), ('if ', *operand_of(p, self)), origin, True, of), tuple(blocks)))
        return self._as_given(targets)

    def while_loop(self, condition: Callable[..., Any], body: Callable[..., Any], init: Any,
                   types: Optional[Mapping[str, str]] = None, parallel: Optional[int] = None) -> Any:
        """Runs `body` as long as `condition` holds: both are called with the values that the loop carries.

        `init` has their first values, a tuple, a list or a dict of names; else the names are those of `body`'s
        parameters. `body` gives the next values. `types` says what a carried value is where its first value does not:
        `{'s': 'f64[]'}`, or one that grows, `{'rows': 'f64[?, N]'}`.
        """
        origin = caller()
        given = init.values() if isinstance(init, dict) else init if isinstance(init, (tuple, list)) else [init]
        first = list(given)
        names = list(init) if isinstance(init, dict) else list(inspect.signature(body).parameters)
        if len(names) != len(first):
            raise TypeError(f'while_loop: {len(first)} first values for {len(names)} parameters of `body`')
        targets = [self._new(name, is_named=True) for name in names]
        loop = Block(origin)
        carried = loop.parameters = [Value(self, target.name, loop, False, True) for target in targets]
        for target in [*targets, *carried]:
            target.gives_way = not isinstance(init, dict)
        pieces: List[Piece] = ['while (']
        for i, (name, inside, value) in enumerate(zip(names, carried, first)):
            of = [': ', *type_pieces(types[name], self)] if types and name in types else []
            pieces += [', '] * (i > 0) + [inside, *of, ' = ', *pieces_of(value, self)]
        with self._inside(loop):
            pieces += [') ', *self._expression_of(lambda: condition(*carried))]
            following = body(*carried)
            values = following if isinstance(following, (tuple, list)) else (following,)
            if len(values) != len(first):
                raise TypeError(f'while_loop: `body` gives {len(values)} values for {len(first)} that are carried')
            self._emit([], self._list('next ', values))
        if parallel:
            pieces.append(f' parallel={parallel}')
        self._put(Region(Line(tuple(targets), tuple(pieces), origin, True), (loop,)))
        return self._as_given(targets)

    def _list(self, word: str, values: Sequence[Any]) -> List[Piece]:
        pieces: List[Piece] = [word]
        for i, value in enumerate(values):
            pieces += [', '] * (i > 0) + pieces_of(value, self)
        return pieces

    @staticmethod
    def _as_given(targets: List[Value]) -> Any:
        return targets[0] if len(targets) == 1 else tuple(targets) if targets else None

    def _expression_of(self, function: Callable[[], Any]) -> List[Piece]:
        """What the function builds, as one expression."""
        self._inline.append(Block())
        stack = _local.__dict__.setdefault('graphs', [])
        stack.append(self)  # what is outside of definitions, as `lambda: op.uniform(-1, 1)`, is built too
        try:
            result = function()
            block = self._inline[-1]
        finally:
            stack.pop()
            self._inline.pop()
        meant: Dict[Value, List[Piece]] = {}
        for item in block.items:
            if not isinstance(item, Line) or len(item.targets) != 1:
                raise ValueError('what stands here is one expression: no blocks, no several results')
            meant[item.targets[0]] = replaced(item.pieces, meant)
        return [p for piece in pieces_of(result, self) for p in
                ([piece] if isinstance(piece, str) or piece not in meant else meant[piece])]

    # -- Training ------------------------------------------------------------------------------------------------------

    def grad(self, loss: Any, variables: Any) -> Any:
        """The gradient of a loss (or of the sum of a list of them) with respect to a value, a variable, or a list."""
        if not isinstance(variables, (list, tuple)):
            return self._call('grad', (loss, variables), {})
        if len(variables) == 1:
            return [self._call('grad', (loss, list(variables)), {})[0]]
        return list(self._call('grad', (loss, list(variables)), {}, None, len(variables)))

    def minimize(self, loss: Any, optimizer: Union[str, Function], **named: Any) -> None:
        """Extends the graph with gradients and updates of variables: `g.minimize(loss, 'adam', lr=1e-3)`."""
        self._call('minimize', (loss, Text(optimizer) if isinstance(optimizer, str) else optimizer), named, None, 0)


class LazyStep:
    """An entry of a Graph: a `Step` that is prepared when it is first called or asked."""

    def __init__(self, graph: Graph, name: str) -> None:
        self._graph = graph
        self.__name__ = name
        self.__doc__ = graph.describe(name)

    def __call__(self, /, *arrays: Any, **named: Any) -> Any:
        return self._graph.step(self.__name__)(*arrays, **named)

    def __getattr__(self, name: str) -> Any:
        if name.startswith('__'):
            raise AttributeError(name)
        return getattr(self._graph.step(self.__name__), name)

    def __repr__(self) -> str:
        return repr(self._graph.step(self.__name__))


class GraphFunctions(Functions):
    """The functions that a graph's texts define, and those of the library, by name; as a decorator it defines one."""
    _session: Graph

    def __call__(self, function: Callable[..., Any]) -> Function:
        return self._session._define_function(function)

    def _function(self, name: str, doc: str) -> Function:
        return Function(name, self._session, doc=doc)


def call_with_functions(name: str, arguments: Sequence[Any], named: Mapping[str, Any], as_: Optional[str]) -> Any:
    """Calls a function with arrays, and with functions of Python's, which become those of a graph of its own."""
    graph = Graph(name)

    def given(value: Any) -> Any:
        return graph.fn(value) if is_python_function(value) else value
    return graph.call(name, *map(given, arguments), as_=as_, **{key: given(value) for key, value in named.items()})


def is_python_function(value: Any) -> bool:
    """One to be traced: no type, nothing that has a name in texts."""
    return callable(value) and not isinstance(value, (Value, Function, type)) and not hasattr(value, '__leat_name__')


def results_text(annotation: str) -> str:
    """` -> …` of a function: several results stand in parentheses, and names alone are for the reader."""
    parts = split(annotation.strip().removeprefix('(').removesuffix(')'))
    if len(parts) < 2:
        return f' -> {annotation}'
    return '' if all(PLAIN.fullmatch(part.strip()) for part in parts) else f' -> ({", ".join(map(str.strip, parts))})'


def as_list(results: Any) -> list:
    """Of what a function gives."""
    return [] if results is None else list(results) if isinstance(results, tuple) else [results]


def replaced(pieces: Sequence[Piece], meant: Mapping[Value, List[Piece]]) -> List[Piece]:
    out: List[Piece] = []
    for piece in pieces:
        out += [piece] if isinstance(piece, str) or piece not in meant else ['(', *meant[piece], ')']
    return out


def write_safetensors(path: str, arrays: Mapping[str, Any]) -> None:
    import json
    names = {'bool': 'BOOL', 'f16': 'F16', 'f32': 'F32', 'f64': 'F64', 'c64': 'C64',
             **{f'{s}{n}': f'{s}{n}'.upper() for s in 'iu' for n in (8, 16, 32, 64)}}
    header, offset, data = {}, 0, []
    for name, array in arrays.items():
        if dtype_name(array) not in names:
            raise TypeError(f'a constant of dtype {array.dtype}')
        data.append(array.tobytes())
        header[name] = {'dtype': names[dtype_name(array)], 'shape': list(array.shape),
                        'data_offsets': [offset, offset + len(data[-1])]}
        offset += len(data[-1])
    words = json.dumps(header).encode()
    words += b' ' * (-len(words) % 64)
    with open(path, 'wb') as out:
        out.write(len(words).to_bytes(8, 'little') + words + b''.join(data))


def _origin_of(file: Optional[str], line: int) -> Optional[Origin]:
    graph = _sources.get(file) if file else None
    return graph._origin(line) if graph else None


_errors.origin_of = _origin_of
