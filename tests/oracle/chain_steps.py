"""The steps that tests/oracle/chains makes programs of: an op or a function each, in Leat's words and in JAX's.

A maker takes the random stream and the values so far, {name: array}, and gives both texts, or None where the values do
not suit it: no value may leave its op's domain or lie where a rounding decides (at a step of floor, between two
maxima).
"""
import numpy

HALVES = ('float16', 'bfloat16')
FLOATS = ('float32', 'float64') + HALVES
COMPLEX = ('complex64', 'complex128')
COMPLEX_OF = {'float32': ('c64', 'complex64'), 'float64': ('c128', 'complex128')}
NAMES = {'float16': 'f16', 'bfloat16': 'bf16', 'float32': 'f32', 'float64': 'f64', 'complex64': 'c64',
         'complex128': 'c128', 'bool': 'bool', 'int8': 'i8', 'int16': 'i16', 'int32': 'i32', 'int64': 'i64',
         'uint8': 'u8', 'uint16': 'u16', 'uint32': 'u32', 'uint64': 'u64'}
GAPS = {'float16': 0.05, 'bfloat16': 0.2}
GAP = 1e-3


# -- What suits a step ------------------------------------------------------------------------------------------------

def is_float(x):
    return x.dtype.name in FLOATS


def is_wide(x):
    """A float that sums and factorisations are compared in."""
    return x.dtype.name in ('float32', 'float64')


def is_complex(x):
    return x.dtype.name in COMPLEX


def is_integer(x):
    return x.dtype.kind in 'iu'


def gap(x):
    return GAPS.get(x.dtype.name, GAP)


def apart_from(x, places):
    """No element is near one of the places, or near what rounding makes of it."""
    return float(numpy.min(numpy.abs(x - places), initial=1)) > gap(x)


def distinct(x, axis):
    """No two elements along the axis are near each other."""
    near = numpy.diff(numpy.sort(x.astype('float64'), axis), axis=axis)
    return x.size > 0 and float(numpy.min(near, initial=1)) > gap(x)


def broadcasts(a, b):
    try:
        return len(numpy.broadcast_shapes(a, b)) <= 4
    except ValueError:
        return False


def ints(dims):
    return '[' + ', '.join(map(str, dims)) + ']'


def pick(rng, values, wanted=lambda x: True):
    names = [name for name, x in values.items() if wanted(x)]
    return rng.choice(names[-6:]) if names else None


OFFERED = None  # a set, while tests/oracle/chains looks what there is to choose from: the Leat texts


def one_of(rng, rows, *names):
    """One of the rows, (Leat, JAX) or a text for both, about the names; None: there are none."""
    if OFFERED is not None:
        OFFERED.update(row if isinstance(row, str) else row[0] for row in rows)
    if not rows:
        return None
    row = rng.choice(rows)
    leat, jax_text = (row, row) if isinstance(row, str) else row
    return (leat.format(*names), jax_text.format(*names)) if names else (leat, jax_text)


# -- Element by element -----------------------------------------------------------------------------------------------

