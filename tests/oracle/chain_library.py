"""More steps for tests/oracle/chains: activations, losses, pairs of integers, indices, statistics, windows, matrices,
complex functions and Fourier transforms. chain_steps.py says what a maker is.
"""
import math

import numpy

from chain_steps import (NAMES, apart_from, broadcasts, distinct, ints, is_complex, is_float, is_integer, is_wide,
                         one_of, pair, pick)


# -- Element by element -----------------------------------------------------------------------------------------------

CURVES = [('mish({0})', 'jax.nn.mish({0})'), ('log_sigmoid({0})', 'jax.nn.log_sigmoid({0})'),
          ('softsign({0})', 'jax.nn.soft_sign({0})'), ('identity({0}) * {0} / 4', '{0} * {0} / 4'),
          ('stop_gradient({0}) * {0} / 4', 'stopped({0}) * {0} / 4'), ('check_finite({0}) / 2', '{0} / 2'),
          ('polynomial({0}, [0.01, -0.1, 0.5])', '(0.01 * {0} - 0.1) * {0} + 0.5'),
          ('where(is_finite({0}), {0}, 0)', 'np.where(np.isfinite({0}), {0}, 0)'),
          ('where(is_nan({0}) or is_inf({0}), 0, {0})', 'np.where(np.isnan({0}) | np.isinf({0}), 0, {0})')]
KINKED = [((0, 6), 'relu6({0})', 'jax.nn.relu6({0})'),
          ((0,), 'leaky_relu({0}, slope=0.25)', 'jax.nn.leaky_relu({0}, 0.25)'), ((0,), 'elu({0})', 'jax.nn.elu({0})'),
          ((0,), 'selu({0})', 'jax.nn.selu({0})'), ((-1, 1), 'hard_tanh({0})', 'jax.nn.hard_tanh({0})'),
          ((-3, 3), 'hard_sigmoid({0})', 'jax.nn.hard_sigmoid({0})'),
          ((-3, 3), 'hard_silu({0})', 'jax.nn.hard_silu({0})'), ((0,), 'sign_bit({0})', 'np.signbit({0})'),
          ((0,), 'angle({0})', 'np.angle({0}).astype({0}.dtype)'), ((-1, 1), 'hinge_loss({0}, sign({0}))',
                                                  'np.maximum(1 - {0} * np.sign({0}), 0)')]


def activation(rng, values):
    name = pick(rng, values, is_float)
    if not name:
        return None
    x = values[name]
    rows = CURVES + [(leat, text) for places, leat, text in KINKED
                     if all(apart_from(x, place) for place in places) and (is_wide(x) or 'angle' not in leat)]
    if is_wide(x):
        rows = rows + [('gelu({0}, approximate=true)', 'jax.nn.gelu({0}, approximate=True)'),
                       ('ldexp({0}, -1)', 'np.ldexp({0}, -1)'),
                       ('trigamma(2 + {0} * {0})', 'trigamma(2 + {0} * {0})'),
                       ('nan_to_num({0})', 'np.nan_to_num({0})'), ('radians({0})', 'np.radians({0})'),
                       ('degrees({0}) / 64', 'np.degrees({0}) / 64')]
        if apart_from(x, numpy.round(x)):
            rows += [('heaviside({0}, 0.5)', 'np.heaviside({0}, 0.5)'), ('modf({0})[0]', 'np.modf({0})[0]')]
        if apart_from(x, 0) and apart_from(numpy.log2(numpy.abs(x)), numpy.round(numpy.log2(numpy.abs(x)))):
            rows += [('frexp({0})[1]', 'np.frexp({0})[1].astype(np.int32)')]
    return one_of(rng, rows, name)


FLOAT_PAIRS = [('copysign({0}, {1})', 'np.copysign({0}, {1})'), ('{0} != {1}', '{0} != {1}'), 
               ('{0} == {1}', '{0} == {1}'), ('logaddexp2({0}, {1})', 'np.logaddexp2({0}, {1})'),
               ('{0} > {1} and {1} <= {0}', '({0} > {1}) & ({1} <= {0})'),
               ('{0} % (2 + abs({1}) * 0)', 'np.remainder({0}, 2 + np.abs({1}) * 0)'),
               ('fmod({0}, 2 + {1} * 0)', 'np.fmod({0}, 2 + {1} * 0)'), ('rem({0}, 2 + {1} * 0)', 'np.fmod({0}, 2 + {1} * 0)'),
               ('{0} // (2 + {1} * 0)', 'np.floor_divide({0}, 2 + {1} * 0)')]


