"""Ops alone, on one processor: what Leat takes for them, and what they are measured by in the same rounds.

`./dev bench ops` measures what bench/run asks workloads for. A case is one statement of Leat over variables of random
numbers; its peer is the machine's bandwidth, scaled to the bytes that must move at least, a rate, or the faster of NumPy
and JAX for the same expression. ratio = peer_ms / leat_ms in every case; the target is the least that is promised.
"""
import math
import os
import tempfile
from dataclasses import dataclass

READ, COPY, RATE, PEER = 0.9, 0.6, 1.0, 0.5  # least ratio: of bandwidth, of 1 Gelem/s, of the faster library
MEGABYTE = 1 << 20
MEMORY = 64 * MEGABYTE  # what bench/memory.c reads or copies


@dataclass
class Case:
    name: str
    inputs: dict  # name: (type, initialiser, 'LOW:HIGH' of the peer's numbers)
    leat: str  # the statement
    target: float
    by: str  # 'read', 'copy', 'rate' or 'library'
    work: float = 0  # bytes read, bytes copied, or elements
    numpy: str = ''
    jax: str = ''
    runs: int = 5


def floats(shape, low=0.5, high=1.5):
    return f'f32[{shape}]', f'uniform({low}, {high})', f'{low}:{high}'


def moves(name, inputs, leat, megabytes=64):
    return Case(name, inputs, 'y = ' + leat, COPY, 'copy', megabytes * MEGABYTE)


def against(name, inputs, leat, numpy, jax=None, runs=5):
    return Case(name, inputs, leat, PEER, 'library', numpy=numpy, jax=jax or numpy, runs=runs)


def chain():
    text = 'x'
    for i in range(3):
        text = f'maximum({text} * 1.5 + 0.25, 0.125)'
    return f'y = sum(-{text})'


def cached(op):
    """16,384 elements from 64 KiB into 64 KiB: both stay in the second cache. Many times, so that the Run counts little."""
    low = 1.1 if op == 'acosh' else 0.1
    high = 2.0 if op == 'acosh' else 0.9
    return Case(op, {'x': floats('16384', low, high)}, f'y = {op}(x)', RATE, 'rate', 16384, runs=400)


def cached_pair(op):
    inputs = {'x': floats('16384', 0.1, 0.9), 'z': floats('16384', 0.1, 0.9)}
    return Case(op, inputs, f'y = {op}(x, z)', RATE, 'rate', 16384, runs=400)


def drawn(name, numpy, jax):
    """A million random numbers. The peers take their seed as an argument, so that nothing is computed while compiling."""
    inputs = {'k': ('i32[]', 'randint(1, 1000000)', '1:1000000')}
    return against(f'{name} 1000000', inputs, f'y = {name}(0, 1, out=f32[1000000])', numpy, jax)


TRANSCENDENTAL = '''exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh cbrt
    erf erfc erfinv lgamma digamma sigmoid softplus silu gelu rsqrt'''.split()


def complex_numbers(shape):
    part = f'uniform(-1, 1, out=f32[{shape}])'
    return {'x': (f'c64[{shape}]', f'complex({part}, {part[:-1]}, seed=2))', '-1:1')}


