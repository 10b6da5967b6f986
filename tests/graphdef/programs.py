"""The programs of TensorFlow 1 whose graphs are tested: a function each, which builds a graph, and says what is fed, what
is fetched and what trains. `remake` runs them with TensorFlow."""
import numpy as np
import tensorflow as tf1

tf = tf1.compat.v1
PROGRAMS = []


class Program:
    """fetches: tensors by the name of the entry's result. train: an operation that is run `steps` times, behind which the
    fetches are those of the last of these runs; None: they are fetched once."""

    def __init__(self, feeds, fetches, train=None, steps=3, text=False, entry=None, within=1e-5, saved=None, meta=False):
        self.feeds, self.fetches, self.train, self.steps = feeds, fetches, train, steps
        self.text, self.entry, self.within, self.saved, self.meta = text, entry, within, saved, meta


def program(function):
    PROGRAMS.append(function)
    return function


def numbers(shape, seed=1, scale=1.0):
    return (np.random.RandomState(seed).standard_normal(shape) * scale).astype(np.float32)


def ints(shape, high, seed=1, dtype=np.int32):
    return np.random.RandomState(seed).randint(0, high, shape).astype(dtype)


def weight(name, shape, seed, scale=0.3):
    return tf.get_variable(name, initializer=tf.constant(numbers(shape, seed, scale)))


# -- Values ------------------------------------------------------------------------------------------------------------

@program
def figure_1():
    """The white paper's Figure 1."""
    x = tf.placeholder(tf.float32, [None, 20], name='x')
    w = tf.Variable(tf.constant(numbers((20, 10), 2)), name='W')
    b = tf.Variable(tf.zeros([10]), name='b')
    relu = tf.nn.relu(tf.matmul(x, w) + b, name='relu')
    return Program({'x': numbers((4, 20))}, {'relu': relu}, text=True)


@program
def arithmetic():
    x = tf.placeholder(tf.float32, [3, 4], name='x')
    y = tf.placeholder(tf.float32, [4], name='y')
    tf.identity(x + y * 2 - x / (tf.abs(y) + 1), name='a')
    tf.identity(tf.maximum(x, y) * tf.minimum(x, 0.5) + tf.pow(tf.abs(x), 1.5), name='b')
    tf.identity(tf.floormod(x, 0.7) + tf.math.squared_difference(x, y) + tf.sign(x) * tf.square(y), name='c')
    tf.identity(tf.where(x > y, tf.exp(x), tf.log1p(tf.abs(x))), name='d')
    return Program({'x': numbers((3, 4)), 'y': numbers((4,), 2)}, {n: n for n in 'abcd'})


