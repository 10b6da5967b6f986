"""Programs as those of programs.py, whose loops have gradients."""
import numpy as np
from tensorflow.python.ops.rnn_cell_impl import RNNCell

from programs import Program, numbers, program, tf, weight


class Lstm(RNNCell):
    """What tf.nn.rnn_cell.LSTMCell was, which later versions of TensorFlow have no more."""

    def __init__(self, units):
        super().__init__()
        self.units = units

    @property
    def state_size(self):
        return self.units, self.units

    @property
    def output_size(self):
        return self.units

    def __call__(self, x, state, scope=None):
        c, h = state
        with tf.variable_scope('lstm', reuse=tf.AUTO_REUSE):
            shape = int(x.shape[1]) + self.units, 4 * self.units
            w = tf.get_variable('kernel', shape, initializer=tf.constant_initializer(numbers(shape, 1, 0.3)))
            b = tf.get_variable('bias', shape[1:], initializer=tf.constant_initializer(numbers(shape[1:], 2, 0.3)))
        i, j, f, o = tf.split(tf.matmul(tf.concat([x, h], 1), w) + b, 4, axis=1)
        c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        h = tf.tanh(c) * tf.sigmoid(o)
        return h, (c, h)


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
    """A branch in a loop, of which the gradient needs what it has computed."""
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
def loops_in_branches():
    """A loop that a branch runs, and one that it does not."""
    x = tf.placeholder(tf.float32, [3], name='x')
    p = tf.placeholder(tf.bool, [], name='p')

    def power(x):
        return tf.while_loop(lambda i, _: i < 5, lambda i, y: (i + 1, tf.sin(y) * x), [tf.constant(0), x])[1]

    y = tf.cond(p, lambda: power(x), lambda: x * 2)
    z = tf.cond(p, lambda: x * 2, lambda: power(x))
    tf.identity(tf.gradients(y, x)[0], name='dy')
    tf.identity(tf.gradients(z, x)[0], name='dz')
    return Program({'x': numbers((3,)), 'p': np.bool_(True)}, {'dy': 'dy', 'dz': 'dz'})


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


# -- Arrays of tensors -------------------------------------------------------------------------------------------------

def arrays_of_a_loop(**options):
    """An array that is written before a loop and read in it, and one that the loop writes and reads what it has written."""
    x = tf.placeholder(tf.float32, [4, 3], name='x')
    n = tf.placeholder(tf.int32, [], name='n')
    given = tf.TensorArray(tf.float32, 4, clear_after_read=False).unstack(x)
    made = tf.TensorArray(tf.float32, n + 1, clear_after_read=False, **options).write(0, x[0] * x[1])

    def body(i, made):
        return i + 1, made.write(i + 1, tf.sin(made.read(i) * given.read(i)) + given.read(3 - i))

    _, made = tf.while_loop(lambda i, _: i < n, body, [tf.constant(0), made])
    loss = tf.reduce_sum(tf.square(made.stack())) + tf.reduce_sum(given.read(2))
    tf.identity(loss, name='loss')
    tf.identity(tf.gradients(loss, x)[0], name='dx')
    return Program({'x': numbers((4, 3)), 'n': np.int32(4)}, {'loss': 'loss', 'dx': 'dx'})


@program
def array_gradient():
    """Arrays of version 1, with gradients."""
    return arrays_of_a_loop(element_shape=[3])


@program
def stacked_lstm():
    """Two loops, of which one reads what the other wrote, over as many steps as are fed."""
    x = tf.placeholder(tf.float32, [None, None, 3], name='x')
    outputs = x
    for scope, units in ('lower', 4), ('upper', 2):
        with tf.variable_scope(scope):
            outputs, _ = tf.nn.dynamic_rnn(Lstm(units), outputs, dtype=tf.float32)
    loss = tf.reduce_mean(tf.square(outputs - 0.5))
    tf.train.GradientDescentOptimizer(0.5).minimize(loss, name='train')
    tf.identity(loss, name='loss')
    return Program({'x': numbers((2, 4, 3))}, {'loss': 'loss'}, train='train', steps=3)


@program
def arrays_in_branches():
    """A branch in a loop that reads arrays, and branches that write one."""
    x = tf.placeholder(tf.float32, [4, 2], name='x')
    given = tf.TensorArray(tf.float32, 4, clear_after_read=False).unstack(x)
    made = tf.TensorArray(tf.float32, 4, element_shape=[2])

    def body(i, a, made):
        a = a + given.read(i) * given.read(0) * tf.cond(i > 1, lambda: given.read(i - 1), lambda: a)
        made = tf.cond(tf.reduce_sum(a) > 2, lambda: made.write(i, tf.sin(given.read(i))), lambda: made.write(i, a))
        return i + 1, a, made

    _, a, made = tf.while_loop(lambda i, *_: i < 4, body, [tf.constant(0), tf.ones([2]), made])
    y = tf.reduce_sum(tf.square(made.stack())) + tf.reduce_sum(a)
    tf.identity(y, name='y')
    tf.identity(tf.gradients(y, x)[0], name='dx')
    return Program({'x': numbers((4, 2), 3)}, {'y': 'y', 'dx': 'dx'})


