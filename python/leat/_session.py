"""Sessions: texts, steps that are compiled and run, and variables."""
from __future__ import annotations

import difflib
import errno
import functools
import inspect
import os
import re
import warnings
from typing import (TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, List, Mapping, MutableMapping, NamedTuple,
                    Optional, Sequence, Tuple, Union)

from . import _core, _show
from ._arrays import DTYPES, check_ownership, dtype_name
from ._errors import Error, Warning, level_outside
from ._options import DEFAULTS, Options, checked, help_text, with_options
from ._text import PLAIN, argument_text, split
from ._values import with_types

if TYPE_CHECKING:
    from typing_extensions import Unpack

NAMES, PATHS, FETCHES, PARAMETERS = range(4)  # leat_name_kind


class Port(NamedTuple):
    """What a step takes or gives: `type` is "f32[B, 64]"; what is `optional` has a default."""
    name: str
    dtype: str
    rank: int
    type: str
    optional: bool


class Results(tuple):
    """Several results of a step, in order: `loss, y = step(x)`; also `r.loss` and `r['net/h']`."""
    _names: Tuple[str, ...]

    def __new__(cls, values: Sequence[Any], names: Tuple[str, ...]) -> 'Results':
        self = super().__new__(cls, values)
        self._names = names
        return self

    def __getitem__(self, key):  # type: ignore[override]
        return super().__getitem__(self._names.index(key) if isinstance(key, str) else key)

    def __getattr__(self, name: str) -> Any:
        if name in self._names:
            return self[name]
        raise AttributeError(f'there is no result `{name}`; there are {", ".join(self._names)}')

    # Results of these names, which methods have, too.
    count = property(lambda self: self._result_or_method('count'))  # type: ignore[assignment]
    index = property(lambda self: self._result_or_method('index'))  # type: ignore[assignment]

    keys = property(lambda self: self['keys'] if 'keys' in self._names else lambda: self._names)

    def _result_or_method(self, name: str) -> Any:
        return self[name] if name in self._names else getattr(super(), name)

    def __repr__(self) -> str:
        return 'Results(' + ', '.join(f'{name}={value!r}' for name, value in zip(self._names, self)) + ')'


