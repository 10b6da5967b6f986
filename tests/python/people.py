"""What people try first: their own functions, Python's and NumPy's ways, names of methods, notebooks, help."""
import array
import importlib.machinery
import inspect
import re
import warnings

import leat
import numpy as np
from cases import ROOT, case, model, raises
from leat import _core, _errors, _options, op

x = np.arange(6, dtype='f4').reshape(2, 3)


def graph(name='test', **options):
    return leat.Graph(name, **{'threads': 1, 'cache': 'off', **options})


# -- Names ------------------------------------------------------------------------------------------------------------

@case
def entries_with_names_of_methods():
    """All of them: each is told when it is loaded, is reached by `[]`, and the method says so too."""
    names = [name for name in dir(leat.Session) if not name.startswith('_')]
    text = '\n'.join(f'entry `{name}`(x: f32[N]) -> (y: f32[N]) {{ y = x + {i} }}' for i, name in enumerate(names))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        m = model(text)
        m.extend('entry more(x: f32[]) -> (y) { y = x }')  # it says so once
    told = {re.search('`(.*?)`', str(w.message))[1] for w in caught}
    assert told == set(names) and len(caught) == len(names), told
    assert all(w.category is leat.Warning and w.filename.endswith(('cases.py', 'people.py')) for w in caught)
    for i, name in enumerate(names):
        np.testing.assert_array_equal(m[name]([1, 2]), [1 + i, 2 + i])
    methods = [name for name in names if callable(vars(leat.Session)[name])]
    assert {'call', 'step', 'stop', 'extend'} <= set(methods)
    for name in methods:
        for given in (2.5, 2), (np.ones(2, 'float32'), 'x', 1, 2, 3):
            raises(TypeError, f"; the entry `{name}` is `model['{name}']`", getattr(m, name), *given)
    g = graph()

    @g.entry
    def step(x: 'f32[]') -> 'y':
        return x * 2
    assert step(3) == g['step'](3) == 6


@case
def names_that_are_keywords():
    """Of the language: a graph's entries, functions, parameters, variables, results and instances may have them."""
    words = leat._core.keywords.split()
    assert {'next', 'None', 'entry', 'mutex'} <= set(words)
    for word in (*words, 'training', 'any', 'a b', 'größe'):
        g = graph()
        state = g.var(word, 'f32[3]', 1)

        def made(a, b):
            return a * b

        def run(x, scale):
            return net(x, state, as_='of ' + word) + scale

        def results(x):
            return {word: x[0] + 1}
        made.__name__ = word + '_f'
        net = g.fn(made)
        other = graph()
        for of, function, parameters in (g, run, ('x', 'scale')), (other, results, (word,)):
            function.__name__ = word + ' run'
            function.__signature__ = inspect.Signature([
                inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation='f32[3]')
                for name in ('x', 'scale')[:len(parameters)]])
            of.entry(function)
        y = g[word + ' run']([1, 2, 3], [1, 1, 1])
        np.testing.assert_array_equal(y, [2, 3, 4])
        assert list(g.variables) == [word]
        again = leat.loads(g.text, cache='off', threads=1)
        np.testing.assert_array_equal(again[word + ' run']([1, 2, 3], [0, 0, 0]), [1, 2, 3])
        assert other[word + ' run']([1, 2, 3]) == 2 and other[word + ' run'].outputs[0].name == word


