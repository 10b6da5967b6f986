"""Graphs that Python builds: their text, what they compute, and where their mistakes are."""
import inspect
import itertools
import math
import operator
import os
import re
import shutil
import subprocess

import leat
import numpy as np
from cases import ROOT, SANITIZED, Skipped, case, model, raises
from leat import op

x = np.arange(6, dtype='f4').reshape(2, 3)


def graph(name='test', **options):
    return leat.Graph(name, **{'threads': 1, 'cache': 'off', **options})


def line():
    g = graph('line')

    @g.fn
    def net(x: 'f32[N, 3]') -> 'f32[N]':
        """The line's value."""
        w = g.var('w', 'f32[3]')
        b = g.var('b', 'f32[]', 0.5)
        return x @ w + b

    @g.entry(training=True)
    def train(x: 'f32[N, 3]', y: 'f32[N]', lr: 'f32[]' = 0.1) -> 'loss: f32[]':
        loss = op.mean(op.square(net(x, as_='net') - y))
        g.minimize(loss, 'sgd', lr=lr)
        return loss

    @g.entry
    def predict(x: 'f32[N, 3]') -> 'y':
        return net(x, as_='net')
    return g, net, train, predict


TEXT = '''\
graph line

## The line's value.
fn net(x: f32[N, 3]) -> f32[N] {
  var w: f32[3] = 0
  var b: f32[] = 0.5
  matmul = x @ w
  add = matmul + b
  return add
}

entry train(x: f32[N, 3], y: f32[N], lr: f32[] = 0.1) training -> (loss: f32[]) {
  net_1 = net(x) as net
  sub = net_1 - y
  square = square(sub)
  loss = mean(square)
  minimize(loss, sgd, lr=lr)
}

entry predict(x: f32[N, 3]) -> (y) {
  y = net(x) as net
}
'''


@case
def a_line_is_learned():
    g, net, train, predict = line()
    assert g.text == TEXT == f'{g}\n', str(g)
    data = np.random.default_rng(1).standard_normal((16, 3)).astype('f4')
    target = (data @ [1, 2, 3] + 4).astype('f4')
    assert train(data, target, steps=500) < 1e-6
    np.testing.assert_allclose(g.variables['net/w'], [1, 2, 3], rtol=1e-3)
    np.testing.assert_allclose(predict(data), target, rtol=1e-3)
    np.testing.assert_allclose(net(data, as_='net'), target, rtol=1e-3)  # with arrays
    np.testing.assert_allclose(g.predict(data), target, rtol=1e-3)
    assert train.outputs[0].name == 'loss' and '## The line\'s value.' in net.__doc__


@case
def what_is_written_is_used():
    """By a text, by the command line, and by another graph."""
    g, _, train, predict = line()
    g.write('line.leat')
    with open('line.leat') as file:
        assert file.read() == TEXT
    train(x, np.ones(2, 'f4'), steps=20)
    g.save('ck.safetensors')
    with open('user.leat', 'w') as out:
        out.write('use "line.leat"\nentry twice(x: f32[N, 3]) -> (y: f32[N]) { y = 2 * (net(x) as net) }\n')
    user = leat.load('user.leat', cache='off')
    user.restore('ck.safetensors')
    np.testing.assert_array_equal(user.twice(x), 2 * predict(x))
    np.save('x.npy', x)
    subprocess.run(['leat', 'run', 'user.leat', '--entry', 'twice', '--restore', 'ck.safetensors', '--feed', 'x=@x.npy',
                    '-o', 'y=@y.npy'], check=True, capture_output=True)
    np.testing.assert_array_equal(np.load('y.npy'), 2 * predict(x))

    other = graph()
    lib = other.use('line.leat')

    @other.entry
    def half(x: 'f32[N, 3]') -> 'y':
        return lib.net(x, as_='net') / 2
    other.restore('ck.safetensors')
    np.testing.assert_array_equal(half(x), predict(x) / 2)
    np.testing.assert_array_equal(lib.net(x, as_='net'), predict(x))
    assert lib.net.__doc__.startswith('## The line')
    raises(AttributeError, 'there is no function `ned`; did you mean', lambda: lib.ned)
    np.testing.assert_allclose(other.fn.softmax(np.zeros(2, 'f4')), [0.5, 0.5])


