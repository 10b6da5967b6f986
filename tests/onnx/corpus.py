"""The tests of corpus.tar.xz and cases.tar.xz (and of large.tar.xz, where `remake` left it): their files, and whether what came out is
what they want, as near as the backend runner of ONNX asks for it."""
import io
import json
import os
import tarfile

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
DTYPES = {'FLOAT': 'f4', 'DOUBLE': 'f8', 'FLOAT16': 'f2', 'BFLOAT16': 'V2', 'COMPLEX64': 'c8', 'COMPLEX128': 'c16', 'BOOL': '?',
          'STRING': 'U', **{f'INT{8 * n}': f'i{n}' for n in (1, 2, 4, 8)}, **{f'UINT{8 * n}': f'u{n}' for n in (1, 2, 4, 8)}}
NAN8 = {'FLOAT8E4M3FN': (0x7f, 0xff), 'FLOAT8E4M3FNUZ': (0x80,), 'FLOAT8E5M2': (0x7d, 0x7e, 0x7f, 0xfd, 0xfe, 0xff),
        'FLOAT8E5M2FNUZ': (0x80,)}


def read():
    """The tests by name, and the contents of their files by name."""
    tests, files = {}, {}
    for path in (f'{HERE}/corpus.tar.xz', f'{HERE}/cases.tar.xz', f'{HERE}/large.tar.xz'):
        if os.path.exists(path):
            with tarfile.open(path) as archive:
                found = {member.name: archive.extractfile(member).read() for member in archive}
            tests.update(json.loads(found.pop('tests.json')))
            files.update(found)
    return tests, files


def parts(value):
    """(name, file) of the tensors of an input or output: none of an optional that is empty, each of a sequence."""
    name, _, held = value
    if held is None:
        return []
    return [(f'{name}_{i}', one) for i, one in enumerate(held)] if isinstance(held, list) else [(name, held)]


def content(files, held):
    """The npy file of a tensor; that of a ramp is made."""
    if isinstance(held, str):
        return files[held]
    out, size = io.BytesIO(), numpy.prod(held['ramp'])
    numpy.save(out, (numpy.arange(size).reshape(held['ramp']) / size).astype('f4'))
    return out.getvalue()


def array(data):
    return numpy.load(io.BytesIO(data))


def type_text(element, data):
    """A type of the language that a tensor has, its extents known only while running."""
    kind = numpy.dtype(DTYPES[element])
    name = {'U': 'str', '?': 'bool', 'V2': 'bf16'}.get(DTYPES[element], f'{kind.kind}{8 * kind.itemsize}')
    return f'{name}[{", ".join("?" * array(data).ndim)}]'


def plain(values, element):
    """Numbers, or codes of 8 bits and less, to compare."""
    if element == 'BFLOAT16':
        return (values.view('u2').astype('u4') << 16).view('f4')
    if values.dtype == 'V1':
        codes = values.view('u1').copy()
        if 'INT' in element or element == 'FLOAT4E2M1':
            codes &= 3 if element.endswith('2') else 15
        codes[numpy.isin(codes, NAN8.get(element, ()))] = 0x7f
        return codes
    return values


def difference(got, want, element, rtol, atol):
    """What tells `got` from `want`; '' where nothing does."""
    dtype = numpy.dtype(DTYPES.get(element, 'V1'))
    if got.dtype.kind == 'S':  # bytes, as strings of Leat are
        got = numpy.char.decode(got, 'utf-8') if got.size else got.astype('U')
    if got.dtype == 'u1' and dtype == 'V1':  # codes
        got = got.view('V1')
    if got.dtype.kind != dtype.kind or dtype.kind != 'U' and got.dtype != dtype:
        return f'a result of {got.dtype}, not {dtype}'
    if got.shape != want.shape:
        return f'a result of shape {list(got.shape)}, not {list(want.shape)}'
    got, want = plain(numpy.ascontiguousarray(got), element), plain(numpy.ascontiguousarray(want), element)
    if got.dtype.kind in 'fc':
        same = numpy.isclose(got, want, rtol, atol, equal_nan=True)
    else:
        same = got == want
    if numpy.all(same):
        return ''
    first = tuple(map(int, numpy.argwhere(~same)[0]))
    return f'{got[first]} at {list(first)}, not {want[first]} ({int(numpy.sum(~same))} of {same.size} differ)'


# -- Random results: the tests hold those of one generator, of which shapes, dtypes and what they may be is compared -----

def bernoulli(values, _inputs):
    return set(numpy.unique(values)) <= {0, 1}


def dropout(values, inputs):
    if values.dtype == bool:
        return True
    x, ratio = inputs[0], float(inputs[1]) if len(inputs) > 1 else 0.5
    return bool((numpy.isclose(values, x / (1 - ratio)) | (values == 0)).all())


RANDOM = {'test_bernoulli': bernoulli, **{f'test_training_dropout{mask}': dropout for mask in (
    '', '_mask', '_default', '_default_mask')}}


def random_check(name):
    name = name.replace('@1.23', '')
    if name.startswith('test_bernoulli'):
        return bernoulli
    return RANDOM.get(name)