@case
def results_with_names_of_values_inside():
    """Those of a loop, of a function of Python's, and of what is outside give way; a parameter's does not."""
    g = graph()
    w = g.var('w', 'f32[2]', 1)
    v = g.var('v', 'f32[2]', 5)

    @g.fn
    def net(x: 'f32[2]') -> 'f32[2]':
        return x * 2

    @g.entry
    def loop(x: 'f32[2]') -> 's, i, best, s_1':
        i, s = g.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + x), (0, x))
        best = op.fori(2, lambda i, best: best * s, x)
        return s * 10, i + 100, best[0], s
    r = loop([1, 2])
    assert list(r.s) == [40, 80] and r.i == 103 and r.best == 16 and list(r.s_1) == [4, 8], r

    @g.entry
    def outer(x: 'f32[2]') -> 's, t':
        s_before = x + 1  # used in a loop that carries an `s`, and then the result of that name
        t, _ = g.while_loop(lambda s, i: i < 2, lambda s, i: (s + s_before, i + 1), (x, 0))
        return s_before, t
    r = outer([1, 2])
    assert list(r.s) == [2, 3] and list(r.t) == [5, 8], r

    @g.entry
    def cond(x: 'f32[2]') -> 'w, v':
        kept = g.cond(x[0] > 0, lambda: op.fori(2, lambda i, w: w * 2, x), lambda: x)
        return kept, op.map(lambda v: v + 1, x)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        r = cond([1, 2])
    assert list(r.w) == [4, 8] and list(r.v) == [2, 3], r

    @g.entry
    def state(x: 'f32[2]') -> 'w':
        w.add(x)
        return w
    assert list(state([1, 2])) == [2, 3] and list(state([1, 2])) == [3, 5]

    @g.entry
    def swapped(x: 'f32[2]') -> 'w, v, net':
        return v, w, net(net(x))
    r = swapped([1, 2])
    assert list(r.w) == [5, 5] and list(r.v) == [3, 5] and list(r.net) == [4, 8], r
    assert list(g.variables['w']) == [3, 5] and list(g.variables['v']) == [5, 5]

    @g.entry
    def own() -> 'count':
        count = g.var('count', 'i32[]', 0)
        count.add(1)
        return count
    assert own() == 1 and own() == 2
    again = leat.loads(g.text, cache='off', threads=1)
    assert list(again.loop([1, 2]).s) == [40, 80] and list(again.swapped([1, 2]).w) == [5, 5]

    def board(x: 'f32[2]') -> 'x':
        return x + 1

    def named(x: 'f32[2]') -> 'h':
        (x * 2).named('h')
        return x + 1
    raises(ValueError, "the result `x` of `board` has the name of a parameter there, and each is fed or fetched by its "
           "own: -> 'x_out' gives it another", g.entry, board)
    raises(ValueError, 'the result `h` of `named` has the name of another value there', g.entry, named)


@case
def dtypes_and_types_of_calls():
    """NumPy's, and as strings: by position, by name, outside of graphs and inside; other strings stay strings."""
    for i32, f32 in ((np.int32, np.float32), (np.dtype('i4'), np.dtype('f4')), ('i32', 'f32'), ('int32', 'float32'),
                     (leat.i32, leat.f32)):
        assert op.cast([1.5, 2], i32).dtype == op.cast(np.ones(2), dtype=i32).dtype == 'i4'
        assert op.arange(3, dtype=f32).dtype == op.arange(0, 3, 1, f32).dtype == 'f4'
        g = graph()

        @g.fn
        def of(x: 'any', to: 'type', why: str = 'i32'):
            return op.cast(x, to)

        @g.entry
        def f(x: 'f64[N]') -> 'a, b, c, d, e':
            one = op.one_hot(op.cast(x, i32), 3, i32)
            return op.cast(x, i32), x.astype(f32), op.arange(3, dtype=f32), one, of(x, i32, why='f32')
        assert [value.dtype for value in f(np.ones(2))] == ['i4', 'f4', 'f4', 'i4', 'i4']
        assert 'why="f32"' in g.text, g.text
    g = graph()

    @g.entry
    def drawn() -> 'a, b':
        return op.normal(0, 1, out='f32[4]'), op.full(2, 'f64[2, 3]')
    assert [value.shape for value in drawn()] == [(4,), (2, 3)]
    assert op.zeros('f32[3]').shape == (3,) and op.normal(seed=1, out='f64[2]').dtype == 'f8'


@case
def types_of_dtypes():
    """`leat.f32[…]`: numbers, names, and dims that are known only while running, in functions too."""
    assert leat.f32[2] == 'f32[2]' and leat.i64[3, 'N'] == 'i64[3, N]' and leat.f64[()] == 'f64[]'
    assert leat.f32['N', np.int64(4)] == 'f32[N, 4]' and leat.f32 == 'f32' and leat.f32.startswith('f')
    assert op.zeros(leat.f32[2]).shape == (2,) and op.zeros(leat.f32[()]) == 0
    raises(TypeError, "an extent of f32 is a number, a dim of a graph, or a string, 'N', not a float", lambda: leat.f32[2.5])
    raises(TypeError, 'not a NoneType', lambda: leat.f32[None, 2])
    raises(TypeError, 'not a slice', lambda: leat.f32[:2])
    g = graph()
    w = g.var('w', leat.f32[2], 1)

    @g.entry
    def f(x: leat.f32['N', 2], count: 'i32[]') -> 'a, b, c, d, e, n':
        n, k = op.dynamic(count), op.dynamic(count + 1).named('k')
        rows, columns = x.shape
        drawn = op.map(lambda i: op.sum(op.ones(leat.i32[n]) * i), op.arange(3))
        _, e = g.while_loop(lambda i, e: i < 3, lambda i, e: (i + 1, op.concat([e, e[:1]])), (0, op.zeros(leat.f32[n])),
                            types={'e': leat.f32['?']})
        return op.zeros(leat.i32[n]), op.ones(leat.f64[k, n + 1, 2]), op.ones(leat.f32[rows, columns]) + w, drawn, e, n
    r = f(np.zeros((5, 2), 'f4'), 3)
    assert [value.shape for value in r] == [(3,), (4, 4, 2), (5, 2), (3,), (6,), ()] and r.a.dtype == 'i4', r
    assert list(r.d) == [0, 3, 6] and r.n == 3 and (r.c == 2).all()
    again = leat.loads(g.text, cache='off', threads=1)
    assert again.f(np.zeros((5, 2), 'f4'), 3).b.shape == (4, 4, 2)

    def scalar(count: 'i32[]') -> 'y':
        return op.zeros(leat.f32[count])
    raises(leat.Error, 'as a dim it is `dynamic(Count)`', g.entry, scalar)