@program
def integers():
    x = tf.placeholder(tf.int32, [2, 3], name='x')
    tf.identity(x // 3 + tf.floormod(x, 4), name='a')
    tf.identity(tf.truncatediv(x, 3) - tf.cast(x > 1, tf.int32), name='b')
    tf.identity(tf.cast(x, tf.float32) / 7.0, name='c')
    tf.identity(tf.bitwise.bitwise_and(x, 6) + tf.bitwise.left_shift(x, tf.constant(2)), name='d')
    return Program({'x': np.array([[-7, -1, 0], [5, 6, 12]], np.int32)}, {n: n for n in 'abcd'})


@program
def reductions():
    x = tf.placeholder(tf.float32, [None, 3, 4], name='x')
    tf.reduce_mean(x, name='mean')
    tf.reduce_sum(x, [0, 2], keepdims=True, name='sum')
    tf.reduce_max(x, 1, name='max')
    tf.reduce_min(x, -1, name='min')
    tf.reduce_prod(x, [1], name='prod')
    tf.argmax(x, 2, name='argmax')
    tf.reduce_any(x > 1.0, 0, name='any')
    tf.cumsum(x, 1, exclusive=True, reverse=True, name='cumsum')
    return Program({'x': numbers((2, 3, 4))},
                   {n: n for n in ('mean', 'sum', 'max', 'min', 'prod', 'argmax', 'any', 'cumsum')})


@program
def shapes():
    x = tf.placeholder(tf.float32, [None, 6], name='x')
    n = tf.shape(x)[0]
    tf.reshape(x, [n, 2, 3], name='a')
    tf.reshape(x, tf.stack([n * 3, -1]), name='b')
    tf.transpose(tf.reshape(x, [-1, 2, 3]), [2, 0, 1], name='c')
    tf.tile(tf.expand_dims(x, 1), [1, 2, 1], name='d')
    tf.fill(tf.stack([n, 2]), 3.5, name='e')
    tf.concat([x, x[:, 1:3]], 1, name='f')
    tf.stack([x, 2 * x], axis=1, name='g')
    tf.squeeze(x[:1], [0], name='h')
    return Program({'x': numbers((4, 6))}, {n: n for n in 'abcdefgh'})


@program
def slices():
    x = tf.placeholder(tf.float32, [4, 5, 6], name='x')
    tf.identity(x[1, :, ::2], name='a')
    tf.identity(x[..., 2:-1], name='b')
    tf.identity(x[:, tf.newaxis, -1, 1:4], name='c')
    tf.identity(x[::-1, 3:0:-2], name='d')
    tf.slice(x, [1, 0, 2], [2, -1, 3], name='e')
    p, q, r = tf.split(x, 3, axis=2)
    tf.add(p, q * r, name='f')
    s, t = tf.split(x, [2, 3], axis=1)
    tf.concat([t, s], 1, name='g')
    u = tf.unstack(x, axis=0)
    tf.add_n(u, name='h')
    tf.pad(x, [[0, 0], [1, 2], [0, 1]], name='i')
    return Program({'x': numbers((4, 5, 6))}, {n: n for n in 'abcdefghi'})


@program
def lookups():
    table = tf.placeholder(tf.float32, [7, 3], name='table')
    i = tf.placeholder(tf.int32, [2, 2], name='i')
    tf.gather(table, i, name='rows')
    tf.gather(table, [2, 0], axis=1, name='columns')
    tf.gather_nd(table, tf.reshape(i, [2, 2]) % 3, name='cells')
    tf.one_hot(i, 4, on_value=2.0, off_value=-1.0, name='hot')
    tf.nn.top_k(table, 2, name='top')
    tf.scatter_nd(tf.reshape(i, [4, 1]), tf.ones([4, 2]), [8, 2], name='scattered')
    tf.math.unsorted_segment_sum(table, tf.constant([0, 1, 0, 2, 1, 0, 2]), 3, name='segments')
    return Program({'table': numbers((7, 3)), 'i': ints((2, 2), 3)},
                   {'rows': 'rows', 'columns': 'columns', 'cells': 'cells', 'hot': 'hot', 'top': 'top',
                    'top:1': 'top:1', 'scattered': 'scattered', 'segments': 'segments'})


@program
def activations():
    x = tf.placeholder(tf.float32, [3, 5], name='x')
    names = []
    for f in (tf.nn.relu, tf.nn.relu6, tf.nn.elu, tf.nn.selu, tf.nn.softplus, tf.nn.softsign, tf.tanh, tf.sigmoid,
              tf.nn.softmax, tf.nn.log_softmax, tf.nn.leaky_relu, tf.erf, tf.rsqrt, tf.lgamma):
        names.append(f.__name__ + '_y')
        f(tf.abs(x) if f in (tf.rsqrt, tf.lgamma) else x, name=names[-1])
    return Program({'x': numbers((3, 5), scale=3)}, {n: n for n in names}, within=1e-5)


@program
def strings():
    a = tf.placeholder(tf.string, [2], name='a')
    tf.string_join([a, tf.constant('+'), a], name='joined')
    tf.strings.lower(a, name='low')
    tf.strings.length(a, name='length')
    tf.strings.substr(a, 1, 2, name='part')
    tf.equal(a, 'Abc', name='same')
    return Program({'a': np.array([b'Abc', b'xYz1'])},
                   {n: n for n in ('joined', 'low', 'length', 'part', 'same')})


@program
def linear_algebra():
    a = tf.placeholder(tf.float32, [2, 3, 3], name='a')
    s = tf.matmul(a, a, transpose_b=True) + tf.eye(3) * 2
    tf.cholesky(s, name='cholesky')
    tf.matrix_inverse(s, name='inverse')
    tf.matrix_solve(s, a, name='solution')
    tf.matrix_determinant(s, name='determinant')
    tf.matrix_band_part(a, 1, 0, name='band')
    tf.einsum('bij,bkj->bik', a, s, name='einsum/x')
    return Program({'a': numbers((2, 3, 3))}, {n: n for n in ('cholesky', 'inverse', 'solution', 'determinant', 'band')},
                   within=1e-4)


@program
def double_and_half():
    x = tf.placeholder(tf.float64, [3], name='x')
    tf.identity(tf.sin(x) * 1e-9 + tf.constant(1.0 / 3, tf.float64), name='d')
    tf.cast(tf.cast(x, tf.float16) * tf.constant(0.1, tf.float16), tf.float32, name='h')
    tf.abs(tf.complex(tf.cast(x, tf.float32), 2.0), name='c')
    return Program({'x': numbers((3,)).astype(np.float64)}, {n: n for n in 'dhc'})


# -- Variables ---------------------------------------------------------------------------------------------------------

@program
def counter():
    n = tf.Variable(0, name='n')
    total = tf.Variable(tf.zeros([2]), name='total')
    x = tf.placeholder(tf.float32, [2], name='x')
    up = tf.assign_add(n, 2)
    with tf.control_dependencies([up]):
        add = tf.assign_add(total, x)
    with tf.control_dependencies([add]):
        tf.identity(total.read_value() * 2, name='seen')
    return Program({'x': numbers((2,))}, {'seen': 'seen'}, train='seen', entry='seen')


@program
def resource_counter():
    tf.enable_resource_variables()
    n = tf.Variable([1.0, 2.0], name='n')
    x = tf.placeholder(tf.float32, [2], name='x')
    with tf.control_dependencies([n.assign_add(x), ]):
        y = n.read_value()
    tf.identity(y - 1, name='y')
    tf.disable_resource_variables()
    return Program({'x': numbers((2,))}, {'y': 'y'}, train='y', entry='y')


@program
def random_values():
    """Numbers are Leat's own; what holds of any is compared."""
    x = tf.random_uniform([1000], seed=3)
    y = tf.truncated_normal([1000], stddev=2.0, seed=4)
    tf.reduce_all((x >= 0) & (x < 1), name='in_range')
    tf.reduce_all(tf.abs(y) <= 4, name='truncated')
    tf.reduce_mean(x) - 0.5
    tf.less(tf.abs(tf.reduce_mean(tf.random_normal([4000], seed=5))), 0.1, name='centered')
    return Program({}, {n: n for n in ('in_range', 'truncated', 'centered')})


# -- Training ----------------------------------------------------------------------------------------------------------

def regression(optimizer, name='train'):
    x = tf.placeholder(tf.float32, [None, 5], name='x')
    y = tf.placeholder(tf.float32, [None, 2], name='y')
    w, b = weight('w', (5, 2), 3), weight('b', (2,), 4)
    loss = tf.reduce_mean(tf.square(tf.tanh(tf.matmul(x, w) + b) - y))
    tf.identity(loss, name='loss')
    optimizer.minimize(loss, name=name)
    return Program({'x': numbers((6, 5)), 'y': numbers((6, 2), 2)}, {'loss': 'loss'}, train=name, steps=4)


@program
def gradient_descent():
    return regression(tf.train.GradientDescentOptimizer(0.5))


@program
def momentum():
    return regression(tf.train.MomentumOptimizer(0.1, 0.9))


@program
def nesterov():
    return regression(tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True))