class Step:
    """A step that is prepared: call it with arrays, by position or by name.

    It gives an array, or `Results` where it has several, or None. An array of a good size is the memory in which the
    step computed it, without a copy, and is yours; so you may keep it, and write to it. (One of a constant is
    read-only.)

    inputs    a `Port` for each array that it takes
    outputs   a `Port` for each that it gives
    donated   the names of the inputs whose arrays are its own to write to

    A donated array is given away: a result may be made in its memory, and is that very array then (or, of another
    shape, one over its memory). One that no result lies in has all its bits set after the run, which is NaN, -1 or,
    of bools, False: its values are gone.
    """

    def __init__(self, core: '_core.Step', name: str = 'step', doc: Optional[str] = None) -> None:
        self._core = core
        self.inputs = tuple(Port(*port) for port in core.feeds)
        self.outputs = tuple(Port(*port) for port in core.fetches)
        self.__name__ = name
        self.__doc__ = doc or type(self).__doc__
        self.donated = frozenset(core.donated)
        self._places = {port.name: i for i, port in enumerate(self.inputs)}
        self._names = tuple(port.name for port in self.outputs)
        self._run = core.run

    def __call__(self, /, *arrays: Any, steps: Any = None, deadline: Any = None, **named: Any) -> Any:
        """Runs it once, or `steps` times with the same arrays (and gives the results of the last run).

        A run that takes longer than `deadline` seconds raises `DeadlineExceeded` and is undone, whatever the session's
        own deadline is; 0: it may take any time.
        """
        if steps is not None and 'steps' in self._places:
            named['steps'] = steps
            steps = None
        if deadline is not None and 'deadline' in self._places:
            named['deadline'] = deadline
            deadline = None
        feeds = arrays if len(arrays) == len(self.inputs) and not named else self._feeds(arrays, named)
        return self._wrapped(self._run_with(feeds, 1 if steps is None else steps, deadline))

    def _run_with(self, feeds: tuple, count: int, deadline: Optional[float] = None) -> tuple:
        for name in self.donated:
            check_ownership(feeds[self._places[name]], name)
        try:
            return self._run(feeds, count, deadline)
        except Error as error:
            error.hint = self._conversion(feeds) if 'expected' in str(error) else ''
            raise

    def _conversion(self, feeds: tuple) -> str:
        """How the first array of another dtype than its feed's becomes one of that."""
        for port, value in zip(self.inputs, feeds):
            found = dtype_name(value)
            if found and found != port.dtype and found in DTYPES and port.dtype != 'str':
                return f'`{port.name}` is an array of {found}: `.astype(\'{DTYPES[port.dtype][1]}\')` makes it {port.dtype}'
        return ''

    def repeat(self, steps: int, /, *arrays: Any, every: int = 0,
               report: Optional[Callable[[int, Any], Any]] = None, **named: Any) -> Any:
        """Runs it `steps` times with the same arrays and gives the results of the last run.

        With `every`, `report(done, results)` is called each time that so many runs are done.
        """
        feeds = self._feeds(arrays, named)
        done, results = 0, None
        while done < steps:
            count = min(every or steps, steps - done)
            results = self._wrapped(self._run_with(feeds, count))
            done += count
            if report:
                report(done, results)
        return results

    def _wrapped(self, values: tuple) -> Any:
        if len(values) == 1:
            return values[0]
        return Results(values, self._names) if values else None

    def _feeds(self, arrays: tuple, named: Dict[str, Any]) -> tuple:
        if len(arrays) > len(self.inputs):
            raise TypeError(f'{self.__name__} takes {len(self.inputs)} arrays, not {len(arrays)}')
        feeds = list(arrays) + [None] * (len(self.inputs) - len(arrays))
        for name, value in named.items():
            place = self._places.get(name)
            if place is None:
                raise TypeError(f'{self.__name__} takes no `{name}`; it takes {self.signature}')
            if place < len(arrays):
                raise TypeError(f'{self.__name__} is given `{name}` twice')
            feeds[place] = value
        for port, value in zip(self.inputs, feeds):
            if value is None and not port.optional:
                raise TypeError(f'{self.__name__} needs `{port.name}`, which is {port.type}')
        return tuple(feeds)

    @property
    def signature(self) -> str:
        """What it takes and gives: "(x: f32[B, 64]) -> (class: i32[B])"."""
        takes = ', '.join(f'{port.name}: {port.type}' + (' = …' if port.optional else '') for port in self.inputs)
        gives = ', '.join(f'{port.name}: {port.type}' for port in self.outputs)
        return f'({takes}) -> ({gives})'

    def __repr__(self) -> str:
        return f'<leat.Step {self.__name__}{self.signature}>'


class Variables(MutableMapping):
    """The variables of a session by name: `v['net/w']` is a copy of the value, `v['net/w'] = array` sets it."""

    def __init__(self, session: 'Session') -> None:
        self._session = session

    def __getitem__(self, name: str) -> Any:
        if name not in self:
            raise KeyError(self._session._unknown('variable', name, list(self)))
        return self._session._core.read(name)

    def __setitem__(self, name: str, value: Any) -> None:
        dtype = dtype_name(value) or dtype_name(self[name])
        self._session._core.write(name, value, dtype or 'f32')

    def __delitem__(self, name: str) -> None:
        raise TypeError('a graph only grows: its variables stay')

    def __contains__(self, name: object) -> bool:
        return any(name == known for known, _ in self._session._core.variables())

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._session._core.variables())

    def __len__(self) -> int:
        return len(self._session._core.variables())

    def __repr__(self) -> str:
        return f'<leat.Variables {", ".join(self)}>'


class Functions:
    """The functions of a session's texts, and those of the library: `model.fn.mlp(x)` computes with arrays at once.

    An array becomes a feed; a number, a string or a list is part of the program, which is compiled once for each. A
    call of a function that holds state names the instance as a text does: `model.fn.mlp(x, as_="net")` uses the
    variables `net/…`.
    """

    def __init__(self, session: 'Session') -> None:
        self._session = session

    def __getattr__(self, name: str) -> Callable[..., Any]:
        doc = None if name.startswith('__') else self._session.describe(name) or _core.describe(name)
        if doc is None:
            raise AttributeError(self._session._unknown('function', name, dir(self)))
        return self._function(name, doc)

    def _function(self, name: str, doc: str) -> Callable[..., Any]:
        session = self._session

        def function(*arguments: Any, as_: Optional[str] = None, **named: Any) -> Any:
            return session.call(name, *arguments, as_=as_, **named)
        function.__name__ = function.__qualname__ = name
        function.__doc__ = doc
        return function

    def __dir__(self) -> List[str]:
        return self._session._core.names(NAMES, None)