@case
def bodies_that_ignore_a_parameter():
    """No warning: it is Python's calling that has it, and the text says that it may be so."""
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        g = graph()

        @g.entry
        def f(x: 'f32[N]') -> 'a, b, c':
            def row(größe: 'f32[]', size=1):
                return x[0]
            return (op.fori(3, lambda i, carry: carry * 2, x), op.map(row, x),
                    op.map(lambda i, _i: op.map(lambda _: _i, x).sum(), x, x))
        a, b, c = f([1, 2])
    assert list(a) == [8, 16] and list(b) == [1, 1] and list(c) == [6, 6]
    assert 'f_fori_body(_i: any, carry: any)' in g.text and 'f_row(`_größe`: f32[], x: any)' in g.text, g.text
    assert list(leat.loads(g.text, cache='off', threads=1).f([1, 2]).a) == [8, 16]


@case
def dims_of_an_entry_inside():
    """In types and pieces of the language, of functions of Python's, of these inside of one another, and of scopes."""
    g = graph()

    @g.entry
    def f(x: 'f32[N, M]', y: 'f32[M]') -> 'a, b, c, d, e':
        def inner(i):
            return op.map(lambda j: op.ones('f32[N, 2]').sum() + j, op.arange(2, dtype=leat.f32)).sum() * i

        def own(row: 'f32[M, N]'):  # an N of its own
            return op.map(lambda v: op.ones(leat.Text('f32[N]')).sum() * v, row[0])
        with g.scope('within'):
            e = op.zeros(leat.f32['N', 3]) + g.expression('N * 10')
        return (op.map(lambda i: op.ones(leat.Text('f32[N]')) * i, op.arange(3, dtype=np.float32)),
                op.map(inner, y), op.map(own, op.ones('f32[N, M, 5]')), op.map(lambda v: g.expression('N + M'), y), e)
    r = f(np.ones((4, 2), 'f4'), [1, 2])
    assert r.a.shape == (3, 4) and list(r.b) == [17, 34] and r.e.shape == (4, 3) and (r.e == 40).all(), r
    assert r.c.shape == (4, 5) and (r.c == 5).all() and list(r.d) == [6, 6], r
    assert list(leat.loads(g.text, cache='off', threads=1).f(np.ones((4, 2), 'f4'), [1, 2]).b) == [17, 34]


@case
def values_that_grow():
    """Carried, and chosen: `types` declares them, as the message says."""
    def rows(types, chosen):
        g = graph()

        def grown(u: 'f64[N]', n: 'i32[]') -> 'rows':
            def body(i, rows):
                return i + 1, g.cond(i % 2 == 0, lambda: op.concat([rows, u[None] * i]), lambda: rows, types=chosen)
            return g.while_loop(lambda i, rows: i < n, body, (0, u[None][:0]), types)[1]
        return g.entry(grown)
    types = {'rows': 'f64[?, N]'}
    f = rows(types, ['f64[?, N]'])
    np.testing.assert_array_equal(f([1, 2], 4), [[0, 0], [2, 4]])
    assert f([1, 2], 0).shape == (0, 2)
    raises(leat.Error, "g.cond(…, types=['f64[?, N]']) declares it so", rows, types, None)
    raises(TypeError, 'cond: `types` is a list with a type for each of 1 results', rows, types, 'f64[?, N]')
    raises(TypeError, 'for each of 1 results', rows, types, [])
    g = graph()

    def loop(u: 'f64[N]') -> 'y':
        return g.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, op.concat([s, u[None]])), (0, u[None][:0]))[1]
    raises(leat.Error, "g.while_loop(…, types={'s': 'f64[?, N]'}) declares it so", g.entry, loop)

    @g.entry
    def several(x: 'f32[N]', k: 'i32[]') -> 'a, b':
        n = op.dynamic(k)
        with g.scope('within'):
            return g.cond(x[0] > 0, lambda: (x[1:], op.ones(leat.f32[n])), lambda: (x, op.zeros(leat.f32[n])),
                          types=['f32[?]', leat.f32[n]])
    assert [list(value) for value in several([1, 2], 1)] == [[2], [1]]
    assert [list(value) for value in several([-1, 2], 1)] == [[-1, 2], [0]]