@program
def adagrad():
    return regression(tf.train.AdagradOptimizer(0.1))


@program
def adadelta():
    return regression(tf.train.AdadeltaOptimizer(1.0))


@program
def adam():
    return regression(tf.train.AdamOptimizer(0.05))


@program
def rmsprop():
    return regression(tf.train.RMSPropOptimizer(0.05, momentum=0.5))


@program
def centered_rmsprop():
    return regression(tf.train.RMSPropOptimizer(0.05, centered=True))


@program
def ftrl():
    return regression(tf.train.FtrlOptimizer(0.2, l1_regularization_strength=0.01))


@program
def resource_adam():
    tf.enable_resource_variables()
    made = regression(tf.train.AdamOptimizer(0.05))
    tf.disable_resource_variables()
    return made


@program
def mnist_softmax():
    """The beginners' tutorial."""
    x = tf.placeholder(tf.float32, [None, 64], name='x')
    w = tf.Variable(tf.zeros([64, 10]), name='W')
    b = tf.Variable(tf.zeros([10]), name='b')
    y = tf.nn.softmax(tf.matmul(x, w) + b, name='y')
    y_ = tf.placeholder(tf.float32, [None, 10], name='y_')
    loss = tf.reduce_mean(-tf.reduce_sum(y_ * tf.log(y), reduction_indices=[1]))
    tf.train.GradientDescentOptimizer(0.5).minimize(loss, name='train')
    accuracy = tf.equal(tf.argmax(y, 1), tf.argmax(y_, 1))
    tf.reduce_mean(tf.cast(accuracy, tf.float32), name='accuracy')
    tf.identity(loss, name='loss')
    return Program({'x': abs(numbers((8, 64))), 'y_': np.eye(10, dtype=np.float32)[ints(8, 10)]},
                   {'loss': 'loss', 'accuracy': 'accuracy'}, train='train', steps=5)


@program
def mnist_mlp():
    """fully_connected_feed.py: hidden layers, sparse labels, a global step."""
    images = tf.placeholder(tf.float32, [8, 64], name='images')
    labels = tf.placeholder(tf.int32, [8], name='labels')
    h = images
    for name, n, m, seed in (('hidden1', 64, 16, 1), ('hidden2', 16, 12, 2)):
        with tf.name_scope(name):
            w = tf.Variable(tf.constant(numbers((n, m), seed, 0.2)), name='weights')
            h = tf.nn.relu(tf.matmul(h, w) + tf.Variable(tf.zeros([m]), name='biases'))
    with tf.name_scope('softmax_linear'):
        w = tf.Variable(tf.constant(numbers((12, 10), 3, 0.2)), name='weights')
        logits = tf.matmul(h, w) + tf.Variable(tf.zeros([10]), name='biases')
    cross = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name='xentropy')
    loss = tf.reduce_mean(cross, name='xentropy_mean')
    tf.identity(loss, name='loss')
    step = tf.Variable(0, name='global_step', trainable=False, dtype=tf.int64)
    tf.train.GradientDescentOptimizer(0.3).minimize(loss, global_step=step, name='train')
    tf.reduce_sum(tf.cast(tf.nn.in_top_k(logits, labels, 1), tf.int32), name='correct')
    return Program({'images': numbers((8, 64)), 'labels': ints(8, 10)}, {'loss': 'loss', 'correct': 'correct'},
                   train='train', steps=4)