SMOOTH = [('tanh({0})', 'np.tanh({0})'), ('exp(0.1 * {0})', 'np.exp(0.1 * {0})'), '-{0}', '{0} * {0} / 4',
          ('log(1 + abs({0}))', 'np.log(1 + np.abs({0}))'), ('sqrt(1 + {0} * {0})', 'np.sqrt(1 + {0} * {0})'),
          ('sigmoid({0})', 'jax.nn.sigmoid({0})'), ('{0} / (2 + abs({0}))', '{0} / (2 + np.abs({0}))'),
          ('sin({0})', 'np.sin({0})'), ('cos({0})', 'np.cos({0})'), ('atan({0})', 'np.arctan({0})'),
          ('asinh({0})', 'np.arcsinh({0})'), ('erf({0})', 'special.erf({0})'),
          ('expm1(0.1 * {0})', 'np.expm1(0.1 * {0})'),
          ('log1p({0} * {0})', 'np.log1p({0} * {0})'), ('exp2(0.1 * {0})', 'np.exp2(0.1 * {0})'),
          ('log2(2 + abs({0}))', 'np.log2(2 + np.abs({0}))'), ('log10(2 + abs({0}))', 'np.log10(2 + np.abs({0}))'),
          ('tan(tanh({0}))', 'np.tan(np.tanh({0}))'), ('asin(0.5 * tanh({0}))', 'np.arcsin(0.5 * np.tanh({0}))'),
          ('acos(0.5 * tanh({0}))', 'np.arccos(0.5 * np.tanh({0}))'), ('sinh(0.1 * {0})', 'np.sinh(0.1 * {0})'),
          ('cosh(0.1 * {0})', 'np.cosh(0.1 * {0})'), ('acosh(2 + {0} * {0})', 'np.arccosh(2 + {0} * {0})'),
          ('atanh(0.5 * tanh({0}))', 'np.arctanh(0.5 * np.tanh({0}))'),
          ('cbrt(2 + {0} * {0})', 'np.cbrt(2 + {0} * {0})'),
          ('softplus({0})', 'jax.nn.softplus({0})'), ('silu({0})', 'jax.nn.silu({0})'),
          ('gelu({0})', 'jax.nn.gelu({0}, approximate=False)'), ('reciprocal(2 + {0} * {0})', '1 / (2 + {0} * {0})'),
          ('rsqrt(2 + {0} * {0})', '1 / np.sqrt(2 + {0} * {0})'), ('square({0}) / 4', 'np.square({0}) / 4'),
          ('clamp({0}, -100, 100)', 'np.clip({0}, -100, 100)'),
          ('hypot({0}, 1 + {0} * {0})', 'np.hypot({0}, 1 + {0} * {0})')]
SPECIAL = [('erfc({0})', 'special.erfc({0})'), ('erfinv(0.5 * tanh({0}))', 'special.erfinv(0.5 * np.tanh({0}))'),
           ('lgamma(2 + {0} * {0}) / 8', 'special.gammaln(2 + {0} * {0}) / 8'),
           ('digamma(2 + {0} * {0})', 'special.digamma(2 + {0} * {0})')]
STEPPED = [('floor({0})', 'np.floor({0})'), ('relu({0})', 'jax.nn.relu({0})'), ('abs({0})', 'np.abs({0})'),
           ('ceil({0})', 'np.ceil({0})'), ('trunc({0})', 'np.trunc({0})'), ('sign({0})', 'np.sign({0})'),
           ('cast({0}, i32)', '{0}.astype(np.int32)'), ('cast({0}, i64)', '{0}.astype(np.int64)'),
           ('{0} % 1', 'np.remainder({0}, 1)'), ('rem({0}, 1)', 'np.fmod({0}, 1)')]
SMOOTH_PAIRS = [('atan2({0}, 2 + abs({1}))', 'np.arctan2({0}, 2 + np.abs({1}))'),
                ('hypot(1 + abs({0}), {1})', 'np.hypot(1 + np.abs({0}), {1})'),
                ('{0} / (1 + {1} * {1})', '{0} / (1 + {1} * {1})'),
                ('pow(1 + sigmoid({0}), tanh({1}))', 'np.power(1 + jax.nn.sigmoid({0}), np.tanh({1}))'),
                ('logaddexp({0}, {1})', 'np.logaddexp({0}, {1})'), ('fma({0}, {1}, 1)', '({0} * {1} + 1)'),
                '{0} + {1}', '{0} - {1}', '{0} * {1}', '{0} + {1}', '{0} - {1}', '{0} * {1}']
CHOICES = [('maximum({0}, {1})', 'np.maximum({0}, {1})'), ('minimum({0}, {1})', 'np.minimum({0}, {1})'),
           ('where({0} < {1}, {0}, 2 * {1})', 'np.where({0} < {1}, {0}, 2 * {1})'),
           ('where({0} >= {1} or {0} < 0.25, {1}, {0})', 'np.where(({0} >= {1}) | ({0} < 0.25), {1}, {0})')]


