"""Programs of arrays, math, images and strings, as TensorFlow's own tests of these ops and its users have them: what Python
writes as many nodes, and computes of shapes."""
import numpy as np
import tensorflow as tensorflow_2

from programs import Program, ints, numbers, program, tf

v2 = tensorflow_2


def named(**values):
    """The fetches, each a node of that name."""
    for name, value in values.items():
        tf.identity(value, name=name)
    return {name: name for name in values}


# -- Numbers in a row --------------------------------------------------------------------------------------------------

@program
def linear_spaces():
    x = tf.placeholder(tf.float32, [2], name='x')
    v = tf.placeholder(tf.float32, [None], name='v')
    y = tf.reduce_sum(v2.linspace(x[0], x[1], 5) ** 2)
    return Program({'x': numbers((2,)), 'v': numbers((3,), 2)}, named(
        constant=v2.linspace(0.0, 1.0, 5), double=v2.linspace(np.float64(-2), 3.0, 7), ints=v2.linspace(tf.constant(1), tf.constant(10), 4),
        fed=v2.linspace(x[0], x[1], 5), one=v2.linspace(x[0], x[1], 1), by_shape=v2.linspace(0.0, 1.0, tf.shape(v)[0]),
        rows=v2.linspace(v, v * 2 + 1, 4), columns=v2.linspace(v, v * 2 + 1, 4, axis=-1), gradient=tf.gradients(y, x)[0]))


@program
def ranges():
    x = tf.placeholder(tf.float32, [], name='x')
    n = tf.placeholder(tf.int32, [], name='n')
    half = tf.constant(9, tf.float16), tf.constant(.7, tf.float16)
    return Program({'x': np.float32(.6), 'n': np.int32(7)}, named(
        up=tf.range(0., x, .1), down=tf.range(x, -1., -.3), count=tf.range(n), steps=tf.range(n, 0, -2), none=tf.range(n, n),
        wide=tf.range(tf.cast(n, tf.int64), 2**33, 2**31), far=tf.range(2**33, 2**33 + 3), empty=tf.range(5, 5),
        halves=tf.cast(tf.range(tf.cast(x, tf.float16), *half), tf.float32)))


@program
def large_integers():
    x = tf.placeholder(tf.int64, [2], name='x')
    return Program({'x': np.array([3, 2**41])}, named(
        sum=x + 2**31, product=x * tf.constant([2**40, -2**62], tf.int64), last=tf.constant(2**63 - 1, tf.int64),
        matrix=tf.constant([[2**35, 1], [-2**63, 3]], tf.int64) + 0, bits=tf.bitwise.bitwise_and(x, tf.constant(0xFFFFFFFFFF, tf.int64)),
        of_shape=x + tf.cast(tf.shape(x)[0], tf.int64) * 2**33, filled=tf.fill([2], tf.constant(2**50, tf.int64)),
        chosen=tf.where(x > 2**32, x, tf.constant([2**34, 5], tf.int64)), stacked=tf.stack([tf.constant(2**36, tf.int64), x[0]]),
        wrapped=tf.constant(2**31 - 1) + 1))


# -- Shapes that are computed ------------------------------------------------------------------------------------------

@program
def grids():
    x = tf.placeholder(tf.float32, [3], name='x')
    y = tf.placeholder(tf.float32, [None], name='y')
    a, b = tf.meshgrid(x, y)
    c, d = tf.meshgrid(x, y, indexing='ij')
    e, f = tf.meshgrid(tf.range(3), tf.range(2))
    return Program({'x': numbers((3,)), 'y': numbers((4,), 2)}, named(
        a=a, b=b, c=c, d=d, e=e, f=f, square=tf.eye(tf.shape(y)[0]), wide=tf.eye(3, 4, batch_shape=[2]),
        batch=tf.eye(3, batch_shape=tf.shape(y))))


@program
def chosen_shapes():
    """What is true of shapes decides others."""
    x = tf.placeholder(tf.float32, [4, 3], name='x')
    y = tf.placeholder(tf.float32, [None, 3], name='y')
    s, n = tf.shape(x), tf.shape(y)[0]
    longest = v2.where(s[0] > s[1], s[0], s[1])
    odd = tf.logical_or(tf.equal(s[1] % 2, 1), tf.logical_not(tf.reduce_all(tf.equal(s, [4, 3]))))
    return Program({'x': numbers((4, 3)), 'y': numbers((6, 3), 2)}, named(
        reshaped=tf.reshape(x, tf.concat([v2.where(tf.equal(s, 3), 1, s), [3]], 0)), longest=tf.zeros([longest, 2]),
        odd=v2.where(odd, x, -x), most=tf.ones([tf.reduce_max(s), tf.reduce_min(s)]), run_time=v2.where(n > 5, y, -y),
        at_least=tf.pad(y, [[0, tf.maximum(8 - n, 0)], [0, 0]]), even=tf.pad(y, [[0, tf.floormod(-n, 4)], [0, 0]]),
        turned=tf.reshape(x, tf.reverse(s, [0])), repeated=tf.reshape(x, tf.tile([2], [2]) * [1, 3]),
        counted=tf.cast(tf.not_equal(n, 3), tf.int32) + tf.cast(tf.equal(s[1], 3), tf.int32)))