def float_pairs(rng, values):
    """Of two that are nowhere near each other, zero, or a multiple of 2."""
    names = pair(rng, values, is_wide)
    if not names:
        return None
    x, y = (values[name] for name in names)
    half = x / 2
    clear = apart_from(x, y) and apart_from(x, 0) and apart_from(y, 0) and apart_from(half, numpy.round(half))
    return one_of(rng, FLOAT_PAIRS, *names) if clear else None


LOSSES = [('squared_error({0}, {1}) / 8', 'np.square({0} - {1}) / 8'),
          ('sigmoid_cross_entropy({0}, sigmoid({1}))', 'np.logaddexp({0}, 0) - {0} * jax.nn.sigmoid({1})'),
          ('log_cosh({0}, {1})', 'np.logaddexp({0} - {1}, {1} - {0}) - np.log(2).astype({0}.dtype)')]
APART_LOSSES = [('absolute_error({0}, {1})', 'np.abs({0} - {1})'),
                ('huber_loss({0}, {1}, delta=1.5)', 'np.where(np.abs({0} - {1}) <= 1.5, 0.5 * ({0} - {1}) ** 2, '
                                                    '1.5 * (np.abs({0} - {1}) - 0.75))')]
ROW_LOSSES = [('cross_entropy({0}, softmax({1})) / 4',
               '-np.sum(jax.nn.softmax({1}) * jax.nn.log_softmax({0}), -1) / 4'),
              ('kl_divergence(log_softmax({0}), softmax({1}))',
               'np.sum(jax.nn.softmax({1}) * (jax.nn.log_softmax({1}) - jax.nn.log_softmax({0})), -1)'),
              ('cosine_similarity(1 + {0} * {0}, {1} + 3)',
               '(lambda x, y: np.sum(x * y, -1) / np.sqrt(np.sum(x * x, -1) * np.sum(y * y, -1)))'
               '(1 + {0} * {0}, {1} + 3)')]


def losses(rng, values):
    names = pair(rng, values, is_wide)
    if not names or values[names[0]].shape != values[names[1]].shape:
        return None
    x, y = (values[name] for name in names)
    rows = LOSSES + (APART_LOSSES if apart_from(x, y) and apart_from(numpy.abs(x - y), 1.5) else [])
    in_rows = x.ndim and x.shape[-1] > 1 and float(abs(y + 3).min()) > 0.1
    return one_of(rng, rows + (ROW_LOSSES if in_rows else []), *names)


INTEGER_PAIRS = ['{0} + {1}', '{0} - {1}', '{0} * {1}', '{0} == {1}', '{0} != {1}', '{0} < {1}', '{0} >= {1}',
                 *((f'{word}({{0}}, {{1}})', f'{text}({{0}}, {{1}})') for word, text in (
                     ('maximum', 'np.maximum'), ('minimum', 'np.minimum'),
                     ('bit_and', 'np.bitwise_and'), ('bit_or', 'np.bitwise_or'), ('bit_xor', 'np.bitwise_xor'))),
                 ('lcm(bit_and({0}, 7), bit_and({1}, 7))', 'np.lcm({0} & 7, {1} & 7)'),
                 ('gcd(bit_and({0}, 63), bit_and({1}, 63))', 'np.gcd({0} & 63, {1} & 63)'),
                 ('where({0} < {1}, {0}, {1})', 'np.where({0} < {1}, {0}, {1})'),
                 ('{0} // (1 + bit_and({1}, 7))', 'np.floor_divide({0}, 1 + ({1} & 7))'),
                 ('{0} % (1 + bit_and({1}, 7))', 'np.remainder({0}, 1 + ({1} & 7))'),
                 ('div_trunc({0}, 1 + bit_and({1}, 7))', '({0} - np.fmod({0}, 1 + ({1} & 7))) // (1 + ({1} & 7))'),
                 ('shift_right({0}, bit_and({1}, 3))', '{0} >> ({1} & 3)'),
                 ('shift_left({0}, bit_and({1}, 3))', '{0} << ({1} & 3)')]