USER = """
#include <leat/leat.hpp>
#include <cstdio>

int main() {
  leat::session session;
  session.extend_file("line.leat");
  session.restore("ck.safetensors");
  session.extend("entry thrice(x: f32[N, 3]) -> (y: f32[N]) { y = 3 * (net(x) as net) }", "user.leat");
  leat::tensor x({1, 3}, {1.0f, 2.0f, 3.0f});
  std::printf("%.4f\\n", session.prepare("thrice").run({x})[0].item<float>());
}
"""


@case
def what_is_written_is_used_in_cpp():
    build = os.environ.get('LEAT_BUILD', f'{ROOT}/build')
    if SANITIZED or not shutil.which('g++') or not os.path.exists(f'{build}/libleat.so'):
        raise Skipped('there is no g++, or it is not for this build')
    g, _, train, predict = line()
    g.write('line.leat')
    train(x, np.ones(2, 'f4'), steps=20)
    g.save('ck.safetensors')
    with open('user.cc', 'w') as out:
        out.write(USER)
    subprocess.run(['g++', '-std=c++17', f'-I{ROOT}/include', '-o', 'user', 'user.cc', f'-L{build}',
                    f'-Wl,-rpath,{build}', '-lleat'], check=True)
    said = subprocess.run(['./user'], check=True, capture_output=True, text=True).stdout
    assert abs(float(said) - 3 * predict([[1, 2, 3]])[0]) < 1e-3, said


@case
def operators():
    g = graph()

    @g.entry
    def f(x: 'f32[2, 3]', at: 'i32[]', p: 'bool[]'):
        q = (x > 2) & ~(x >= 4) | (x == 0)
        return {'a': -x + 1 - 2 * x / 4 + (1 - x) % 2, 'b': 2 ** x // 2, 'c': x @ x.T, 'd': abs(x - 3) * -1,
                'e': x[at, ::-1] + x[-1, :3:1], 'f': x[..., None], 'g': q ^ p, 'h': x[:, [0, 2]],
                'i': x.sum(axis=0) + x.mean() + x.max(axis=1, keepdims=True).min(), 'j': x.astype('f64').reshape(3, 2),
                'k': op.concat([x, x + 1], axis=0), 'l': op.not_(p), 'm': (x != 1) & (x <= 4) & (x < 5)}
    r = f(x, 1, True)
    q = (x > 2) & ~(x >= 4) | (x == 0)
    expected = {'a': -x + 1 - 2 * x / 4 + (1 - x) % 2, 'b': 2 ** x // 2, 'c': x @ x.T, 'd': -abs(x - 3),
                'e': x[1, ::-1] + x[-1], 'f': x[..., None], 'g': q ^ True, 'h': x[:, [0, 2]],
                'i': x.sum(axis=0) + x.mean() + x.max(axis=1).min(), 'j': x.reshape(3, 2),
                'k': np.concatenate([x, x + 1]), 'l': False, 'm': (x != 1) & (x <= 4)}
    for name, value in expected.items():
        np.testing.assert_allclose(r[name], value, err_msg=name)
    assert r.j.dtype == 'float64'


@case
def control_flow():
    g = graph()

    @g.entry
    def f(x: 'f32[N]', n: 'i32[]') -> 'y: f32[], z: f32[], t: i32[], big: f32[]':
        y = g.cond(n > 2, lambda: x.sum(), lambda: x.max())
        t, z = g.while_loop(lambda t, z: (t < n) & (z < 100), lambda t, z: (t + 1, z * 2), (0, y))
        big, count = g.cond(z > 50, lambda: (z, 1), lambda: (z * 0, 2))
        loop = g.while_loop(lambda k: k < 3, lambda k: k + 1, {'k': 0}, types={'k': 'f32[]'})
        return y, z, t, big + op.cast(count, leat.f32) + loop - 3
    assert [float(v) for v in f([1, 2, 3], 3)] == [6, 48, 3, 2]
    assert [float(v) for v in f([1, 2, 3], 1)] == [3, 6, 1, 2]
    assert [float(v) for v in f([1, 2, 3], 9)] == [6, 192, 5, 193]
    assert 't, z = while (t = 0, z = y) (t < n) and (z < 100) {' in g.text, g.text

    @g.fn
    def body(carry, x):
        return carry + x, carry * x

    @g.entry
    def s(xs: 'f32[4]') -> 'total, ys':
        return op.scan(body, 0.0, xs, outputs=2)
    total, ys = s([1, 2, 3, 4])
    assert total == 10 and list(ys) == [0, 2, 9, 24]


