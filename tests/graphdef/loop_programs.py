"""Programs as those of programs.py, whose loops have gradients."""
import numpy as np

from programs import Program, numbers, program, tf, weight


@program
def power_gradient():
    """x to the power n, n known only while running, and 0 turns."""
    x = tf.placeholder(tf.float32, [], name='x')
    n = tf.placeholder(tf.int32, [], name='n')
    _, y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x), [tf.constant(0), tf.constant(1.0)])
    _, none = tf.while_loop(lambda i, y: i < n - 7, lambda i, y: (i + 1, y * x), [tf.constant(0), x])
    tf.identity(y, name='y')
    tf.identity(tf.gradients(y, x)[0], name='dx')
    tf.identity(tf.gradients(none, x)[0], name='none')
    return Program({'x': np.float32(1.5), 'n': np.int32(5)}, {n: n for n in ('y', 'dx', 'none')})


@program
def loop_of_products():
    """Products with a variable that is trained, as many as it takes."""
    x = tf.placeholder(tf.float32, [2, 3], name='x')
    w = weight('w', (3, 3), 1, 0.4)
    b = weight('b', (3,), 2)
    turns, y = tf.while_loop(lambda i, y: (tf.reduce_sum(tf.square(y)) < 40.0) & (i < 9),
                             lambda i, y: (i + 1, tf.matmul(y, w) * 1.6 + tf.tanh(y + b) + 0.1), [tf.constant(0), x])
    loss = tf.reduce_mean(tf.square(y - 1))
    tf.train.GradientDescentOptimizer(0.02).minimize(loss, name='train')
    tf.identity(loss, name='loss')
    tf.identity(turns, name='turns')
    return Program({'x': numbers((2, 3))}, {'loss': 'loss', 'turns': 'turns'}, train='train', steps=4, within=1e-4)


@program
def nested_loop_gradient():
    x = tf.placeholder(tf.float32, [3], name='x')
    n = tf.placeholder(tf.int32, [], name='n')

    def outer(i, y):
        _, z = tf.while_loop(lambda j, z: j < i, lambda j, z: (j + 1, tf.sin(z * x)), [tf.constant(0), y])
        return i + 1, z * y + x

    _, y = tf.while_loop(lambda i, y: i < n, outer, [tf.constant(0), x])
    tf.identity(y, name='y')
    tf.identity(tf.gradients(y, x)[0], name='dx')
    return Program({'x': numbers((3,)), 'n': np.int32(4)}, {'y': 'y', 'dx': 'dx'})


@program
def loop_of_branches():
    """A branch in a loop, of which the gradient needs what it has computed, and a loop in a branch."""
    x = tf.placeholder(tf.float32, [3], name='x')
    w = weight('w', (3,), 3)

    def body(i, y):
        return i + 1, tf.cond(tf.reduce_sum(y) > 1, lambda: tf.sin(y) * w, lambda: y * y * w + x)

    _, y = tf.while_loop(lambda i, _: i < 5, body, [tf.constant(0), x])
    loss = tf.reduce_sum(tf.square(y))
    tf.train.GradientDescentOptimizer(0.1).minimize(loss, name='train')
    tf.identity(loss, name='loss')
    return Program({'x': numbers((3,))}, {'loss': 'loss'}, train='train', steps=3)


@program
def loop_of_known_shapes():
    """Shapes that are pushed are known while compiling; the batch is not."""
    x = tf.placeholder(tf.float32, [None, 4], name='x')
    b = tf.placeholder(tf.float32, [None], name='b')
    w = weight('w', (4, 4), 5)

    def body(i, h):
        return i + 1, tf.tanh(tf.matmul(h, w) * tf.expand_dims(b, 1)) + tf.reduce_mean(h * x, 1, keepdims=True)

    _, h = tf.while_loop(lambda i, _: i < 4, body, [tf.constant(0), x])
    loss = tf.reduce_mean(tf.square(h))
    tf.train.AdamOptimizer(0.05).minimize(loss, name='train')
    tf.identity(loss, name='loss')
    return Program({'x': numbers((3, 4)), 'b': numbers((3,), 2)}, {'loss': 'loss'}, train='train', steps=3, within=1e-4)
