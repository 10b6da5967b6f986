"""What networks.py is written in, by TensorFlow, and its training step, compiled by XLA or not."""
import sys

import tensorflow as tf

import networks

matmul, concat, reshape, split, where = tf.matmul, tf.concat, tf.reshape, tf.split, tf.where
relu, sigmoid, tanh, softplus, softmax, rsqrt = tf.nn.relu, tf.sigmoid, tf.tanh, tf.nn.softplus, tf.nn.softmax, tf.math.rsqrt
sum, take, transpose = tf.reduce_sum, tf.gather, tf.transpose


def gelu(x):
    return tf.nn.gelu(x, approximate=True)


def mean(x, axes, keep=False):
    return tf.reduce_mean(x, axes, keepdims=keep)


def conv(x, w, stride):
    return tf.nn.conv2d(x, w, stride, 'SAME')


def max_pool(x, window, stride):
    return tf.nn.max_pool2d(x, window, stride, 'SAME')


def normalised(x, radius, alpha):
    return tf.nn.local_response_normalization(x, radius, 1.0, alpha, 0.75)


def cross_entropy(logits, labels):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


def add_rows(variable, rows, index):
    variable.scatter_sub(tf.IndexedSlices(rows, index))


def training(name, parameters, batch, xla):
    """A step: the loss before it, when all is there."""
    ops = sys.modules[__name__]
    _, network, (kind, rate) = networks.NETWORKS[name]
    variables = {name: tf.Variable(array) for name, array in parameters.items()}
    batch = {name: tf.constant(array) for name, array in batch.items()}
    if kind == networks.ADAM:
        m, s = ({name: tf.Variable(tf.zeros_like(v)) for name, v in variables.items()} for _ in range(2))
        power1, power2 = tf.Variable(1.0), tf.Variable(1.0)

    def adam(name, g):
        tf.raw_ops.ResourceApplyAdam(var=variables[name].handle, m=m[name].handle, v=s[name].handle, beta1_power=power1,
                                     beta2_power=power2, lr=rate, beta1=0.9, beta2=0.999, epsilon=1e-8,
                                     grad=tf.convert_to_tensor(g))

    def descend(name, g):
        if isinstance(g, tf.IndexedSlices):
            add_rows(variables[name], rate * g.values, g.indices)
        else:
            tf.raw_ops.ResourceApplyGradientDescent(var=variables[name].handle, alpha=rate, delta=g)

    @tf.function(jit_compile=True if xla else None)
    def dense_step(batch):
        with tf.GradientTape() as tape:
            loss = network(ops, variables, **batch)
        g = tape.gradient(loss, variables)
        if kind == networks.CLIPPED:
            g = dict(zip(g, tf.clip_by_global_norm(list(g.values()), 5.0)[0]))
        if kind == networks.ADAM:
            power1.assign(power1 * 0.9)
            power2.assign(power2 * 0.999)
        for name in variables:
            (adam if kind == networks.ADAM else descend)(name, g[name])
        return loss

    @tf.function(jit_compile=True if xla else None)
    def sparse_step(batch):
        with tf.GradientTape() as tape:
            rows = {(table, index): take(variables[table], batch[index]) for table, index in networks.ROWS[name]}
            tape.watch(list(rows.values()))
            loss = network(ops, rows)
        g = tape.gradient(loss, rows)
        for table, index in rows:
            add_rows(variables[table], rate * g[table, index], batch[index])
        return loss

    step = sparse_step if name in networks.ROWS else dense_step
    return lambda: float(step(batch))
