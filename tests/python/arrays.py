"""Arrays in and out: dtypes, layouts, and who owns the memory."""
import ctypes
import gc
import importlib
import os
import sys

import leat
import numpy as np
from cases import Skipped, case, model, raises
from leat import _arrays, _core, _errors

DTYPES = {'bool': 'bool', **{f'{k}{n}': f'{"u" if k == "u" else ""}int{n}' for k in 'iu' for n in (8, 16, 32, 64)},
          'f16': 'float16', 'f32': 'float32', 'f64': 'float64', 'c64': 'complex64', 'c128': 'complex128'}
BIG = 'entry f(x: f32[N]) -> (y: f32[N]) { y = x + 1 }'


def address(array):
    return array.__array_interface__['data'][0]


class Shared:
    """What has DLPack's interface alone."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device, self.asked = array, device, 0

    def __dlpack__(self, **_):
        self.asked += 1
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.device


class Row(ctypes.Structure):
    """DLManagedTensor of one axis, as dmlc/dlpack has it."""
    _fields_ = [('data', ctypes.c_void_p), ('device', ctypes.c_int * 2), ('rank', ctypes.c_int32),
                ('code', ctypes.c_uint8), ('bits', ctypes.c_uint8), ('lanes', ctypes.c_uint16),
                ('shape', ctypes.POINTER(ctypes.c_int64)), ('strides', ctypes.POINTER(ctypes.c_int64)),
                ('offset', ctypes.c_uint64), ('context', ctypes.c_void_p), ('end', ctypes.c_void_p)]


class Behind:
    """The elements of an array of floats from one on, as packages hand them that say so by an offset."""

    def __init__(self, array, first, stride=None):
        self.array = array
        self.shape = ctypes.c_int64(len(array) - first)
        self.stride = ctypes.c_int64(stride) if stride else None
        self.row = Row(array.ctypes.data, (1, 0), 1, 2, 8 * array.itemsize, 1, ctypes.pointer(self.shape),
                       ctypes.pointer(self.stride) if stride else None, first * array.itemsize)

    def __dlpack__(self, **_):
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return make(ctypes.addressof(self.row), b'dltensor', None)

    def __dlpack_device__(self):
        return 1, 0


@case
def dlpack_offsets():
    """NumPy's is always 0: others' are not."""
    m = model('entry f(x: f32[N]) -> (y: f32[N]) { y = x * 2 }\nentry d(x: f64[N]) -> (y: f64[N]) { y = x * 2 }')
    for entry, dtype in ('f', 'f4'), ('d', 'f8'):
        x = np.arange(9, dtype=dtype)
        for first in range(10):
            for stride in None, 1:
                np.testing.assert_array_equal(m[entry](Behind(x, first, stride)), 2 * x[first:])


@case
def donated_arrays():
    """A result is made in the array, and is the array; what no result lies in is gone."""
    m = model('entry f(x: f32[N], k: f32[]) -> (y: f32[N]) { y = x * k }\n'
              'entry g(x: f32[4, 4], b: bool[4], n: i32[2]) -> (s: f32[]) {\n'
              '  s = sum(x) + cast(sum(n), f32) + sum(cast(b, f32))\n}\n'
              'entry h(x: f32[4, 4]) -> (y: f32[16], z: f32[4, 4]) {\n y = reshape(x, [16])\n z = x\n}')
    f, g, h = m.compile('f', donate='x'), m.compile('g', donate=['x', 'b', 'n']), m.compile('h', donate=['x'])
    assert f.donated == {'x'} and not m.f.donated
    for size in 5, 100_000:
        x = given = np.arange(size, dtype='f4')
        for _ in range(3):
            x = f(x, 2)
        assert x is given
        np.testing.assert_array_equal(x, 8 * np.arange(size, dtype='f4'))
        y = m.run('f/y', {'x': x, 'k': 0.5}, 'f', donate={'x'})
        assert y is x and y[4] == 16
        y = m.f(np.ones(size, 'f4'), 2)  # a result, which lies in the step's memory or is a copy
        assert f(y, 2) is y and y[0] == 4
    x, b, n = np.ones((4, 4), 'f4'), np.ones(4, bool), np.ones(2, 'i4')
    assert g(x, b, n) == 22
    assert np.isnan(x).all() and not b.any() and (n == -1).all()
    x = np.arange(16, dtype='f4').reshape(4, 4)
    where = address(x)
    y, z = h(x)
    assert address(y) == where and y.shape == (16,) and not np.shares_memory(y, z)
    del x
    gc.collect()
    np.testing.assert_array_equal(y.reshape(4, 4), z)
    np.testing.assert_array_equal(z, np.arange(16, dtype='f4').reshape(4, 4))
    on_ref = model('entry f(x: f32[N]) -> (y: f32[N]) { y = x * 2 }', target='ref').compile('f', donate=['x'])
    x = np.ones(3, 'f4')
    assert list(on_ref(x)) == [2, 2, 2] and np.isnan(x).all()


@case
def what_is_no_array_of_ones_own():
    m = model('entry f(x: f32[N], y: f32[N]) -> (z: f32[N]) { z = x + y }')
    f, y = m.compile('f', donate=['x']), np.ones(6, 'f4')
    owned = 'feed `x` is donated, and the array is a view of what somebody else has: copy it'
    mine = np.arange(12, dtype='f4')
    raises(ValueError, owned, f, mine[:6], y)
    raises(ValueError, owned, f, np.frombuffer(bytearray(24), 'f4'), y)
    assert list(mine) == list(range(12))
    assert list(f(np.arange(6, dtype='f4').reshape(2, 3).reshape(6), y)) == [1, 2, 3, 4, 5, 6]
    result = m.f(y, y)
    view = result[:]
    raises(ValueError, owned, f, view, y)
    del result
    assert f(view, y) is view
    given = h = m.f(y, y)
    raises(leat.Error, 'feed `x` (test.leat:1:9): it is donated, and `y` lies in the same memory', f, given, h)
    fixed = np.ones(6, 'f4')
    fixed.flags.writeable = False
    raises(ValueError, 'feed `x` is donated, and the array is read-only: copy it', f, fixed, y)
    row = 'feed `x` is donated: it must be an array of f32 that lies row by row'
    for x in [1.0] * 6, np.ones(12, 'f4')[::2], np.ones(6, '>f4'), Shared(np.ones(6, 'f4')), np.broadcast_to(1, 6):
        raises(TypeError, row, f, x, y)
    x = np.ones(6)
    raises(leat.Error, 'expected f32[6], found f64', f, x, y)
    assert list(x) == [1] * 6
    raises(ValueError, 'a donated array is there for one run', f, np.ones(6, 'f4'), y, steps=2)
    raises(ValueError, 'a donated array is there for one run', f.repeat, 2, np.ones(6, 'f4'), y)
    raises(leat.Error, 'there is no feed `z` to be donated; there are x, y', m.compile, 'f', donate=['z'])


@case
def every_dtype():
    m = model('\n'.join(f'entry f_{t}(x: {t}[N, 2]) -> (y: {t}[N, 2]) {{ y = x[::-1] }}' for t in DTYPES), target='ref')
    for ours, theirs in DTYPES.items():
        for rows in (3, 0):
            x = np.arange(2 * rows).reshape(rows, 2).astype(theirs)
            y = m[f'f_{ours}'](x)
            assert y.dtype == theirs and y.shape == x.shape
            np.testing.assert_array_equal(y, x[::-1])
            assert m[f'f_{ours}'](x.tolist() if rows else x).dtype == theirs
            if ours != 'bool':
                np.testing.assert_array_equal(m[f'f_{ours}'](Shared(x)), x[::-1])


@case
def brain_floats():
    m = model('entry f(x: bf16[N]) -> (y: bf16[N], z: f32[N]) {\n y = x * 2\n z = cast(x, f32) }')
    y, z = m.f([1.5, -2, 1.00390625, 1.01171875, float('inf'), float('nan')])
    np.testing.assert_array_equal(z, np.array([1.5, -2, 1.0, 1.015625, np.inf, np.nan], 'f4'))  # ties to even
    if isinstance(y, leat.Tensor):  # there is no ml_dtypes
        assert y.dtype == 'bf16' and y.shape == (6,) and len(y) == 6
        assert y.tolist()[:5] == [3, -4, 2, 2.03125, float('inf')]
        assert np.asarray(y).dtype == 'V2'
        np.testing.assert_array_equal(m.f(y).z[:2], [3, -4])
        assert m.f(np.asarray(y)).z[0] == 3


@case
def scalars_and_lists():
    m = model('entry f(x: f32[], n: i32[2], c: c64[] = 0) -> (y: f32[], m: i32[2]) {\n y = x + real(c)\n m = n + 1 }')
    for value in (1, 1.0, True, np.float64(1), np.int8(1), np.array(1, 'f4')):
        y, n = m.f(value, [1, 2])
        assert y == 1 and y.shape == () and y.dtype == 'float32' and list(n) == [2, 3]
    assert m.f(1, (1, 2), 1 + 2j).y == 2
    raises(TypeError, 'feed `n` is i32[2], not floats', m.f, 1, [1, 2.5])
    raises(TypeError, 'feed `x` is f32[], not complex numbers', m.f, 1j, [1, 2])
    raises(TypeError, 'feed `x` is f32[], not a str', m.f, 'one', [1, 2])
    raises(TypeError, 'feed `x` is f32[], not a object', m.f, object(), [1, 2])
    raises(OverflowError, 'feed `n` is i32[2]', m.f, 1, [1, 2**31])
    raises(ValueError, 'lists of different lengths', m.f, 1, [[1], 2])
    raises(TypeError, 'not an array of dtype object', m.f, np.array([None]), [1, 2])
    raises(TypeError, 'not an array of dtype <U1', m.f, np.array(['a']), [1, 2])


@case
def layouts():
    m = model('entry f(x: f32[N, M]) -> (y: f32[N, M]) { y = x * 1 }')
    x = np.arange(24, dtype='f4').reshape(4, 6)
    odd = np.frombuffer(b'?' + x.tobytes(), 'u1')[1:].view('f4').reshape(4, 6)
    fixed = x.copy()
    fixed.flags.writeable = False
    for array in (x, x.T, x[::2, ::-1], x.astype('>f4'), odd, fixed, np.broadcast_to(x[0], (4, 6)),
                  np.asfortranarray(x)):
        np.testing.assert_array_equal(m.f(array), array)
        if array.dtype.isnative and array.flags.writeable:
            np.testing.assert_array_equal(m.f(Shared(array)), array)


@case
def arrays_that_make_themselves_contiguous():
    """As PyTorch's do."""
    m = model('entry f(x: f32[N, M]) -> (y: f32[N, M]) { y = x * 1 }')

    class Torch(Shared):
        def contiguous(self):
            return Torch(np.ascontiguousarray(self.array))
    x = np.arange(6, dtype='f4').reshape(2, 3)
    np.testing.assert_array_equal(m.f(Torch(x.T)), x.T)
    np.testing.assert_array_equal(m.f(list(x)), x)