@program
def mnist_conv():
    """The experts' tutorial, with dropout of nothing."""
    x = tf.placeholder(tf.float32, [None, 64], name='x')
    y_ = tf.placeholder(tf.float32, [None, 10], name='y_')
    image = tf.reshape(x, [-1, 8, 8, 1])
    h1 = tf.nn.relu(tf.nn.conv2d(image, weight('w1', (5, 5, 1, 4), 1), strides=[1, 1, 1, 1], padding='SAME')
                    + weight('b1', (4,), 2))
    p1 = tf.nn.max_pool(h1, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='SAME')
    h2 = tf.nn.relu(tf.nn.conv2d(p1, weight('w2', (3, 3, 4, 6), 3), strides=[1, 1, 1, 1], padding='SAME')
                    + weight('b2', (6,), 4))
    p2 = tf.nn.max_pool(h2, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='SAME')
    flat = tf.reshape(p2, [-1, 2 * 2 * 6])
    h3 = tf.nn.relu(tf.matmul(flat, weight('w3', (24, 16), 5)) + weight('b3', (16,), 6))
    keep = tf.placeholder(tf.float32, name='keep_prob')
    y = tf.matmul(h3 * keep, weight('w4', (16, 10), 7)) + weight('b4', (10,), 8)
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y_, logits=y))
    tf.identity(loss, name='loss')
    tf.train.AdamOptimizer(1e-2).minimize(loss, name='train')
    return Program({'x': numbers((5, 64)), 'y_': np.eye(10, dtype=np.float32)[ints(5, 10)],
                    'keep_prob': np.float32(1)}, {'loss': 'loss'}, train='train', steps=3, within=1e-4)


@program
def cifar():
    """cifar10.py: local response normalisation, weight decay, a decaying rate, averages of the weights."""
    images = tf.placeholder(tf.float32, [4, 12, 12, 3], name='images')
    labels = tf.placeholder(tf.int64, [4], name='labels')
    losses = []

    def decayed(name, shape, seed, wd):
        w = weight(name, shape, seed, 0.1)
        if wd:
            losses.append(tf.nn.l2_loss(w) * wd)
        return w

    conv = tf.nn.conv2d(images, decayed('conv1/weights', (5, 5, 3, 8), 1, 0), [1, 1, 1, 1], padding='SAME')
    conv1 = tf.nn.relu(tf.nn.bias_add(conv, weight('conv1/biases', (8,), 2)))
    pool1 = tf.nn.max_pool(conv1, ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding='SAME')
    norm1 = tf.nn.lrn(pool1, 4, bias=1.0, alpha=0.001 / 9.0, beta=0.75)
    conv = tf.nn.conv2d(norm1, decayed('conv2/weights', (5, 5, 8, 8), 3, 0), [1, 1, 1, 1], padding='SAME')
    conv2 = tf.nn.relu(tf.nn.bias_add(conv, weight('conv2/biases', (8,), 4)))
    norm2 = tf.nn.lrn(conv2, 4, bias=1.0, alpha=0.001 / 9.0, beta=0.75)
    pool2 = tf.nn.max_pool(norm2, ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding='SAME')
    flat = tf.reshape(pool2, [4, -1])
    local3 = tf.nn.relu(tf.matmul(flat, decayed('local3/weights', (72, 12), 5, 0.004)) + weight('local3/biases', (12,), 6))
    logits = tf.add(tf.matmul(local3, decayed('softmax/weights', (12, 10), 7, 0.0)), weight('softmax/biases', (10,), 8))
    cross = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    loss = tf.add_n(losses + [cross], name='total_loss')
    step = tf.train.get_or_create_global_step()
    lr = tf.train.exponential_decay(0.1, step, 2, 0.5, staircase=True)
    grads = tf.train.GradientDescentOptimizer(lr).compute_gradients(loss)
    apply = tf.train.GradientDescentOptimizer(lr).apply_gradients(grads, global_step=step)
    averages = tf.train.ExponentialMovingAverage(0.9)
    with tf.control_dependencies([apply]):
        averages.apply(tf.trainable_variables())
    tf.identity(loss, name='loss')
    return Program({'images': numbers((4, 12, 12, 3)), 'labels': ints(4, 10, dtype=np.int64)}, {'loss': 'loss'},
                   train='ExponentialMovingAverage', steps=3, within=1e-4)


