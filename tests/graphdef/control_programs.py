"""More programs of programs.py: branches, loops, arrays of tensors and functions, of both versions."""
import numpy as np
import tensorflow as tf1

from loop_programs import version_2
from programs import Program, ints, numbers, program, weight

tf = tf1.compat.v1


# -- Arrays of tensors ---------------------------------------------------------------------------------------------------

@program
def array_scattered():
    x = tf.placeholder(tf.int32, [3], name='x')
    a = tf1.TensorArray(tf.int32, size=3, clear_after_read=False).scatter([2, 0, 1], x)
    tf.identity(a.stack(), name='y')
    tf.identity(a.gather([1, 1, 2]), name='z')
    tf.identity(a.read(0) * 2, name='first')
    return Program({'x': np.array([10, 20, 30], np.int32)}, {n: n for n in ('y', 'z', 'first')})


@program
def array_of_dynamic_size():
    x = tf.placeholder(tf.float32, [2], name='x')
    a = tf1.TensorArray(tf.float32, size=0, dynamic_size=True).write(0, x).write(1, x * 2).write(3, x * 4)
    tf.identity(a.size(), name='n')
    b = tf1.TensorArray(tf.float32, size=0, dynamic_size=True, element_shape=[2]).write(0, x).write(1, -x)
    tf.identity(b.stack(), name='y')
    return Program({'x': numbers((2,))}, {n: n for n in 'ny'})


@program
def array_split_and_joined():
    x = tf.placeholder(tf.float32, [6, 2], name='x')
    a = tf1.TensorArray(tf.float32, size=3, clear_after_read=False, infer_shape=False).split(x, [2, 2, 2])
    tf.identity(a.read(1), name='y')
    tf.identity(a.concat(), name='z')
    b = tf1.TensorArray(tf.float32, size=6).unstack(x)
    tf.identity(b.size(), name='n')
    tf.identity(b.read(5), name='last')
    return Program({'x': numbers((6, 2))}, {n: n for n in ('y', 'z', 'n', 'last')})


def growing_in_a_loop():
    n = tf.placeholder(tf.int32, [], name='n')
    a = tf1.TensorArray(tf.float32, size=0, dynamic_size=True, element_shape=[])
    _, a = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a.write(i, tf.cast(i * i, tf.float32))), [0, a])
    tf.identity(a.stack(), name='y')
    tf.identity(a.size(), name='size')
    return Program({'n': np.int32(5)}, {n: n for n in ('y', 'size')})


@program
def list_grows_in_a_loop():
    return version_2(growing_in_a_loop)()


@program
def list_scattered():
    return version_2(array_scattered)()


@program
def list_of_dynamic_size():
    return version_2(array_of_dynamic_size)()


# -- Branches ------------------------------------------------------------------------------------------------------------

def branches():
    p = tf.placeholder(tf.bool, [], name='p')
    x = tf.placeholder(tf.float32, [3], name='x')
    a, b = tf.cond(p, lambda: (x + 1, tf.reduce_sum(x)), lambda: (x * 2, tf.constant(3.0)))
    c = tf.cond(a[0] > b, lambda: tf.cond(p, lambda: a, lambda: -a), lambda: x)
    tf.identity(a, name='a')
    tf.identity(b, name='b')
    tf.identity(c, name='c')
    return Program({'p': np.bool_(True), 'x': numbers((3,))}, {n: n for n in 'abc'})


@program
def branches_1():
    return branches()


@program
def branches_2():
    return version_2(branches)()


def chosen():
    i = tf.placeholder(tf.int32, [], name='i')
    x = tf.placeholder(tf.float32, [3], name='x')
    y = tf1.switch_case(i, [lambda: x + 1, lambda: x * 2, lambda: -x])
    z = tf.case([(i < 1, lambda: x), (i > 5, lambda: x * x)], default=lambda: x - 1)
    tf.identity(y, name='y')
    tf.identity(z, name='z')
    return Program({'x': numbers((3,)), 'i': np.int32(7)}, {n: n for n in 'yz'})


