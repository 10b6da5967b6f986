"""The training step of examples/digits in JAX: jit, float32, state donated, each step's results awaited.

    jax_digits.py DIGITS.safetensors THREADS        then, a line each on standard input: how many steps to time

As in the Leat program, a step gathers its 128 rows by index out of the whole data, which stays in memory. The permutation
is made once, before the timing.
"""
import json
import struct
import sys

import numpy as np

from peer import serve, start

BATCH, RATE, BETA = 128, 0.1, 0.9


def load(path):
    with open(path, 'rb') as source:
        data = source.read()
    size, = struct.unpack('<Q', data[:8])
    tensor = lambda info: np.frombuffer(data[8 + size:][slice(*info['data_offsets'])],
                                        {'F32': '<f4', 'I32': '<i4'}[info['dtype']]).reshape(info['shape'])
    return {name: tensor(info) for name, info in json.loads(data[8:8 + size]).items()}


def glorot(random, inputs, outputs):
    limit = (6 / (inputs + outputs)) ** 0.5
    return random.uniform(-limit, limit, (inputs, outputs)).astype('f4')


def main():
    path, threads = sys.argv[1], int(sys.argv[2])
    jax = start(threads)
    import jax.numpy as jnp
    data, random = load(path), np.random.default_rng(1)
    images, labels = jnp.array(data['train_images']), jnp.array(data['train_labels'])
    rows, steps = len(labels), len(labels) // BATCH
    order = jnp.array(random.permutation(rows).astype('i4'))
    params = {'w0': glorot(random, 64, 128), 'b0': np.zeros(128, 'f4'),
              'w1': glorot(random, 128, 10), 'b1': np.zeros(10, 'f4')}
    params = {name: jnp.array(value) for name, value in params.items()}
    state = [(params, {name: jnp.zeros_like(value) for name, value in params.items()}, jnp.int32(0))]

    def loss_of(params, x, y):
        h = jax.nn.relu(x @ params['w0'] + params['b0'])
        logits = h @ params['w1'] + params['b1']
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], axis=1))

    def step(state, images, labels, order):
        params, velocity, count = state
        i = jax.lax.dynamic_slice(order, (count % steps * BATCH,), (BATCH,))
        loss, grads = jax.value_and_grad(loss_of)(params, images[i], labels[i])
        velocity = {name: BETA * velocity[name] + grads[name] for name in params}
        params = {name: params[name] - RATE * velocity[name] for name in params}
        return (params, velocity, count + 1), loss

    compiled = jax.jit(step, donate_argnums=0)

    def run(_):
        state[0], loss = compiled(state[0], images, labels, order)
        jax.block_until_ready(state[0])
        return {'loss': float(loss)}

    serve(run)


main()
