"""The networks of the texts here for other libraries, over a module F of what both have (jax_ops.py, tensorflow_ops.py).

Parameters p have the names of Leat's variables, and are what these begin with; batch(name) is what every system is fed.
"""
import numpy as np

SGD, CLIPPED, ADAM = 'sgd', 'clipped', 'adam'


def pictures(random, *shape, classes=10):
    return {'x': random.standard_normal(shape).astype('f4'), 'y': random.integers(0, classes, shape[0]).astype('i4')}


def words(random, count, **shapes):
    return {name: random.integers(0, count, shape).astype('i4') for name, shape in shapes.items()}


def batch(name):
    """By the parameters of the text's entry."""
    return {name: np.ascontiguousarray(array) for name, array in NETWORKS[name][0](np.random.default_rng(1)).items()}


def dense(F, p, name, x, activation=lambda x: x):
    y = F.matmul(x, p[f'{name}/w'])
    return activation(y + p[f'{name}/b'] if f'{name}/b' in p else y)


def conv(F, p, name, x, stride=1):
    return F.relu(F.conv(x, p[f'{name}/w'], stride) + p[f'{name}/b'])


def mnist_mlp(F, p, x, y):
    for name in ('first', 'second'):
        x = dense(F, p, name, x, F.relu)
    return F.cross_entropy(dense(F, p, 'output', x), y)


def mnist_cnn(F, p, x, y):
    for name in ('conv1', 'conv2'):
        x = F.max_pool(conv(F, p, name, x), 2, 2)
    x = dense(F, p, 'hidden', F.reshape(x, (64, 3136)), F.relu)
    return F.cross_entropy(dense(F, p, 'output', x), y)


def cifar_cnn(F, p, x, y):
    def normalised(x):
        return F.normalised(x, 4, 0.001 / 9)
    x = normalised(F.max_pool(conv(F, p, 'conv1', x), 3, 2))
    x = F.max_pool(normalised(conv(F, p, 'conv2', x)), 3, 2)
    x = F.reshape(x, (128, 2304))
    for name in ('first', 'second'):
        x = dense(F, p, name, x, F.relu)
    return F.cross_entropy(dense(F, p, 'output', x), y)


def inception_v1(F, p, x, y):
    def layer(name, x, stride=1):
        return conv(F, p, f'{name}/conv', x, stride)

    def halved(x):
        return F.max_pool(x, 3, 2)

    def normalised(x):
        return F.normalised(x, 2, 0.0001 / 5)

    def inception(name, x):
        return F.concat([layer(f'{name}/one', x),
                         layer(f'{name}/three', layer(f'{name}/before_three', x)),
                         layer(f'{name}/five', layer(f'{name}/before_five', x)),
                         layer(f'{name}/pool', F.max_pool(x, 3, 1))], 3)
    x = normalised(halved(layer('stem1', x, 2)))
    x = halved(normalised(layer('stem3', layer('stem2', x))))
    for name in ('a3', 'b3', 'a4', 'b4', 'c4', 'd4', 'e4', 'a5', 'b5'):
        x = inception(name, halved(x) if name in ('a4', 'a5') else x)
    return F.cross_entropy(dense(F, p, 'output', F.mean(x, (1, 2))), y)


def lstm_lm(F, p, x, y, h, c):
    rows = F.take(p['input/table'], x)
    states = [rows[t] for t in range(20)]
    for i, name in enumerate(('lower', 'upper')):
        out, kept = h[i], c[i]
        for t, state in enumerate(states):
            gates = F.split(dense(F, p, name, F.concat([state, out], 1)), 4, 1)
            kept = F.sigmoid(gates[2] + 1) * kept + F.sigmoid(gates[0]) * F.tanh(gates[1])
            states[t] = out = F.sigmoid(gates[3]) * F.tanh(kept)
    return F.cross_entropy(dense(F, p, 'output', F.concat(states, 0)), F.reshape(y, (400,)))


def word2vec(F, rows):
    """rows[table, index]: those of the table; only they have gradients."""
    start = rows['input/table', 'word']
    seen = F.sum(start * rows['output/table', 'next_word'], 1) + rows['bias/b', 'next_word']
    unseen = F.matmul(start, F.transpose(rows['output/table', 'noise'], (1, 0))) + rows['bias/b', 'noise']
    return (F.sum(F.softplus(-seen)) + F.sum(F.softplus(unseen))) / 128


ROWS = {'word2vec': [('input/table', 'word'), ('output/table', 'next_word'), ('output/table', 'noise'),
                     ('bias/b', 'next_word'), ('bias/b', 'noise')]}


def transformer_lm(F, p, x, y):
    def norm(name, x):
        centred = x - F.mean(x, -1, keep=True)
        return centred * F.rsqrt(F.mean(centred * centred, -1, keep=True) + 1e-5) * p[f'{name}/scale'] + p[f'{name}/offset']

    def by_head(x):
        return F.transpose(F.reshape(x, (8, 128, 8, 32)), (0, 2, 1, 3))

    seen = np.tril(np.ones((128, 128), bool))
    h = F.take(p['input/table'], x) + p['places']
    for i in range(4):
        name = f'block{i}'
        q, k, v = map(by_head, F.split(dense(F, p, f'{name}/attention/qkv', norm(f'{name}/before', h)), 3, 2))
        scores = F.matmul(q, F.transpose(k, (0, 1, 3, 2))) * 32 ** -.5
        mixed = F.matmul(F.softmax(F.where(seen, scores, -np.inf)), v)
        mixed = F.reshape(F.transpose(mixed, (0, 2, 1, 3)), (8, 128, 256))
        h = h + dense(F, p, f'{name}/attention/out', mixed)
        inner = dense(F, p, f'{name}/up', norm(f'{name}/between', h), F.gelu)
        h = h + dense(F, p, f'{name}/down', inner)
    return F.cross_entropy(dense(F, p, 'output', norm('norm', h)), y)


# By text: what it is fed, the network, and how it learns.
NETWORKS = {
    'mnist_mlp': (lambda r: pictures(r, 128, 784), mnist_mlp, (SGD, 0.01)),
    'mnist_cnn': (lambda r: pictures(r, 64, 28, 28, 1), mnist_cnn, (ADAM, 0.0001)),
    'cifar_cnn': (lambda r: pictures(r, 128, 24, 24, 3), cifar_cnn, (SGD, 0.01)),
    'inception_v1': (lambda r: pictures(r, 8, 224, 224, 3, classes=1000), inception_v1, (SGD, 0.0001)),
    'lstm_lm': (lambda r: {**words(r, 10000, x=(20, 20), y=(20, 20)), 'h': np.zeros((2, 20, 200), 'f4'),
                           'c': np.zeros((2, 20, 200), 'f4')}, lstm_lm, (CLIPPED, 0.1)),
    'transformer_lm': (lambda r: words(r, 4096, x=(8, 128), y=(8, 128)), transformer_lm, (ADAM, 0.0003)),
    'word2vec': (lambda r: words(r, 50000, word=128, next_word=128, noise=64), word2vec, (SGD, 0.2)),
}