def unrolled_lstm(x, units, steps):
    c = h = tf.zeros([x.shape[0], units])
    w, b = weight('lstm/kernel', (int(x.shape[2]) + units, 4 * units), 11), weight('lstm/bias', (4 * units,), 12)
    for t in range(steps):
        i, j, f, o = tf.split(tf.matmul(tf.concat([x[:, t, :], h], 1), w) + b, 4, axis=1)
        c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        h = tf.tanh(c) * tf.sigmoid(o)
        yield h


@program
def ptb_lstm():
    """ptb_word_lm.py: embeddings, an unrolled LSTM, clipped gradients."""
    inputs = tf.placeholder(tf.int32, [3, 4], name='inputs')
    targets = tf.placeholder(tf.int32, [3, 4], name='targets')
    embedding = weight('embedding', (20, 8), 1)
    x = tf.nn.embedding_lookup(embedding, inputs)
    output = tf.reshape(tf.concat(list(unrolled_lstm(x, 8, 4)), 1), [-1, 8])
    logits = tf.nn.xw_plus_b(output, weight('softmax_w', (8, 20), 2), weight('softmax_b', (20,), 3))
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.reshape(targets, [-1]), logits=logits)
    cost = tf.reduce_sum(loss) / 3
    variables = tf.trainable_variables()
    grads, _ = tf.clip_by_global_norm(tf.gradients(cost, variables), 5.0)
    tf.train.GradientDescentOptimizer(0.5).apply_gradients(zip(grads, variables), name='train')
    tf.identity(cost, name='cost')
    return Program({'inputs': ints((3, 4), 20), 'targets': ints((3, 4), 20, 2)}, {'cost': 'cost'}, train='train', steps=3,
                   within=1e-4)


@program
def word2vec():
    """word2vec_basic.py: noise-contrastive estimation with the samples fed."""
    inputs = tf.placeholder(tf.int32, [6], name='inputs')
    labels = tf.placeholder(tf.int32, [6, 1], name='labels')
    sampled = tf.placeholder(tf.int64, [4], name='sampled')
    embeddings = weight('embeddings', (30, 8), 1)
    embed = tf.nn.embedding_lookup(embeddings, inputs)
    w, b = weight('nce_weights', (30, 8), 2), weight('nce_biases', (30,), 3)
    true_logits = tf.reduce_sum(embed * tf.nn.embedding_lookup(w, labels[:, 0]), 1) \
        + tf.nn.embedding_lookup(b, labels[:, 0])
    noise_logits = tf.matmul(embed, tf.nn.embedding_lookup(w, sampled), transpose_b=True) \
        + tf.nn.embedding_lookup(b, sampled)
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.ones_like(true_logits), logits=true_logits)) \
        + tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.zeros_like(noise_logits), logits=noise_logits))
    tf.train.GradientDescentOptimizer(1.0).minimize(loss, name='train')
    tf.identity(loss, name='loss')
    norm = tf.sqrt(tf.reduce_sum(tf.square(embeddings), 1, keepdims=True))
    tf.matmul(embeddings[:3] / norm[:3], embeddings / norm, transpose_b=True, name='similarity')
    return Program({'inputs': ints(6, 30), 'labels': ints((6, 1), 30, 2), 'sampled': ints(4, 30, 3, np.int64)},
                   {'loss': 'loss', 'similarity': 'similarity'}, train='train', steps=3, within=1e-4)


@program
def batch_norm():
    x = tf.placeholder(tf.float32, [4, 5, 5, 3], name='x')
    scale, offset = weight('scale', (3,), 1), weight('offset', (3,), 2)
    y, mean, variance = tf.nn.fused_batch_norm(x, scale, offset, epsilon=0.01)
    running = tf.get_variable('running', initializer=tf.zeros([3]), trainable=False)
    loss = tf.reduce_mean(tf.square(y - x * x))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.control_dependencies([train]):
        tf.assign(running, 0.9 * running + 0.1 * (mean + variance), name='train')
    tf.identity(loss, name='loss')
    return Program({'x': numbers((4, 5, 5, 3))}, {'loss': 'loss'}, train='train', steps=3, within=1e-4)


@program
def autoencoder():
    x = tf.placeholder(tf.float32, [None, 12], name='x')
    w1, w2 = weight('w1', (12, 4), 1), weight('w2', (4, 12), 2)
    y = tf.matmul(tf.nn.softplus(tf.matmul(x, w1)), w2)
    loss = tf.reduce_sum(tf.abs(x - y)) / tf.cast(tf.shape(x)[0], tf.float32)
    tf.train.RMSPropOptimizer(0.01).minimize(loss, name='train')
    tf.identity(loss, name='loss')
    return Program({'x': numbers((5, 12))}, {'loss': 'loss'}, train='train', steps=3)