# -- Options ----------------------------------------------------------------------------------------------------------

@case
def options_are_those_that_there_are():
    """The table has each option of the core, and signatures and help have each of the table."""
    own = {'settings', 'print', 'log'}
    assert set(_options.Options.__annotations__) - own == set(_core.option_names) - {'interactive'}
    for function in leat.Session, leat.Graph, leat.load, leat.loads, leat.Session.__init__:
        parameters = inspect.signature(function).parameters
        given = {name for name, p in parameters.items() if p.kind is p.KEYWORD_ONLY}
        assert given - {'parameters'} == set(_options.Options.__annotations__), given
        assert not any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    for name in _options.Options.__annotations__:
        assert re.search(rf'^      {name} +\S', leat.Session.__doc__, re.M), name
    raises(TypeError, 'there is no option `thread`; did you mean `threads`?', leat.loads, '', thread=2)
    raises(TypeError, 'there is no option `nonsense`: help(leat.Session) lists them', graph, nonsense=2)
    lines = []
    m = leat.loads('graph g(k: int = 1)\nentry f() { print("k", tensor(k)) }', settings={'k': 7}, print=lines.append)
    m.f()
    assert lines == ['k 7'], lines


@case
def a_wheel_without_llvm_says_why():
    with open('no_llvm.txt', 'w', encoding='utf-8') as out:
        out.write('there is no libzstd.a (Debian: libzstd-dev)\n')
    assert _errors.why_no_llvm('since leat-llvm.so, which', '.') == \
        '; this wheel was made without it: there is no libzstd.a (Debian: libzstd-dev)'
    assert not _errors.why_no_llvm('something else', '.') and not _errors.why_no_llvm('leat-llvm.so')
    loader = importlib.machinery.SourceFileLoader('wheel', f'{ROOT}/python/wheel')
    source = loader.get_source('wheel').removesuffix('main()\n')  # it is a program
    wheel = {'__name__': 'wheel', '__file__': f'{ROOT}/python/wheel'}
    exec(compile(source, 'wheel', 'exec'), wheel)
    wheel['ARCHIVES'] = {'libno_such.a': 'libno-such-dev', 'libalso_none.a': 'libnone-dev'}
    said = wheel['why_no_llvm']('build')
    assert said.startswith(('there is no libno_such.a (Debian: libno-such-dev), no libalso_none.a (Debian: libnone-dev)',
                            'there is no llvm-config')), said


# -- Functions of Python's --------------------------------------------------------------------------------------------

@case
def functions_in_calls():
    g = graph()

    @g.entry
    def f(x: 'f32[N, 3]', s: 'f32[]', n: 'i32[]') -> 'a, b, last, c, d, e':
        t = s * 2

        def step(h, v):
            u = h + v
            return u, u * t
        last, b = op.scan(step, x[0] * 0, x, outputs=2)
        return (op.map(lambda v: v * t + s, x), b, last, op.fori(n, lambda i, h: h * 2 + i.astype('f32'), s),
                op.cond(s > 0, lambda y: y + t, lambda y: y - s, x),
                op.map(lambda v: op.map(lambda w: w * t + v.sum(), v), x))
    for s in 2, -1:
        t = 2 * s
        sums = np.cumsum(x, axis=0)
        h = s
        for i in range(4):
            h = 2 * h + i
        expected = [x * t + s, sums * t, sums[-1], h, x + t if s > 0 else x - s, x * t + x.sum(1)[:, None]]
        for got, want in zip(f(x, s, 4), expected):
            np.testing.assert_allclose(got, want, rtol=1e-6)
        again = leat.loads(g.text, cache='off', threads=1)
        np.testing.assert_allclose(again.f(x, s, 4).e, expected[-1], rtol=1e-6)
    assert 'fn f_step(h: any, v: any, mul: any) {' in g.text, g.text  # what it uses of outside is handed to it
    assert '= map(f_map_body, x, s, mul)\n' in g.text, g.text