@program
def tiles_and_pads():
    x = tf.placeholder(tf.float32, [None, 3], name='x')
    i = tf.placeholder(tf.int32, [None], name='i')
    n = tf.shape(x)[0]
    return Program({'x': numbers((5, 3)), 'i': np.array([0, 2, 1], np.int32)}, named(
        tiled=tf.tile(x, [2, n]), padded=tf.pad(x, [[0, 10 - n], [1, 1]]), stacked=tf.tile(x[None], tf.stack([n, 1, 1])),
        with_sevens=tf.pad(x, tf.stack([[n, 0], [0, n]]), constant_values=7.), hot=tf.one_hot(i, tf.reduce_max(i) + 1),
        hot_of_shape=tf.one_hot(i, n, on_value=2, off_value=-1, axis=0), masked=tf.sequence_mask(i, 5), fits=tf.sequence_mask(i, dtype=tf.float32),
        repeated=tf.repeat(x, 2, axis=0), each=tf.repeat(x, [1, 2, 0], axis=1), counted=tf.repeat(tf.constant([1, 2, 3]), [2, 1, 3]),
        rolled=tf.roll(x, n // 2, axis=0)))


@program
def gathered_and_masked():
    x = tf.placeholder(tf.float32, [None, 3, 4], name='x')
    i = tf.placeholder(tf.int32, [None, 2], name='i')
    mask = x[:, 0, 0] > 0
    return Program({'x': numbers((4, 3, 4)), 'i': ints((4, 2), 3)}, named(
        rows=tf.gather(x, i, axis=1, batch_dims=1), cells=tf.gather_nd(x, tf.stack([i, i], -1), batch_dims=1), batch=tf.batch_gather(x, i),
        masked=tf.boolean_mask(x, mask), places=tf.where(x[:, 0] > 0.5), kept=tf.boolean_mask(x, x > 0)))


@program
def sorted_and_searched():
    x = tf.placeholder(tf.float32, [None], name='x')
    i = tf.placeholder(tf.int32, [None], name='i')
    s = v2.sort(x)
    values, places, counts = tf.unique_with_counts(i)
    return Program({'x': numbers((20,)), 'i': np.array([3, 1, 3, 0], np.int32)}, named(
        sorted=s, down=v2.sort(x, direction='DESCENDING'), order=v2.argsort(x, direction='DESCENDING'), left=v2.searchsorted(s, [0., .5]),
        right=v2.searchsorted(s, [0., .5], side='right'), bins=tf.histogram_fixed_width(x, [-1., 1.], 4),
        in_bins=v2.histogram_fixed_width_bins(x, [-1., 1.], 4), values=values, places=places, counts=counts,
        confusion=tf.math.confusion_matrix(i, i, 4), counted=tf.math.bincount(i, minlength=3)))


# -- Math --------------------------------------------------------------------------------------------------------------

@program
def norms_and_moments():
    x = tf.placeholder(tf.float32, [None, 3, 4], name='x')
    mean, variance = tf.nn.moments(x, [0, 1])
    clipped, norm = tf.clip_by_global_norm([x, x * 2], 1.)
    return Program({'x': numbers((2, 3, 4))}, named(
        mean=mean, variance=variance, std=tf.math.reduce_std(x), along=tf.math.reduce_variance(x, -1), summed=tf.reduce_logsumexp(x, 1),
        euclidean=tf.norm(x, axis=-1), ones=tf.norm(x, ord=1, axis=1), largest=tf.norm(x, ord=np.inf, axis=[1, 2]),
        by_norm=tf.clip_by_norm(x, 1.), by_each=tf.clip_by_norm(x, 1., axes=[1]), by_value=tf.clip_by_value(x, -.5, x + 1), clipped=clipped[1],
        length=norm, unit=tf.nn.l2_normalize(x, -1), zero=tf.math.zero_fraction(tf.nn.relu(x))), within=1e-4)


@program
def products_of_tensors():
    x = tf.placeholder(tf.float32, [None, 3, 4], name='x')
    y = tf.placeholder(tf.float32, [4, 3, 2], name='y')
    return Program({'x': numbers((2, 3, 4)), 'y': numbers((4, 3, 2), 2)}, named(
        both=tf.tensordot(x, y, [[1, 2], [1, 0]]), one=tf.tensordot(x, y, 1), outer=tf.tensordot(x, y, 0), folded=tf.einsum('bij,jik->bk', x, y),
        polynomial=tf.math.polyval([tf.constant(2.), tf.constant(-1.), tf.constant(.5)], x)), within=1e-4)