@case
def strings():
    m = model('entry f(s: str[...D]) -> (t: str[...D]) { t = s + "!" }'.replace('...D', 'N') +
              '\nentry one(s: str[]) -> (t: str[]) { t = s + "?" }')
    for given in (['a', 'é', b'\0\xff', ''], np.array(['a', 'é', b'\0\xff', ''], object)):
        t = m.f(given)
        assert t.dtype == object and list(t) == ['a!', 'é!', '\0\udcff!', '!']
    assert list(m.f(np.array(['ab', 'c']))) == ['ab!', 'c!'] and list(m.f(np.array([b'ab', b'c']))) == ['ab!', 'c!']
    assert m.one('why').item() == 'why?' and m.f([]).shape == (0,)
    kept = m.f(['x' * 10000])
    m.f(['y' * 10000])
    assert kept[0] == 'x' * 10000 + '!'
    raises(TypeError, 'feed `s` is str[N], not a int', m.f, [1])


@case
def feeds_are_borrowed():
    m = model(BIG)
    x = np.zeros(100000, 'f4')

    def never(*_):
        raise AssertionError('a copy')
    _core.configure(error=_errors.make, warn=_errors.warn, convert=never, wrap=_arrays.wrap)
    try:
        for given in (x, Shared(x)):
            before = sys.getrefcount(x)
            assert m.f(given)[0] == 1
            assert sys.getrefcount(x) == before
        raises(AssertionError, 'a copy', m.f, x[::2])
    finally:
        _errors.configure(_arrays.convert, _arrays.wrap)