@case
def functions_with_state():
    """What a function in a call declares is the instance's; what it uses of a variable outside is that variable."""
    g = graph()

    @g.fn
    def net(x: 'f32[N, 3]'):
        w = g.var('w', 'f32[3]', 1)
        return op.map(lambda v: op.dense(v * w, 1, as_='d')[0], x, as_='rows')

    @g.entry(training=True)
    def train(x: 'f32[N, 3]') -> 'loss':
        loss = op.mean(op.square(net(x, as_='net') - 1))
        g.minimize(loss, 'sgd', lr=0.05)
        return loss
    first = train(x)
    assert list(g.variables) == ['net/w', 'net/rows/body/d/w', 'net/rows/body/d/b', 'global_step'], list(g.variables)
    assert train(x, steps=50) < first / 4
    assert not np.allclose(g.variables['net/w'], 1)


@case
def functions_of_a_loop():
    """As Python's loops make them: each has what it was made with."""
    g = graph()

    @g.entry
    def f(x: 'f32[N]') -> 'y':
        for i, scale in enumerate([2.0, 3.0, 5.0]):
            x = op.map(lambda v, scale=scale: v * scale + i, x)
        return x
    np.testing.assert_allclose(f([1, 2]), [((1 * 2) * 3 + 1) * 5 + 2, ((2 * 2) * 3 + 1) * 5 + 2])


@case
def functions_and_arrays():
    np.testing.assert_array_equal(op.map(lambda v: v * 2 + np.float32([1, 2, 3]), x), x * 2 + [1, 2, 3])
    last, sums = op.scan(lambda h, v: (h + v.sum(), h), np.float32(0), x)
    assert last == 15 and sums.tolist() == [0, 3]

    def more(v):
        return v + 1
    np.testing.assert_array_equal(op.cond(np.bool_(False), lambda v: v, more, x), x + 1)


@case
def functions_that_cannot_be():
    g = graph()

    @g.fn
    def apply(f: 'fn', x: 'f32[N]'):
        return g.expression('f(x)')

    @g.entry
    def fine(x: 'f32[N]') -> 'y':
        return apply(lambda v: v * 3, x)
    np.testing.assert_array_equal(fine([1, 2]), [3, 6])

    def captures(x: 'f32[N]', s: 'f32[]') -> 'y':
        return apply(lambda v: v * s, x)
    raises(TypeError, '`apply` hands nothing on to the function that it calls, which uses `s` of outside', g.entry, captures)

    def stars(x: 'f32[N]') -> 'y':
        return op.map(lambda *v: v[0], x)
    raises(TypeError, 'takes its arguments by position', graph().entry, stars)
    raises(TypeError, "a function of Python's stands in a call of `leat.op`", model('').call, 'map', lambda v: v, x)


# -- Python's and NumPy's ways ----------------------------------------------------------------------------------------

def refused(body, *words):
    """An entry of x: f32[N] with this body is refused in these words."""
    def entry(x: 'f32[N]') -> 'y':
        return body(x)
    for text in words:
        raises((TypeError, AttributeError), text, graph().entry, entry)


@case
def what_python_would_do():
    refused(lambda x: [v for v in x], 'op.map(f, x)', 'x.sum()', 'q, r = op.qr(x)')
    refused(sum, 'x.sum() and x.max() reduce it')
    refused(max, 'x.sum() and x.max() reduce it')
    refused(float, "x.astype('f32') converts it there")
    refused(int, "x.astype('f32') converts it there")
    refused(range, 'g.while_loop and op.fori(n, f, init)')
    refused(lambda x: x.sqrt(), 'a value has no method `sqrt`: it is a function, op.sqrt(x)')
    refused(lambda x: x.nonsense, 'a value has no `nonsense`')
    refused(lambda x: x.__setitem__(0, 1), 'op.scatter_set(x, indices, rows)', 'w.assign(e)')
    refused(lambda x: x if x[0] > 0 else -x, 'g.cond(p, then, otherwise) and op.where(p, x, y)')
    refused(lambda x: 0 < x < 3, '`&`, `|` and `~`')
    refused(lambda x: None, 'it has no `return`')
    refused(np.sum, "np.sum computes with arrays: of a graph's values op.sum(x)")
    refused(lambda x: np.concatenate([x, x]), 'op.concat(x)')
    refused(lambda x: np.isnat(x), 'np.isnat computes with arrays')

    def bare(x):
        return x
    raises(TypeError, "a parameter of an entry has a type, `x: 'f32[N]'`", graph().entry, bare)

    def arrays(x: np.ndarray) -> 'y':
        return x
    raises(TypeError, "'f32[N]' or int, not ndarray", graph().entry, arrays)


