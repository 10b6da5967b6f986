"""What a case of an op is made of: inputs, attributes, and the dtypes that its OpDef allows. `op_cases.py` names the cases,
`remake_ops` asks TensorFlow for their answers, `run` compares them."""
import numpy as np

ROOMS = {}  # room → {op: Recipe}
SPECIAL = [-np.inf, -100.0, -2.5, -1.5, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 1.5, 2.5, 100.0, np.inf, np.nan]


class X:
    """An input of random numbers that are exact in few bits, of the dtype that the case has for it. kind: n(ormal),
    p(ositive), u(nit: between -1 and 1), z(ero to four), s(pecial values), d(iagonally dominant matrices), l(ower triangles
    of these), h(ermitian and positive)."""

    def __init__(self, *shape, kind='n', seed=1):
        self.shape, self.kind, self.seed = shape, kind, seed

    def values(self, dtype, place):
        random = np.random.RandomState(self.seed * 31 + place)
        dtype = np.dtype(dtype)
        if dtype.kind in 'SO':
            words = ['ab', '', 'Leat', 'x y', ' tf ', 'Zz9']
            return np.array([words[i] for i in random.randint(0, 6, self.shape).ravel()], dtype=object).reshape(self.shape)
        if dtype.kind == 'b':
            return np.asarray(random.randint(0, 2, self.shape) > 0)
        if self.kind == 's':
            return np.resize(np.array(SPECIAL), self.shape).astype(dtype) if dtype.kind == 'f' else self.numbers(random, dtype)
        if self.kind in 'dlh':
            return self.matrices(random, dtype)
        return self.numbers(random, dtype)

    def numbers(self, random, dtype):
        low, high = {'n': (-24, 25), 'p': (1, 25), 'u': (-7, 8), 'z': (0, 33)}.get(self.kind, (-24, 25))
        if dtype.kind in 'iu':
            low, high = {'n': (-9, 10), 'p': (1, 8), 'u': (0, 2), 'z': (0, 5)}.get(self.kind, (-9, 10))
            return np.asarray(random.randint(max(low, 0) if dtype.kind == 'u' else low, high, self.shape)).astype(dtype)
        made = random.randint(low, high, self.shape) / 8
        if dtype.kind == 'c':
            made = made + 1j * random.randint(low, high, self.shape) / 8
        return np.asarray(made).astype(dtype)

    def matrices(self, random, dtype):
        self_kind, self.kind = self.kind, 'u'
        made = self.numbers(random, dtype)
        self.kind = self_kind
        n, m = self.shape[-2:]
        if self.kind == 'h':
            made = made @ np.conj(np.swapaxes(made, -1, -2))
        made = made + np.eye(n, m) * (2 * max(n, m))
        return (np.tril(made) if self.kind == 'l' else made).astype(dtype)


class K:
    """An input that is a constant of the graph: a shape, an axis. dtype: None: as the case has it."""

    def __init__(self, value, dtype=None):
        self.value, self.dtype = value, dtype

    def values(self, dtype, _place):
        plain = np.array(self.value)
        if plain.dtype.kind == 'U':
            return plain.astype(object)
        return plain.astype(self.dtype or dtype)


class F(K):
    """The same, but fed."""


class Case:
    """attributes: those that are not as the recipe's base says. inputs: None: the recipe's. fails: TensorFlow answers with
    an error, and so has Leat to. by: a function of TensorFlow and the inputs that gives what is expected, where TensorFlow
    has no kernel for it. outputs: how many of them are compared; None: as the recipe says."""

    def __init__(self, name, inputs=None, by=None, fails=False, within=None, outputs=None, **attributes):
        self.name, self.inputs, self.by, self.fails, self.within, self.outputs = name, inputs, by, fails, within, outputs
        self.attributes = attributes


class Recipe:
    def __init__(self, op, inputs, base, vary, more, dtypes, within, outputs, names):
        self.op, self.inputs, self.base, self.vary, self.more = op, inputs, base, vary, more
        self.dtypes, self.within, self.outputs, self.names = dtypes, within, outputs, names


def room(name):
    global here
    here = ROOMS.setdefault(name, {})


def op(names, *inputs, base=None, vary=None, more=(), dtypes=None, within=None, outputs=None, **types):
    """vary: of each attribute values that are not the default, or Cases. dtypes: those for which there is a case, by type
    attribute; else all that the OpDef allows. types: the type attributes' values where it
    matters. outputs: how many of them are compared; the others are TensorFlow's own business."""
    for name in names.split():
        here[name] = Recipe(name, inputs, base or {}, vary or {}, more, dtypes or {}, within, outputs, types)