class Session:
    """A graph that grows, its variables, and the steps that are compiled of it.

    Its entries are its methods:

        model = leat.load('digits.leat')
        model.train(steps=2000)              # runs `entry train` 2000 times and gives its results
        classes = model.predict(images)      # arrays in and out, without a copy
        model.variables['net/output/w']      # by name
        model.save('ck.safetensors')

    An entry with the name of a method here is `model['save']`; a warning says so when it is loaded. Other edges of the
    graph are fetched and fed by name, `model.run('net/h', {'x': images}, within='predict')`, or with `compile`.

    Options:
OPTIONS

    Threads: one at a time is in a session, others wait for it; while it compiles and runs the GIL is free, and ^C ends
    it with KeyboardInterrupt. Different sessions run at once. A process that forks must not use the sessions of its
    parent.
    """

    @with_options
    def __init__(self, **options: 'Unpack[Options]') -> None:
        given: Dict[str, Any] = {**DEFAULTS, **checked(options)}
        path, settings = given.pop('path', None), given.pop('settings', None) or {}
        if path is not None and not isinstance(path, str):
            path = ':'.join(os.fspath(folder) for folder in path)
        texts = [text for name, value in settings.items() for text in (name, argument_text(value))]
        lines = given.pop('print'), given.pop('log', None)
        self._core = _core.Session({**given, 'path': path}, texts, *lines)
        self._steps: Dict[Any, Step] = {}
        self._calls = 0
        self._hidden: set = set()

    # -- Texts ---------------------------------------------------------------------------------------------------------

    def extend(self, text: str, name: str = '<text>') -> 'Session':
        """Adds a text to the graph. `name` is what messages call it; `use` and `load` are relative to its folder."""
        self._core.extend(text, name)
        self._warn_of_hidden()
        return self

    def load(self, path: Union[str, os.PathLike]) -> 'Session':
        """Adds the text, or the model file, at `path`."""
        self._core.extend_file(os.fsencode(path))
        self._warn_of_hidden()
        return self

    def _warn_of_hidden(self) -> None:
        """Of new entries that have the name of a method: `model.save(x)` is not what they are called by."""
        for name in self.entries:
            if name in self._hidden or not hasattr(type(self), name):
                continue
            self._hidden.add(name)
            warnings.warn(f"the entry `{name}` has the name of a method of the session: `model['{name}']` is the entry",
                          Warning, level_outside())

    def dump(self) -> str:
        """The whole graph as canonical text, which can be loaded again."""
        return self._core.print()

    def describe(self, name: str) -> Optional[str]:
        """The documentation and head of an entry or a function, as its text has them; None: there is no such."""
        return self._core.describe(name)

    # -- Steps ---------------------------------------------------------------------------------------------------------

    @property
    def entries(self) -> Tuple[str, ...]:
        """The names of the entries."""
        return tuple(name for name, _ in self._core.entries())

    def compile(self, *entries: str, feeds: Sequence[str] = (), fetches: Sequence[str] = (), runs: Sequence[str] = (),
                within: Optional[str] = None, donate: Sequence[str] = ()) -> Step:
        """A step of several entries and other names: what `leat run --entry … --feed … --fetch … --run …` would run.

        Its inputs are the parameters of the entries, then `feeds`; its outputs their results, then `fetches`. Without
        an entry, short names are those of the entry `within`. It is compiled now, or where extents are open (`N`) by
        the first call for each extent. The arrays of the inputs in `donate` are the step's to write to (see `Step`).
        """
        donated = [donate] if isinstance(donate, str) else list(donate)
        core = self._core.prepare(entries, list(feeds), list(fetches), list(runs), within, donated)
        if core is None:
            raise ValueError('`stop_after` ended the compilation')
        doc = self.describe(entries[0]) if len(entries) == 1 else None
        return Step(core, '+'.join(entries) or 'step', doc)

    def step(self, name: str) -> Step:
        """The entry as a step, compiled once: what `model.NAME` is."""
        if name not in self._steps:
            self._steps[name] = self.compile(name)
        return self._steps[name]

    def __getitem__(self, name: str) -> Step:
        return self.step(name)

    def __getattr__(self, name: str) -> Step:
        if name.startswith('_'):  # Python's own questions, also of one that is not made yet
            raise AttributeError(name)
        if name not in self.entries:
            raise AttributeError(self._unknown('entry', name, list(self.entries)))
        return self.step(name)

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self.entries]

    @staticmethod
    def _unknown(what: str, name: str, known: List[str]) -> str:
        near = difflib.get_close_matches(name, known, 1)
        there = f'did you mean `{near[0]}`?' if near else f'there are {", ".join(known) or "none"}'
        return f'there is no {what} `{name}`; {there}'

    def run(self, fetches: Union[str, Sequence[str]], feeds: Optional[Mapping[str, Any]] = None,
            within: Optional[str] = None, donate: Iterable[str] = ()) -> Any:
        """Fetches values by name, for which nothing but their ancestors is computed: `run('net/h', {'x': x}, 'f')`.

        Of the feeds in `donate` the arrays are given away, and results may be made in them (see `Step`).
        """
        names = [fetches] if isinstance(fetches, str) else list(fetches)
        given = dict(feeds or {})
        donated = sorted({donate} if isinstance(donate, str) else set(donate))
        key = (tuple(names), tuple(given), within, tuple(donated))
        if key not in self._steps:
            self._steps[key] = self.compile(feeds=list(given), fetches=names, within=within, donate=donated)
        return self._steps[key](**given)

    # -- Functions with arrays -----------------------------------------------------------------------------------------

    @property
    def fn(self) -> Functions:
        """The functions of the texts and of the library, to be called with arrays: `model.fn.softmax(x)`."""
        return Functions(self)

    def call(self, function: str, /, *arguments: Any, as_: Optional[str] = None, **named: Any) -> Any:
        """Calls a function of the texts, or of the library, with arrays: a step is compiled for each set of types."""
        arguments, named = with_types(function, self, arguments, named)
        given = list(arguments) + list(named.values())
        arrays = [value for value in given if dtype_name(value)]
        types = [f'{dtype_name(value)}[{", ".join(map(str, value.shape))}]' for value in arrays]
        written = [None if dtype_name(value) else argument_text(value) for value in given]
        key = (function, tuple(types), tuple(written), tuple(named), as_)
        if key not in self._steps:
            self._steps[key] = self._compile_call(function, types, written, list(named), as_)
        step = self._steps[key]
        return step(*arrays) if isinstance(step, Step) else step

    def _compile_call(self, function: str, types: List[str], written: List[Optional[str]], named: List[str],
                      as_: Optional[str]) -> Any:
        self._calls += 1
        types = self._with_declared_dims(function, types, written, named)
        feeds = [f'call_{self._calls}_{i}' for i in range(len(types))]
        left = iter(feeds)
        texts = [next(left) if text is None else text for text in written]
        first = len(texts) - len(named)
        words = texts[:first] + [f'{name}={text}' for name, text in zip(named, texts[first:])]
        instance = f' as {argument_text(as_)}' if as_ else ''
        lines = [f'{name} = zeros({kind})' for name, kind in zip(feeds, types)]
        self._core.extend('\n'.join([*lines, f'{function}({", ".join(words)}){instance}']), f'<call of {function}>')
        shown = self._core.shown()
        if not shown:
            return self._core.shown_text()
        return Step(self._core.prepare([], feeds, shown, [], None, []), function)

    def _with_declared_dims(self, function: str, types: List[str], written: List[Optional[str]],
                            named: List[str]) -> List[str]:
        """The types of the arrays, with the dims that the function's head has from outside: those it is told there."""
        head = self.describe(function) or ''
        inside = head.rpartition(f'fn {function}(')[2].partition(') ->')[0].strip().removesuffix(')')
        parts = (part.partition(':') for part in split(inside))
        declared = {name.strip(): of.partition('=')[0].strip() for name, _, of in parts}
        names = [*list(declared)[:len(written) - len(named)], *named]
        arrays = iter(types)
        out = []
        for i, text in enumerate(written):
            if text is None:
                of = declared.get(names[i], '') if i < len(names) else ''
                out.append(told_dims(next(arrays), of, declared))
        return out

    # -- Variables -----------------------------------------------------------------------------------------------------

    @property
    def variables(self) -> Variables:
        """The variables by name, slots of optimisers among them: a mapping that reads and writes them."""
        return Variables(self)

    def save(self, path: Union[str, os.PathLike], overwrite: bool = True) -> None:
        """Writes every variable that has a value, and how often entries had run, to a safetensors file.

        One that is there is replaced, or FileExistsError without `overwrite`.
        """
        if not overwrite and os.path.exists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), os.fspath(path))
        self._core.save(os.fsencode(path))

    def restore(self, path: Union[str, os.PathLike], partial: bool = False) -> None:
        """Reads a file that `save` or `leat run --save` wrote; with `partial` it may lack variables."""
        (self._core.restore_partial if partial else self._core.restore)(os.fsencode(path))

    # -- Several processes ---------------------------------------------------------------------------------------------

    @property
    def is_client(self) -> bool:
        """With `cluster`, every process that mpiexec started makes the same session: one is the client, which reads
        texts and runs steps, the others `serve`. Alone a process is the client."""
        return self._core.is_client()

    def serve(self) -> None:
        """Serves the client until that closes its session."""
        self._core.serve()

    # -- Life ----------------------------------------------------------------------------------------------------------

    def trace(self) -> str:
        """What ran when, as Chrome trace JSON, of a session with `trace=True`."""
        return self._core.trace()

    def stop(self) -> bool:
        """Ends what another thread compiles or runs in the session, there with `leat.Error`, whose status is "aborted".

        Whether there was something to end.
        """
        return self._core.stop()

    def close(self) -> None:
        """Ends it: gives back all memory but that of arrays which are still there."""
        self._steps.clear()
        self._core.close()

    def __enter__(self) -> 'Session':
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        """Its entries with what they take and give."""
        return self._shown(_show.as_text)

    def _repr_html_(self) -> str:
        """For notebooks: of each entry its values with their types."""
        return self._shown(_show.as_html)

    def _shown(self, show: Callable[[str, str, str], str]) -> str:
        kind, name = type(self).__name__, self.__dict__.get('name', '')
        try:
            return show(kind, name, self.dump())
        except (ValueError, Error):  # it is closed
            return f'<leat.{kind}{name and " " + name}>'