@case
def large_results_are_views():
    m = model(BIG)
    x = np.zeros(100000, 'f4')
    first, second = m.f(x), m.f(x + 1)
    assert not first.flags.owndata and first.flags.writeable and address(first) % 64 == 0
    assert first[0] == 1 and second[0] == 2 and address(first) != address(second)
    first[:] = 7  # theirs who got it
    third = m.f(x)
    assert third[0] == 1 and first[-1] == 7 and second[-1] == 2
    part, where = first[10:20], address(first)
    del first
    gc.collect()
    assert address(m.f(x)) != where  # a part of it is there yet
    assert list(part) == [7] * 10
    del part
    gc.collect()
    assert address(m.f(x)) == where  # used again


@case
def memory_does_not_add_up():
    m = model(BIG)
    x = np.zeros(100000, 'f4')
    kept, places = None, set()
    for _ in range(50):
        kept = m.f(x)
        places.add(address(kept))
    assert len(places) == 2, len(places)
    many = [m.f(x) for _ in range(20)]
    assert len({address(array) for array in many}) == 20


@case
def small_results_are_copies():
    m = model('entry f(x: f32[N]) -> (y: f32[N], s: f32[], p: f32[2000]) {\n'
              ' y = sort(x * 2)\n s = sum(y)\n p = y[:2000] }')
    x = np.zeros(1000000, 'f4')
    m.f(x)
    y, s, p = m.f(x)
    where = address(y)
    del y
    assert address(m.f(x).y) == where  # s and p keep nothing of the step's