def pair(rng, values, wanted):
    a = pick(rng, values, wanted)
    b = a and pick(rng, values, lambda x: x.dtype == values[a].dtype and broadcasts(x.shape, values[a].shape))
    return (a, b) if b else None


def smooth(rng, values):
    name = pick(rng, values, is_float)
    return name and one_of(rng, SMOOTH, name)


def special(rng, values):
    name = pick(rng, values, is_wide)
    return name and one_of(rng, SPECIAL, name)


def stepped(rng, values):
    name = pick(rng, values, lambda x: is_float(x) and apart_from(x, numpy.round(x)))
    return name and one_of(rng, STEPPED, name)


def rounded(rng, values):
    name = pick(rng, values, lambda x: is_float(x) and apart_from(x, numpy.floor(x) + x.dtype.type(0.5)))
    return name and one_of(rng, [('round({0})', 'np.round({0})'), ('rint({0})', 'np.round({0})')], name)


def binary(rng, values):
    names = pair(rng, values, is_float)
    return names and one_of(rng, SMOOTH_PAIRS, *names)


def choose(rng, values):
    names = pair(rng, values, is_float)
    if not names or not apart_from(values[names[0]], values[names[1]]) or not apart_from(values[names[0]], 0.25):
        return None
    return one_of(rng, CHOICES, *names)


def masked(rng, values):
    name = pick(rng, values, lambda x: is_wide(x) and x.ndim > 0 and apart_from(x, 0.25))
    return name and one_of(rng, [
        ('sum({0}[{0} > 0.25]) / 8', 'np.sum(np.where({0} > 0.25, {0}, 0)) / 8'), '{0} > 0.25',
        ('where({0} > 0.25, {0}, 0.5)', 'np.where({0} > 0.25, {0}, 0.5)'),
        '{0} <= 0.25',
        ('count_nonzero({0} > 0.25)', 'np.count_nonzero({0} > 0.25).astype(np.int32)')], name)


def truths(rng, values):
    name = pick(rng, values, lambda x: x.dtype == bool)
    if not name:
        return None
    axis = rng.randrange(values[name].ndim) if values[name].ndim else None
    along = '' if axis is None else f', axis={axis}'
    return one_of(rng, [('not {0}', '~{0}'), ('any({0}' + along + ')', 'np.any({0}' + along + ')'),
                        ('all({0}' + along + ')', 'np.all({0}' + along + ')'),
                        ('cast({0}, f32)', '{0}.astype(np.float32)'),
                        ('logical_xor({0}, true)', 'np.logical_xor({0}, True)')], name)


INTEGERS = [('bit_and({0}, 7)', '{0} & 7'), ('bit_xor({0}, 5)', '{0} ^ 5'), ('bit_or({0}, 9)', '{0} | 9'),
            ('shift_right({0}, 1)', '{0} >> 1'), ('shift_left({0}, 1)', '{0} << 1'), ('bit_not({0})', '~{0}'),
            ('{0} % 5', 'np.remainder({0}, 5)'), ('rem({0}, 5)', 'np.fmod({0}, 5)'),
            ('floor_div({0}, 3)', 'np.floor_divide({0}, 3)'), '{0} + {0}', '{0} * {0}', '{0} * 3 - {0}',
            ('{0} / 3', 'third({0})'), ('abs({0})', 'np.abs({0})'), ('sign({0})', 'np.sign({0})'),
            ('gcd({0}, 12)', 'np.gcd({0}, 12)'), ('clamp({0}, 0, 9)', 'np.clip({0}, 0, 9)'), '{0} == 3', '{0} < 2',
            ('maximum({0}, 2)', 'np.maximum({0}, 2)'), ('sum({0})', 'np.sum({0}, dtype={0}.dtype)'),
            ('cumsum({0}, axis=0)', 'np.cumsum({0}, axis=0, dtype={0}.dtype)'), ('sort({0})', 'np.sort({0})'),
            ('max({0}, axis=0)', 'np.max({0}, axis=0)'),
            ('argmax({0}, axis=0)', 'np.argmax({0}, axis=0).astype(np.int32)')]