@program
def broadcasting_gradients():
    x = tf.placeholder(tf.float32, [4, 1, 3], name='x')
    a, b, c = weight('a', (5, 1), 1), weight('b', (3,), 2), weight('c', (), 3)
    y = (x * a + b) / (tf.square(c) + 1.0) - tf.maximum(b, x) ** 2
    loss = tf.reduce_mean(y) + tf.reduce_max(tf.reduce_sum(y, [0, 1]))
    tf.train.GradientDescentOptimizer(0.1).minimize(loss, name='train')
    tf.identity(loss, name='loss')
    return Program({'x': numbers((4, 1, 3))}, {'loss': 'loss'}, train='train', steps=3)


@program
def slicing_gradients():
    w = weight('w', (6, 4), 1)
    x = tf.placeholder(tf.float32, [4, 3], name='x')
    parts = [w[1:4, ::2], tf.transpose(tf.slice(w, [0, 1], [2, 3])), tf.concat([w[:3, :2], w[3:, 2:]], 0)[:3]]
    stacked = tf.stack([tf.reduce_sum(p) for p in parts]) * tf.reduce_sum(tf.pad(tf.matmul(w, x), [[1, 0], [0, 2]])[2:])
    loss = tf.reduce_sum(stacked) + tf.reduce_sum(tf.tile(w, [2, 1]) ** 2)
    tf.train.GradientDescentOptimizer(0.01).minimize(loss, name='train')
    tf.identity(loss, name='loss')
    return Program({'x': numbers((4, 3))}, {'loss': 'loss'}, train='train', steps=3, within=1e-4)


# -- Control flow ------------------------------------------------------------------------------------------------------

@program
def branches():
    p = tf.placeholder(tf.bool, [], name='p')
    x = tf.placeholder(tf.float32, [3], name='x')
    y = tf.cond(p, lambda: x * 2 + 1, lambda: tf.cond(x[0] > 0, lambda: -x, lambda: tf.zeros([3])))
    tf.identity(y, name='y')
    tf.identity(tf.cond(p, lambda: tf.constant(1), lambda: tf.constant(2)), name='k')
    return Program({'p': np.bool_(False), 'x': numbers((3,))}, {'y': 'y', 'k': 'k'}, text=True)


@program
def branch_gradients():
    p = tf.placeholder(tf.bool, [], name='p')
    w = weight('w', (3,), 1)
    loss = tf.reduce_sum(tf.cond(p, lambda: w * w, lambda: tf.exp(w)))
    tf.train.GradientDescentOptimizer(0.1).minimize(loss, name='train')
    tf.identity(loss, name='loss')
    return Program({'p': np.bool_(True)}, {'loss': 'loss'}, train='train')


@program
def while_loop():
    n = tf.placeholder(tf.int32, [], name='n')
    x = tf.placeholder(tf.float32, [2, 2], name='x')
    _, y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, tf.matmul(y, x) + tf.cast(i, tf.float32)),
                         [tf.constant(0), tf.eye(2)])
    tf.identity(y, name='y')
    return Program({'n': np.int32(4), 'x': numbers((2, 2))}, {'y': 'y'})


@program
def nested_loops():
    n = tf.placeholder(tf.int32, [], name='n')

    def outer(i, s):
        _, s = tf.while_loop(lambda j, s: j < i, lambda j, s: (j + 1, s + j * i), [tf.constant(0), s])
        return i + 1, tf.cond(i % 2 > 0, lambda: s + 100, lambda: s)

    _, s = tf.while_loop(lambda i, s: i < n, outer, [tf.constant(0), tf.constant(0)])
    tf.identity(s, name='s')
    return Program({'n': np.int32(6)}, {'s': 's'})


@program
def loop_of_a_variable():
    v = tf.Variable(1.0, name='v')
    n = tf.placeholder(tf.int32, [], name='n')

    def body(i):
        with tf.control_dependencies([tf.assign(v, v * 2.0)]):
            return i + 1

    i = tf.while_loop(lambda i: i < n, body, [tf.constant(0)])
    with tf.control_dependencies([i]):
        tf.identity(i, name='turns')
    return Program({'n': np.int32(3)}, {'turns': 'turns'}, train='turns', entry='turns', steps=2)