@case
def functions_of_numpy():
    """Those of elements are the ops of their names, and operators; arrays on either side are constants."""
    g, v = graph(), np.float32([0.5, -0.25])

    @g.entry
    def f(x: 'f32[2]') -> 'a, b, c, d, e, h, i, j':
        return (np.sin(x), np.maximum(x, v), v - x, np.arctan2(x, v), np.absolute(x), np.less(v, x), np.power(v * v, x),
                np.logical_not(np.isnan(x)))
    u = np.float32([0.125, -0.5])
    expected = [np.sin(u), np.maximum(u, v), v - u, np.arctan2(u, v), abs(u), v < u, (v * v) ** u, ~np.isnan(u)]
    for got, want in zip(f(u), expected):
        np.testing.assert_allclose(got, want, rtol=1e-6)


@case
def floats_of_numpy_are_f64():
    m = model('entry f(x: f32[N, 3], i: i64[N]) -> (y) { y = x + 1 }')
    error = raises(leat.Error, 'expected f32[N, 3]', m.f, np.ones(3), [1])
    assert "`x` is an array of f64: `.astype('float32')` makes it f32" in str(error), str(error)
    error = raises(leat.Error, 'expected', m.f, x, np.int32([1, 2]))
    assert "`i` is an array of i32: `.astype('int64')` makes it i64" in str(error), str(error)
    g = graph()

    def mixed(x: 'f32[3]') -> 'y':
        return np.ones(3) * x
    error = raises(leat.Error, 'dtypes f64 and f32 differ', g.entry, mixed)
    assert str(error).endswith("NumPy's floats are f64 where nothing says otherwise: np.ones(3, 'float32'), "
                               "x.astype('float32')"), str(error)


# -- Strings and memories ---------------------------------------------------------------------------------------------

@case
def strings_are_text():
    m = model('var kept: str[] = "ü"\nentry f(x: str[N], y: str[] = "") -> (a: str[N], b: str[]) '
              '{ a, b = x + "é", y\n kept := y }')
    r = m.f(['a', 'ö', b'\xff\x00'], 'z')
    assert r.a.tolist() == ['aé', 'öé', '\udcff\0é'] and r.b.item() == 'z' and isinstance(r.b.item(), str)
    assert m.f(r.a).a.tolist() == ['aéé', 'öéé', '\udcff\0éé']  # bytes that are no UTF-8 go in as they came out
    m.f([], 'ß')
    assert m.variables['kept'].item() == 'ß'
    m.variables['kept'] = 'new'
    assert m.variables['kept'].item() == 'new'
    assert m.f(np.array(['x', 'yy'])).a.tolist() == ['xé', 'yyé'] and m.f(np.array([b'x'])).a[0] == 'xé'
    g = graph()

    @g.entry
    def greet(name: 'str[]') -> 'y':
        return 'hello ' + name
    assert greet('wörld') == 'hello wörld'


@case
def memories_of_python():
    kinds = {'f': 'f32', 'd': 'f64', 'b': 'i8', 'B': 'u8', 'h': 'i16', 'H': 'u16', 'i': 'i32', 'I': 'u32', 'q': 'i64',
             'Q': 'u64', 'l': 'i64', 'L': 'u64'}
    m = model('\n'.join(f'entry f_{t}(x: {t}[N]) -> (y: {t}[N]) {{ y = x }}\nentry g_{t}(x: {t}[2, 2]) -> (y: {t}[2, 2]) '
                        '{ y = x }' for t in sorted({*kinds.values(), 'bool'})), target='ref')
    for code, dtype in kinds.items():
        values = array.array(code, [1, 2, 3, 4])
        for given in values, memoryview(values), memoryview(values)[:3], memoryview(values)[::2], memoryview(values)[::-1]:
            np.testing.assert_array_equal(m[f'f_{dtype}'](given), np.asarray(given))
        np.testing.assert_array_equal(m[f'g_{dtype}'](memoryview(values).cast('B').cast(code, (2, 2))), [[1, 2], [3, 4]])
    assert m.f_u8(bytearray(b'ab')).tolist() == [97, 98]
    assert m.f_bool(memoryview(np.array([True, False]))).tolist() == [True, False]
    np.testing.assert_array_equal(m.g_f64(memoryview(np.ones((2, 2)))), np.ones((2, 2)))
    raises(TypeError, 'feed `x` is f32[N], not an array of f64', m.f_f32, array.array('d', [1]))
    raises(TypeError, 'not a bytes of u8', m.f_f32, memoryview(b'abcd'))
    raises(TypeError, "of format '>f'", m.f_f32, memoryview(np.array([1], '>f4')))