@case
def effects_of_branches():
    g = graph()
    w = g.var('w', 'f32[2]', [1, 2])

    @g.entry
    def f(p: 'bool[]') -> 'y':
        before = w + 0
        g.cond(p, lambda: w.assign(w * 2))
        w.add(1)
        return before + w
    assert list(f(True)) == [1 + 3, 2 + 5] and list(f(False)) == [3 + 4, 5 + 6]
    assert list(g.variables['w']) == [4, 6]


@case
def scopes():
    g = graph()

    @g.entry
    def f(x: 'f32[N, 3]') -> 'y, z':
        k = g.expression('N')
        with g.scope('encoder'):
            w = g.var('w', 'f32[3]', lambda: op.uniform(1, 1))
            h = op.relu(x * w).named('h')
            with g.scope('deep'):
                q = g.var('q', 'f32[]', 1)
                h2 = h + q * k
        with g.scope('decoder'):
            w.assign(w + h2[0, 0] * 0)
            z = h2.sum() + w[0]
        q.add(1)
        return h2, z
    assert 'h2' not in g.text and 'add, w' not in g.text
    y, z = f(x)
    np.testing.assert_array_equal(y, x + 2)
    assert z == (x + 2).sum() + 1
    assert set(g.variables) >= {'encoder/w', 'encoder/deep/q'} and g.variables['encoder/deep/q'] == 2
    np.testing.assert_array_equal(g.run('encoder/h', {'x': x}, within='f'), x)
    assert leat.loads(g.text, cache='off').f(x).z == (x + 2).sum() + 1  # the text says it all


@case
def devices():
    g = graph(devices=2)

    @g.entry
    def f(x: 'f32[3]') -> 'y':
        with g.on('/device:cpu:1'):
            y = op.exp(x)
        return y + 1
    np.testing.assert_allclose(f([0, 0, 0]), [2, 2, 2])
    assert '  on "/device:cpu:1" {\n    exp = exp(x)\n  }\n  y = exp + 1\n' in g.text
    assert 'cpu:1' in leat.loads(g.text, devices=2, cache='off').dump()


@case
def order_and_place():
    g = graph(devices=2)
    w = g.var('w', 'f32[]', 1, on='/device:cpu:1')

    @g.fn
    def twice(v):
        return v * 2

    @g.entry
    def f(x: 'f32[]') -> 'y':
        a = op.exp(x)
        with g.after(a), g.colocate(w):
            b = op.relu(x)
            with g.after(b):
                c = op.tanh(x)
                w.add(c)
            with g.scope('inner'):
                d = g.fn.twice(b)
            e = g.cond(x > 0, lambda: d + 1, lambda: d)
        return e + c
    assert '  relu = relu(x) colocate w after [exp]\n' in g.text
    assert '  tanh = tanh(x) colocate w after [exp, relu]\n' in g.text
    assert '  w += tanh colocate w after [exp, relu]\n' in g.text
    np.testing.assert_allclose(f(3), 7 + np.tanh(3), rtol=1e-6)
    again = leat.loads(g.text, devices=2, cache='off')
    np.testing.assert_allclose(again.f(3), 7 + np.tanh(3), rtol=1e-6)
    raises(TypeError, 'is no value of this graph', g.after(1).__enter__)
    raises(TypeError, 'is no value of this graph', graph().colocate(w).__enter__)
    raises(ValueError, 'stands in a function or an entry', g.after(w).__enter__)


@case
def the_inner_of_two_places_counts():
    g = graph(devices=3)
    v, w = (g.var(name, 'f32[]', 1, on=f'/device:cpu:{i}') for i, name in ((1, 'v'), (2, 'w')))

    @g.entry
    def f(x: 'f32[]') -> 'y':
        with g.colocate(v):
            a = op.exp(x)
            with g.colocate(w):
                b = op.relu(a)
                with g.colocate(v):
                    c = op.tanh(b)
                d = op.sin(c)
            return op.cos(d)
    places = {'exp': 'v', 'relu': 'w', 'tanh': 'v', 'sin': 'w', 'y': 'v'}
    for name, place in places.items():
        assert re.search(rf'  {name} = .* colocate {place}\n', g.text), g.text
    np.testing.assert_allclose(f(1), np.cos(np.sin(np.tanh(np.e))), rtol=1e-6)
    assert f.outputs[0].name == 'y'