ALONE = [('popcount({0})', 'popcount({0})'), ('count_leading_zeros({0})', 'leading_zeros({0})'),
         ('pow({0}, 3)', '{0} ** 3'), ('square({0})', 'np.square({0})'), ('-{0}', '-{0}'),
         ('bitcast(cast({0}, f32), i32)', 'bits_of({0}.astype(np.float32), np.int32)'),
         ('cumprod({0}, axis=0)', 'np.cumprod({0}, axis=0, dtype={0}.dtype)'),
         ('cummax({0}, axis=0)', 'cummax({0}, 0)'), ('min({0}, axis=0)', 'np.min({0}, axis=0)'),
         ('argmin({0}, axis=0)', 'np.argmin({0}, axis=0).astype(np.int32)'),
         ('prod({0}, axis=0)', 'np.prod({0}, axis=0, dtype={0}.dtype)'),
         ('bincount(clamp({0}, 0, 5), 6)', 'counts({0})'),
         ('sum(unique({0})[0])', 'sum_unique({0})'), ('sum(nonzero({0}), axis=0)', 'sum_places({0})'),
         ('sum(flatnonzero({0}))', 'sum_places({0}.ravel())[0]'),
         ('one_hot(clamp({0}, 0, 3), 4)', 'hot(np.clip({0}, 0, 3), 4, np.float32)'),
         ('smooth_labels(clamp({0}, 0, 3), 4)', 'hot(np.clip({0}, 0, 3), 4, np.float32) * np.float32(0.9) + '
                                                'np.float32(0.1 / 4)'),
         ('ravel_index([clamp({0}, 0, 3), clamp({0}, 1, 2)], [4, 3])',
          '(np.clip({0}, 0, 3).astype(np.int64) * 3 + np.clip({0}, 1, 2).astype(np.int64))'),
         ('searchsorted([-2, 0, 3], clamp(cast({0}, i32), -4, 4), side="right")',
          'np.searchsorted(np.array([-2, 0, 3], np.int32), np.clip({0}.astype(np.int32), -4, 4), side="right")'
          '.astype(np.int32)')]


def whole(rng, values):
    """Of integers."""
    fits = lambda x: is_integer(x) and 0 < x.ndim <= 3 and x.size > 0
    names = pair(rng, values, fits)
    if names and rng.random() < 0.5:
        return one_of(rng, INTEGER_PAIRS, *names)
    name = pick(rng, values, fits)
    return name and one_of(rng, ALONE, name)


def chosen(rng, values):
    """A bool says which of two, of any dtype."""
    names = pair(rng, values, lambda x: True)
    if not names:
        return None
    shape = numpy.broadcast_shapes(values[names[0]].shape, values[names[1]].shape)
    truth = pick(rng, values, lambda x: x.dtype == bool and broadcasts(x.shape, shape))
    return truth and one_of(rng, [('where({0}, {1}, {2})', 'np.where({0}, {1}, {2})')], truth, *names)


# -- Movement, indices ------------------------------------------------------------------------------------------------

