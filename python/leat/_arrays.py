"""Python's numbers, lists and arrays to and from tensors. NumPy is used where it is there, and not needed."""
from __future__ import annotations

import array
import math
import struct
import sys
from typing import Any, Dict, List, Sequence, Tuple

from . import _core
from ._errors import configure

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]

# dtype: the struct module's code, NumPy's name
DTYPES: Dict[str, Tuple[str, str]] = {
    'bool': ('?', 'bool'), 'i8': ('b', 'int8'), 'i16': ('h', 'int16'), 'i32': ('i', 'int32'), 'i64': ('q', 'int64'),
    'u8': ('B', 'uint8'), 'u16': ('H', 'uint16'), 'u32': ('I', 'uint32'), 'u64': ('Q', 'uint64'),
    'f16': ('e', 'float16'), 'bf16': ('H', 'bfloat16'), 'f32': ('f', 'float32'), 'f64': ('d', 'float64'), 'c64': ('ff', 'complex64'),
    'c128': ('dd', 'complex128'), 'str': ('', 'object'),
}
NAMES = {theirs: ours for ours, (_, theirs) in DTYPES.items() if ours != 'str'}


class Tensor:
    """An array where there is no NumPy, or no name of NumPy's for the dtype (bf16 without ml_dtypes).

    It hands its memory on without a copy: `numpy.asarray(t)`, `torch.from_dlpack(t)`, `jax.dlpack.from_dlpack(t)`.
    """
    __slots__ = ('_core',)

    def __init__(self, core: '_core.Tensor') -> None:
        self._core = core

    @property
    def dtype(self) -> str:
        """Its name: "f32"."""
        return self._core.dtype

    @property
    def shape(self) -> Tuple[int, ...]:
        return self._core.shape

    @property
    def __array_struct__(self):
        return self._core.__array_struct__

    def __dlpack__(self, **options: Any):
        return self._core.__dlpack__()

    def __dlpack_device__(self) -> Tuple[int, int]:
        return self._core.__dlpack_device__()

    def tolist(self) -> Any:
        """Its elements as Python's numbers, in lists of lists as its shape says."""
        return nested(flat_numbers(self.dtype, self._core.tobytes()), self.shape)

    def item(self) -> Any:
        """Its only element."""
        values = flat_numbers(self.dtype, self._core.tobytes())
        if len(values) != 1:
            raise ValueError(f'it has {len(values)} elements')
        return values[0]

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError('a scalar has no length')
        return self.shape[0]

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __bool__(self) -> bool:
        return bool(self.item())

    def __repr__(self) -> str:
        return f'leat.Tensor({self.tolist()!r}, {self.dtype})'


# -- Numbers and bytes -------------------------------------------------------------------------------------------------

def flat_numbers(dtype: str, data: bytes) -> list:
    code = DTYPES[dtype][0]
    values = list(struct.unpack(f'<{len(data) // struct.calcsize(code[0])}{code[0]}', data))
    if dtype == 'bf16':
        return [struct.unpack('<f', struct.pack('<I', value << 16))[0] for value in values]
    return [complex(*pair) for pair in zip(values[::2], values[1::2])] if len(code) == 2 else values


def bf16_bits(value: float) -> int:
    """Rounded to nearest even."""
    bits = struct.unpack('<I', struct.pack('<f', value))[0]
    return 0x7fc0 if math.isnan(value) else (bits + 0x7fff + (bits >> 16 & 1)) >> 16


def bytes_of(dtype: str, values: list) -> bytes:
    code = DTYPES[dtype][0]
    if dtype == 'bf16':
        values = [bf16_bits(value) for value in values]
    elif len(code) == 2:
        values = [part for value in values for part in (complex(value).real, complex(value).imag)]
    return struct.pack(f'<{len(values)}{code[0]}', *values)


def nested(values: list, shape: Sequence[int]) -> Any:
    """The list in lists."""
    if not shape:
        return values[0]
    if len(shape) == 1:
        return values
    size = math.prod(shape[1:])
    return [nested(values[i * size:(i + 1) * size], shape[1:]) for i in range(shape[0])]


def flattened(value: Any) -> Tuple[list, Tuple[int, ...]]:
    """(its elements, its shape) of a number, a string, or lists of these."""
    if not isinstance(value, (list, tuple)):
        return [value], ()
    parts = [flattened(item) for item in value]
    shapes = {shape for _, shape in parts}
    if len(shapes) > 1:
        raise ValueError('lists of different lengths')
    return [item for items, _ in parts for item in items], (len(value), *(shapes.pop() if shapes else ()))


# -- In ----------------------------------------------------------------------------------------------------------------

RANKS = {'bool': 0, 'i': 1, 'u': 1, 'f': 2, 'bf': 2, 'c': 3}  # what may become what is behind it


def kind_of(dtype: str) -> int:
    return RANKS[dtype if dtype == 'bool' else dtype.rstrip('0123456789')]


def refuse(name: str, type_text: str, found: str) -> TypeError:
    return TypeError(f'feed `{name}` is {type_text}, not {found}')


def strings(value: Any, name: str, type_text: str) -> Tuple[List[bytes], Tuple[int, ...]]:
    if numpy and isinstance(value, numpy.ndarray):
        items, shape = list(value.ravel()), value.shape
    else:
        items, shape = flattened(value)
    encoded = [item.encode('utf-8', 'surrogateescape') if isinstance(item, str) else item for item in items]
    for item in encoded:
        if not isinstance(item, bytes):
            raise refuse(name, type_text, f'a {type(item).__name__}')
    return [bytes(item) for item in encoded], tuple(shape)