@case
def numbers_beside_tensors():
    """Each kind of number on both sides of each operator, beside each dtype: what NumPy gives of it in that dtype."""
    operators = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod]
    kinds = {'f16': 'f2', 'f32': 'f4', 'f64': 'f8', 'u8': 'u1', 'u16': 'u2', 'u32': 'u4', 'u64': 'u8', 'i8': 'i1',
             'i16': 'i2', 'i32': 'i4', 'i64': 'i8'}
    numbers = {'2': (lambda x, p: 2, 2), '0.1': (lambda x, p: 0.1, 0.1), 'N': (lambda x, p: x.shape[0], 3),
               '1 / N': (lambda x, p: 1 / x.shape[0], 1 / 3), 'iota': (lambda x, p: op.iota([3]) + 1, [1, 2, 3]),
               'where': (lambda x, p: op.where(p, 0.1, 2), 0.1), 'cond': (lambda x, p: op.cond(p, tenth, two), 0.1)}
    for dtype, kind in kinds.items():
        g, want = graph(), []

        @g.fn
        def tenth():
            return 0.1

        @g.fn
        def two():
            return 2

        a = np.array([1, 5, 7], kind)
        cases = [(f, number, whole) for f in operators for number, (_, value) in numbers.items()
                 for whole in [np.asarray(value).dtype.kind == 'i']
                 if a.dtype.kind == 'f' or (f in operators[:3] and (whole or number == '0.1'))]
        for f, number, whole in cases:
            d = a.dtype if a.dtype.kind == 'f' or whole else np.dtype('f8' if a.itemsize == 8 else 'f4')
            value, b = np.asarray(numbers[number][1]).astype(d), a.astype(d)
            want += [f(b, value), f(value, b)]
        names = ', '.join(f'r{i}' for i in range(len(want)))

        def build(x, p):
            made = {name: make(x, p) for name, (make, _) in numbers.items()}
            return tuple(r for f, number, _ in cases for r in (f(x, made[number]), f(made[number], x)))
        build.__annotations__ = {'x': f'{dtype}[N]', 'p': 'bool[]', 'return': names}
        got = g.entry(build)(a, True)
        for (f, number, _), side, r, w in zip([c for c in cases for _ in '12'], itertools.cycle('lr'), got, want):
            assert r.dtype == w.dtype and np.array_equal(r, w), (dtype, f.__name__, number, side, r, w)


@case
def gradients_of_numbers():
    """A gradient of what numbers are in has the dtype of its variable, and the numbers are that one's."""
    for dtype, kind in {'f16': 'f2', 'f32': 'f4', 'f64': 'f8'}.items():
        g, d = graph(), np.dtype(kind).type

        def f(x, p):
            share = op.where(p, 0.1, 2) / x.shape[0]
            return op.grad(op.sum(x * share), x), op.grad(op.sum(x * x * 0.1), x)
        f.__annotations__ = {'x': f'{dtype}[N]', 'p': 'bool[]', 'return': 'a, b'}
        a, b = g.entry(f)([1, 2, 4], True)
        assert a.dtype == b.dtype == kind
        np.testing.assert_array_equal(a, np.full(3, d(0.1) / d(3)))
        np.testing.assert_array_equal(b, np.array([1, 2, 4], kind) * d(0.1) * d(2))


@case
def numbers_without_an_end():
    """Infinities and NaN, as numbers of Python and NumPy, alone, in lists, in defaults and as constants."""
    inf = math.inf
    g = graph()

    @g.fn
    def most(x: 'f32[N]', low: float = -inf):
        return op.maximum(x, low)

    @g.entry
    def f(x: 'f32[3]', low: 'f32[]' = -inf) -> 'a, b, c, d, e, h, none_of_all':
        return (most(x), op.minimum(x, -inf), x + np.float32(-inf), op.where(x > 0, np.float64(-inf), inf),
                op.tensor([-inf, inf, 1.0]), x + np.array([-inf, 1, inf], 'f4'), low * 0)
    r = f([-1, 0, 2])
    expected = [[-1, 0, 2], [-inf] * 3, [-inf] * 3, [inf, inf, -inf], [-inf, inf, 1], [-inf, 1, inf], np.nan]
    for got, want in zip(r, expected):
        np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(op.maximum(np.float32([-1, 2]), -inf), [-1, 2])
    m = model('graph g(low: float = 0)\nentry f() -> (y: f32[]) { y = low }', settings={'low': -inf})
    assert m.f() == -inf