def turn(rng, values):
    """What only moves, of any dtype."""
    name = pick(rng, values, lambda x: x.ndim > 0 and x.size > 0)
    if not name:
        return None
    x = values[name]
    axis = rng.randrange(x.ndim)
    k, kind = rng.randrange(1, 4), NAMES[x.dtype.name]
    at = [rng.randrange(x.shape[0]) for _ in range(3)]
    rows = [('flatten({0})', 'np.ravel({0})'), (f'expand_dims({{0}}, {axis})', f'np.expand_dims({{0}}, {axis})'),
            (f'squeeze(expand_dims({{0}}, {axis}))', 'np.squeeze({0})'),
            (f'unstack({{0}}, axis={axis})[-1]', f'np.take({{0}}, -1, axis={axis})'),
            (f'fftshift({{0}}, axes=[{axis}])', f'np.fft.fftshift({{0}}, {axis})'),
            (f'ifftshift({{0}}, axes=[{axis}])', f'np.fft.ifftshift({{0}}, {axis})'),
            ('shape_of({0})', f'np.array({x.shape}, np.int64)'), ('i64_of(size({0}))', f'np.array({x.size}, np.int64)'),
            (f'scatter_set({{0}}, [{at[0]}], {{0}}[{at[1]}:{at[1] + 1}], axis=0)',
             f'changed("set", {{0}}, [{at[0]}], {{0}}[{at[1]}:{at[1] + 1}])')]
    if x.ndim >= 2:
        rows += [(f'rot90({{0}}, {k})', f'np.rot90({{0}}, {k})'), ('matrix_transpose({0})', 'np.swapaxes({0}, -1, -2)')]
        places = [[rng.randrange(n) for n in x.shape[:2]] for _ in range(3)]
        first, second = map(list, zip(*places))
        rows += [(f'gather_nd({{0}}, {places})', f'{{0}}[np.array({first}), np.array({second})]'),
                 (f'gather_axes({{0}}, [{first}, {second}])', f'{{0}}[np.array({first}), np.array({second})]'),
                 (f'scatter_nd_set({{0}}, [{places[0]}], gather_nd({{0}}, [{places[1]}]))',
                  f'pointed("set", {{0}}, [{places[0]}], {{0}}[{places[1][0]}, {places[1][1]}][None])')]
        if is_wide(x):
            value = f'{{0}}[np.array({first}), np.array({second})]'
            rows += [(f'scatter_nd_{word}({{0}}, {places}, {scale} * gather_nd({{0}}, {places}))',
                      f'pointed("{text}", {{0}}, {places}, {scale} * {value})')
                     for word, text, scale in (('add', 'add', 0.5), *(
                         (('mul', 'multiply', 0.25), ('min', 'min', 0.75), ('max', 'max', 0.75))
                                                         if len(set(map(tuple, places))) == 3
                                                         and apart_from(x, 0) else ()))]
    if x.dtype != bool and not is_complex(x) and x.ndim <= 2:
        rows += [(f'{{0}} + iota({ints(x.shape)}, axis={axis}, dtype={kind})',
                  f'{{0}} + np.broadcast_to(np.expand_dims(np.arange({x.shape[axis]}), '
                  f'{[i for i in range(x.ndim) if i != axis]}), {x.shape}).astype({{0}}.dtype)'),
                 (f'{{0}} + arange({x.shape[-1]}, dtype={kind})',
                  f'{{0}} + np.arange({x.shape[-1]}).astype({{0}}.dtype)'),
                 ('{0} + ones_like({0})', '{0} + np.ones_like({0})'), ('zeros_like({0})', 'np.zeros_like({0})')]
    if is_wide(x):
        last = ints(['false'] * (x.shape[0] - 1) + ['true'])
        rows += [(f'sum(compress({last}, {{0}}, axis=0), axis=0)', '{0}[-1]'),
                 (f'sum(repeat_each({{0}}, {ints(i % 3 for i in range(x.shape[0]))}, axis=0), axis=0) / 8',
                  f'np.sum({{0}}[1::3], axis=0) / 8 + np.sum({{0}}[2::3], axis=0) / 4')]
        rows += [(f'{{0}} * linspace(-1, 2, {x.shape[-1]}, dtype={kind})',
                  f'{{0}} * np.linspace(-1, 2, {x.shape[-1]}, dtype={{0}}.dtype)'),
                 (f'{{0}} * logspace(-1, 0, {x.shape[-1]}, dtype={kind})',
                  f'{{0}} * np.logspace(-1, 0, {x.shape[-1]}, dtype={{0}}.dtype)'),
                 (f'{{0}} + full(0.5, {kind}[{x.shape[-1]}])', '{0} + 0.5'),
                 (f'{{0}} * fftfreq({x.shape[-1]}, dtype={kind})',
                  f'{{0}} * np.fft.fftfreq({x.shape[-1]}).astype({{0}}.dtype)'),
                 (f'{{0}} * rfftfreq({2 * x.shape[-1] - 1}, dtype={kind})',
                  f'{{0}} * np.fft.rfftfreq({2 * x.shape[-1] - 1}).astype({{0}}.dtype)'),
                 (f'scatter_mul({{0}}, [{at[0]}], tanh({{0}}[{at[1]}:{at[1] + 1}]), axis=0)',
                  f'changed("multiply", {{0}}, [{at[0]}], np.tanh({{0}}[{at[1]}:{at[1] + 1}]))')]
        along = [[rng.randrange(x.shape[-1])] for _ in range(x.shape[0])]
        if x.ndim == 2:
            rows += [(f'add_along_axis({{0}}, {along}, {{0}}[:, :1], axis=1)',
                      f'pointed("add", {{0}}, {[[i, j] for i, (j,) in enumerate(along)]}, {{0}}[:, 0])'),
                     (f'softmax_cross_entropy({{0}}, {ints(j for j, in along)})',
                      f'-np.take_along_axis(jax.nn.log_softmax({{0}}), np.array({along}), 1)[:, 0]')]
            if distinct(x, 1):
                rows += [(f'accuracy({{0}}, {ints(j for j, in along)})',
                          f'np.mean(np.argmax({{0}}, 1) == np.array({[j for j, in along]})).astype(np.float32)')]
    return one_of(rng, rows, name)


