"""What a case of control flow is: a program, and a Python function that says what it gives.

    @case('''entry main(n: i64[]) -> (t: i64[]) { … }''', {'n': 0}, {'n': 9})
    def name(n):
        return …

The function is the oracle, plain Python or NumPy that shares nothing with Leat. It is called once for each dict of feeds,
with arrays of the dtypes that the entry `main` declares (a str as Python's), and returns its results in order (a tuple of several), then
what `fetch` names. What it prints the program prints, line by line. Where the step must end with an error it raises
Stops with the words of it.
"""
import contextlib
import io
import re
from dataclasses import dataclass, field

import numpy

DTYPES = {'bool': '?', 'i8': 'i1', 'i16': 'i2', 'i32': 'i4', 'i64': 'i8', 'u8': 'u1', 'u16': 'u2', 'u32': 'u4',
          'u64': 'u8', 'f16': 'f2', 'bf16': 'V2', 'f32': 'f4', 'f64': 'f8', 'c64': 'c8', 'c128': 'c16', 'str': 'S'}
ROUNDING = {'f2': 1e-3, 'f4': 1e-6, 'f8': 1e-14, 'c8': 1e-6, 'c16': 1e-14}  # all else is exact
TARGETS = ('cpu', 'ref', 'c')


class Stops(Exception):
    """The step ends with an error that has these words."""


@dataclass
class Case:
    name: str
    text: str
    oracle: object
    runs: tuple         # feeds by name
    words: list         # of the command line
    fetch: dict         # more results: dtypes by name
    targets: tuple
    tolerance: float    # how many roundings a result may be off
    memory: int = None  # MB that it may take; None: any number
    prints_anyhow: bool = False  # several lines of it print, the order of which nothing says
    results: dict = field(default_factory=dict)  # dtypes by name
    takes: dict = field(default_factory=dict)

    def __post_init__(self):
        head = re.search(r'entry main\((.*?)\)(?: training)? (?:-> \((.*?)\) )?\{', self.text, re.S)
        self.takes, self.results = ({name: dtype for name, dtype in re.findall(r'(\w+): (\w+)\[', part or '')}
                                    for part in head.groups())

    def given(self, feeds):
        """As arrays; what is no parameter is fed in the place of a node."""
        usual = {name: value.dtype if isinstance(value, numpy.ndarray) else '?' if isinstance(value, bool) else 'f4'
                 for name, value in feeds.items()}
        dtypes = {name: DTYPES.get(self.takes.get(name.split('/')[-1]), usual[name]) for name in feeds}
        return {name: numpy.array(value, dtypes[name]) for name, value in feeds.items()}


@dataclass
class Answer:
    results: dict       # arrays by name
    printed: list       # lines
    stops: str          # words of the error, or None


CASES = []


def case(text, *runs, words=(), fetch=None, targets=TARGETS, tolerance=8, memory=None):
    def add(oracle):
        assert oracle.__name__ not in [known.name for known in CASES], oracle.__name__
        CASES.append(Case(oracle.__name__, text.strip('\n') + '\n', oracle, runs or ({},), list(words), fetch or {},
                          targets, tolerance, memory))
        return oracle
    return add


def answer(one, feeds):
    """What the oracle of a case says for these feeds."""
    said, wanted = io.StringIO(), {**one.results, **one.fetch}
    try:
        with contextlib.redirect_stdout(said), numpy.errstate(all='ignore'):
            values = one.oracle(**{name: array.item().decode() if array.dtype.kind == 'S' and not array.ndim else array
                                   for name, array in one.given(feeds).items()})
        values, stops = (values if isinstance(values, tuple) else (values,)) if wanted else (), None
        assert len(values) == len(wanted), f'{one.name}: {len(values)} values for {sorted(wanted)}'
    except Stops as error:
        values, stops = (), str(error)
    results = {name: numpy.asarray(value).astype(DTYPES[dtype]) for (name, dtype), value in zip(wanted.items(), values)}
    return Answer(results, said.getvalue().splitlines(), stops)


def differs(got, want, tolerance):
    """None, or how. The dtype of str is its longest element's, which says nothing."""
    if got.dtype != want.dtype and (got.dtype.kind, want.dtype.kind) != ('S', 'S'):
        return f'dtype {got.dtype}, not {want.dtype}'
    if got.shape != want.shape:
        return f'shape {got.shape}, not {want.shape}'
    rounding = ROUNDING.get(want.dtype.str[1:])
    if rounding is None:
        return None if (got == want).all() else 'values'
    # Of what is as small as 1 - tanh(x)² may be, no more can be asked than that it is as near as 1 is.
    usual = float(numpy.abs(want[numpy.isfinite(want)]).max(initial=1e-4))
    near = numpy.isclose(got, want, tolerance * rounding, tolerance * rounding * min(1, usual), equal_nan=True)
    return None if near.all() else 'values'