@case
def gradients():
    g = graph()
    w = g.var('w', 'f32[3]', [1, 2, 3], trainable=False)

    @g.entry
    def f(x: 'f32[3]') -> 'dx, dw, both':
        loss = op.sum(x * x * w)
        dx, dw = g.grad(loss, [x, w])
        return dx, dw, g.grad(loss, x) + g.grad(loss, [x])[0]
    dx, dw, both = f([1, 2, 3])
    assert list(dx) == [2, 8, 18] and list(dw) == [1, 4, 9] and list(both) == [4, 16, 36]
    assert 'var w: f32[3] = [1, 2, 3] trainable=false' in g.text


@case
def constants():
    g = graph()
    small, large = np.array([[1.5, 2]], 'f8'), np.arange(1000, dtype='f4')

    g.var('v', 'f32[1000]', large + 1)
    g.var('w', 'f64[1, 2]', small)

    @g.entry
    def f(i: 'i32[]') -> 'a, b, c, d':
        c = g.constant(large)
        d = small * op.cast(i, leat.f64) + np.float32(0.5) + np.array(1)
        return small, c[i], np.zeros((0, 2), 'i4') + i, d
    a, b, c, d = f(7)
    np.testing.assert_array_equal(a, small)
    np.testing.assert_array_equal(d, small * 7 + 1.5)
    np.testing.assert_array_equal(g.variables['v'], large + 1)
    np.testing.assert_array_equal(g.variables['w'], small)
    assert a.dtype == 'float64' and b == 7 and c.shape == (0, 2)
    g.write('out.leat')
    del g, f
    again = leat.load('out.leat', cache='off')
    assert again.f(8).b == 8 and again.variables['v'][8] == 9 and os.path.exists('out.safetensors')


@case
def compile_time_parameters():
    g = graph()

    @g.fn
    def f(x, n: int, name: str = 'a"{b}\n', act: 'fn' = op.tanh, of: 'type' = leat.f64):
        return op.cast(g.expression('act(x)'), of) + n, op.str_length(name)
    y, n = f(np.zeros(2, 'f4'), 3)
    assert y.dtype == 'float64' and list(y) == [3, 3] and int(n) == 6, (y, n)
    y, n = f(np.ones(2, 'f4'), 3, act=op.relu, of=np.dtype('f4'), name=b'\xff')
    assert y.dtype == 'float32' and list(y) == [4, 4] and int(n) == 1


@case
def texts_among_python():
    g = graph()
    g.extend("""
fn twice(x: T[...D]) -> T[...D] { return 2 * x }
gradient twice(x) -> y, dy { return 7 * dy }
""")

    @g.entry
    def f(x: 'f32[2]') -> 'y, dx':
        y = g.fn.twice(x)
        return y, g.grad(op.sum(y), x)
    y, dx = f([1, 2])
    assert list(y) == [2, 4] and list(dx) == [7, 7]
    assert list(model(g.text).f([1, 2]).dx) == [7, 7]
    error = raises(leat.Error, 'relo', g.extend, 'x = 1\ny = relo(x)')
    assert error.python[0] == __file__.replace('graphs', 'cases') and 'relo' not in g.text


@case
def functions_as_arguments():
    """A value of their name does not hide them."""
    g = graph()

    @g.entry
    def f(xs: 'f32[2, 2]') -> 'y, z':
        total = op.sum(xs)                            # called `sum`
        z = g.cond(total > 0, lambda: op.max(xs) + op.sum(op.map(op.max, xs)), lambda: total)
        return op.map(op.sum, xs) + total, z
    assert f([[1, 2], [3, 4]]).z == 10
    assert list(f([[1, 2], [3, 4]]).y) == [13, 17], g.text

    def hides(sum: 'f32[2]') -> 'y':  # noqa: A002
        return op.map(op.sum, sum)
    raises(ValueError, '`sum` is a value of `hides`, which hides the function', g.entry, hides)


@case
def names_of_any_text():
    g = graph()

    @g.entry
    def f(x: 'f32[2]'):
        return {'odd name/1': (x + 1).named('in between'), 'y': x}
    assert list(f([1, 2])['odd name/1']) == [2, 3], g.text


def line_of(function, text):
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, one in enumerate(lines) if text in one)


