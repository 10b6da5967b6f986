"""Random models of ONNX: graph(seed) is one, whose nodes are of all kinds, with several consumers, constants, branches,
loops, shapes that are computed and extents that only names are given to. Each node is tried beside ONNX Runtime when it is
added; one that fails there, or gives what cannot be compared, is left out. Needs onnx and onnxruntime."""
import random

import numpy as np
from onnx import TensorProto as T
from onnx import helper as h
from oracle import Model, graph, info

N, F, I = h.make_node, np.float32, np.int64
FLOATS = ('Abs Neg Exp Relu Sigmoid Tanh Softplus Softsign Floor Ceil Round Sign Erf Sin Cos Atan Selu HardSwish Mish '
          'Identity Reciprocal Sqrt Log IsNaN LeakyRelu Elu HardSigmoid Gelu ThresholdedRelu Shrink Celu').split()
REDUCED = 'Sum Mean Max Min Prod L1 L2 SumSquare LogSumExp'.split()
MOST = 200  # elements


class Drawn:
    def __init__(self, seed):
        self.draw, self.rng = random.Random(seed), np.random.default_rng(seed)
        self.nodes, self.values, self.inputs, self.constants, self.shapes = [], {}, {}, {}, {}
        self.used, self.count, self.sizes = set(), 0, {}

    # -- Values ------------------------------------------------------------------------------------------------------------

    def name(self, prefix='v'):
        self.count += 1
        return f'{prefix}{self.count}'

    def array(self, shape, dtype=F):
        if dtype == F:
            return np.round(self.rng.uniform(-2, 2, shape), 2).astype(F)
        if dtype == np.bool_:
            return self.rng.integers(0, 2, shape).astype(np.bool_)
        return self.rng.integers(-3, 6, shape).astype(dtype)

    def add_input(self):
        shape = tuple(self.draw.choice((1, 2, 3, 4)) for _ in range(self.draw.choice((0, 1, 2, 2, 3, 3, 4))))
        name, dtype = self.name('x'), self.draw.choice((F, F, F, I, np.int32, np.bool_))
        self.inputs[name] = self.values[name] = self.array(shape, dtype)
        said = []
        for extent in shape:  # a name is one extent, but one extent may have several names
            named = self.draw.random() < 0.4 and extent > 1
            said.append(f'd{extent}{self.draw.choice("abc")}' if named else extent)
        self.shapes[name] = said

    def constant(self, value):
        """As an initializer, or as what a node gives."""
        value = np.asarray(value)
        name = self.name('c')
        if self.draw.random() < 0.6:
            self.constants[name] = value
        else:
            from onnx import numpy_helper
            self.nodes.append(N('Constant', [], [name], value=numpy_helper.from_array(value, name)))
        self.values[name] = value
        return name

    def pick(self, *kinds, rank=None, least=0):
        fit = [n for n, v in self.values.items() if (not kinds or v.dtype.kind in kinds) and v.ndim >= least and (rank is None or v.ndim == rank)]
        if not fit:
            raise IndexError
        return self.draw.choice(fit)

    def add(self, op, inputs, outputs=1, **attributes):
        """One node, which is left out where it cannot be compared."""
        names = [self.name() for _ in range(outputs)]
        node = N(op, inputs, names, **attributes)
        fed = {n: self.values[n] for n in self.outer(node)}
        found = Model([node], names, initializers=fed, opset=21).answer('runtime')
        if isinstance(found, Exception):
            return None
        for value in found:
            if not isinstance(value, np.ndarray) or value.size > MOST or value.dtype.kind in 'O':
                return None
            if value.dtype.kind == 'f' and not (np.isfinite(value).all() and (np.abs(value) < 1e4).all()):
                return None
            if value.dtype.kind in 'iu' and (np.abs(value.astype('f8')) > 1e6).any():
                return None
        self.nodes.append(node)
        self.used.update(self.outer(node))
        self.values.update(zip(names, found))
        return names[0] if outputs == 1 else names

    def outer(self, node):
        """What a node reads, bodies included."""
        found = {n for n in node.input if n}
        for a in node.attribute:
            if a.HasField('g'):
                made = {x.name for x in a.g.input} | {x.name for x in a.g.initializer}
                for inner in a.g.node:
                    found |= self.outer(inner) - made
                    made |= set(inner.output)
        return found

    # -- Nodes ---------------------------------------------------------------------------------------------------------------

    def beside(self, name):
        """A value that may stand beside it: itself, another one of its dtype, or a constant that broadcasts."""
        x = self.values[name]
        others = [n for n, v in self.values.items() if v.dtype == x.dtype and self.fits(v.shape, x.shape)]
        if self.draw.random() < 0.5:
            return self.draw.choice(others)
        shape = tuple(self.draw.choice((1, extent)) for extent in x.shape)[self.draw.randrange(x.ndim + 1):]
        return self.constant(self.array(shape, x.dtype.type))

    @staticmethod
    def fits(a, b):
        try:
            np.broadcast_shapes(a, b)
        except ValueError:
            return False
        return True

    def axis(self, name):
        rank = self.values[name].ndim
        return self.draw.randrange(-rank, rank)

    def unary(self):
        self.add(self.draw.choice(FLOATS), [self.pick('f')])

    def binary(self):
        name = self.pick('fi')
        pair = [name, self.beside(name)]
        self.draw.shuffle(pair)
        self.add(self.draw.choice(('Add', 'Sub', 'Mul', 'Div', 'Max', 'Min', 'Add', 'Mul')), pair)

    def several(self):
        name = self.pick('f')
        self.add(self.draw.choice(('Sum', 'Mean', 'Max', 'Min')), [name, self.beside(name), self.beside(name)][:self.draw.choice((1, 2, 3))])

    def compared(self):
        name = self.pick('fi')
        p = self.add(self.draw.choice(('Less', 'Greater', 'Equal', 'LessOrEqual', 'GreaterOrEqual')), [name, self.beside(name)])
        if p and self.draw.random() < 0.6:
            self.add('Where', [p, name, self.beside(name)])

    def logic(self):
        name = self.pick('b')
        if self.draw.random() < 0.3:
            self.add('Not', [name])
        else:
            self.add(self.draw.choice(('And', 'Or', 'Xor')), [name, self.beside(name)])

    def chosen(self):
        p, name = self.pick('b'), self.pick('fi')
        if self.fits(self.values[p].shape, self.values[name].shape):
            self.add('Where', [p, name, self.beside(name)])

    def cast(self):
        self.add('Cast', [self.pick('fib')], to=self.draw.choice((T.FLOAT, T.INT64, T.INT32, T.BOOL, T.FLOAT, T.DOUBLE)))

    def reduced(self):
        name = self.pick('fi', least=1)
        axes = sorted({self.axis(name) % self.values[name].ndim for _ in range(self.draw.choice((1, 1, 2)))})
        inputs = [name, self.constant(I(axes))] if self.draw.random() < 0.8 else [name]
        self.add('Reduce' + self.draw.choice(REDUCED), inputs, keepdims=self.draw.randrange(2))

    def along(self):
        name = self.pick('f', least=1)
        op = self.draw.choice(('Softmax', 'LogSoftmax', 'ArgMax', 'ArgMin', 'CumSum', 'TopK', 'Hardmax', 'LpNormalization'))
        axis = self.axis(name)
        if op == 'CumSum':
            self.add(op, [name, self.constant(I(axis))], exclusive=self.draw.randrange(2), reverse=self.draw.randrange(2))
        elif op == 'TopK':
            k = self.constant(I([self.draw.randint(1, self.values[name].shape[axis])]))
            self.add(op, [name, k], outputs=2, axis=axis, largest=self.draw.randrange(2))
        elif op in ('ArgMax', 'ArgMin'):
            self.add(op, [name], axis=axis, keepdims=self.draw.randrange(2))
        elif op == 'LpNormalization':
            self.add(op, [name], axis=axis, p=self.draw.choice((1, 2)))
        else:
            self.add(op, [name], axis=axis)

    def moved(self):
        name = self.pick(least=1)
        x, rank = self.values[name], self.values[name].ndim
        op = self.draw.choice(('Transpose', 'Flatten', 'Unsqueeze', 'Squeeze', 'Concat', 'Split', 'Slice', 'Gather', 'Tile', 'Expand', 'Pad',
                               'Reshape', 'GatherElements', 'Trilu', 'ScatterElements', 'GatherND', 'Compress'))
        axis = self.axis(name)
        if op == 'Transpose':
            self.add(op, [name], perm=self.draw.sample(range(rank), rank))
        elif op == 'Flatten':
            self.add(op, [name], axis=self.draw.randint(0, rank))
        elif op == 'Unsqueeze':
            self.add(op, [name, self.constant(I([self.draw.randint(0, rank)]))])
        elif op == 'Squeeze':
            ones = [i for i, extent in enumerate(x.shape) if extent == 1]
            if ones:
                self.add(op, [name, self.constant(I([self.draw.choice(ones)]))] if self.draw.random() < 0.8 else [name])
        elif op == 'Concat':
            same = [n for n, v in self.values.items() if v.dtype == x.dtype and v.ndim == rank and v.shape[:axis % rank] + v.shape[axis % rank + 1:]
                    == x.shape[:axis % rank] + x.shape[axis % rank + 1:]]
            self.add(op, [name] + [self.draw.choice(same) for _ in range(self.draw.choice((1, 2)))], axis=axis)
        elif op == 'Split':
            first = self.draw.randint(0, x.shape[axis])
            self.add(op, [name, self.constant(I([first, x.shape[axis] - first]))], outputs=2, axis=axis)
        elif op == 'Slice':
            step = self.draw.choice((1, 1, 2, -1))
            ends = sorted(self.draw.randint(-x.shape[axis] - 1, x.shape[axis] + 1) for _ in range(2))[::1 if step > 0 else -1]
            self.add(op, [name, *[self.constant(I([v])) for v in (*ends, axis, step)]])
        elif op == 'Gather':
            self.add(op, [name, self.constant(self.rng.integers(-x.shape[axis], x.shape[axis], self.draw.choice(((), (2,), (2, 2)))).astype(I))], axis=axis) \
                if x.shape[axis] else None
        elif op == 'Tile':
            self.add(op, [name, self.constant(I([self.draw.choice((1, 1, 2)) for _ in range(rank)]))])
        elif op == 'Expand':
            self.add(op, [name, self.constant(I([self.draw.choice((1, 2))] + [extent if extent != 1 else self.draw.choice((1, 3)) for extent in x.shape]))])
        elif op == 'Pad':
            self.add(op, [name, self.constant(I([self.draw.choice((0, 0, 1)) for _ in range(2 * rank)]))],
                     mode=self.draw.choice(('constant', 'edge', 'reflect') if x.dtype.kind == 'f' else ('constant',)))
        elif op == 'Reshape':
            self.add(op, [name, self.constant(I(self.draw.choice(([-1], [x.size], [1, -1], [0, -1] if x.size else [x.size]))))])
        elif op == 'GatherElements':
            index = self.rng.integers(0, max(x.shape[axis], 1), x.shape).astype(I)
            self.add(op, [name, self.constant(index)], axis=axis)
        elif op == 'Trilu' and rank >= 2:
            self.add(op, [name, self.constant(I(self.draw.choice((-1, 0, 1))))], upper=self.draw.randrange(2))
        elif op == 'ScatterElements' and x.dtype == F and x.shape[axis]:
            index = np.broadcast_to(np.argsort(self.rng.random(x.shape[axis])).reshape([-1 if i == axis % rank else 1 for i in range(rank)]), x.shape)
            self.add(op, [name, self.constant(index.astype(I)), self.constant(self.array(x.shape))], axis=axis)
        elif op == 'GatherND' and x.shape[0]:
            self.add(op, [name, self.constant(self.rng.integers(0, x.shape[0], (2, 1)).astype(I))])
        elif op == 'Compress':
            self.add(op, [name, self.constant(self.array((x.shape[axis],), np.bool_))], axis=axis)

    def shaped(self):
        """A shape that is computed, and what it is for."""
        name = self.pick(least=1)
        x = self.values[name]
        s = self.add('Shape', [name])
        if not s:
            return
        what = self.draw.choice(('Reshape', 'ConstantOfShape', 'Expand', 'Range', 'Slice', 'Size'))
        if what == 'Reshape':
            at = self.draw.randrange(x.ndim)
            n = self.add('Gather', [s, self.constant(I([at]))])
            rest = self.constant(I([-1]))
            if n and x.size:
                pair = self.draw.choice(([n, rest], [rest, n]))
                to = self.add('Concat', pair, axis=0)
                to and self.add('Reshape', [name, to])
        elif what == 'ConstantOfShape':
            self.add('ConstantOfShape', [s])
        elif what == 'Expand':
            self.add('Expand', [self.constant(self.array((1,))), s])
        elif what == 'Range':
            n = self.add('ReduceProd', [s], keepdims=0)
            n and self.add('Range', [self.constant(I(0)), n, self.constant(I(self.draw.choice((1, 2))))])
        elif what == 'Slice':
            half = self.add('Div', [s, self.constant(I([2]))])
            half and self.add('Slice', [name, self.constant(I([0] * x.ndim)), half])
        else:
            n = self.add('Size', [name])
            f = n and self.add('Cast', [n], to=T.FLOAT)
            f and self.add('Mul', [f, self.constant(F(0.5))])

    def layer(self):
        op = self.draw.choice(('MatMul', 'Gemm', 'Conv', 'MaxPool', 'AveragePool', 'LayerNormalization', 'InstanceNormalization',
                               'BatchNormalization', 'GlobalAveragePool', 'Einsum', 'PRelu', 'LRN', 'DepthToSpace', 'OneHot', 'NonZero', 'ConvTranspose'))
        if op == 'MatMul':
            a = self.pick('f', least=2)
            self.add(op, [a, self.constant(self.array((self.values[a].shape[-1], 3)))])
        elif op == 'Gemm':
            a, flip = self.pick('f', rank=2), self.draw.randrange(2)
            k = self.values[a].shape[0 if flip else 1]
            self.add(op, [a, self.constant(self.array((k, 2))), self.constant(self.array(self.draw.choice(((), (2,), (1, 2)))))], transA=flip, alpha=0.5)
        elif op in ('Conv', 'MaxPool', 'AveragePool', 'InstanceNormalization', 'BatchNormalization', 'GlobalAveragePool', 'LRN', 'DepthToSpace', 'ConvTranspose'):
            rank = self.draw.choice((3, 4))
            flat = self.pick('f', least=2)
            x = self.values[flat]
            if x.ndim != rank:
                shape = (x.shape + (1,) * rank)[:rank] if x.ndim < rank else x.shape[:rank - 1] + (-1,)
                flat = self.add('Reshape', [flat, self.constant(I(shape))])
                if not flat:
                    return
                x = self.values[flat]
            if 0 in x.shape:
                return
            window = [min(self.draw.choice((1, 2, 3)), extent) for extent in x.shape[2:]]
            steps = [self.draw.choice((1, 2)) for _ in window]
            pads = [self.draw.randrange(0, w) for w in window] * 2
            c = x.shape[1]
            vector = lambda: self.constant(np.abs(self.array((c,))) + F(0.1))
            if op == 'Conv':
                self.add(op, [flat, self.constant(self.array((2, c, *window))), self.constant(self.array((2,)))], strides=steps, pads=pads)
            elif op == 'ConvTranspose':
                self.add(op, [flat, self.constant(self.array((c, 2, *window)))], strides=steps)
            elif op in ('MaxPool', 'AveragePool'):
                self.add(op, [flat], kernel_shape=window, strides=steps, pads=pads, ceil_mode=self.draw.randrange(2))
            elif op == 'InstanceNormalization':
                self.add(op, [flat, vector(), vector()])
            elif op == 'BatchNormalization':
                self.add(op, [flat, vector(), vector(), vector(), vector()])
            elif op == 'LRN':
                self.add(op, [flat], size=3)
            else:
                self.add('GlobalAveragePool', [flat])
        elif op == 'LayerNormalization':
            a = self.pick('f', least=1)
            n = self.values[a].shape[-1]
            self.add(op, [a, self.constant(self.array((n,))), self.constant(self.array((n,)))], axis=-1)
        elif op == 'Einsum':
            a = self.pick('f', rank=2)
            self.add(op, [a, a], equation=self.draw.choice(('ij,ij->i', 'ij,ij->', 'ij,kj->ik')))
        elif op == 'PRelu':
            a = self.pick('f')
            self.add(op, [a, self.constant(self.array(()))])
        elif op == 'OneHot':
            self.add(op, [self.pick('i'), self.constant(I(4)), self.constant(F([0, 1]))], axis=-1)
        elif op == 'NonZero':
            self.add(op, [self.pick('fib', least=1)])

    # -- Control ---------------------------------------------------------------------------------------------------------------

    def body(self, name, extra):
        """Nodes that make of `name` a value of its shape, with constants of the body and values of outside."""
        nodes, constants = [], {}
        for _ in range(self.draw.choice((1, 2, 3))):
            made = self.name('b')
            if self.draw.random() < 0.4:
                nodes.append(N(self.draw.choice(('Tanh', 'Sin', 'Abs', 'Neg', 'Sigmoid')), [name], [made]))
            else:
                other = self.draw.choice(extra + [name]) if self.draw.random() < 0.6 else self.name('k')
                if other.startswith('k'):
                    constants[other] = self.array(self.draw.choice(((), (1,))))
                nodes.append(N(self.draw.choice(('Add', 'Mul', 'Sub', 'Max')), [name, other], [made]))
            name = made
        return nodes, constants, name

    def control(self):
        kind, state = self.draw.choice(('If', 'Loop', 'Scan')), self.pick('f')
        x = self.values[state]
        outside = [n for n, v in self.values.items() if v.dtype == F and self.fits(v.shape, x.shape) and np.broadcast_shapes(v.shape, x.shape) == x.shape]
        if kind == 'If':
            scalars = [n for n, v in self.values.items() if v.dtype == np.bool_ and v.ndim == 0]
            p = self.draw.choice(scalars) if scalars and self.draw.random() < 0.7 else self.constant(np.array(self.draw.random() < 0.5))
            branches = []
            for _ in range(2):
                nodes, constants, last = self.body(state, outside)
                branches.append(graph(nodes, [], [info(last, x, [None] * x.ndim)], constants, name=self.name('g')))
            self.add('If', [p], then_branch=branches[0], else_branch=branches[1])
            return
        s = self.name('s')
        nodes, constants, last = self.body(s, outside)
        row = self.name('r')
        same = [None] * x.ndim
        if kind == 'Loop':
            p, q, i = self.name('p'), self.name('q'), self.name('i')
            nodes += [N('Identity', [p], [q]), N('Identity', [last], [row])]
            g = graph(nodes, [info(i, I(0)), info(p, np.array(True)), info(s, x, same)],
                      [info(q, np.array(True)), info(last, x, same), info(row, x, same)], constants, name=self.name('g'))
            count = self.constant(I(self.draw.choice((0, 1, 3)) or 2))
            if self.draw.random() < 0.4:
                self.inputs['turns'] = self.values['turns'] = I(3)
                self.shapes['turns'] = []
                count = 'turns'
            self.add('Loop', [count, '', state], outputs=2, body=g)
        else:
            xs = self.pick('f', least=1)
            if not self.fits(self.values[xs].shape[1:], x.shape) or np.broadcast_shapes(self.values[xs].shape[1:], x.shape) != x.shape or not len(self.values[xs]):
                return
            part, joined = self.name('e'), self.name('j')
            nodes += [N('Add', [last, part], [joined]), N('Identity', [joined], [row])]
            g = graph(nodes, [info(s, x, same), info(part, self.values[xs][0])],
                      [info(joined, x, same), info(row, x, same)], constants, name=self.name('g'))
            self.add('Scan', [state, xs], outputs=2, body=g, num_scan_inputs=1)