# -- Statistics -------------------------------------------------------------------------------------------------------

def statistics(rng, values):
    name = pick(rng, values, lambda x: x.ndim > 0 and is_wide(x) and x.size > 0)
    if not name:
        return None
    x = values[name]
    axis = rng.randrange(x.ndim)
    rows = [(f'nan{leat}({{0}}, axis={axis})' + scale, f'np.nan{text}({{0}}, axis={axis})' + scale)
            for leat, text, scale in (('sum', 'sum', ' / 4'), ('mean', 'mean', ''), ('var', 'var', ' / 4'))]
    rows += [(f'nanprod(tanh({{0}}), axis={axis})', f'np.nanprod(np.tanh({{0}}), axis={axis})'),
             (f'diff({{0}}, axis={axis}) / 2', f'np.diff({{0}}, axis={axis}) / 2'),
             (f'average({{0}}, 1 + {{0}} * {{0}}, axis={axis})',
              f'np.average({{0}}, weights=1 + {{0}} * {{0}}, axis={axis})'),
             ('norm({0} + 0.25 * {0} * {0} + 3, ord=1) / 64', 'np.sum(np.abs({0} + 0.25 * {0} * {0} + 3)) / 64')]
    if distinct(x, axis):
        rows += [(f'{word}({{0}}, axis={axis})' + scale, f'np.{word}({{0}}, axis={axis})' + scale)
                 for word, scale in (('nanmax', ''), ('nanmin', ''), ('ptp', ' / 2'))]
        rows += [(f'quantile({{0}}, 0.3, axis={axis})', f'np.quantile({{0}}, 0.3, axis={axis})'),
                 (f'percentile({{0}}, 70, axis={axis}, method="lower")',
                  f'np.percentile({{0}}, 70, axis={axis}, method="lower")')]
        if x.shape[axis] > 1:
            rows.append((f'nanstd({{0}}, axis={axis})', f'np.nanstd({{0}}, axis={axis})'))
    edges = [-1.0, 0.5, 2.0]
    if all(apart_from(x, edge) for edge in edges):
        rows += [('interp({0}, [-1.0, 0.5, 2.0], [0.5, 2.0, -1.0])'.replace('[', f'cast([').replace(
                     ']', f'], {NAMES[x.dtype.name]})'),
                  'np.interp({0}, np.array([-1, 0.5, 2], {0}.dtype), np.array([0.5, 2, -1], {0}.dtype))'
                  '.astype({0}.dtype)'),
                 ('histogram({0}, 2, -1, 2)[0]', 'np.histogram({0}, 2, (-1, 2))[0].astype(np.int64)'),
                 ('bincount_weighted(cast({0} > 0.5, i32), {0}, 2) / 8',
                  'np.stack([np.sum(np.where({0} > 0.5, 0, {0})), np.sum(np.where({0} > 0.5, {0}, 0))]) / 8')]
    if x.ndim == 2 and x.shape[1] > 2 and float(numpy.std(x, 1).min()) > 0.3:
        rows += [('cov({0}) / 4', 'np.atleast_2d(np.cov({0})).astype({0}.dtype) / 4'),
                 ('corrcoef({0})', 'np.atleast_2d(np.corrcoef({0})).astype({0}.dtype)')]
    return one_of(rng, rows, name)


