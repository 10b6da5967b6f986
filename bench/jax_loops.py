"""The loops of bench/loops.leat in JAX: jit, float32, all that they compute with an argument.

    jax_loops.py jax_while|jax_scan|jax_fori|jax_lstm STEPS        then, a line each on standard input: how many calls to time

`jax_while` counts to its argument. Gradients go through no such loop in JAX: the others know STEPS while compiling.
"""
import sys

import numpy as np

from peer import sample, serve, start


def wave(size, phase, *shape):
    """What loops.leat calls so."""
    return (size * np.sin(np.arange(np.prod(shape)) + phase)).reshape(shape).astype('f4')


def programs(jax, steps):
    """Each with its arguments."""
    jnp, lax = jax.numpy, jax.lax

    def counted(n, x, scale, offset):
        return lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * scale + offset), (0, x))[1:]

    def by_scan(a, b):
        return jnp.sum(lax.scan(lambda h, _: (jnp.tanh(h * a + b), None), b, length=steps)[0])

    def by_fori(a, b):
        return jnp.sum(lax.fori_loop(0, steps, lambda _, h: jnp.tanh(h * a + b), b))

    def lstm(w, u, bias, inputs):
        def cell(state, x):
            h, c = state
            i, f, o, g = jnp.split(x @ w + h @ u + bias, 4, axis=1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None
        zero = jnp.zeros((8, 64), 'f4')
        return jnp.sum(lax.scan(cell, (zero, zero), inputs)[0][0])

    def graded(f, count):
        gradient = jax.value_and_grad(f, argnums=tuple(range(count)))
        return lambda *args: jax.tree.leaves(gradient(*args))

    vectors = wave(1, 0, 64), wave(1, 1, 64)
    sequence = wave(.2, 1, 32, 256), wave(.2, 2, 64, 256), wave(.1, 3, 256), wave(1, 0, steps, 8, 32)
    numbers = np.int32(steps), np.float32(1), np.float32(.999), np.float32(.5)
    return {'jax_while': (counted, numbers), 'jax_scan': (graded(by_scan, 1), vectors), 'jax_fori': (graded(by_fori, 1), vectors),
            'jax_lstm': (graded(lstm, 3), sequence)}


def main():
    jax = start(1)
    function, args = programs(jax, int(sys.argv[2]))[sys.argv[1]]
    compiled, args = jax.jit(function), [jax.numpy.array(arg) for arg in args]
    last = [None]

    def run(_):
        last[0] = jax.block_until_ready(compiled(*args))
        return {}

    serve(run, lambda: {'results': [sample(result) for result in last[0]]})


if __name__ == '__main__':
    main()