KINDS = {'unary': 3, 'binary': 5, 'several': 1, 'compared': 2, 'logic': 1, 'chosen': 1, 'cast': 2, 'reduced': 2, 'along': 2, 'moved': 5, 'shaped': 3,
         'layer': 4, 'control': 2}


def graph_of(seed):
    """A Model, or None where nothing came out."""
    g = Drawn(seed)
    for _ in range(g.draw.choice((1, 2, 3))):
        g.add_input()
    g.constant(g.array((2, 3)))
    names, weights = zip(*KINDS.items())
    for _ in range(g.draw.choice((4, 8, 14, 20))):
        try:
            getattr(g, g.draw.choices(names, weights)[0])()
        except IndexError:  # there is nothing for it yet
            pass
    made = [n for node in g.nodes for n in node.output if n not in g.constants and node.op_type != 'Constant']
    results = [n for n in made if n not in g.used] + [n for n in made if n in g.used and g.draw.random() < 0.2]
    if not results:
        return None
    keep = set(results)
    nodes = []
    for node in reversed(g.nodes):  # what no result needs may go
        if keep & set(node.output):
            nodes.append(node)
            keep |= g.outer(node)
    inputs = {n: v for n, v in g.inputs.items() if n in keep}
    return Model(nodes[::-1], results, inputs=inputs, initializers={n: v for n, v in g.constants.items() if n in keep}, shapes=g.shapes)