@case
def lists_that_loops_carry():
    """As JAX's loops have them: a list that is carried, or gone through, is one in the function and behind it."""
    g = graph()

    @g.entry
    def stats(xs: 'f32[N]', ws: 'f32[N]') -> 'mean, means, last, rows, turns':
        def step(carry, row):
            n, mean = carry
            x, w = row
            mean = mean + (x * w - mean) / n
            return (n + 1, mean), mean
        init = [op.ones(leat.Text('f32[]')), op.zeros(leat.Text('f32[]'))]
        (_, mean), means = op.scan(step, init, [xs, ws], outputs=2)
        last, turns = op.fori(3, lambda i, carry: (carry[0] * 2, carry[1] + i), [mean, op.zeros(leat.Text('i32[]'))])

        def product(pair):
            a, b = pair
            return a * b
        return mean, means, last, op.map(product, (xs, ws)), turns
    r = stats([1, 2, 6], [1, 2, 1])
    assert r.turns == 3, r
    np.testing.assert_allclose([r.mean, r.last, *r.means], [11 / 3, 88 / 3, 1, 2.5, 11 / 3], 1e-6)
    np.testing.assert_array_equal(r.rows, [1, 4, 6])


@case
def several_values_get_names():
    """What a statement of Python's gives several names to: shapes, what calls give, lists of a function's."""
    g = graph()

    @g.fn
    def pair(x: 'T[...D]'):
        return x + 1, x * 2

    @g.fn
    def listed(x: 'T[...D]'):
        return [x, x * 3]

    @g.entry
    def f(x: 'f32[B, T, C]', m: 'f64[2, 2]', n: 'i32[]') -> 'y, b, q, r, i, j, k, h':
        B, T, C = x.shape
        q, r = op.qr(m)
        (best, _), [first, second] = op.top_k(x, 1), m.shape
        _, i = op.top_k(x.reshape([B * T * C]), 2)
        a, c = pair(best)
        j, k = listed(c)

        def turn(t, h):
            rows, columns = m.shape
            return t + 1, h * rows * columns
        _, h = g.while_loop(lambda t, h: t < n, turn, [0, 1.0])
        return x.reshape([B * T, C]), B * T * C * first * second, q, r, i, j + a, k, h
    x = np.arange(6, dtype='f4').reshape(1, 2, 3)
    m = np.float64([[1, 2], [3, 4]])
    y, b, q, r, i, j, k, h = f(x, m, 2)
    np.testing.assert_array_equal(y, x[0])
    assert (b, list(i), h) == (24, [5, 4], 16), (b, i, h)
    np.testing.assert_allclose(q @ r, m, atol=1e-12)
    assert (j.ravel().tolist(), k.ravel().tolist()) == ([7, 16], [12, 30]), (j, k)
    rows, columns = g.var('v', 'f32[4, 2]').shape  # outside of all definitions

    @g.entry
    def outside(x: 'f32[]') -> 'y':
        return x * rows + columns
    assert outside(3) == 14

    def three(x: 'f32[N, 2]') -> 'y':
        a, b, c = x.shape
        return a + b + c

    def parts(x: 'f32[2]') -> 'y':
        a, b = x
        return a + b
    assert raises(leat.Error, '3 names for 2 results', graph().entry, three).python.file.endswith('people.py')
    raises(leat.Error, '2 names for one value', graph().entry, parts)
    refused(lambda x: list(x.shape), 'Python cannot go through', 'B, T = x.shape')
    refused(lambda x: [a for a in x], 'Python cannot go through')


@case
def names_that_results_share():
    """With a value that nobody named, and with the methods of tuples."""
    g = graph()

    @g.entry
    def f(x: 'f32[N]') -> 'mean, sub, count, index':
        centred = x - x.mean()
        return x.sum(), centred.mean(), (x > 1).sum(), op.argmax(x, axis=0)
    r = f([1, 2, 6])
    assert (r.mean, r.count, r.index) == (9, 2, 2), r
    assert r.keys() == ('mean', 'sub', 'count', 'index')
    r = model('entry g() -> (keys, values) { keys, values = tensor(1), tensor(2) }').g()
    assert (r.keys, r.values, r['keys']) == (1, 2, 1), r
    r = model('entry g() -> (a, b) { a, b = tensor(1), tensor(2) }').g()
    assert r.count(2) == 1 and r.index(2) == 1