# -- Windows, products, matrices --------------------------------------------------------------------------------------

def windows(rng, values):
    """Of images [N, H, W, C], a matrix with its elements as pixels, and of rows [N, W, C]."""
    name = pick(rng, values, lambda x: x.ndim == 2 and is_wide(x) and min(x.shape) >= 3)
    if not name:
        return None
    x = values[name]
    h, w = x.shape
    leat, text = '{0}[None, :, :, None]', '{0}[None, :, :, None]'
    weights = ('reshape(tanh({0}[:2, :3]), [2, 3, 1, 1])', 'np.tanh({0}[:2, :3]).reshape(2, 3, 1, 1)')
    stride, dilation = rng.choice([(1, 1), (2, 1), (1, 2)] if min(h, w) > 4 else [(1, 1), (2, 1)])
    rows = [(f'conv({leat}, {weights[0]}, stride={stride}, dilation={dilation}{leat_padding})[0, :, :, 0] / 4',
             f'convolve({text}, {weights[1]}, {stride}, "{padding}", {dilation}, 1)[0, :, :, 0] / 4')
            for leat_padding, padding in ((', padding="same"', 'SAME'), ('', 'VALID'))]
    rows += [(f'conv({{0}}[None], reshape(tanh({{0}}[:2]), [1, {w}, 2]))[0] / 8',
              f'convolve({{0}}[None], np.tanh({{0}}[:2]).reshape(1, {w}, 2), 1, "VALID", 1, 1)[0] / 8'),
             (f'conv({{0}}[None], reshape(tanh({{0}}[:2]), [2, 1, {w}]), groups={w})[0] / 4',
              f'convolve({{0}}[None], np.tanh({{0}}[:2]).reshape(2, 1, {w}), 1, "VALID", 1, {w})[0] / 4'),
             (f'conv_transpose({leat}, {weights[0]}, stride={stride})[0, :, :, 0] / 4',
              f'back_to_input({text}, {weights[1]}, {stride})[0, :, :, 0] / 4'),
             (f'avg_pool({leat}, window=2, stride=1)[0, :, :, 0]',
              f'pool({text}, 0, lax.add, 2, 1)[0, :, :, 0] / 4'),
             (f'global_avg_pool({leat})[0]', f'np.mean({text}, (1, 2))[0]'),
             (f'resize({leat}, {ints([2 * h, w + 1])}, method="linear")[0, :, :, 0]',
              f'resized({text}, {(2 * h, w + 1)}, "linear")[0, :, :, 0]')]
    if distinct(x.reshape(-1), 0):
        rows += [(f'max_pool({leat}, window=2, stride=1)[0, :, :, 0]',
                  f'pool({text}, -np.inf, lax.max, 2, 1)[0, :, :, 0]'),
                 (f'global_max_pool({leat})[0]', f'np.max({text}, (1, 2))[0]')]
    return one_of(rng, rows, name)


