"""What networks.py is written in, by JAX, and its training step."""
import jax
import jax.numpy as jnp
from jax import lax, nn

import networks

matmul, concat, reshape, split, transpose, where = jnp.matmul, jnp.concatenate, jnp.reshape, jnp.split, jnp.transpose, jnp.where
relu, sigmoid, tanh, softplus, softmax, rsqrt, sum = nn.relu, nn.sigmoid, jnp.tanh, nn.softplus, nn.softmax, lax.rsqrt, jnp.sum


def gelu(x):
    return nn.gelu(x, approximate=True)


def mean(x, axes, keep=False):
    return jnp.mean(x, axes, keepdims=keep)


def take(table, i):
    return table.at[i].get(mode='promise_in_bounds')


def conv(x, w, stride):
    return lax.conv_general_dilated(x, w, (stride, stride), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC'))


def max_pool(x, window, stride):
    """The largest of strided slices: faster here than lax.reduce_window, its gradient above all."""
    out = [-(-side // stride) for side in x.shape[1:3]]
    more = [max((count - 1) * stride + window - side, 0) for count, side in zip(out, x.shape[1:3])]
    x = jnp.pad(x, ((0, 0), *((n // 2, n - n // 2) for n in more), (0, 0)), constant_values=-jnp.inf)
    y = None
    for i in range(window):
        for j in range(window):
            part = x[:, i:i + (out[0] - 1) * stride + 1:stride, j:j + (out[1] - 1) * stride + 1:stride]
            y = part if y is None else jnp.maximum(y, part)
    return y


def normalised(x, radius, alpha):
    squares = lax.reduce_window(x * x, 0.0, lax.add, (1, 1, 1, 2 * radius + 1), (1, 1, 1, 1), 'SAME')
    return x * (1 + alpha * squares) ** -0.75


def cross_entropy(logits, labels):
    chosen = jnp.take_along_axis(logits, labels[..., None], -1)[..., 0]
    return jnp.mean(nn.logsumexp(logits, -1) - chosen)


def learn(how, p, state, g):
    kind, rate = how
    if kind == networks.ADAM:
        t, m, s = state
        t = t + 1
        m = {name: 0.9 * m[name] + 0.1 * g[name] for name in p}
        s = {name: 0.999 * s[name] + 0.001 * g[name] * g[name] for name in p}
        each = rate * jnp.sqrt(1 - 0.999 ** t) / (1 - 0.9 ** t)
        return {name: p[name] - each * m[name] / (jnp.sqrt(s[name]) + 1e-8) for name in p}, (t, m, s)
    if kind == networks.CLIPPED:
        norm = jnp.sqrt(sum(jnp.stack([sum(x * x) for x in g.values()])))
        rate = rate * 5 / jnp.maximum(norm, 5)
    return {name: p[name] - rate * g[name] for name in p}, state


def training(name, parameters, batch):
    """A step: the loss before it, when all is there."""
    import sys
    ops = sys.modules[__name__]
    _, network, how = networks.NETWORKS[name]

    def dense_step(p, state, b):
        loss, g = jax.value_and_grad(lambda p: network(ops, p, **b))(p)
        return *learn(how, p, state, g), loss

    def sparse_step(p, state, b):
        rows = {(table, index): take(p[table], b[index]) for table, index in networks.ROWS[name]}
        loss, g = jax.value_and_grad(lambda rows: network(ops, rows))(rows)
        p = dict(p)
        for table, index in rows:
            p[table] = p[table].at[b[index]].add(-how[1] * g[table, index], mode='promise_in_bounds')
        return p, state, loss

    def zeros():
        return {name: jnp.zeros_like(array) for name, array in parameters.items()}

    step = jax.jit(sparse_step if name in networks.ROWS else dense_step, donate_argnums=(0, 1))
    p = {name: jnp.array(array) for name, array in parameters.items()}
    held = [p, (jnp.float32(0), zeros(), zeros()) if how[0] == networks.ADAM else ()]
    batch = {name: jnp.array(array) for name, array in batch.items()}

    def run():
        *held[:], loss = step(*held, batch)
        jax.block_until_ready(held)
        return float(loss)
    return run