@program
def chosen_1():
    return chosen()


@program
def chosen_2():
    return version_2(chosen)()


def branch_gradient():
    p = tf.placeholder(tf.bool, [], name='p')
    x = tf.placeholder(tf.float32, [3], name='x')
    w = weight('w', (3,), 2)
    y = tf.cond(p, lambda: tf.reduce_sum(tf.square(x * w)), lambda: tf.reduce_sum(tf.exp(w)))
    tf.identity(y, name='loss')
    tf.train.GradientDescentOptimizer(0.1).minimize(y, name='train')
    return Program({'p': np.bool_(True), 'x': numbers((3,))}, {'loss': 'loss'}, train='train')


@program
def branch_gradient_1():
    return branch_gradient()


@program
def branch_gradient_2():
    return version_2(branch_gradient)()


def branch_assigns():
    p = tf.placeholder(tf.bool, [], name='p')
    v = tf.get_variable('v', initializer=tf.constant(1.0))
    w = tf.get_variable('w', initializer=tf.constant(5.0))
    y = tf.cond(p, lambda: tf.identity(tf.assign_add(v, 2.0)), lambda: tf.identity(tf.assign(w, v * 3)))
    with tf.control_dependencies([y]):
        tf.identity(y + v * 10 + w * 100, name='train')
    return Program({'p': np.bool_(False)}, {'train': 'train'}, train='train')


@program
def branch_assigns_1():
    return branch_assigns()


@program
def branch_assigns_2():
    return version_2(branch_assigns)()


@program
def checked():
    x = tf.placeholder(tf.float32, [3], name='x')
    with tf.control_dependencies([tf.assert_less(x, 100.0), tf.Assert(tf.reduce_all(x > -100), [x])]):
        y = tf.identity(x * 2)
    with tf.control_dependencies([tf.assert_equal(tf.shape(x)[0], 3), tf.debugging.assert_all_finite(y, 'finite')]):
        tf.identity(y + 1, name='y')
    return Program({'x': numbers((3,))}, {'y': 'y'})


# -- Loops ---------------------------------------------------------------------------------------------------------------

def loops():
    n = tf.placeholder(tf.int32, [], name='n')
    x = tf.placeholder(tf.float32, [2, 3], name='x')
    i, s, _ = tf.while_loop(lambda i, s, m: i < n, lambda i, s, m: (i + 1, s * 0.5 + x, tf.maximum(m, s)), [0, x, x * 0])
    a, b = tf.while_loop(lambda a, b: a < 100, lambda a, b: (b, a + b), [1, 2])
    tf.identity(s, name='s')
    tf.identity(i, name='i')
    tf.identity(b - a, name='f')
    return Program({'n': np.int32(4), 'x': numbers((2, 3))}, {n: n for n in 'sif'})


@program
def loops_1():
    return loops()


@program
def loops_2():
    return version_2(loops)()


def swapped():
    """The body gives its arguments in other places."""
    n = tf.placeholder(tf.int32, [], name='n')
    x, y = tf.placeholder(tf.float32, [2], name='x'), tf.placeholder(tf.float32, [2], name='y')
    r = tf.while_loop(lambda i, a, b, c: i < n, lambda i, a, b, c: (i + 1, b, c, a), [0, x, y, x + y])
    for k in range(3):
        tf.identity(r[k + 1], name='abc'[k])
    return Program({'n': np.int32(4), 'x': numbers((2,)), 'y': numbers((2,), 2)}, {n: n for n in 'abc'})


@program
def swapped_1():
    return swapped()


@program
def swapped_2():
    return version_2(swapped)()