def more_products(rng, values):
    name = pick(rng, values, lambda x: 1 <= x.ndim <= 3 and 0 < x.size <= 200 and is_wide(x))
    if not name:
        return None
    x = values[name]
    rows = [('vdot({0}, {0}) / 32', 'np.vdot({0}, {0}) / 32')]
    if x.size <= 16:
        rows += [('kron({0}, tanh({0})) / 4', 'np.kron({0}, np.tanh({0})) / 4')]
    if x.shape[-1] == 3:
        rows += [('cross({0}, flip({0}, -1)) / 4', 'np.cross({0}, np.flip({0}, -1)) / 4')] * 4
    if x.shape[-1] % 2 == 0:
        rows += [('glu({0})', 'jax.nn.glu({0}, -1)')]
    if x.ndim == 1:
        rows += [('meshgrid([{0}, {0}[:2]])[0]', 'np.meshgrid({0}, {0}[:2])[0]'),
                 ('diagonal_matrix({0})', 'np.diag({0})')]
    if x.ndim == 3:
        rows += [('dot_general({0}, tanh({0}), [2], [2], [0], [0]) / 4',
                  'np.einsum("bij,bkj->bik", {0}, np.tanh({0})) / 4'),
                 ('einsum("bij,bkj->ikb", {0}, tanh({0})) / 4', 'np.einsum("bij,bkj->ikb", {0}, np.tanh({0})) / 4')]
    if x.ndim >= 2:
        root = math.sqrt(x.shape[-1])
        rows += [('attention({0}, tanh({0}), {0})',
                  f'jax.nn.softmax({{0}} @ np.swapaxes(np.tanh({{0}}), -1, -2) / {root}) @ {{0}}')]
    return one_of(rng, rows, name)


def matrices(rng, values):
    """Of M = tanh(x) tanh(x)ᵀ + 4: a well-conditioned matrix, and of one that is no square."""
    name = pick(rng, values, lambda x: x.ndim == 2 and is_wide(x) and 1 <= x.shape[0] <= 5 and 0 < x.shape[1])
    if not name:
        return None
    n, columns = values[name].shape
    kind = NAMES[values[name].dtype.name]
    a = (f'(matmul(tanh({name}), tanh({name}), transpose_b=true) + 4 * eye({n}, dtype={kind}))',
         f'(np.tanh({name}) @ np.tanh({name}).T + 4 * np.eye({n}, dtype={name}.dtype))')
    ramp = f'iota([{n}, {n}], axis=0, dtype={kind})', f'np.arange({n}, dtype={name}.dtype)[:, None]'
    rows = [('lu({a})[0]', 'lu_factors({a})'),
            ('triangular_solve({a}, tanh({x}), lower=true)', 'triangular({a}, np.tanh({x}), lower=True)'),
            ('triangular_solve({a}, tanh({x}), transpose=true)', 'triangular({a}, np.tanh({x}), trans=1)'),
            ('cholesky_solve(cholesky({a}), tanh({x}))', 'np.linalg.solve({a}, np.tanh({x}))'),
            ('abs(qr({a})[0])', 'np.abs(np.linalg.qr({a})[0])'), ('matrix_power({a} / 8, 3)',
                                                                 'np.linalg.matrix_power({a} / 8, 3)'),
            ('matrix_power({a}, -1)', 'np.linalg.matrix_power({a}, -1)'), ('pinv({a})', 'np.linalg.pinv({a})'),
            ('det({a} / 4) / 8', 'np.linalg.det({a} / 4) / 8'), ('matrix_norm({a}) / 8', 'np.linalg.norm({a}) / 8'),
            ('matrix_norm({a}, ord="nuc") / 16', 'np.linalg.norm({a}, ord="nuc") / 16'),
            ('adjoint({x})', 'np.conj({x}).T')]
    spread = (f'({a[0]} + {ramp[0]} * eye({n}, dtype={kind}) * 9)',
              f'({a[1]} + {ramp[1]} * np.eye({n}, dtype={name}.dtype) * 9)')
    rows += [(f'square(eigh({spread[0]})[1])', f'np.linalg.eigh({spread[1]})[1] ** 2'),
             # JAX's gradient of lstsq is that of its svd: NaN where singular values are equal
             (f'lstsq({spread[0]}, tanh({name}))', f'np.linalg.lstsq({spread[1]}, np.tanh({name}))[0]'),
             (f'square(svd({spread[0]})[0])', f'np.linalg.svd({spread[1]}, full_matrices=False)[0] ** 2')]
    z = f'complex({a[0]}, 0.25 * tanh({a[0]} - 4))', f'complex_of({a[1]}, 0.25 * np.tanh({a[1]} - 4))'
    rows += [(f'inv({z[0]})', f'np.linalg.inv({z[1]})'), (f'det({z[0]} / 4) / 8', f'np.linalg.det({z[1]} / 4) / 8'),
             (f'cholesky({z[0]} @ adjoint({z[0]})) / 2', f'np.linalg.cholesky({z[1]} @ np.conj({z[1]}).T) / 2'),
             (f'solve({z[0]}, {z[0]}[:, :1] + 1)', f'np.linalg.solve({z[1]}, {z[1]}[:, :1] + 1)'),
             (f'triangular_solve({z[0]}, {z[0]}, right=true) / 2',
              f'np.swapaxes(triangular({z[1]}.T, {z[1]}.T, lower=True), 0, 1) / 2')]
    fill = lambda template, part: template.replace('{a}', a[part]).replace('{x}', name)
    return one_of(rng, [(fill(leat, 0), fill(text, 1)) for leat, text in rows])