def spectra(size):
    """Transforms of 65,536 numbers, in rows of `size`: complex ones, real ones, and back."""
    rows = max(1, 65536 // size)
    whole, half = f'{rows}, {size}', f'{rows}, {size // 2 + 1}'
    label = f'{rows} x {size}'
    yield against(f'fft {label}', complex_numbers(whole), 'y = fft(x)', 'np.fft.fft(x)', runs=20)
    yield against(f'rfft {label}', {'x': floats(whole, -1)}, 'y = rfft(x)', 'np.fft.rfft(x)', runs=20)
    yield against(f'irfft {label}', complex_numbers(half), f'y = irfft(x, n={size})', f'np.fft.irfft(x, n={size})', runs=20)


def cases():
    yield Case('ten ops and a sum', {'x': floats('16777216')}, chain(), READ, 'read', 64 << 20)
    yield from (cached(op) for op in TRANSCENDENTAL)
    yield from (cached_pair(op) for op in ('pow', 'atan2', 'hypot', 'logaddexp'))
    for name in ('uniform', 'normal'):
        generator = 'standard_normal' if name == 'normal' else 'random'
        numpy = f"np.random.default_rng(int(k)).{generator}(1000000, dtype='f4')"
        yield drawn(name, numpy, f'random.{name}(random.key(k), (1000000,))')
    square, cube = {'x': floats('4096, 4096')}, {'x': floats('256, 256, 256')}
    yield moves('transpose 4096 x 4096', square, 'transpose(x, perm=[1, 0])')
    for perm in ('0, 2, 1', '1, 0, 2', '2, 1, 0', '1, 2, 0', '2, 0, 1'):
        yield moves(f'transpose 256^3 ({perm})', cube, f'transpose(x, perm=[{perm}])')
    for shape, perm in (('64, 56, 56, 64', '0, 3, 1, 2'), ('64, 64, 56, 56', '0, 2, 3, 1'), ('64, 3, 224, 224', '0, 2, 3, 1')):
        count = math.prod(int(dim) for dim in shape.split(', '))
        transposed = f'transpose {shape.replace(", ", " x ")} ({perm})'
        yield moves(transposed, {'x': floats(shape)}, f'transpose(x, perm=[{perm}])', 4 * count / MEGABYTE)
    rows = {'x': floats('65536, 256'), 'i': ('i32[65536]', 'permutation(65536, seed=1)', '')}
    yield moves('gather of 65536 rows', rows, 'gather(x, i, axis=0)')
    halves = {'a': floats('2048, 4096'), 'b': floats('2048, 4096')}
    yield moves('concat of rows', halves, 'concat(a, b, axis=0)')
    halves = {'a': floats('4096, 2048'), 'b': floats('4096, 2048')}
    yield moves('concat of columns', halves, 'concat(a, b, axis=1)')
    for shape in ('1000000', '1000, 1000'):
        x, label = {'x': floats(shape)}, shape.replace(', ', ' x ')
        yield against(f'sort {label}', x, 'y = sort(x)', 'np.sort(x)')
        yield against(f'argsort {label}', x, 'y = argsort(x)', 'np.argsort(x)')
        yield against(f'top_k 10 of {label}', x, 'y, z = top_k(x, 10)', 'np.partition(x, -10, axis=-1)', 'lax.top_k(x, 10)')
        yield against(f'cumsum {label}', x, f'y = cumsum(x, axis={shape.count(",")})', 'np.cumsum(x, axis=-1)')
    yield against('cumsum of columns', {'x': floats('1000, 1000')}, 'y = cumsum(x, axis=0)', 'np.cumsum(x, axis=0)')
    for size in (16, 256, 1000, 1001, 1021, 4096, 65536):
        yield from spectra(size)
    yield against('fft2 256 x 256', complex_numbers('256, 256'), 'y = fft2(x)', 'np.fft.fft2(x)')
    yield against('rfft2 256 x 256', {'x': floats('256, 256', -1)}, 'y = rfft2(x)', 'np.fft.rfft2(x)')


def factorisations():
    """What factorises a square matrix, against NumPy; lu against its slogdet, which is little more than one."""
    for size in (64, 256):
        shape = f'{size}, {size}'
        any_matrix = {'x': floats(shape, -1)}
        dominant = {'x': (f'f32[{shape}]', f'uniform(-1, 1, out=f32[{shape}]) + {size} * eye({size})', f'-1:1+{size}')}
        for name, inputs, leat, numpy in (
                ('cholesky', dominant, 'y = cholesky(x)', 'np.linalg.cholesky(x)'),
                ('lu', any_matrix, 'y, p, q = lu(x)', 'np.linalg.slogdet(x)'),
                ('qr', any_matrix, 'y, z = qr(x)', 'np.linalg.qr(x)'),
                ('eigh', any_matrix, 'y, z = eigh(x)', 'np.linalg.eigh(x)'),
                ('svd', any_matrix, 'u, s, v = svd(x)', 'np.linalg.svd(x, full_matrices=False)'),
                ('inv', dominant, 'y = inv(x)', 'np.linalg.inv(x)'),
                ('det', any_matrix, 'y = det(x / 8)', 'np.linalg.det(x / 8)'),
                ('solve', dominant, 'y = solve(x, x)', 'np.linalg.solve(x, x)')):
            yield Case(f'{name} {size}', inputs, leat, PEER, 'library', numpy=numpy, runs=20 if size == 64 else 5)


def program_text(case):
    """The Leat program, and the names of its results."""
    state = [f'var {name}: {kind} = {value} trainable=false' for name, (kind, value, _) in case.inputs.items()]
    return '\n'.join([*state, case.leat, '']), case.leat.split(' = ')[0].split(', ')


def measure(case, start, start_peer, take_turns):
    """leat_ms, and what it is measured by and that one's milliseconds. start_peer None: without NumPy and JAX."""
    text, results = program_text(case)
    with tempfile.TemporaryDirectory(prefix='leat-bench-') as folder:
        path = os.path.join(folder, 'op.leat')
        with open(path, 'w', encoding='utf-8') as out:
            out.write(text)
        programs = [start('fetch', path, *results)]
        if case.by in ('read', 'copy'):
            programs.append(start('memory', case.by))
        if case.by == 'library' and start_peer:
            arrays = [f'{name}={kind}:{span}' for name, (kind, _, span) in case.inputs.items()]
            programs += [start_peer('peer_op.py', library, expression, *arrays)
                         for library, expression in (('numpy', case.numpy), ('jax', case.jax)) if expression]
        leat, *peers = take_turns(programs, case.runs)
    if case.by == 'rate':
        return leat, '1 Gelem/s', case.work / 1e6
    if case.by == 'library':
        return leat, *min(zip(('numpy', 'jax'), peers), key=lambda pair: pair[1], default=())
    return leat, case.by, peers[0] * case.work / MEMORY