def integers(rng, values):
    name = pick(rng, values, lambda x: is_integer(x) and x.ndim > 0 and x.size > 0)
    target = rng.choice([f'{sign}int{bits}' for sign in ('', 'u') for bits in (8, 16, 32, 64)] + ['float32', 'float64'])
    casts = [(f'cast({{0}}, {NAMES[target]})', f'{{0}}.astype(np.{target})')] * 5
    return name and one_of(rng, INTEGERS + casts, name)


def narrowed(rng, values):
    """To f16 and back, of f64 alone, where no rounding of Leat's or JAX's own decides: XLA rounds to f32 on the way."""
    name = pick(rng, values, lambda x: x.dtype == numpy.float64)
    if not name:
        return None
    x = values[name]
    near = x.astype('float16').astype('float64')
    spacing = numpy.abs(numpy.spacing(x.astype('float16'))).astype('float64')
    if float(numpy.min(numpy.abs(numpy.abs(x - near) / spacing - 0.5), initial=1)) < 1e-4:
        return None
    return one_of(rng, [('cast(cast({0}, f16), f64)', '{0}.astype(np.float16).astype(np.float64)')], name)


# -- Reductions, movement, order --------------------------------------------------------------------------------------

def reduce(rng, values):
    name = pick(rng, values, lambda x: is_float(x) and x.ndim > 0 and x.size > 0)
    if not name:
        return None
    x = values[name]
    axis, keep = rng.randrange(x.ndim), rng.random() < 0.5
    leat, python = (f'{name}, axis={axis}, keepdims={word}' for word in (str(keep).lower(), keep))
    rows = [(f'sum({leat}) / 4', f'np.sum({python}) / 4'), (f'mean({leat})', f'np.mean({python})'),
            (f'variance({leat}) / 4', f'np.var({python}) / 4'), (f'logsumexp({leat})', f'special.logsumexp({python})')]
    if distinct(x, axis):
        rows += [(f'max({leat})', f'np.max({python})'), (f'min({leat})', f'np.min({python})'),
                 (f'argmin({leat})', f'np.argmin({python}).astype(np.int32)')]
        if is_wide(x) and x.shape[axis] > 1:
            rows.append((f'std({leat})', f'np.std({python})'))
    if apart_from(x, 0):
        rows.append((f'norm({name}, axis={axis}) / 4', f'np.sqrt(np.sum({name} * {name}, axis={axis})) / 4'))
    return one_of(rng, rows if is_wide(x) else rows[:2] + rows[4:6])


