"""One expression of NumPy, or of JAX under jit, for bench/ops.py. Every array holds numbers as Leat's program has them.

    peer_op.py numpy|jax EXPRESSION NAME=DTYPE[SHAPE]:LOW:HIGH[+DIAGONAL]…        then, a line each on standard input: how many calls

In EXPRESSION np is the library, lax and random what only JAX has, and the NAMEs are arrays.
"""
import re
import sys

import numpy

from peer import serve, start


def array(text, random):
    name, dtype, shape, low, high, diagonal = re.fullmatch(r'(\w+)=(\w+)\[(.*)\]:(.*):([^+]*)\+?(.*)', text).groups()
    values = random.uniform(float(low), float(high), [int(size) for size in shape.split(',') if size])
    if diagonal:
        values += float(diagonal) * numpy.eye(len(values))
    return name, values.astype({'f32': 'f4', 'i32': 'i4', 'c64': 'c8'}[dtype])


def main():
    library, expression, *texts = sys.argv[1:]
    arrays = dict(array(text, numpy.random.default_rng(1)) for text in texts)
    function = f'lambda {", ".join(arrays)}: {expression}'
    if library == 'numpy':
        call = eval(function, {'np': numpy})
        serve(lambda i: call(**arrays) is None or {})
        return
    jax = start(1)
    call = jax.jit(eval(function, {'np': jax.numpy, 'lax': jax.lax, 'random': jax.random}))
    arrays = {name: jax.numpy.array(value) for name, value in arrays.items()}

    def step(_):
        jax.block_until_ready(call(**arrays))
        return {}

    serve(step)


main()