# -- Complex numbers, Fourier transforms ------------------------------------------------------------------------------

FAR = 'log log2 log10 sqrt acosh'.split()
SLIGHT = 'exp exp2 expm1 log1p sin cos tan asin acos atan sinh cosh tanh asinh atanh'.split()
ARC = {'asin': 'arcsin', 'acos': 'arccos', 'atan': 'arctan', 'asinh': 'arcsinh', 'acosh': 'arccosh', 'atanh': 'arctanh'}
COMPLEX_ROWS = [(f'{word}({given})', f'np.{ARC.get(word, word)}({given})')
                for words, given in ((FAR, '(60 + {0})'), (SLIGHT, '(0.01 * {0})')) for word in words]
# The gradient that JAX gives sign of complex numbers is 0: it is written out.
COMPLEX_ROWS += [('angle(60 + {0})', 'np.angle(60 + {0})'), ('pow(60 + {0}, -1)', '1 / (60 + {0})'),
                 ('sign(60 + {0})', '(60 + {0}) / np.abs(60 + {0})'), ('{0} == {0}', '{0} == {0}'),
                 ('{0} != 1 + {0}', '{0} != 1 + {0}'),
                 ('cumsum({0}, axis=0) / 8', 'np.cumsum({0}, axis=0) / 8'),
                 ('prod({0} / 50, axis=0)', 'np.prod({0} / 50, axis=0)'),
                 ('cumprod({0} / 50, axis=0)', 'np.cumprod({0} / 50, axis=0)'),
                 ('polar(abs(60 + {0}), angle(60 + {0})) / 2', '(60 + {0}) / 2'),
                 ('adjoint({0}[None])', 'np.conj({0}[None]).swapaxes(-1, -2)'),
                 ('{0} - 2 * {0}', '{0} - 2 * {0}'),
                 ('scatter_add({0}, [0], {0}[:1], axis=0)', 'changed("add", {0}, [0], {0}[:1])'),
                 ('scatter_mul({0} / 8, [0], {0}[:1] / 8, axis=0)', 'changed("multiply", {0} / 8, [0], {0}[:1] / 8)')]
SPECTRA = [(f'{word}({{0}}) / 16', f'np.fft.{word}({{0}}) / 16') for word in ('fftn', 'ifftn')]


def spectra(rng, values):
    name = pick(rng, values, lambda x: is_complex(x) and x.ndim > 0 and x.size > 0)
    if name and rng.random() < 0.8:
        x = values[name]
        rows = COMPLEX_ROWS + (SPECTRA if x.ndim <= 3 else [])
        if x.ndim >= 2:
            rows = rows + [(f'{word}({{0}}) / 16', f'np.fft.{word}({{0}}) / 16') for word in ('fft2', 'ifft2')]
            if x.shape[-1] > 1:
                rows += [(f'{word}({{0}})', f'np.fft.{word}({{0}})') for word in ('irfft2', 'irfftn')
                         if word == 'irfft2' or x.ndim <= 3]
        return one_of(rng, rows, name)
    name = pick(rng, values, lambda x: is_wide(x) and 2 <= x.ndim <= 3 and x.size > 0)
    real = [(f'{word}({{0}}) / 16', f'np.fft.{word}({{0}}) / 16') for word in ('rfft2', 'rfftn')]
    return name and one_of(rng, real, name)


MAKERS = [activation, activation, float_pairs, losses, whole, whole, chosen, turn, turn, statistics, windows,
          more_products, matrices, spectra, spectra]