def move(rng, values):
    name = pick(rng, values, lambda x: x.ndim > 0 and x.size > 0)
    if not name:
        return None
    shape, dtype = values[name].shape, values[name].dtype
    axis = rng.randrange(len(shape))
    perm = rng.sample(range(len(shape)), len(shape))
    begin, step = rng.randrange(shape[axis]), rng.choice([1, 1, 2, 3])
    colons = ':, ' * axis
    before, after = [rng.randrange(3) for _ in shape], [rng.randrange(3) for _ in shape]
    less = [rng.randrange(extent) for extent in shape]
    rows = [rng.randrange(shape[axis]) for _ in range(rng.randrange(1, 5))]
    times, shift, cut = rng.randrange(1, 4), rng.randrange(-3, 4), rng.randrange(shape[axis] + 1)
    choices = [(f'transpose({name}, perm={ints(perm)})', f'np.transpose({name}, {perm})'),
               (f'reshape({name}, [-1])', f'np.reshape({name}, (-1,))'),
               (f'{name}[{colons}{begin}::{step}]', f'{name}[{colons}{begin}::{step}]'),
               (f'{name}[{colons}::-1]', f'{name}[{colons}::-1]'),
               (f'{name}[{colons}None]', f'{name}[{colons}None]'), (f'{name}[..., -1]', f'{name}[..., -1]'),
               (f'{name}[{colons}{ints(rows)}]', f'{name}[{colons}np.array({rows})]'),
               (f'concat([{name}, {name}], axis={axis})', f'np.concatenate([{name}, {name}], axis={axis})'),
               (f'stack([{name}, {name}], axis={axis})', f'np.stack([{name}, {name}], axis={axis})'),
               (f'gather({name}, {ints(rows)}, axis={axis})', f'np.take({name}, np.array({rows}), axis={axis})'),
               (f'reshape({name}, {ints((1,) + shape)})', f'np.reshape({name}, {(1,) + shape})'),
               (f'flip({name}, {axis})', f'np.flip({name}, {axis})'),
               (f'roll({name}, {shift}, axis={axis})', f'np.roll({name}, {shift}, {axis})'),
               (f'repeat({name}, {times}, axis={axis})', f'np.repeat({name}, {times}, {axis})'),
               (f'tile({name}, {ints([times] * len(shape))})', f'np.tile({name}, {[times] * len(shape)})'),
               (f'swapaxes({name}, 0, {axis})', f'np.swapaxes({name}, 0, {axis})'),
               (f'moveaxis({name}, {axis}, 0)', f'np.moveaxis({name}, {axis}, 0)'),
               (f'split({name}, {ints([cut, shape[axis] - cut])}, axis={axis})[1]',
                f'np.split({name}, [{cut}], {axis})[1]'),
               (f'broadcast({name}, {ints((2,) + shape)})', f'np.broadcast_to({name}, {(2,) + shape})'),
               (f'pad_edge({name}, {ints(before)}, {ints(after)})',
                f'np.pad({name}, {list(zip(before, after))}, "edge")'),
               (f'pad_reflect({name}, {ints(less)}, {ints(less)})',
                f'np.pad({name}, {list(zip(less, less))}, "reflect")')]
    if dtype != bool:
        choices.append((f'pad({name}, 0, before={ints(before)}, after={ints(after)})',
                        f'np.pad({name}, {list(zip(before, after))})'))
    if len(shape) == 2 and dtype != bool:
        k = rng.randrange(-1, 2)
        choices += [(f'tril({name}, k={k})', f'np.tril({name}, {k})'),
                    (f'triu({name}, k={k})', f'np.triu({name}, {k})'),
                    (f'diagonal({name})', f'np.diagonal({name})')]
    return one_of(rng, choices)


def order(rng, values):
    """What goes along an axis."""
    name = pick(rng, values, lambda x: x.ndim > 0 and is_float(x) and x.size > 0)
    if not name:
        return None
    x = values[name]
    axis = rng.randrange(x.ndim)
    choices = [(f'cumsum({name}, axis={axis}) / 4', f'np.cumsum({name}, axis={axis}) / 4'),
               (f'cumprod(tanh({name}), axis={axis})', f'np.cumprod(np.tanh({name}), axis={axis})'),
               (f'prod(tanh({name}), axis={axis})', f'np.prod(np.tanh({name}), axis={axis})')]
    choices = choices if is_wide(x) else []
    if distinct(x, axis):
        choices += [(f'sort({name}, axis={axis})', f'np.sort({name}, axis={axis})'),
                    (f'sort({name}, axis={axis}, descending=true)', f'np.flip(np.sort({name}, axis={axis}), {axis})'),
                    (f'argmax({name}, axis={axis})', f'np.argmax({name}, axis={axis}).astype(np.int32)'),
                    (f'argsort({name}, axis={axis})', f'np.argsort({name}, axis={axis}).astype(np.int32)')]
    if distinct(x, axis) and is_wide(x):
        choices += [(f'cummax({name}, axis={axis})', f'cummax({name}, {axis})'),
                    (f'cummin({name}, axis={axis})', f'cummin({name}, {axis})'),
                    (f'median({name}, axis={axis})', f'np.median({name}, axis={axis})')]
    if distinct(x, x.ndim - 1) and is_wide(x):
        k = rng.randrange(1, x.shape[-1] + 1)
        choices.append((f'top_k({name}, {k})[0]', f'top({name}, {k})'))
    return one_of(rng, choices)


