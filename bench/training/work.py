"""How much work a network's training step is: networks.py is written in this module's operations, on shapes alone, which
count the multiply-adds of products and convolutions. Gradients are two more of each, but of what is fed."""
import sys

import numpy as np

import networks

count = [0]  # multiply-adds, of results and what they are made of


class Shape:
    """An array without numbers."""
    __array_priority__ = 1

    def __init__(self, shape, fed=False):
        self.shape, self.fed = tuple(shape), fed

    def _with(self, other):
        return Shape(np.broadcast_shapes(self.shape, getattr(other, 'shape', ())))

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = _with

    def __neg__(self):
        return self

    def __getitem__(self, i):
        return Shape(np.empty(self.shape, '?')[i].shape)


def same(x, *_):
    return x


relu = sigmoid = tanh = softplus = softmax = rsqrt = gelu = normalised = same


def add(x, each, shape):
    """Multiply-adds of a result: forward, the weights' gradient, and that of x, which what is fed has not."""
    count[0] += (2 if x.fed else 3) * each * int(np.prod(shape))
    return Shape(shape)


def matmul(a, b):
    return add(a, a.shape[-1], (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1]))


def halved(x, stride):
    return [-(-side // stride) for side in x.shape[1:3]]


def conv(x, w, stride):
    return add(x, int(np.prod(w.shape[:3])), (x.shape[0], *halved(x, stride), w.shape[3]))


def max_pool(x, _, stride):
    return Shape((x.shape[0], *halved(x, stride), x.shape[3]))


def mean(x, axes, keep=False):
    return Shape(np.empty(x.shape, '?').any(axes, keepdims=keep).shape)


def sum(x, axis=None):
    return Shape(np.empty(x.shape, '?').any(axis).shape)


def reshape(x, shape):
    return Shape(shape, x.fed)


def transpose(x, axes):
    return Shape([x.shape[axis] for axis in axes])


def concat(parts, axis):
    shape = list(parts[0].shape)
    shape[axis] = int(np.sum([part.shape[axis] for part in parts]))
    return Shape(shape)


def split(x, parts, axis):
    shape = list(x.shape)
    shape[axis] //= parts
    return [Shape(shape)] * parts


def take(table, i):
    return Shape((*i.shape, *table.shape[1:]))


def where(_, x, __):
    return x


def cross_entropy(*_):
    return Shape(())


def flops(name, shapes):
    """Of a step; shapes: of its variables, by name."""
    ops, count[0] = sys.modules[__name__], 0
    _, network, _ = networks.NETWORKS[name]
    fed = {key: Shape(array.shape, fed=True) for key, array in networks.batch(name).items()}
    p = {key: Shape(shape) for key, shape in shapes.items()}
    if name in networks.ROWS:
        network(ops, {(table, index): take(p[table], fed[index]) for table, index in networks.ROWS[name]})
    else:
        network(ops, p, **fed)
    return 2 * count[0]