@case
def results_do_not_share():
    m = model('entry f(x: f32[N]) -> (a: f32[N], b: f32[N], c: f32[4000]) {\n a = x + 1\n b = a\n'
              ' c = reshape(a, [4000]) }')
    a, b, c = m.f(np.zeros(4000, 'f4'))
    a[:] = 5
    assert b[0] == 1 and c[0] == 1


@case
def feeds_and_variables_come_out_as_copies():
    m = model('var w: f32[5000] = 1\nentry f(x: f32[5000]) -> (x2: f32[5000], w2: f32[5000]) {\n x2 = x\n w2 = w }')
    x = np.zeros(5000, 'f4')
    x2, w2 = m.f(x)
    x2[:] = 3
    w2[:] = 3
    assert x[0] == 0 and m.variables['w'][0] == 1
    m.variables['w'] = x
    x[:] = 9
    assert m.variables['w'][0] == 0


@case
def constants_are_read_only():
    np.save('c.npy', np.ones(4000, 'f4'))
    m = model('entry f() -> (c: f32[4000]) { c = load("c.npy", "") }')
    c = m.f()
    assert c[0] == 1
    if not c.flags.writeable:
        raises(ValueError, 'read-only', c.__setitem__, 0, 2)
    else:
        c[0] = 2
    assert m.f()[0] == 1