def rows(rng, values):
    """Rows written to rows."""
    name = pick(rng, values, lambda x: x.ndim > 0 and x.size > 0 and is_wide(x))
    if not name:
        return None
    x = values[name]
    to, of = ([rng.randrange(x.shape[0]) for _ in range(3)] for _ in range(2))
    updates = f'gather({name}, {ints(of)}, axis=0)', f'np.take({name}, np.array({of}), axis=0)'
    column = [[rng.randrange(x.shape[-1])] for _ in range(x.shape[0])]
    choices = [(f'scatter_add({name}, {ints(to)}, {updates[0]}, axis=0)', f'add_rows({name}, {to}, {updates[1]})')]
    if x.ndim == 2:
        choices.append((f'take_along_axis({name}, {column}, axis=1)',
                        f'np.take_along_axis({name}, np.array({column}), 1)'))
    if len(set(to)) == 3 and len(set(of)) == 3 and distinct(x, 0):
        choices += [(f'scatter_{word}({name}, {ints(to)}, 2 * {updates[0]} + 0.0137, axis=0)',
                     f'{word}_rows({name}, {to}, 2 * {updates[1]} + 0.0137)') for word in ('min', 'max')]
    return one_of(rng, choices)


# -- Products, windows, matrices, transforms --------------------------------------------------------------------------

def matmul(rng, values):
    a = pick(rng, values, lambda x: x.ndim >= 2 and is_float(x))
    fits = lambda x: x.dtype == values[a].dtype and x.ndim == 2 and x.shape[0] == values[a].shape[-1]
    b = a and pick(rng, values, fits)
    if b and is_wide(values[a]):
        return one_of(rng, ['({0} @ {1}) / 4'], a, b)
    return a and one_of(rng, [('matmul({0}, {0}, transpose_b=true) / 8', '({0} @ np.swapaxes({0}, -1, -2)) / 8')], a)


def products(rng, values):
    """Products over named axes, convolutions, pooling."""
    name = pick(rng, values, lambda x: 1 <= x.ndim <= 2 and x.size > 0 and is_wide(x))
    if not name:
        return None
    x = values[name]
    choices = []
    if x.ndim == 1:
        choices += [('outer({0}, {0}) / 4', 'np.outer({0}, {0}) / 4'),
                    ('inner({0}, {0}) / 8', 'np.inner({0}, {0}) / 8'),
                    ('{0} @ {0} / 8', '{0} @ {0} / 8'), ('diag({0})', 'np.diag({0})')]
    if x.ndim == 1 and x.size >= 3:
        choices += [('reshape(conv(reshape({0}, [1, -1, 1]), reshape({0}[:3], [3, 1, 1])), [-1]) / 4',
                     'np.correlate({0}, {0}[:3], "valid") / 4')] * 3
    if x.ndim == 2:
        choices += [('einsum("ij,kj->ik", {0}, {0}) / 8', 'np.einsum("ij,kj->ik", {0}, {0}) / 8'),
                    ('einsum("ij,ij->i", {0}, {0}) / 8', 'np.einsum("ij,ij->i", {0}, {0}) / 8'),
                    ('einsum("ij->j", {0}) / 4', 'np.einsum("ij->j", {0}) / 4'),
                    ('tensordot({0}, {0}, axes=[[0], [0]]) / 8', 'np.tensordot({0}, {0}, axes=[[0], [0]]) / 8'),
                    ('trace({0})', 'np.trace({0})')]
    if x.ndim == 2 and x.shape[0] >= 2:
        choices.append(('avg_pool({0}[None], window=2)[0]', 'pooled({0}, np.mean, np)'))
        if distinct(x, 0):
            choices.append(('max_pool({0}[None], window=2)[0]', 'pooled({0}, np.max, np)'))
    return one_of(rng, choices, name)


