"""The steps that tests/dims/run makes programs of: a text in Leat's words and one in NumPy's.

A maker takes the random stream and the values so far, {name: array}, of the first run, and gives both texts, or None
where no value suits it. What dims are is written as users do: names of the entry's, `shape(h)[0]`, and what is computed
of these. In NumPy's text a name of LIBRARY checks what Leat checks while running; it raises ValueError, as NumPy does,
where the step must end with an error.
"""
import numpy

DIMS = ('N', 'M', 'K')


class Values(dict):
    """{name: array} of a run with these sizes; `again` is that of another, which tells what is no constant."""

    def __init__(self, given, sizes, again=None):
        super().__init__(given)
        self.sizes, self.again = sizes, again

    def compute(self, text):
        value = numpy.asarray(eval(text, {**LIBRARY, **self.sizes, **self}))
        return value.astype('float32') if value.dtype.kind == 'f' else value


# -- What Leat checks -------------------------------------------------------------------------------------------------

def must(condition):
    if not condition:
        raise ValueError


def same(a, *others):
    """A run-time dim broadcasts only against a literal 1."""
    for b in others:
        must(a.shape == b.shape)
    return a


class NotThere(Exception):
    """A read outside of a tensor. What reads no elements, or elements that nobody asks for, need not notice it."""

    def __init__(self, wanted):
        super().__init__()
        self.wanted = wanted  # how many elements


def along(axis, index):
    return (slice(None),) * axis + (index,)


def rest(x, axis):
    return int(numpy.prod(x.shape[:axis] + x.shape[axis + 1:]))


def cut(x, axis, begin, end, step=1):
    """Bounds that are dims fit."""
    must(begin <= end)
    if not 0 <= begin <= end <= x.shape[axis]:
        raise NotThere((end - begin) * rest(x, axis))
    return x[along(axis, slice(begin, end, step))]


def at(x, axis, place):
    if not 0 <= place < x.shape[axis]:
        raise NotThere(rest(x, axis))
    return x[along(axis, place)]


def take(x, places, axis):
    if any(not 0 <= place < x.shape[axis] for place in places):
        raise NotThere(len(places) * rest(x, axis))
    return numpy.take(x, places, axis)


def filled(x):
    """What chooses among elements has some: along any axis for whoever wants them all."""
    must(x.size)
    return x


def some(x, axis):
    must(x.shape[axis])
    return x


def padded(x, before, after):
    """Negative numbers cut off."""
    out = numpy.zeros([n + b + a for n, b, a in zip(x.shape, before, after)], x.dtype)
    kept = [(max(b, 0), min(n + b, m)) for n, b, m in zip(x.shape, before, out.shape)]
    if all(low < high for low, high in kept):
        out[tuple(slice(low, high) for low, high in kept)] = x[tuple(
            slice(low - b, high - b) for (low, high), b in zip(kept, before))]
    return out


def positions(count):
    must(count >= 0)
    return numpy.arange(count)


def diff(x, axis):
    return numpy.diff(some(x, axis), axis=axis)


def windows(x, size):
    """The mean of windows along the first axis, of which there are at least none."""
    must(x.shape[0] >= size - 1)
    count = x.shape[0] - size + 1
    return sum((x[i:i + count] for i in range(size)), numpy.zeros_like(x[:count])) / x.dtype.type(size)


def reshaped(x, shape):
    must(all(extent >= 0 for extent in shape) and numpy.prod(shape) == x.size)
    return x.reshape([int(extent) for extent in shape])