@case
def several_results_of_a_function():
    for heads in 'm, v', '(m, v)', 'f32[N], f32[N]', 'm: f32[N], v: f32[N]':
        g = graph()

        def halves(x: 'f32[N]'):
            return x * 0.5, x ** 2
        halves.__annotations__['return'] = heads
        halves = g.fn(halves)

        @g.entry
        def f(x: 'f32[N]') -> 'y':
            m, v = halves(x)
            return m + v
        np.testing.assert_array_equal(f([2, 4]), [5, 18])


@case
def variables_that_begin_at_random():
    """Outside of definitions too, where nothing else says what graph is meant."""
    g = graph()
    w = g.var('w', 'f32[3]', lambda: op.normal(0, 0.1, seed=1))
    v = g.var('v', 'f64[3, 2]', op.glorot_uniform)

    @g.entry
    def f() -> 'a, b':
        return w, v
    assert 'var w: f32[3] = normal(0, 0.1, seed=1)' in g.text, g.text
    r = f()
    assert r.a.shape == (3,) and 0 < np.abs(r.a).max() < 0.6 and r.b.dtype == 'f8' and len(np.unique(r.b)) == 6
    # A call that is told no type is what a variable begins with, as a piece of the language too, and in functions.
    assert op.normal(0, 0.1) == 'normal(0, 0.1)' and op.normal(0, 0.1, out=leat.Text('f32[2]')).shape == (2,)
    g = graph()
    g.var('a', 'f32[3]', op.normal(5, 0.1, seed=1))
    g.var('b', 'f32[3]', g.expression('normal(5, 0.1, seed=2)'))
    n = g.expression('2 + 3')

    @g.fn
    def net(x: 'f32[3]'):
        bias = op.full(7)
        w, c = g.var('w', 'f32[3]', op.normal(5, 0.1, seed=3)), g.var('c', 'f32[3]', bias)
        return x * w + c + n + g.var('d', 'f32[3]', g.expression('uniform(1, 2)'))

    @g.entry
    def run(x: 'f32[3]') -> 'y':
        return net(x, as_='net')
    run(np.zeros(3, 'f4'))
    for name, (low, high) in {'a': (4, 6), 'b': (4, 6), 'net/w': (4, 6), 'net/c': (7, 7), 'net/d': (1, 2)}.items():
        values = g.variables[name]
        assert (low <= values).all() and (values <= high).all(), (name, values)


@case
def powers():
    g = graph()

    @g.entry
    def f(x: 'f32[N]', i: 'i32[N]') -> 'a, b, c, d':
        return x ** 2, 2 ** x, (-2) ** i, x ** -1
    r = f([1, 2, 4], [1, 2, 3])
    for got, want in zip(r, ([1, 4, 16], [2, 4, 16], [-2, 4, -8], [1, .5, .25])):
        np.testing.assert_array_equal(got, want)

    def below(i: 'i32[N]') -> 'y':
        return i ** -1
    raises(leat.Error, 'a power below 0 of an integer is none', g.entry, below)


# -- Notebooks --------------------------------------------------------------------------------------------------------

@case
def graphs_are_shown():
    g = graph('shown')

    @g.fn
    def net(x: 'f32[N, 3]'):
        return op.dense(op.map(lambda v: v * 2, x), 2, as_='<d>')

    @g.entry(training=True)
    def train(x: 'f32[N, 3]', lr: 'f32[]' = 0.1) -> 'loss: f32[]':
        loss = op.mean(net(x, as_='net').named('out'))
        g.minimize(loss, 'adam', lr=lr)
        return loss
    lines = repr(g).split('\n')
    assert re.fullmatch(r'<leat\.Graph shown: 1 entry, 3 variables, \d+ nodes>', lines[0]), lines
    assert lines[1] == '  train(x: f32[N, 3], lr: f32[] = 0.1) training -> (loss: f32[])', lines
    page = g._repr_html_()
    for part in ('<code>train(x: f32[N, 3], lr: f32[] = 0.1) training -&gt; (loss: f32[])</code>', '<code>net/&lt;d&gt;/matmul</code>',
                 '<code>f32[N, 2]</code>', '<code>net/&lt;d&gt;/w</code>', '<code>f32[3, 2]</code>'):
        assert part in page, f'{part} is not there'
    assert '<d>' not in page and page.count('<table>') == page.count('</table>') == 2
    loaded = model(g.text)
    assert repr(loaded).split('\n')[0] == lines[0].replace('Graph shown', 'Session')
    assert loaded._repr_html_().count('<tr>') == page.count('<tr>')
    loaded.close()
    assert repr(loaded) == '<leat.Session>'
    assert repr(graph('empty')) == '<leat.Graph empty: 0 entries, 0 variables, 0 nodes>'