@case
def dlpack_out():
    m = model(BIG)
    y = m.f(np.zeros(5000, 'f4'))
    same = np.from_dlpack(y)
    assert address(same) == address(y)
    where = address(y)
    del y
    gc.collect()
    assert same[0] == 1 and address(m.f(np.zeros(5000, 'f4'))) != where
    bare = []
    _core.configure(error=_errors.make, warn=_errors.warn, convert=_arrays.convert,
                    wrap=lambda t: bare.append(t) or leat.Tensor(t))
    try:
        t = m.f(np.ones(5000, 'f4'))
    finally:
        _errors.configure(_arrays.convert, _arrays.wrap)
    assert isinstance(t, leat.Tensor) and t.__dlpack_device__() == (1, 0)
    other = np.from_dlpack(t)
    capsule = t.__dlpack__()
    del t, bare, capsule
    gc.collect()
    assert other.sum() == 10000 and other.shape == (5000,)
    where = address(other)
    del other
    gc.collect()
    assert address(m.f(np.ones(5000, 'f4'))) == where


@case
def other_devices_are_refused():
    m = model(BIG)

    class Elsewhere:
        def __dlpack__(self, **_):
            raise BufferError('it is on another device')
    raises(BufferError, 'another device', m.f, Elsewhere())


def other(package):
    """Another package with arrays, and perhaps an LLVM, of its own, where it is installed."""
    os.environ.setdefault('JAX_PLATFORMS', 'cpu')
    try:
        return importlib.import_module(package)
    except ImportError:
        raise Skipped(f'there is no {package}') from None


PLUS_ONE = BIG + '\nentry half(x: bf16[N, M]) -> (y: bf16[N, M]) { y = x / 2 }'


@case
def arrays_of_jax():
    jax = other('jax')
    m, x = model(PLUS_ONE), jax.numpy.arange(10000, dtype='float32')
    assert jax.jit(lambda x: x + 1)(x)[9] == 10  # its LLVM
    y = m.f(x)
    back = jax.dlpack.from_dlpack(y)
    assert back[9] == 10 and back.unsafe_buffer_pointer() == address(y)
    b = m.half(jax.numpy.ones((3, 2), 'bfloat16').T)
    assert b.shape == (2, 3) and b.dtype == 'bfloat16' and float(b[1, 2]) == 0.5


@case
def arrays_of_torch():
    torch = other('torch')
    m, x = model(PLUS_ONE), torch.arange(10000, dtype=torch.float32)
    y = m.f(x)
    back = torch.from_dlpack(y)
    assert back[9] == 10 and back.data_ptr() == address(y)
    back[9] = 3
    assert y[9] == 3
    b = m.half(torch.ones(3, 2, dtype=torch.bfloat16).T)
    assert b.shape == (2, 3) and float(b[1, 2]) == 0.5
    raises((RuntimeError, BufferError), 'require', m.f, torch.ones(3, requires_grad=True))


@case
def without_numpy():
    """What a program sees that has no NumPy."""
    m = model('entry f(x: f32[N, 2], s: str[2] = "", c: c64[] = 0)'
              ' -> (y: f32[N, 2], t: str[2], b: bool[], n: c64[]) {\n'
              ' y = x + 1\n t = s + "!"\n b = y[0, 0] > 1\n n = c * 2j }')
    numpy, _arrays.numpy = _arrays.numpy, None
    try:
        y, t, b, n = m.f([[1, 2], [3, 4]], ['a', 'b'], 1 + 1j)
        assert y.tolist() == [[2, 3], [4, 5]] and y.dtype == 'f32'
        assert repr(y) == 'leat.Tensor([[2.0, 3.0], [4.0, 5.0]], f32)'
        assert t == ['a!', 'b!'] and bool(b) is True and n.item() == -2 + 2j
        assert m.f(y, ['a', 'b']).y.tolist() == [[3, 4], [5, 6]]
        raises(TypeError, 'a scalar has no length', len, n)
        raises(ValueError, 'it has 4 elements', y.item)
    finally:
        _arrays.numpy = numpy