def number_kind(value: Any, name: str, type_text: str) -> int:
    if isinstance(value, bool):
        return 0
    for kind, of in ((1, int), (2, float), (3, complex)):
        if isinstance(value, of):
            return kind
    raise refuse(name, type_text, f'a {type(value).__name__}')


def numbers(value: Any, name: str, dtype: str, type_text: str) -> Tuple[bytes, str, Tuple[int, ...]]:
    """Python's numbers have no dtype of their own: they take the feed's, if that holds them."""
    values, shape = flattened(value)
    kind = max((number_kind(item, name, type_text) for item in values), default=0)
    if kind > kind_of(dtype):
        raise refuse(name, type_text, ('', 'integers', 'floats', 'complex numbers')[kind])
    try:
        return bytes_of(dtype, values), dtype, shape
    except (struct.error, OverflowError) as error:
        raise OverflowError(f'feed `{name}` is {type_text}: {error}') from None


def row_by_row(value: Any, name: str, type_text: str) -> Any:
    """The array, or a copy of one that lies otherwise, or is of another byte order."""
    native = value.dtype.newbyteorder('=')
    if NAMES.get(str(native)) is None and native != 'V2':
        raise refuse(name, type_text, f'an array of dtype {value.dtype}')
    if value.flags.c_contiguous and native == value.dtype and value.flags.aligned:
        return value
    return numpy.array(value, dtype=native, order='C', copy=True)


def buffer(view: memoryview, name: str, dtype: str, type_text: str) -> Any:
    """The elements of a memory of Python's, whose format says the dtype."""
    what = f'{"an" if type(view.obj).__name__[0] in "aeiou" else "a"} {type(view.obj).__name__}'
    code = view.format.lstrip('@=<') if view.format[:1] != '>' else ''
    sizes = {of: ours for ours, (of, _) in DTYPES.items() if len(of) == 1 and ours != 'bf16'}
    found = sizes.get(code)
    if code in ('l', 'L', 'n', 'N', 'q', 'Q', 'i', 'I'):  # as wide as the machine has them
        found = f'{"u" if code.isupper() else "i"}{8 * view.itemsize}'
    if not found:
        raise refuse(name, type_text, f'{what} of format {view.format!r}')
    if found != dtype:
        raise refuse(name, type_text, f'{what} of {found}')
    return view.tobytes(), dtype, tuple(view.shape or ())


def convert(value: Any, name: str, dtype: str, type_text: str) -> Any:
    """For _core: an array whose memory can be read as it is; ([bytes…], shape); or (bytes, dtype, shape)."""
    if dtype == 'str':
        return strings(value, name, type_text)
    if isinstance(value, (memoryview, bytearray, array.array)):
        return buffer(memoryview(value), name, dtype, type_text)
    if hasattr(value, 'contiguous'):  # PyTorch's
        return value.contiguous()
    if numpy and hasattr(value, '__dlpack__') and not isinstance(value, (numpy.ndarray, numpy.generic)):
        value = numpy.from_dlpack(value)
    if numpy and isinstance(value, numpy.ndarray) and value.ndim:
        return row_by_row(value, name, type_text)
    if numpy and isinstance(value, (numpy.ndarray, numpy.generic)):  # a number, as Python's
        value = value.item()
    if numpy and isinstance(value, (list, tuple)) and any(isinstance(item, numpy.ndarray) for item in value):
        return row_by_row(numpy.asarray(value), name, type_text)
    return numbers(value, name, dtype, type_text)


# -- Given away --------------------------------------------------------------------------------------------------------

def check_ownership(array: Any, name: str) -> None:
    """A view may be donated where nobody else has the memory that it is a view of, as of `arange(6).reshape(2, 3)`."""
    while isinstance(array, numpy.ndarray if numpy else ()):
        base = array.base
        if isinstance(base, tuple):  # of a result: the tensor, and how NumPy was told of it
            base = base[0]
        others = sys.getrefcount(base) - (4 if isinstance(base, _core.Tensor) else 3)
        if base is None:
            return
        if others > 0 or not isinstance(base, (_core.Tensor, numpy.ndarray)):
            raise ValueError(f'feed `{name}` is donated, and the array is a view of what somebody else has: copy it')
        array = base


# -- Out ---------------------------------------------------------------------------------------------------------------

def brain_float():
    """ml_dtypes' bfloat16, or None."""
    try:
        import ml_dtypes
    except ImportError:
        return None
    return ml_dtypes.bfloat16


def wrap(result: Any) -> Any:
    """For _core: what people get of a tensor, or of ([bytes…], shape)."""
    if isinstance(result, tuple):
        values, shape = [value.decode('utf-8', 'surrogateescape') for value in result[0]], result[1]
        if not numpy:
            return nested(values, shape)
        strings_of = numpy.empty(len(values), dtype=object)
        strings_of[:] = values
        return strings_of.reshape(shape)
    if not numpy:
        return Tensor(result)
    if result.dtype == 'bf16':
        dtype = brain_float()
        return numpy.asarray(result).view(dtype) if dtype else Tensor(result)
    return numpy.asarray(result)


def dtype_name(value: Any) -> str:
    """Leat's name of an array's dtype; "" of what is no array."""
    dtype = getattr(value, 'dtype', None)
    if dtype is None or isinstance(value, type):  # np.float32 has one of its own
        return ''
    text = str(dtype).rpartition('.')[2]  # torch.float32, float32
    if text in DTYPES:
        return text
    if getattr(dtype, 'kind', '') in 'SUO':
        return 'str'
    return NAMES.get(text, '')


configure(convert, wrap)