@program
def functions():
    """Functions of the library, and branches and loops of them."""
    tf.enable_control_flow_v2()
    tf.enable_resource_variables()
    x = tf.placeholder(tf.float32, [3], name='x')
    n = tf.placeholder(tf.int32, [], name='n')
    v = tf.Variable([1.0, 2.0, 3.0], name='v')

    @tf1.function
    def scaled(a, b):
        return a * b + v, a - b

    p, q = scaled(x, tf.constant(2.0))
    _, y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * 0.5 + p), [0, q])
    tf.identity(tf.cond(tf.reduce_sum(x) > 0, lambda: y + 1, lambda: y * q), name='y')
    tf.identity(p, name='p')
    tf.disable_control_flow_v2()
    tf.disable_resource_variables()
    return Program({'x': numbers((3,)), 'n': np.int32(3)}, {'y': 'y', 'p': 'p'})


@program
def checks():
    x = tf.placeholder(tf.float32, [3], name='x')
    with tf.control_dependencies([tf.Assert(tf.reduce_all(x > -100), [x])]):
        y = tf.check_numerics(x, 'x is no number') * 2
    tf.identity(y, name='y')
    return Program({'x': numbers((3,))}, {'y': 'y'})


# -- Saved models ------------------------------------------------------------------------------------------------------

@program
def saved_model():
    x = tf.placeholder(tf.float32, [None, 4], name='x')
    h = tf.nn.relu(tf.matmul(x, tf.get_variable('dense/kernel', [4, 3], initializer=tf.random_normal_initializer(seed=1)))
                   + tf.get_variable('dense/bias', [3], initializer=tf.random_normal_initializer(seed=2)))
    return Program({'inputs': numbers((2, 4))}, {'scores': h}, entry='serving_default', saved={'inputs': x})


@program
def saved_resource_model():
    tf.enable_resource_variables()
    x = tf.placeholder(tf.float32, [None, 4], name='x')
    w = tf.get_variable('w', [4, 3], initializer=tf.random_normal_initializer(seed=3))
    tf.disable_resource_variables()
    return Program({'x:0': numbers((2, 4))}, {'y': tf.matmul(x, w)}, entry='serving_default', saved={'x:0': x})


@program
def meta_graph():
    """What a Saver writes: a meta graph, which lists what is trained, and its checkpoint."""
    x = tf.placeholder(tf.float32, [None, 4], name='x')
    y = tf.placeholder(tf.float32, [None, 1], name='y')
    w = tf.get_variable('w', [4, 1], initializer=tf.random_normal_initializer(seed=1))
    scale = tf.get_variable('scale', [], initializer=tf.ones_initializer(), trainable=False)
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) * scale - y))
    tf.train.AdamOptimizer(0.1).minimize(loss, name='train')
    tf.identity(loss, name='loss')
    return Program({'x': numbers((6, 4)), 'y': numbers((6, 1), 2)}, {'loss': 'loss'}, train='train', steps=3, meta=True)


@program
def dynamic_lstm():
    """An LSTM as tf.nn.dynamic_rnn makes it: a loop over arrays of tensors."""
    x = tf.placeholder(tf.float32, [2, 5, 3], name='x')
    w, b = weight('kernel', (7, 16), 1), weight('bias', (16,), 2)
    inputs = tf.TensorArray(tf.float32, 5).unstack(tf.transpose(x, [1, 0, 2]))
    outputs = tf.TensorArray(tf.float32, 5, element_shape=[2, 4])

    def step(t, c, h, outputs):
        i, j, f, o = tf.split(tf.matmul(tf.concat([inputs.read(t), h], 1), w) + b, 4, axis=1)
        c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        h = tf.tanh(c) * tf.sigmoid(o)
        return t + 1, c, h, outputs.write(t, h)

    _, c, h, outputs = tf.while_loop(lambda t, *_: t < 5, step, [0, tf.zeros([2, 4]), tf.zeros([2, 4]), outputs])
    tf.transpose(outputs.stack(), [1, 0, 2], name='outputs')
    tf.concat([c, h], 1, name='state')
    return Program({'x': numbers((2, 5, 3))}, {'outputs': 'outputs', 'state': 'state'})


@program
def sparse_adagrad():
    """Embeddings of which only rows are trained, with a summary, which is no reason to refuse the rest."""
    i = tf.placeholder(tf.int32, [5], name='i')
    table = weight('table', (9, 4), 1)
    loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, i) - 0.5))
    tf.summary.scalar('loss_summary', loss)
    tf.train.AdagradOptimizer(0.3).minimize(loss, name='train')
    tf.identity(loss, name='loss')
    return Program({'i': np.array([3, 1, 3, 0, 8], np.int32)}, {'loss': 'loss'}, train='train', steps=3)


@program
def sparse_momentum():
    tf.enable_resource_variables()
    i = tf.placeholder(tf.int64, [2, 2], name='i')
    table = weight('table', (9, 4), 1)
    loss = tf.reduce_sum(tf.tanh(tf.nn.embedding_lookup(table, i)))
    tf.train.MomentumOptimizer(0.3, 0.8).minimize(loss, name='train')
    tf.identity(loss, name='loss')
    tf.disable_resource_variables()
    return Program({'i': np.array([[3, 1], [3, 0]], np.int64)}, {'loss': 'loss'}, train='train', steps=3)


