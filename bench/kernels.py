"""Products and convolutions alone, with their gradients, on one processor: GF/s, and the share of what the machine could.

The shapes are those of kernels.txt. A case takes turns with the programs that measure the machine, so that shares are of
what it could at that moment: of the FMA peak of the CPU level, and for few rows, which wait for their weights, of the
bandwidth at which one processor reads memory; more than all of it where the weights stay in a cache. A convolution counts
the work of its definition, whatever it is computed by. Times of one thread are the processor's: others that run beside it
cost it little.
"""
import math
import os
import re
import statistics
import tempfile
from dataclasses import dataclass

import turns

SHAPES = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'kernels.txt')
PEAK_FLOPS = 2e8  # of bench/peak.c
READ_BYTES = 64 << 20  # of bench/memory.c
TURN_MS = 20  # about how long a turn is
LIMIT_RUNS = 5


@dataclass
class Kernel:
    name: str
    kind: str
    text: str  # with an entry `kernel`
    flops: float
    bytes: float  # of operands and result
    bound: str = 'peak'  # 'read': waits for its weights


def f32(*shape):
    return f'f32[{", ".join(map(str, shape))}]'


def entry(parameters, body, weights=None):
    """The text of an entry of these parameters; weights: the type of a variable `w` beside them."""
    head = f'var w: {weights} = uniform(-1, 1) trainable=false\n' if weights else ''
    typed = ', '.join(f'{name}: {kind}' for name, kind in parameters.items())
    return f'{head}entry kernel({typed}) -> (y) {{\n  {body}\n}}\n'


def products(net, m, k, n, *, batch=(), kind='product'):
    a, b, c = (f32(*batch, *shape) for shape in ((m, k), (k, n), (m, n)))
    count = math.prod(batch)
    flops, size = 2 * count * m * k * n, 4 * count * (m * k + k * n + m * n)
    name = f'{net} {" x ".join(map(str, (*batch, m, k, n)))}'
    for part, text in (('forward', entry({'a': a, 'b': b}, 'y = a @ b')),
                       ('data', entry({'c': c, 'b': b}, 'y = matmul(c, b, transpose_b=true)')),
                       ('filter', entry({'a': a, 'c': c}, 'y = matmul(a, c, transpose_a=true)'))):
        yield Kernel(f'{name} {part}', f'{kind} {part}', text, flops, size)


def batched(net, count, m, k, n):
    return products(net, m, k, n, batch=(count,), kind='batched')


def rows(net, m, k, n):
    name, bound = f'{net} {m} x {k} x {n}', 'read' if m <= 16 else 'peak'
    flops, size = 2 * m * k * n, 4 * (m * k + k * n + m * n)
    kind = 'one row' if m == 1 else 'few rows' if m <= 16 else 'rows'
    yield Kernel(f'{name} plain', f'{kind} plain', entry({'a': f32(m, k)}, 'y = a @ w', f32(k, n)), flops, size, bound)
    yield Kernel(f'{name} transposed', f'{kind} transposed',
                 entry({'a': f32(m, k)}, 'y = matmul(a, w, transpose_b=true)', f32(n, k)), flops, size, bound)


def convolutions(net, images, side, channels, outputs, window, stride, groups=1):
    out = -(-side // stride)
    x, y = f32(images, side, side, channels), f32(images, out, out, outputs)
    w = f32(window, window, channels // groups, outputs)
    weights = window * window * channels // groups * outputs
    flops = 2 * images * out * out * weights
    size = 4 * (images * side * side * channels + weights + images * out * out * outputs)
    if groups > 1:
        family = 'depthwise' if groups == channels else 'grouped'
    else:
        family = 'few channels' if channels <= 4 else 'conv'
    name = f'{net} {images} x {side} x {side} {channels}-{outputs} {window} x {window}'
    name += (f' / {stride}' if stride > 1 else '') + (f' groups {groups}' if groups > 1 else '')
    call = f'conv(x, w, stride={stride}, padding="same", groups={groups})'
    if images == 1:
        yield Kernel(f'{name} inference', f'{family} inference', entry({'x': x}, f'y = {call}', w), flops, size)
        return
    of_data = f'x = zeros(out={x})\n  y = vjp({call}, x, dy)'
    of_filter = f'w = zeros(out={w})\n  y = vjp({call}, w, dy)'
    for part, text in (('forward', entry({'x': x, 'w': w}, f'y = {call}')),
                       ('data', entry({'dy': y, 'w': w}, of_data)),
                       ('filter', entry({'x': x, 'dy': y}, of_filter))):
        yield Kernel(f'{name} {part}', f'{family} {part}', text, flops, size)


FAMILIES = {'product': products, 'batched': batched, 'rows': rows, 'conv': convolutions}


def every():
    """The kernels of all shapes, in their order."""
    with open(SHAPES, encoding='utf-8') as lines:
        for line in lines:
            if line.strip() and not line.startswith('#'):
                family, net, *numbers = line.split()
                yield from FAMILIES[family](net, *map(int, numbers))


def chosen(pattern):
    """Those of which the name or the kind matches; when all is quick, of each kind the one with the least work."""
    found = [kernel for kernel in every() if re.search(pattern, kernel.name) or re.search(pattern, kernel.kind)]
    if turns.QUICK:
        least = {kernel.kind: kernel for kernel in sorted(found, key=lambda kernel: -kernel.flops)}
        return list(least.values())
    return found


def measure(kernel, cpu, threads):
    """A result: times, rates, and shares of what the machine could in the same rounds."""
    with tempfile.TemporaryDirectory(prefix='leat-bench-') as folder:
        path = os.path.join(folder, 'kernel.leat')
        with open(path, 'w', encoding='utf-8') as out:
            out.write(kernel.text)
        options = [f'--threads={threads}', f'--cpu={cpu}']
        programs = [turns.Program(turns.program('entry', path, 'kernel', *options), threads),
                    turns.Program(turns.program('memory', 'read') if kernel.bound == 'read' else
                                  turns.program('peak', cpu), 1)]
        once = programs[0].time(1)
        clock = 'processor_ms' if threads == 1 else 'ms'
        mine, limit = turns.in_rounds(programs, [max(1, min(1000, int(TURN_MS / once))), LIMIT_RUNS], clock=clock)
    whole = (kernel.bytes / READ_BYTES if kernel.bound == 'read' else kernel.flops / PEAK_FLOPS) / threads  # of a limit's
    shares = [whole * its / ms for ms, its in zip(mine.times, limit.times)]
    return {'case': kernel.name, 'kind': kernel.kind, 'cpu': cpu, 'threads': threads, 'bound': kernel.bound,
            'leat_ms': mine.ms, 'min_ms': min(mine.times),
            'gflops': round(kernel.flops / 1e6 / mine.ms, 2),
            'best_gflops': round(kernel.flops / 1e6 / min(mine.times), 2),
            'share': round(statistics.median(shares), 4),
            'best_share': round(whole * min(limit.times) / min(mine.times), 4), 'foreign': round(mine.foreign, 3)}
