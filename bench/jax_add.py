"""a + b on float32 scalars in JAX: jit, both values new each time, the result read as a number.

    jax_add.py        then, a line each on standard input: how many calls to time
"""
import numpy as np

from peer import serve, start


def main():
    jax = start(1)
    add = jax.jit(lambda a, b: a + b)
    values, one = [np.float32(i) for i in range(1024)], np.float32(1)

    def run(i):
        result = float(add(values[i & 1023], one))
        assert result == (i & 1023) + 1
        return {}

    serve(run)


main()