@program
def frozen_net():
    """As freeze_graph leaves a net: constants, batch normalisation as TensorFlow infers with it, NHWC."""
    x = tf.placeholder(tf.float32, [None, 9, 9, 3], name='input')
    h = tf.nn.conv2d(x, tf.constant(numbers((3, 3, 3, 6), 1, 0.3)), [1, 2, 2, 1], padding='SAME')
    h, _, _ = tf.nn.fused_batch_norm(h, tf.constant(abs(numbers((6,), 2))), tf.constant(numbers((6,), 3)),
                                     mean=tf.constant(numbers((6,), 4)), variance=tf.constant(abs(numbers((6,), 5))),
                                     is_training=False)
    h = tf.nn.relu6(h)
    h = tf.nn.depthwise_conv2d(h, tf.constant(numbers((3, 3, 6, 2), 6, 0.3)), [1, 1, 1, 1], padding='VALID')
    h = tf.nn.avg_pool(tf.pad(h, [[0, 0], [1, 1], [1, 1], [0, 0]]), [1, 2, 2, 1], [1, 2, 2, 1], padding='SAME')
    h = tf.reduce_mean(h, [1, 2], keepdims=True)
    h = tf.squeeze(tf.nn.bias_add(tf.nn.conv2d(h, tf.constant(numbers((1, 1, 12, 4), 7)), [1, 1, 1, 1], padding='SAME'),
                                  tf.constant(numbers((4,), 8))), [1, 2])
    tf.nn.softmax(h, name='output')
    return Program({'input': numbers((2, 9, 9, 3))}, {'output': 'output'}, within=1e-4)


@program
def attention():
    x = tf.placeholder(tf.float32, [None, 5, 8], name='x')
    n, steps = tf.shape(x)[0], 5
    heads = []
    for seed in range(3):
        y = tf.reshape(tf.matmul(tf.reshape(x, [-1, 8]), weight(f'w{seed}', (8, 8), seed)), [n, steps, 2, 4])
        heads.append(tf.transpose(y, [0, 2, 1, 3]))
    q, k, v = heads
    scores = tf.matmul(q, k, transpose_b=True) / tf.sqrt(4.0)
    mask = tf.linalg.band_part(tf.ones([steps, steps]), -1, 0)
    scores = scores * mask - 1e9 * (1 - mask)
    y = tf.reshape(tf.transpose(tf.matmul(tf.nn.softmax(scores), v), [0, 2, 1, 3]), [n, steps, 8])
    mean, variance = tf.nn.moments(x + y, [-1], keepdims=True)
    z = tf.nn.batch_normalization(x + y, mean, variance, weight('beta', (8,), 5), weight('gamma', (8,), 6), 1e-6)
    loss = tf.reduce_mean(tf.square(z - 1))
    tf.train.GradientDescentOptimizer(0.1).minimize(loss, name='train')
    tf.identity(loss, name='loss')
    return Program({'x': numbers((3, 5, 8))}, {'loss': 'loss'}, train='train', steps=3, within=1e-4)


@program
def dropout_of_nothing():
    x = tf.placeholder(tf.float32, [4, 6], name='x')
    keep = tf.placeholder(tf.float32, name='keep')
    tf.nn.dropout(x, rate=1 - keep, seed=1) * 2
    y = tf.floor(keep + tf.random_uniform([4, 6])) * x / keep
    tf.identity(y, name='y')
    return Program({'x': numbers((4, 6)), 'keep': np.float32(1)}, {'y': 'y'})


@program
def cases():
    k = tf.placeholder(tf.int32, [], name='k')
    x = tf.placeholder(tf.float32, [3], name='x')
    y = tf.case([(tf.equal(k, 0), lambda: x + 1), (tf.equal(k, 1), lambda: x * 3)], default=lambda: -x)
    tf.identity(y, name='y')
    return Program({'k': np.int32(1), 'x': numbers((3,))}, {'y': 'y'})


@program
def averages():
    """group, control dependencies, a moving average that is read, clipping by value."""
    x = tf.placeholder(tf.float32, [3, 2], name='x')
    w = weight('w', (2,), 1)
    loss = tf.reduce_sum(tf.square(x - w))
    optimizer = tf.train.GradientDescentOptimizer(0.05)
    pairs = [(tf.clip_by_value(g, -1.0, 1.0), v) for g, v in optimizer.compute_gradients(loss)]
    apply = optimizer.apply_gradients(pairs)
    average = tf.train.ExponentialMovingAverage(0.5)
    with tf.control_dependencies([apply]):
        update = average.apply([w])
    tf.group(update, apply, name='train')
    tf.identity(average.average(w) + 0.0, name='average')
    return Program({'x': numbers((3, 2))}, {'average': 'average'}, train='train', steps=4)
