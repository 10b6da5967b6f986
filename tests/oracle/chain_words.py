"""What the words of the steps of tests/oracle/chains mean: to JAX, and as drafts in NumPy and SciPy, which stand for
them while a program is built, when no compiler is waited for.
"""
import numpy
import scipy.linalg
import scipy.special
from types import SimpleNamespace

import jax
import jax.numpy as np
from jax import lax


# -- To JAX -----------------------------------------------------------------------------------------------------------

def pooled(x, take, lib):
    """The `take` of windows of 2 along the first axis of a matrix, as pooling of [1, W, C] does."""
    return take(lib.reshape(x[:x.shape[0] // 2 * 2], (x.shape[0] // 2, 2, x.shape[1])), axis=1)


def changed(word, x, rows, updates):
    """Products are of different rows: of others JAX has no gradient."""
    at = np.asarray(x).at[rows if isinstance(rows, tuple) else np.array(rows)]
    return getattr(at, word)(updates, unique_indices=word == 'multiply')


def pointed(word, x, places, updates):
    return changed(word, x, tuple(np.array(places).T), updates)


def convolve(x, w, stride, padding, dilation, groups):
    axes = 'DHW'[-(x.ndim - 2):]
    return lax.conv_general_dilated(x, w, [stride] * len(axes), padding, rhs_dilation=[dilation] * len(axes),
                                    dimension_numbers=(f'N{axes}C', f'{axes}IO', f'N{axes}C'),
                                    feature_group_count=groups)


def back_to_input(y, w, stride):
    """What takes the gradient of a convolution with w back, to the extents that its windows cover."""
    shape = (y.shape[0], *((n - 1) * stride + k for n, k in zip(y.shape[1:], w.shape[:-2])), w.shape[-2])
    forward = lambda x: convolve(x, w, stride, 'VALID', 1, 1)
    return jax.linear_transpose(forward, jax.ShapeDtypeStruct(shape, y.dtype))(y)[0]


def pool(x, start, join, window, stride):
    axes = x.ndim - 2
    return lax.reduce_window(x, numpy.asarray(start, x.dtype), join, (1, *[window] * axes, 1), (1, *[stride] * axes, 1),
                             'VALID')


def leading_zeros_of(x):
    """Of the bits: of a constant that is negative XLA counts those of 64 bits, less 64."""
    return lax.clz(lax.bitcast_convert_type(x, f'uint{8 * x.dtype.itemsize}')).astype(x.dtype)


# What has as many elements as the values say stands in sums.
JAX = {'np': np, 'jax': jax, 'lax': lax, 'special': jax.scipy.special, 'pooled': pooled, 'changed': changed,
       'pointed': pointed, 'convolve': convolve, 'back_to_input': back_to_input, 'pool': pool,
       'cummax': lambda x, axis: lax.cummax(x, axis), 'cummin': lambda x, axis: lax.cummin(x, axis),
       'complex_of': lax.complex, 'third': lambda x: lax.div(x, np.asarray(3, x.dtype)),
       'top': lambda x, k: lax.top_k(x, k)[0], 'popcount': lax.population_count, 'leading_zeros': leading_zeros_of,
       'stopped': lax.stop_gradient, 'bits_of': lax.bitcast_convert_type, 'lu_factors': lambda a: lax.linalg.lu(a)[0],
       'triangular': jax.scipy.linalg.solve_triangular, 'trigamma': lambda x: jax.scipy.special.polygamma(1, x),
       'hot': lambda x, depth, dtype: jax.nn.one_hot(x, depth, dtype=dtype),
       'resized': lambda x, size, how: jax.image.resize(x, (x.shape[0], *size, x.shape[-1]), how, antialias=False),
       'counts': lambda x: np.bincount(np.clip(x, 0, 5).ravel(), length=6).astype(np.int64),
       'sum_unique': lambda x: np.sum(np.unique(x, size=x.size, fill_value=0), dtype=x.dtype),
       'sum_places': lambda x: np.sum(np.stack(np.nonzero(x, size=x.size, fill_value=0)), axis=1).astype(np.int64),
       **{f'{word}_rows': lambda x, rows, updates, word=word: changed(word, x, rows, updates)
          for word in ('add', 'min', 'max')}}


# -- As drafts --------------------------------------------------------------------------------------------------------

def of_dtype(function):
    return lambda x, *more, **how: numpy.asarray(function(numpy.asarray(x, 'float64'), *more, **how)).astype(x.dtype)


UPDATES = {'add': numpy.add, 'multiply': numpy.multiply, 'min': numpy.minimum, 'max': numpy.maximum}


def draft_changed(word, x, rows, updates):
    x = x.copy()
    if word == 'set':
        x[rows] = updates
    else:
        UPDATES[word].at(x, rows, updates)
    return x


def bits(x, order):
    """The bits of each integer along a new axis, in the bytes' order."""
    return numpy.unpackbits(x.astype(x.dtype.newbyteorder(order))[..., None].view('uint8'), axis=-1)


def leading_zeros(x):
    found = bits(x, '>')
    return numpy.where(x == 0, found.shape[-1], found.argmax(-1)).astype(x.dtype)


def windows_of(x, window, stride, dilation=1):
    """The windows of [N, spatial…, C] as [N, places…, C, window…]."""
    axes = tuple(range(1, x.ndim - 1))
    found = numpy.lib.stride_tricks.sliding_window_view(x, [(k - 1) * dilation + 1 for k in window], axes)
    steps = (slice(None), *[slice(None, None, stride) for _ in axes], slice(None))
    return found[steps + tuple(slice(None, None, dilation) for _ in axes)]


def draft_convolve(x, w, stride, padding, dilation, groups):
    window = w.shape[:-2]
    if padding == 'SAME':
        more = [max((-(-n // stride) - 1) * stride + (k - 1) * dilation + 1 - n, 0)
                for n, k in zip(x.shape[1:], window)]
        x = numpy.pad(x, [(0, 0), *((n // 2, n - n // 2) for n in more), (0, 0)])
    found = windows_of(x, window, stride, dilation)
    found = found.reshape(*found.shape[:x.ndim - 1], groups, -1, *window)
    small = 'xyz'[:len(window)]
    out = numpy.einsum(f'n{small.upper()}gc{small},{small}cgo->n{small.upper()}go', found,
                       w.reshape(*window, w.shape[-2], groups, -1))
    return out.reshape(*out.shape[:-2], -1)


def draft_back_to_input(y, w, stride):
    (h, wide), (a, b) = y.shape[1:3], w.shape[:2]
    out = numpy.zeros((y.shape[0], (h - 1) * stride + a, (wide - 1) * stride + b, w.shape[-2]), y.dtype)
    for i in range(a):
        for j in range(b):
            out[:, i:i + (h - 1) * stride + 1:stride, j:j + (wide - 1) * stride + 1:stride] += y @ w[i, j].T
    return out


def draft_resized(x, size, how):
    for axis, (n, m) in enumerate(zip(x.shape[1:-1], size), 1):
        at = numpy.clip((numpy.arange(m) + 0.5) * n / m - 0.5, 0, n - 1)
        low = numpy.floor(at).astype(int)
        share = (at - low).reshape([-1 if i == axis else 1 for i in range(x.ndim)]).astype(x.dtype)
        x = x.take(low, axis) * (1 - share) + x.take(numpy.minimum(low + 1, n - 1), axis) * share
    return x


ACTIVATIONS = {
    'sigmoid': scipy.special.expit, 'relu': lambda x: numpy.maximum(x, 0),
    'softmax': lambda x: scipy.special.softmax(x, axis=-1),
    'log_softmax': lambda x: scipy.special.log_softmax(x, axis=-1),
    'softplus': lambda x: numpy.logaddexp(x, 0), 'silu': lambda x: x * scipy.special.expit(x),
    'gelu': lambda x, approximate: x * scipy.special.ndtr(x), 'mish': lambda x: x * numpy.tanh(numpy.logaddexp(x, 0)),
    'log_sigmoid': lambda x: -numpy.logaddexp(-x, 0), 'soft_sign': lambda x: x / (1 + abs(x)),
    'relu6': lambda x: numpy.clip(x, 0, 6), 'leaky_relu': lambda x, slope: numpy.where(x > 0, x, slope * x),
    'elu': lambda x: numpy.where(x > 0, x, numpy.expm1(x)), 'hard_tanh': lambda x: numpy.clip(x, -1, 1),
    'selu': lambda x: 1.0507009873554805 * numpy.where(x > 0, x, 1.6732632423543772 * numpy.expm1(x)),
    'hard_sigmoid': lambda x: numpy.clip(x + 3, 0, 6) / 6, 'hard_silu': lambda x: x * numpy.clip(x + 3, 0, 6) / 6,
    'glu': lambda x, axis: numpy.split(x, 2, axis)[0] * scipy.special.expit(numpy.split(x, 2, axis)[1])}
FUNCTIONS = 'erf erfc erfinv gammaln digamma logsumexp'.split()

DRAFT = {'np': numpy, 'lax': SimpleNamespace(add=numpy.sum, max=numpy.max),
         'jax': SimpleNamespace(nn=SimpleNamespace(**{name: of_dtype(f) for name, f in ACTIVATIONS.items()})),
         'special': SimpleNamespace(**{name: of_dtype(getattr(scipy.special, name)) for name in FUNCTIONS}),
         'cummax': numpy.maximum.accumulate, 'cummin': numpy.minimum.accumulate, 'pooled': pooled,
         'changed': draft_changed, 'convolve': draft_convolve, 'back_to_input': draft_back_to_input,
         'resized': draft_resized, 'leading_zeros': leading_zeros, 'complex_of': lambda x, y: x + 1j * y,
         'third': lambda x: (x - numpy.fmod(x, 3)) // 3, 'top': lambda x, k: -numpy.sort(-x)[..., :k],
         'pointed': lambda word, x, places, updates: draft_changed(word, x, tuple(numpy.array(places).T), updates),
         'pool': lambda x, start, join, window, stride: join(windows_of(x, [window] * 2, stride), axis=(-2, -1)),
         'popcount': lambda x: bits(x, '=').sum(-1).astype(x.dtype), 'stopped': lambda x: x,
         'bits_of': lambda x, kind: x.view(kind), 'lu_factors': lambda a: scipy.linalg.lu_factor(a)[0],
         'triangular': scipy.linalg.solve_triangular, 'trigamma': of_dtype(lambda x: scipy.special.polygamma(1, x)),
         'hot': lambda x, depth, dtype: (x[..., None] == numpy.arange(depth)).astype(dtype),
         'counts': lambda x: numpy.bincount(numpy.clip(x, 0, 5).ravel().astype(int), minlength=6),
         'sum_unique': lambda x: numpy.sum(numpy.unique(x), dtype=x.dtype),
         'sum_places': lambda x: numpy.sum(numpy.stack(numpy.nonzero(x)), axis=1).astype('int64'),
         **{f'{word}_rows': lambda x, rows, updates, word=word: draft_changed(word, x, rows, updates)
            for word in ('add', 'min', 'max')}}