@program
def loops_in_branches_in_a_loop():
    x = tf.placeholder(tf.float32, [3], name='x')

    def inner(y):
        return tf.while_loop(lambda j, _: j < 2, lambda j, z: (j + 1, z * x + 0.5), [tf.constant(0), y])[1]

    def body(i, y):
        late = tf.cond(i > 2, lambda: y * tf.sin(x), lambda: tf.cos(y * x))
        return i + 1, tf.cond(tf.reduce_sum(y) > 0, lambda: late, lambda: inner(y))

    _, y = tf.while_loop(lambda i, _: i < 6, body, [tf.constant(0), x])
    tf.identity(y, name='y')
    tf.identity(tf.gradients(y, x)[0], name='dx')
    return Program({'x': numbers((3,), 3)}, {'y': 'y', 'dx': 'dx'})


@program
def mapped_gradient():
    """tf.map_fn, tf.scan and tf.foldl, of which each reads an array that nothing else does."""
    x = tf.placeholder(tf.float32, [None, 3], name='x')
    y = tf.map_fn(lambda row: tf.reduce_sum(row * row) * row, x)
    z = tf.scan(lambda a, row: tf.sin(a * row), x, initializer=tf.ones([3]))
    w = tf.foldl(lambda a, row: a + row * row, x)
    for name, of in (('dy', y), ('dz', z), ('dw', w)):
        tf.identity(tf.gradients(of, x)[0], name=name)
    return Program({'x': numbers((5, 3))}, {'dy': 'dy', 'dz': 'dz', 'dw': 'dw'})


@program
def trained_lstm():
    """tf.nn.dynamic_rnn over sequences of different lengths, of a batch of any size, trained."""
    x = tf.placeholder(tf.float32, [None, 5, 3], name='x')
    n = tf.placeholder(tf.int32, [None], name='n')
    y = tf.placeholder(tf.float32, [None, 4], name='y')
    outputs, (_, h) = tf.nn.dynamic_rnn(Lstm(4), x, dtype=tf.float32, sequence_length=n, swap_memory=True)
    loss = tf.reduce_mean(tf.square(h - y)) + 0.1 * tf.reduce_mean(tf.square(outputs))
    optimizer = tf.train.AdamOptimizer(0.05)
    gradients, variables = zip(*optimizer.compute_gradients(loss))
    clipped, _ = tf.clip_by_global_norm(gradients, 1.0)
    optimizer.apply_gradients(zip(clipped, variables), name='train')
    tf.identity(loss, name='loss')
    tf.identity(outputs, name='outputs')
    feeds = {'x': numbers((3, 5, 3)), 'n': np.array([5, 2, 4], np.int32), 'y': numbers((3, 4), 2)}
    return Program(feeds, {'loss': 'loss', 'outputs': 'outputs'}, train='train', steps=5, within=1e-4)


# -- Loops of version 2: functions, with lists of tensors --------------------------------------------------------------

def version_2(function):
    """Made behind enable_control_flow_v2."""
    def made():
        tf.enable_control_flow_v2()
        tf.enable_resource_variables()
        try:
            return function()
        finally:
            tf.disable_control_flow_v2()
            tf.disable_resource_variables()
    made.__name__ = function.__name__
    return made


@program
@version_2
def functional_loop_gradient():
    """A loop over products with a variable, of a batch of any size, as many as are fed."""
    x = tf.placeholder(tf.float32, [None, 3], name='x')
    n = tf.placeholder(tf.int32, [], name='n')
    w = weight('w', (3, 3), 1, 0.4)

    def body(i, y):
        return i + 1, tf.tanh(tf.matmul(y, w)) + x * tf.cast(i, tf.float32)

    _, y = tf.while_loop(lambda i, _: i < n, body, [tf.constant(0), x])
    loss = tf.reduce_mean(tf.square(y))
    tf.train.GradientDescentOptimizer(0.1).minimize(loss, name='train')
    tf.identity(loss, name='loss')
    return Program({'x': numbers((2, 3)), 'n': np.int32(4)}, {'loss': 'loss'}, train='train', steps=3)


@program
@version_2
def functional_lstm():
    """tf.nn.dynamic_rnn over lists of tensors, trained."""
    x = tf.placeholder(tf.float32, [None, 5, 3], name='x')
    n = tf.placeholder(tf.int32, [None], name='n')
    outputs, (_, h) = tf.nn.dynamic_rnn(Lstm(4), x, dtype=tf.float32, sequence_length=n)
    loss = tf.reduce_mean(tf.square(h - 0.5)) + 0.1 * tf.reduce_mean(tf.square(outputs))
    tf.train.AdamOptimizer(0.05).minimize(loss, name='train')
    tf.identity(loss, name='loss')
    feeds = {'x': numbers((3, 5, 3)), 'n': np.array([5, 2, 4], np.int32)}
    return Program(feeds, {'loss': 'loss'}, train='train', steps=4, within=1e-4)


@program
@version_2
def list_gradient():
    """The same, which are lists in version 2."""
    return arrays_of_a_loop()
