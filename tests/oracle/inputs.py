"""Inputs of the cases, the same on every machine: NumPy's RandomState streams are frozen."""
import hashlib
import zlib

import numpy

NUMPY_DTYPES = {'bool': '?', 'i8': 'i1', 'i16': 'i2', 'i32': 'i4', 'i64': 'i8', 'u8': 'u1', 'u16': 'u2', 'u32': 'u4',
                'u64': 'u8', 'f16': 'f2', 'f32': 'f4', 'f64': 'f8', 'c64': 'c8', 'c128': 'c16'}
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, numpy.inf, -numpy.inf, numpy.nan, 1e-40, -1e-40, 3e38, -3e38, 1e-3, 7.0, -0.75]


def make(case, name):
    """The array of one input of a case."""
    dtype, shape, domain = case.inputs[name]
    random = numpy.random.RandomState(zlib.crc32(f'{case.name}/{name}'.encode()))
    kind = numpy.dtype(NUMPY_DTYPES[dtype])
    if kind.kind == 'b':
        return random.randint(0, 2, shape).astype(kind)
    if kind.kind == 'c':
        return (random.standard_normal(shape) + 1j * random.standard_normal(shape)).astype(kind)
    if domain == 'index':
        return random.randint(0, 5, shape).astype(kind)
    if domain == 'bits' or (domain == 'any' and kind.kind in 'iu'):
        info = numpy.iinfo(kind)
        return random.randint(info.min, info.max, shape, dtype=kind)
    if domain == 'top':  # of the dtype's range
        return kind.type(numpy.iinfo(kind).max) - random.randint(0, 3, shape).astype(kind)
    if domain == 'exponents':
        return random.permutation(numpy.resize([-1080, -1040, -30, -20, -3, -1, 0, 2, 15, 120, 2000], shape)).astype(kind)
    if domain == 'small':
        return random.randint(0 if kind.kind == 'u' else -3, 4, shape).astype(kind)
    if domain == 'special':
        return numpy.resize(numpy.array(SPECIAL), shape).astype(kind)
    if domain == 'distinct':
        return (random.permutation(int(numpy.prod(shape))).reshape(shape) / 4 - 3).astype(kind)
    if domain == 'positive':
        return (0.1 + 3 * random.random_sample(shape)).astype(kind)
    if domain == 'unit':
        return (1.9 * random.random_sample(shape) - 0.95).astype(kind)
    return (2 * random.standard_normal(shape)).astype(kind)


def weights(shape):
    """What a result is multiplied with before it is summed to the loss whose gradients are compared."""
    count = int(numpy.prod(shape))
    return ((numpy.arange(count) * 7 % 11 - 5) / 4).reshape(shape)


def key(case):
    """What the answers of a case are filed under: its text and its inputs."""
    digest = hashlib.sha256(repr(case).encode())
    for name in case.inputs:
        digest.update(make(case, name).tobytes())
    return digest.hexdigest()[:12]


def parts(case):
    """The names of a case's answers: its value's, then its gradients'."""
    return [f'{key(case)}.{part}' for part in ['value'] + [f'd{name}' for name in case.grad]]