def factored(rng, values):
    """Of a matrix that is made symmetric and well-conditioned."""
    name = pick(rng, values, lambda x: x.ndim == 2 and is_wide(x) and 1 <= x.shape[0] <= 8 and x.shape[1] > 0)
    if not name:
        return None
    n, dtype = values[name].shape[0], values[name].dtype.name
    made = (f'(matmul(tanh({name}), tanh({name}), transpose_b=true) + 4 * eye({n}, dtype={NAMES[dtype]}))',
            f'(np.tanh({name}) @ np.tanh({name}).T + 4 * np.eye({n}, dtype={name}.dtype))')
    return one_of(rng, [tuple(row.format(text) for row, text in zip(rows, made)) for rows in (
        ('cholesky({})', 'np.linalg.cholesky({})'), ('inv({})', 'np.linalg.inv({})'),
        ('log(det({}))', 'np.log(np.linalg.det({}))'), ('slogdet({})[1]', 'np.linalg.slogdet({})[1]'),
        (f'solve({{}}, {name})', f'np.linalg.solve({{}}, {name})'), ('eigvalsh({})', 'np.linalg.eigvalsh({})'),
        ('svdvals({})', 'np.linalg.svd({}, compute_uv=False)'), ('abs(qr({})[1])', 'np.abs(np.linalg.qr({})[1])'))])


def complex_numbers(rng, values):
    """Into complex numbers, among them, and out of them again."""
    name = pick(rng, values, lambda x: is_complex(x) and x.ndim > 0 and x.shape[-1] > 0)
    if not name or rng.random() < 0.3:
        name = pick(rng, values, lambda x: is_wide(x) and x.ndim > 0 and x.shape[-1] > 0)
        return name and one_of(rng, [('complex({0}, tanh({0}))', 'complex_of({0}, np.tanh({0}))'),
                                     ('complex({0}, -{0})', 'complex_of({0}, -{0})'),
                                     ('rfft({0}) / 4', 'np.fft.rfft({0}) / 4')], name)
    x = values[name]
    rows = [('conj({0})', 'np.conj({0})'), '{0} * {0} / 8', '{0} + {0}', '-{0}', ('real({0})', 'np.real({0})'),
            ('imag({0})', 'np.imag({0})'), ('real({0} * conj({0})) / 8', 'np.real({0} * np.conj({0})) / 8'),
            ('fft({0}) / 4', 'np.fft.fft({0}) / 4'), ('ifft({0})', 'np.fft.ifft({0})'),
            ('irfft({0})', 'np.fft.irfft({0})') if x.shape[-1] > 1 else '{0} - 1',
            ('sum({0}, axis=0) / 4', 'np.sum({0}, axis=0) / 4'), ('mean({0})', 'np.mean({0})')]
    if float(numpy.min(numpy.abs(x), initial=1)) > 0.1:
        rows += [('abs({0})', 'np.abs({0})'), ('{0} / (2 * {0})', '{0} / (2 * {0})')]
    if x.ndim == 2:
        rows.append(('matmul({0}, {0}, transpose_b=true) / 8', '({0} @ np.swapaxes({0}, -1, -2)) / 8'))
    return one_of(rng, rows, name)


def library(rng, values):
    name = pick(rng, values, lambda x: x.ndim > 0 and is_wide(x) and x.shape[-1] > 1)
    rows = [('softmax({0})', 'jax.nn.softmax({0})'), ('log_softmax({0})', 'jax.nn.log_softmax({0})')]
    if name and float(numpy.min(numpy.std(values[name], -1), initial=1)) > 0.1:
        rows.append(('({0} - mean({0}, axis=-1, keepdims=true)) / std({0}, axis=-1, keepdims=true)',
                     '({0} - np.mean({0}, -1, keepdims=True)) / np.std({0}, -1, keepdims=True)'))
    return name and one_of(rng, rows, name)


MAKERS = [smooth, smooth, smooth, smooth, special, stepped, rounded, binary, binary, binary, choose, choose, reduce,
          reduce, move, move, move, matmul, products, products, factored, library, order, order, rows, masked, truths,
          integers, integers, narrowed, complex_numbers, complex_numbers]