def rows(x, width):
    must(x.size % width == 0)
    return x.reshape(x.size // width, width)


def halves(x):
    must(x.shape[0] % 2 == 0)
    return x[:x.shape[0] // 2] + x[x.shape[0] // 2:]


def hot(x, depth):
    must(depth >= 0)
    return (x[..., None] == numpy.arange(depth)).astype('float32')


def top(x, k):
    must(x.shape[-1] >= k)
    return numpy.flip(numpy.sort(x), -1)[..., :k]


def softmax(x):
    return numpy.exp(x - x.max(-1, keepdims=True)) / numpy.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True)


LIBRARY = {'np': numpy, 'max': max, 'min': min, **{f.__name__: f for f in (
    same, cut, at, take, filled, some, padded, positions, diff, windows, reshaped, rows, halves, hot, top, softmax)}}


# -- Dims -------------------------------------------------------------------------------------------------------------

def dim(rng, values):
    """An integer expression of dims, in both languages, and no constant: bounds of such are clamped, not checked."""
    while True:
        leat, text = any_dim(rng, values)
        if values.compute(text) != values.again.compute(text):
            return leat, text


def any_dim(rng, values):
    name = rng.choice(list(values))
    known = [(d, d) for d in DIMS]
    known += [(f'shape({name})[{axis}]', f'{name}.shape[{axis}]') for axis in range(values[name].ndim)]
    (a, b), (c, d) = rng.choice(known), rng.choice(known)
    number = rng.randrange(1, 5)
    return rng.choice([(a, b)] * 2 + [(f'({a} - {number})', f'({b} - {number})')] * 3 + [
        (f'({a} + {number})', f'({b} + {number})'), (f'({a} // 2)', f'({b} // 2)'),
        (f'({a} - {c})', f'({b} - {d})'), (f'({a} - {c} // 2)', f'({b} - {d} // 2)'),
        (f'max({a} - {number}, 0)', f'max({b} - {number}, 0)'), (f'max({a}, {c})', f'max({b}, {d})'),
        (f'min({a}, {number + 3})', f'min({b}, {number + 3})'), (f'min({a}, {c})', f'min({b}, {d})'),
        (f'(2 * {a} - {c})', f'(2 * {b} - {d})')])


def pick(rng, values, wanted=lambda x: True):
    names = [name for name, x in values.items() if wanted(x)]
    return rng.choice(names[-6:]) if names else None


def is_float(x):
    return x.dtype.kind == 'f'


# -- Steps ------------------------------------------------------------------------------------------------------------

def smooth(rng, values):
    name = pick(rng, values, is_float)
    a, b = dim(rng, values)
    row = rng.choice([('tanh({0})',), ('{0} * {0} / 4',), ('-{0}',), ('abs({0})',), ('maximum({0}, 0.25)',),
                      (f'{{0}} * {a} / 4', f'{{0}} * {{0}}.dtype.type({b}) / 4'),
                      (f'where({{0}} > 0, {{0}}, {a})', f'np.where({{0}} > 0, {{0}}, {{0}}.dtype.type({b}))')])
    return row[0].format(name), row[-1].replace('tanh', 'np.tanh').replace('maximum', 'np.maximum').format(name)


def pair(rng, values):
    a = pick(rng, values, is_float)
    fits = lambda x: x.shape == values[a].shape and x.dtype == values[a].dtype
    b = pick(rng, {name: x for name, x in values.items() if name != a}, fits) or a
    return rng.choice([(f'{a} {sign} {b}', f'same({a}, {b}) {sign} {b}') for sign in '+-*'] +
                      [(f'where({a} < {b}, {a}, 2 * {b})', f'np.where(same({a}, {b}) < {b}, {a}, 2 * {b})')])


def reduce(rng, values):
    name = pick(rng, values, lambda x: x.ndim and is_float(x))
    if not name:
        return None
    axis, keep = rng.randrange(values[name].ndim), rng.random() < 0.4
    leat, text = (f'axis={axis}, keepdims={word}' for word in (str(keep).lower(), keep))
    return rng.choice([
        (f'sum({name}, {leat}) / 4', f'np.sum({name}, {text}) / {name}.dtype.type(4)'),
        (f'mean({name}, {leat})', f'np.mean({name}, {text})'), (f'sum({name})', f'np.sum({name})'),
        (f'max({name}, {leat})', f'np.max(some({name}, {axis}), {text})'),
        (f'min({name})', f'np.min(filled({name}))'),
        (f'{name} - mean({name}, axis={axis}, keepdims=true)', f'{name} - np.mean({name}, {axis}, keepdims=True)'),
        (f'variance({name}, {leat})', f'np.var({name}, {text})'),
        (f'norm({name}, axis={axis})', f'np.sqrt(np.sum({name} * {name}, {axis}))'),
        (f'prod(tanh({name}), {leat})', f'np.prod(np.tanh({name}), {text})'),
        (f'count_nonzero({name} > 0, axis={axis})', f'np.count_nonzero({name} > 0, axis={axis}).astype("int32")'),
        (f'any({name} > 0.5, axis={axis})', f'np.any({name} > 0.5, axis={axis})'),
        (f'argmax({name}, axis={axis})', f'np.argmax(some({name}, {axis}), axis={axis}).astype("int32")'),
        (f'softmax({name})', f'softmax(some({name}, -1))')])


def order(rng, values):
    name = pick(rng, values, lambda x: x.ndim)
    if not name:
        return None
    axis, k, shift = rng.randrange(values[name].ndim), rng.randrange(1, 3), rng.randrange(-3, 4)
    rows_of = [(f'sort({name}, axis={axis})', f'np.sort({name}, axis={axis})'),
               (f'flip({name}, {axis})', f'np.flip({name}, {axis})'),
               (f'roll({name}, {shift}, axis={axis})', f'np.roll({name}, {shift}, {axis})'),
               (f'repeat({name}, {k}, axis={axis})', f'np.repeat({name}, {k}, {axis})'),
               (f'cumsum({name}, axis={axis})', f'np.cumsum({name}, {axis}, {name}.dtype)'),
               (f'argsort({name}, axis={axis})', f'np.argsort({name}, axis={axis}, kind="stable").astype("int32")'),
               (f'diff({name}, axis={axis})', f'diff({name}, {axis})'),
               (f'top_k({name}, {k})[0]', f'top({name}, {k})')]
    return rng.choice(rows_of if values[name].dtype != bool else rows_of[1:4])


def move(rng, values):
    name = pick(rng, values, lambda x: x.ndim and x.dtype != bool)
    if not name:
        return None
    x, wide = values[name], dim(rng, values)
    axis, perm = rng.randrange(x.ndim), rng.sample(range(x.ndim), x.ndim)
    other = pick(rng, values, lambda y: y.dtype == x.dtype and y.ndim == x.ndim and
                 y.shape[:axis] + y.shape[axis + 1:] == x.shape[:axis] + x.shape[axis + 1:])
    before, after = ([dim(rng, values) if rng.random() < 0.4 else ('0', '0') for _ in x.shape] for _ in range(2))
    lists = [f'[{", ".join(one[part] for one in some)}]' for part in (0, 1) for some in (before, after)]
    shape_text = ', '.join(f'shape({name})[{i}]' for i in range(x.ndim))
    return rng.choice([
        (f'transpose({name}, perm={perm})', f'np.transpose({name}, {perm})'),
        (f'reshape({name}, [-1])', f'{name}.reshape({name}.size)'),
        (f'reshape({name}, [{wide[0]}, {x.shape[-1]}])', f'reshaped({name}, [{wide[1]}, {x.shape[-1]}])'),
        (f'reshape({name}, [-1, 2])', f'rows({name}, 2)'),
        (f'concat([{name}, {other}], axis={axis})', f'np.concatenate([{name}, {other}], axis={axis})'),
        (f'stack([{name}, {other}], axis={axis})', f'np.stack([{name}, {other}], axis={axis})'),
        (f'broadcast({name}, [{wide[0]}, {shape_text}])',
         f'np.broadcast_to({name}, (max({wide[1]}, -1), *{name}.shape))'),
        (f'tile({name}, [2{", 1" * (x.ndim - 1)}])', f'np.tile({name}, [2{", 1" * (x.ndim - 1)}])'),
        (f'pad({name}, 0, before={lists[0]}, after={lists[1]})', f'padded({name}, {lists[2]}, {lists[3]})'),
        (f'halves({name})', f'halves({name})'), (f'{name}[{":, " * axis}None]', f'{name}[{":, " * axis}None]')])


def index(rng, values):
    name = pick(rng, values, lambda x: x.ndim)
    if not name:
        return None
    x = values[name]
    axis = rng.randrange(x.ndim)
    colons, (a, b), (c, d) = ':, ' * axis, dim(rng, values), dim(rng, values)
    n = f'{name}.shape[{axis}]'
    i, j, step = rng.randrange(-4, 5), rng.randrange(-4, 5), rng.choice([1, 1, 2, 3, -1, -2])
    return rng.choice([(f'{name}[{colons}{words}]',) * 2 for words in (
        f'{i}:', f':{j}', f'{i}:{j}', f'{i}:{j}:{step}', f'::{step}')] + [
        (f'{name}[{colons}{a}:]', f'cut({name}, {axis}, {b}, {n})'),
        (f'{name}[{colons}:{a}]', f'cut({name}, {axis}, 0, {b})')] + [
        (f'{name}[{colons}{a}:{c}]', f'cut({name}, {axis}, {b}, {d})')] * 3 + [
        (f'{name}[{colons}{a}]', f'at({name}, {axis}, {b})'),
        (f'{name}[{colons}{i}]', f'at({name}, {axis}, {i}{f" + {n}" if i < 0 else ""})'),
        (f'gather({name}, [1, 0, 1], axis={axis})', f'take({name}, [1, 0, 1], {axis})'),
        (f'gather({name}, i0, axis={axis})', f'take({name}, i0, {axis})'),
        (f'split({name}, [2, shape({name})[{axis}] - 2], axis={axis})[1]', f'cut({name}, {axis}, 2, {n})')])


def make(rng, values):
    """Of a dim alone."""
    a, b = dim(rng, values)
    name = pick(rng, values, lambda x: x.ndim == 1 and x.dtype == numpy.float32)
    return rng.choice([
        (f'iota([{a}], axis=0, dtype=f32)', f'positions({b}).astype("float32")'),
        (f'eye({a})[:, :1]', f'np.eye({b}, dtype="float32")[:, :1]'),
        (f'zeros(f32[{a}, 2])', f'np.zeros(({b}, 2), "float32")'),
        (f'one_hot(i0, {a}, dtype=f32)', f'hot(i0, {b})'), (f'i64_of({a})', f'np.array({b})'),
        (f'cast({a}, f32) / 8', f'np.float32({b}) / np.float32(8)'),
        *([(f'{name}[:, None] * {name}[None, :]', f'{name}[:, None] * {name}[None, :]'),
           (f'tril({name}[:, None] + {name}[None, :])', f'np.tril({name}[:, None] + {name}[None, :])')]
          if name else [])])


def select(rng, values):
    """What has as many elements as the values say."""
    name = pick(rng, values, lambda x: x.ndim and is_float(x))
    if not name:
        return None
    ones = values[name].ndim == 1
    return rng.choice([(f'{name}[{name} > 0.25]',) * 2, (f'nonzero({name} > 0)', f'np.argwhere({name} > 0)'),
                       (f'unique({name})[0]', f'np.unique({name})')] +
                      [(f'{name}[max({name}, axis=1) > 0.25]', f'{name}[np.max(some({name}, 1), axis=1) > 0.25]')
                       for _ in range(3) if values[name].ndim == 2] +
                      [(f'searchsorted(sort({name}), {name})',
                        f'np.searchsorted(np.sort({name}), {name}).astype("int32")')] * ones)


def product(rng, values):
    a = pick(rng, values, lambda x: x.ndim == 2 and is_float(x))
    if not a:
        return None
    b = pick(rng, values, lambda x: x.ndim == 2 and x.shape[0] == values[a].shape[1] and x.dtype == values[a].dtype)
    return rng.choice([(f'{a} @ transpose({a}) / 4', f'{a} @ {a}.T / {a}.dtype.type(4)'),
                       (f'einsum("ij,ij->j", {a}, {a})', f'np.einsum("ij,ij->j", {a}, {a})'),
                       (f'scatter_add({a}, [0], {a}[:1], axis=0)',
                        f'np.concatenate([some({a}, 0)[:1] * 2, {a}[1:]])')] +
                      [(f'avg_pool({a}[None], window={size}, stride=1)[0]', f'windows({a}, {size})')
                       for size in (2, 4) if values[a].shape[0] >= size] +
                      [(f'{a} @ {b} / 4', f'{a} @ {b} / {a}.dtype.type(4)')] * (3 if b else 0))


MAKERS = [smooth, smooth, pair, pair, reduce, reduce, order, order, move, move, move, index, index, index, index, make,
          make, select, product]