def mapped():
    x = tf.placeholder(tf.float32, [4, 3], name='x')
    tf.identity(tf.map_fn(lambda r: tf.reduce_sum(r * r), x), name='mapped')
    tf.identity(tf.map_fn(lambda r: r[0] * r[1], (x, x + 1), dtype=tf.float32), name='map_two')
    tf.identity(tf.scan(lambda a, r: a * 0.5 + r, x), name='scanned')
    tf.identity(tf.scan(lambda a, r: a + r, x, initializer=tf.zeros([3]), reverse=True), name='scan_back')
    tf.identity(tf.foldl(lambda a, r: a - r, x), name='left')
    tf.identity(tf.foldr(lambda a, r: a * r, x), name='right')
    return Program({'x': numbers((4, 3))}, {n: n for n in ('mapped', 'map_two', 'scanned', 'scan_back', 'left', 'right')})


@program
def mapped_1():
    return mapped()


@program
def mapped_2():
    return version_2(mapped)()


def loop_assigns():
    n = tf.placeholder(tf.int32, [], name='n')
    v = tf.get_variable('v', initializer=tf.constant(1.0))

    def body(i, s):
        with tf.control_dependencies([tf.assign_add(v, 1.0)]):
            now = v * 1.0
        return i + 1 + tf.cast(now * 0, tf.int32), s + now
    _, s = tf.while_loop(lambda i, s: i < n, body, [0, 0.0])
    tf.identity(s, name='train')
    return Program({'n': np.int32(3)}, {'train': 'train'}, train='train')


@program
def loop_assigns_2():
    return version_2(loop_assigns)()


def trained_loop():
    n = tf.placeholder(tf.int32, [], name='n')
    x = tf.placeholder(tf.float32, [2, 3], name='x')
    w = weight('w', (3, 3), 2)
    _, h = tf.while_loop(lambda i, h: i < n, lambda i, h: (i + 1, tf.tanh(h @ w)), [0, x])
    loss = tf.reduce_sum(h * h, name='loss')
    tf.train.AdamOptimizer(0.1).minimize(loss, name='train')
    return Program({'n': np.int32(3), 'x': numbers((2, 3))}, {'loss': 'loss'}, train='train')


@program
def trained_loop_1():
    return trained_loop()


@program
def trained_loop_2():
    return version_2(trained_loop)()


# -- Functions -----------------------------------------------------------------------------------------------------------

@tf1.function
def squared(x, y=1.0):
    return x * x + y, x - y


@tf1.function
def twice(x):
    a, b = squared(x)
    return squared(a, b)[0]


@program
def functions_called():
    x = tf.placeholder(tf.float32, [3], name='x')
    tf.identity(twice(x), name='y')
    tf.identity(squared(x, 2.0)[1], name='z')
    return Program({'x': numbers((3,))}, {'y': 'y', 'z': 'z'})


@program
def functions_trained():
    tf.enable_resource_variables()
    w = weight('w', (3,), 2)
    x = tf.placeholder(tf.float32, [3], name='x')

    @tf1.function
    def loss_of(x):
        return tf.reduce_sum(tf.square(tf.sin(w) * x))
    loss = tf.identity(loss_of(x), name='loss')
    tf.train.GradientDescentOptimizer(0.1).minimize(loss, name='train')
    tf.disable_resource_variables()
    return Program({'x': numbers((3,))}, {'loss': 'loss'}, train='train')


@program
def functions_with_state():
    tf.enable_resource_variables()
    v = tf.get_variable('v', initializer=tf.constant(1.0))

    @tf1.function
    def count(x):
        v.assign_add(x)
        return v * 2

    @tf1.function
    def both(x):
        a = count(x)
        if a > 10:
            v.assign(0.5)
        return a + v
    tf.identity(both(tf.placeholder(tf.float32, [], name='x')), name='train')
    tf.disable_resource_variables()
    return Program({'x': np.float32(2)}, {'train': 'train'}, train='train', steps=4)


@program
def defun_of_version_1():
    from tensorflow.python.framework import function

    @function.Defun(tf.float32, tf.float32)
    def weighted(x, y):
        return x * 2 + y, y - x
    x = tf.placeholder(tf.float32, [3], name='x')
    a, b = weighted(x, x + 1)
    tf.add(a, b, name='y')
    return Program({'x': numbers((3,))}, {'y': 'y'})