def makes_a_mistake(g):
    @g.entry
    def f(x: 'f32[3]') -> 'y':
        a = op.relu(x)
        b = a @ g.expression('[1.0, 2.0]')  # of another length
        return b + 1


@case
def mistakes_name_the_line_of_python():
    g = graph('wrong')
    before = g.text
    error = raises(leat.Error, '<wrong>:', makes_a_mistake, g)
    assert error.python == (__file__, line_of(makes_a_mistake, 'of another length')), error.python
    assert str(error).endswith(f'made at {__file__}:{error.python[1]}: ' +
                               "b = a @ g.expression('[1.0, 2.0]')  # of another length")
    assert g.text == before and error.line == 6, error

    @g.entry
    def f(x: 'f32[N]', i: 'i32[]') -> 'y':
        return x[i]
    error = raises(leat.Error, 'index 9 is out of range', f, [1, 2], 9)
    assert error.python == (__file__, line_of(mistakes_name_the_line_of_python, 'return x[i]'))
    assert g.text.splitlines()[error.line - 1].strip() == 'y = x[i]'


@case
def what_python_cannot_say():
    g, other = graph(), graph('other')
    w = other.var('w', 'f32[]')

    def entry(body, gives='y'):
        def f(x: 'f32[3]'):
            return body(x)
        f.__annotations__['return'] = gives
        return g.entry(f)
    raises(TypeError, 'g.cond(p, then, otherwise)', entry, lambda x: x if x[0] > 1 else -x)
    raises(TypeError, 'q, r = op.qr(x)', entry, lambda x: [a for a in x])
    raises(TypeError, 'x.shape[0]', entry, lambda x: len(x))
    raises(ValueError, '`w` is of another graph', entry, lambda x: x + w)
    raises(TypeError, 'gives 1 results, and names 2', entry, lambda x: x, 'a, b')
    raises(TypeError, 'a object cannot stand in a text', entry, lambda x: x + object())
    raises(ValueError, 'functions stand side by side', entry, lambda x: entry(lambda x: x))
    raises(TypeError, 'cond: 1 results where p holds, 2 elsewhere', entry,
           lambda x: g.cond(x[0] > 1, lambda: x, lambda: (x, x)))
    raises(ValueError, 'one expression', entry,
           lambda x: g.while_loop(lambda y: g.cond(y[0] > 1, lambda: y[0] > 2, lambda: y[0] > 3), lambda y: y, (x,)))
    raises(ValueError, 'a block stands in a function', g.on('/device:cpu:0').__enter__)
    raises(ZeroDivisionError, '', entry, lambda x: 1 / 0)
    assert g.text == 'graph test\n' and entry(lambda x: x + 1)([1, 2, 3])[0] == 2


@case
def ops_by_name():
    assert 'softmax' in dir(op) and 'relu' in dir(op)
    assert 'exp(x) over its sum' in op.softmax.__doc__ and 'a to the b' in op.pow.__doc__
    np.testing.assert_allclose(op.softmax(np.zeros(4, 'f4')), [0.25] * 4)
    q, r = op.qr(np.eye(2, dtype='f4'))
    np.testing.assert_array_equal(q @ r, np.eye(2))
    raises(AttributeError, 'there is no op or function `sofmax`; did you mean `softmax`?', lambda: op.sofmax)


@case
def parameters_of_the_graph():
    g = graph(parameters={'scale': 'float = 2', 'n': 'int'}, settings={'n': 3})

    @g.entry
    def f(x: 'f32[2]') -> 'y':
        return x * g.expression('scale') + g.expression('n')
    assert g.text.startswith('graph test(scale: float = 2, n: int)\n') and list(f([1, 2])) == [5, 7]
    assert list(model(g.text, settings={'n': 1, 'scale': 10}).f([1, 2])) == [11, 21]


@case
def dims():
    g = graph()
    b = g.dim('B', 1, 4)

    @g.entry
    def f(x: 'f32[B, 2]') -> 'n: i64[], y: f32[2 * B]':
        return b * 2, x.reshape(x.shape[0] * 2)
    n, y = f(np.ones((3, 2), 'f4'))
    assert n == 6 and y.shape == (6,)
    raises(leat.Error, 'expected B in 1 … 4, found 5', f, np.ones((5, 2), 'f4'))
    assert model(g.text).f(np.ones((1, 2), 'f4')).n == 2