def told_of_entries(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method, which may have been taken for the entry of its name: what it does not take says so."""
    @functools.wraps(method)
    def told(self: Session, /, *given: Any, **named: Any) -> Any:
        try:
            return method(self, *given, **named)
        except TypeError as error:
            if method.__name__ in self._hidden:
                raise TypeError(f"{error}; the entry `{method.__name__}` is `model['{method.__name__}']`") from None
            raise
    return told


for _name, _method in list(vars(Session).items()):
    if inspect.isfunction(_method) and not _name.startswith('_'):
        setattr(Session, _name, told_of_entries(_method))
Session.__doc__ = (Session.__doc__ or '').replace('OPTIONS', help_text())


def told_dims(found: str, declared: str, parameters: Mapping[str, str]) -> str:
    """`f32[2, 3]` as `f32[batch, 3]`, where that is what is declared and `batch` is no parameter."""
    dtype, _, extents = found.partition('[')
    dims, wanted = split(extents[:-1]), split(declared.partition('[')[2][:-1])
    if len(dims) != len(wanted):
        return found
    for i, name in enumerate(part.strip() for part in wanted):
        if PLAIN.fullmatch(name) and name[0].islower() and name not in parameters:
            dims[i] = name
    return f'{dtype}[{", ".join(part.strip() for part in dims)}]'


@with_options
def load(file: Union[str, os.PathLike], /, **options: 'Unpack[Options]') -> Session:
    """A session of the text, or the model file, `file`; the options are those of `Session`."""
    return Session(**options).load(file)


@with_options
def loads(text: str, name: str = '<text>', **options: 'Unpack[Options]') -> Session:
    """A session of a text; the options are those of `Session`."""
    return Session(**options).extend(text, name)
