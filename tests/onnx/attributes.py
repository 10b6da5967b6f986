"""Each attribute of each op that a row of frontend/importer/onnx/ops.def names, in each version of ONNX's own schema that the row is
of, with values that are not the default: `remake_cases` asks the oracles, and sees to it that each value gives another
answer than the default does.

OP(name, inputs, …) says what an op is called with; `values` an attribute's values, each a value or (value, what else is given
with it: attributes, or inputs by their number). `inert` are those that change no result, with the reason.
"""
import re

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from oracle import Model, graph, info, same, tensor

F, I, B = np.float32, np.int64, np.bool_
OPS = {}
RULES = re.compile(r'^OP\("([^"]*)", *(\w+), *(\d+),', re.M)


class Const:
    """An input that is a constant of the model."""

    def __init__(self, value):
        self.value = value


class Op:
    def __init__(self, name, inputs, values, base=None, outputs=1, inert=None, domain='', oracle='either', fed=None, around=None, alike=True, known=None, ask=None):
        self.name, self.inputs, self.values, self.base, self.outputs = name, inputs, values, base or {}, outputs
        self.inert, self.domain, self.oracle, self.fed, self.around, self.alike, self.known, self.ask = inert or {}, domain, oracle, fed, around, alike, known or {}, ask or {}


def OP(names, inputs, values, domain='', **words):
    """`inputs`, `base`, `outputs`: lists, dicts and a number, or functions of the version that give them. `oracle`: the one
    that is right where they differ. `fed(attribute)`: what is fed where that is looked at. `around(node)`: the nodes of the
    model, and its results. `alike`: versions mean the same, so that what an oracle knows of one is the answer of another.
    `ask`: the version to ask about, by the one that is tested. `known`: by attributes that no oracle knows, what the inputs and
    the attributes give."""
    for name in names.split():
        assert (domain, name) not in OPS, name
        OPS[domain, name] = Op(name, inputs, values, domain=domain, **words)


rng = np.random.default_rng(7)


def r(*shape):
    return rng.uniform(-2, 2, shape).astype(F)


def of(value, version):
    """What a function gives of the version, with the same numbers each time."""
    global rng
    rng = np.random.default_rng(7)
    return value(version) if callable(value) else value


# Ops that take or give maps, which are no tensors: refused whole, or but for their keys, which a note says.
ELSEWHERE = {('ai.onnx.ml', name) for name in ('ZipMap', 'CastMap', 'DictVectorizer')}


# -- Which there are ---------------------------------------------------------------------------------------------------

def schemas(table):
    """(schema, …) of each version that rows of the table are of."""
    rows, history = {}, {}
    for domain, name, since in RULES.findall(table):
        rows[domain, name] = min(int(since), rows.get((domain, name), 1000))
    for schema in onnx.defs.get_all_schemas_with_history():
        history.setdefault((schema.domain, schema.name), []).append(schema)
    for key, since in rows.items():
        versions = sorted(history.get(key, []), key=lambda s: s.since_version)
        ends = [s.since_version for s in versions[1:]] + [1000]
        for schema, end in zip(versions, ends):
            if end > since and not schema.deprecated:
                yield schema, max(schema.since_version, since)


def model(op, version, attributes, changed, outputs):
    inputs = list(of(op.inputs, version))
    for place, value in changed.items():
        while place >= len(inputs):
            inputs.append(None)
        inputs[place] = value
    names, fed, constants = [], {}, {}
    for i, value in enumerate(inputs):
        names.append('' if value is None else f'x{i}')
        if isinstance(value, Const):
            constants[f'x{i}'] = value.value
        elif value is not None:
            fed[f'x{i}'] = value
    outputs = [f'y{i}' for i in range(outputs or of(op.outputs, version))]
    node = h.make_node(op.name, names, outputs, domain=op.domain, **attributes)
    nodes, outputs = op.around(node) if op.around else ([node], outputs)
    words = {'opset': version} if not op.domain else {'opset': 21, 'ml': version, 'domains': {op.domain: version}}
    return Model(nodes, outputs, inputs=fed, initializers=constants, **words)


def cases(table):
    """(name, attribute, op, make) of each: make(version) is the model and the one that has the default, or None, as nodes of
    that version. The first of `versions` is the one to test, the others are what an oracle may know instead."""
    for schema, version in schemas(table):
        if not schema.attributes or (schema.domain, schema.name) in ELSEWHERE:
            continue
        op = OPS[schema.domain, schema.name]
        for attribute in sorted(schema.attributes):
            values = of(op.values.get(attribute) or op.inert[attribute][0], version)
            for k, value in enumerate(values):
                yield f'{schema.name}_{version}_{attribute}_{k}', attribute, op, schema, version, value


def pair(attribute, op, schema, version, value):
    """The model, and the one that has the default, or None."""
    value, more = value if isinstance(value, tuple) else (value, {})
    more = {**(of(op.fed, attribute) if op.fed else {}), **more}
    attributes = {**of(op.base, version), **{key: v for key, v in more.items() if isinstance(key, str)}}
    attributes = {key: v for key, v in attributes.items() if v is not None and key in schema.attributes}
    changed = {key: v for key, v in more.items() if isinstance(key, int)}
    plain = {key: v for key, v in attributes.items() if key != attribute or schema.attributes[attribute].required}
    complete = all(name in plain for name, a in schema.attributes.items() if a.required)
    outputs = more.get('outputs')
    return (model(op, version, {**attributes, attribute: value}, changed, outputs),
            model(op, version, plain, changed, outputs) if complete else None)


# -- Constants, shapes, control ----------------------------------------------------------------------------------------

sparse = h.make_sparse_tensor(tensor(F([5, 6]), 'v'), tensor(I([1, 3])), [4])
OP('Constant', [], {'value': [tensor(F([[1, 2]])), tensor(I([3, 4])), tensor(F(7))], 'sparse_value': [sparse],
                    'value_int': [5], 'value_ints': [[5, 6]], 'value_float': [2.5], 'value_floats': [[2.5, -1.0]],
                    'value_string': ['word'], 'value_strings': [['one', 'word']]},
   known={'sparse_value': lambda x, a, op: F([0, 5, 0, 6])})
OP('ConstantOfShape', [Const(I([2, 3]))], {'value': [tensor(F([2.5])), tensor(I([4])), tensor(np.array([True]))]})
EIGHT = F([1.0, 1000.0, -1e6, 0.1, np.nan, 0.3])
OP('Cast', [EIGHT], {
    'to': lambda v: [T.INT32, T.DOUBLE, T.BOOL] if v < 9 else [T.INT32, T.DOUBLE, T.STRING], 'saturate': [(0, {'to': T.FLOAT8E4M3FN})],
    'round_mode': [('down', {'to': T.FLOAT8E8M0}), ('nearest', {'to': T.FLOAT8E8M0})]}, base={'to': T.FLOAT16},
   fed=lambda attribute: {'round_mode': {0: F([1.0, 3.1, 5.9, 700.0])}, 'to': {0: F([1.5, 2.7, -3.5, 0.25])}}.get(attribute, {}), oracle='reference')
OP('CastLike', [EIGHT, Const(tensor(F([0]).astype('f4'), 'c'))], {
    'saturate': [(0, {1: Const(h.make_tensor('c', T.FLOAT8E4M3FN, [1], [0.0]))})],
    'round_mode': [('down', {1: Const(h.make_tensor('c', T.FLOAT8E8M0, [1], [1.0]))})]},
   fed=lambda attribute: {0: F([1.0, 3.1, 5.9, 700.0])} if attribute == 'round_mode' else {}, oracle='reference',
   known={'round_mode': lambda x, a, op: Model([h.make_node('Cast', ['x'], ['y'], to=T.FLOAT8E8M0, **a)], ['y'], inputs={'x': x[0]}, opset=24).reference()[0]})
OP('Shape', [r(2, 3, 4)], {'start': [1, -1, (-7, {'end': 2})][:2], 'end': [2, -1, -9]})
OP('Reshape', [np.zeros((0, 3), F), Const(I([3, 0]))], {'allowzero': [(1, {})]})
OP('Flatten', [r(2, 3, 4)], {'axis': lambda v: [0, 2, 3] if v < 11 else [0, 2, 3, -1]})
OP('Transpose', [r(2, 3, 4)], {'perm': [[1, 2, 0], [0, 2, 1]]})
OP('Squeeze', [r(1, 3, 1)], {'axes': lambda v: [[0], [2]] if v < 11 else [[0], [-1]]})
OP('Unsqueeze', [r(2, 3)], {'axes': lambda v: [[0, 2], [1]] if v < 11 else [[0, 2], [-1]]}, base={'axes': [0]})
OP('Concat', [r(2, 2), r(2, 2)], {'axis': lambda v: [1] if v < 11 else [1, -1]}, base={'axis': 0})
OP('Gather', [r(3, 3), Const(I([2, 0]))], {'axis': lambda v: [1] if v < 11 else [1, -1]})

branch = lambda op: graph([h.make_node(op, ['a'], ['z'])], [], [info('z', F([0, 0]))], {'a': F([1, -2])}, name=op)
OP('If', [np.array(True)], {'then_branch': [branch('Softplus')], 'else_branch': [(branch('Softplus'), {0: np.array(False)})]},
   base={'then_branch': branch('Softsign'), 'else_branch': branch('Softsign')})


def turn(op, p='Identity'):
    return graph([h.make_node(p, ['p'], ['q']), h.make_node(op, ['s', 's'], ['t'])],
                 [info('i', I(0)), info('p', np.array(True)), info('s', F([0]))], [info('q', np.array(True)), info('t', F([0]))], name='b')


OP('Loop', [I(3), np.array(True), F([2])], {'body': [turn('Mul'), turn('Add', 'Not')]}, base={'body': turn('Add')}, oracle='runtime', ask={1: 11})


def scanned(op='Add', rank=1, scans=1):
    """A state s, to which the first slice is added; each slice times the state is a row."""
    shape, xs = np.zeros((2,) * rank, F), [f'x{k}' for k in range(scans)]
    nodes = [h.make_node(op, ['s', 'x0'], ['t']), *[h.make_node('Mul', ['s', x], [f'r{x}']) for x in xs]]
    return graph(nodes, [info(x, shape) for x in ['s', *xs]], [info(x, shape) for x in ['t', *[f'r{x}' for x in xs]]], name='b')


wide = {0: r(2, 2), 1: np.arange(8, dtype=F).reshape(2, 2, 2), 'body': scanned(rank=2)}
OP('Scan', [F([1, 2]), F([[0, 1], [5, 3]])], {
    'body': [scanned(op='Sub')], 'num_scan_inputs': [(2, {0: F([1, 2]), 1: F([[5, 6], [7, 8]]), 2: F([[1, 2], [3, 4]]), 'body': scanned(scans=2)})],
    'scan_input_axes': [[1], [-1], ([1], wide), ([2], wide)], 'scan_input_directions': [[1], ([1], {'scan_input_axes': [1]})],
    'scan_output_axes': [[1], [-1], ([2], wide)], 'scan_output_directions': [[1], ([1], {'scan_output_axes': [1]})]},
   base={'body': scanned(), 'num_scan_inputs': 1}, outputs=lambda v: 2)


# -- Reductions --------------------------------------------------------------------------------------------------------

NAMES = 'Sum L1 L2 LogSum LogSumExp Max Mean Min Prod SumSquare'
for name in NAMES.split():
    since = 13 if name == 'Sum' else 18  # from then on the axes are an input
    OP(f'Reduce{name}', lambda v, since=since: [np.abs(r(2, 3)) + 1] + ([Const(I([1]))] if v >= since else []),
       {'axes': lambda v: [[0], [1]] if v < 11 else [[0], [-1]], 'keepdims': [0],
        'noop_with_empty_axes': [(1, {1: None}), (1, {1: Const(I([]))})]})
OP('ArgMax ArgMin', [F([[1, 3, 3], [1, 1, 2]])], {'axis': lambda v: [1] if v < 11 else [1, -1], 'keepdims': [0],
                                                 'select_last_index': [(1, {'axis': 1}), 1]})
OP('CumSum CumProd', [r(2, 3), Const(I(1))], {'exclusive': [1, (1, {'reverse': 1})], 'reverse': [1, (1, {'exclusive': 1})]})
OP('TopK', lambda v: [r(3, 4)] if v < 10 else [r(3, 4), Const(I([2]))],
   {'axis': lambda v: [0] if v < 11 else [0, -2], 'k': [1, 3], 'largest': [0]}, base=lambda v: {'k': 2} if v < 10 else {}, outputs=2,
   inert={'sorted': ([0], 'any order is one')}, fed=lambda attribute: {} if attribute != 'sorted' else {})
OP('Unique', [F([3, 1, 2, 1, 3])], {'axis': [(0, {0: F([[2, 1], [0, 0], [2, 1]])}), (1, {0: F([[2, 1, 2], [0, 0, 0]])}),
                                             (-1, {0: F([[2, 1, 2], [0, 0, 0]])})], 'sorted': [0]}, outputs=4)
boxes = F([[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1]]])
OP('NonMaxSuppression', [boxes, F([[[0.9, 0.75, 0.6, 0.95, 0.5]]]), Const(I([3])), Const(F([0.5])), Const(F([0.0]))],
   {'center_point_box': [(1, {0: F([[[1, 1, 2, 2], [1, 1, 4, 4]]]), 1: F([[[0.9, 0.8]]]), 3: Const(F([0.2]))})]})

# -- Element-wise ------------------------------------------------------------------------------------------------------

consumed = ([[0]], 'where a result may lie')


def aligned(x, attributes, op):
    """b's first axis is beside a's `axis`."""
    a, b = x
    f = {'Add': np.add, 'Sub': np.subtract, 'Mul': np.multiply, 'Div': np.divide, 'Pow': np.power}[op]
    return f(a, b.reshape(b.shape + (1,) * (a.ndim - attributes['axis'] - b.ndim)))


OP('Add Sub Mul Div Pow', [np.abs(r(2, 3)), r(3)], {'axis': [(0, {1: r(2), 'broadcast': 1}), (1, {0: r(2, 3, 2), 1: r(3), 'broadcast': 1})]},
   known={'axis': aligned},
   inert={'broadcast': ([(1, {1: r(3)})], 'where it is 0 the shapes are equal'), 'consumed_inputs': ([([0, 0], {1: r(2, 3)})], consumed[1])})
OP('Dropout', [r(2, 3)], {}, inert={
    'ratio': ([0.3], 'of inference'), 'is_test': ([1], 'of inference'), 'consumed_inputs': consumed, 'seed': ([5], 'of inference')}, ask={1: 7, 6: 7})
OP('Softmax LogSoftmax Hardmax', [r(2, 3, 2)], {'axis': lambda v: [0, 2] if v < 11 else [0, 2, -3] if v < 13 else [0, 1, -3]}, alike=False, oracle='runtime')
OP('IsInf', [F([1, np.inf, -np.inf])], {'detect_negative': [0], 'detect_positive': [0]})
OP('LeakyRelu Elu ThresholdedRelu Celu Swish', [F([-1, -0.5, 0.7, 2, 1.5])], {'alpha': [0.4, 2.5]})
OP('Selu', [F([-1, 0.5])], {'alpha': [3.0], 'gamma': [2.0]})
OP('Gelu', [r(5)], {'approximate': ['tanh']})
OP('HardSigmoid', [F([-9, -1, 0.5, 1])], {'alpha': [0.4], 'beta': [0.7]})
OP('PRelu', [r(2, 3), r(1)], {}, inert={'consumed_inputs': ([[0, 0]], consumed[1])})
OP('Shrink', [F([-2, -0.2, 0.3, 2])], {'bias': [0.5], 'lambd': [0.25]})
OP('Clip', [F([-2, -0.2, 0.3, 2])], {'min': [-0.5], 'max': [0.5]})
OP('BitShift', [np.uint8([16, 4, 1]), np.uint8([1, 2, 1])], {'direction': ['RIGHT']}, base={'direction': 'LEFT'})
OP('BitCast', [r(2, 3)], {'to': [T.UINT32]}, base={'to': T.INT32})
OP('Mod', [I([-7, 7, 5]), I([3, -3, 3])], {'fmod': [1]})

# -- Layers ------------------------------------------------------------------------------------------------------------

OP('Gemm', lambda v: [r(2, 3), r(3, 2), r(2, 2)], {
    'alpha': [0.5], 'beta': [0.5, 0.0], 'transA': [(1, {0: r(3, 2)}), (1, {0: r(2, 2), 1: r(2, 2)})],
    'transB': [(1, {1: r(2, 3)}), (1, {0: r(2, 2), 1: r(2, 2)})]}, inert={'broadcast': ([1], 'where it is 0 the shapes are equal')}, ask={1: 7, 6: 7})
SAME = ['SAME_UPPER', 'SAME_LOWER', ('SAME_UPPER', {'strides': [2, 2]}), ('SAME_LOWER', {'strides': [2, 2]})]
# VALID is what no pads are, which are not given beside it.
WINDOWS = {'pads': [[1, 1, 1, 1], [0, 1, 1, 0]], 'strides': [[2, 2], [1, 2]], 'dilations': [[2, 2], [1, 2]]}
CONV = {**WINDOWS, 'auto_pad': SAME, 'group': [2]}


def convolution(x, w, *more, **words):
    return dict(inputs=[x(1, 2, 6, 5), w(2, 2, 2, 2), *more], values=CONV, inert={'kernel_shape': ([[2, 2]], 'what the weights say')},
                fed=lambda attribute: {1: w(2, 1, 2, 2)} if attribute == 'group' else {}, oracle='runtime', **words)


OP('Conv', **convolution(r, r, r(2)))
byte = lambda *shape: rng.integers(0, 20, shape).astype(np.uint8)
OP('ConvInteger', **convolution(byte, byte, np.uint8(3)))
OP('QLinearConv', [byte(1, 2, 6, 5), F(0.5), np.uint8(3), byte(2, 2, 2, 2), F(0.25), np.uint8(2), F(2.0), np.uint8(1)], CONV,
   inert={'kernel_shape': ([[2, 2]], 'what the weights say')}, fed=lambda attribute: {3: byte(2, 1, 2, 2)} if attribute == 'group' else {}, oracle='runtime')
OP('ConvTranspose', [r(1, 2, 3, 4), r(2, 2, 2, 3)], {
    'auto_pad': [('SAME_UPPER', {'strides': [2, 2]}), ('SAME_LOWER', {'strides': [2, 2]}), ('SAME_UPPER', {'strides': [1, 2]})], 'dilations': [[2, 2], [1, 2]],
    'group': [2], 'pads': [[1, 0, 0, 1], [1, 1, 1, 1]], 'strides': [[2, 2], [2, 3]], 'output_padding': [([1, 0], {'strides': [2, 2]}), ([1, 1], {'strides': [3, 2]})],
    'output_shape': [([5, 7], {'strides': [2, 2]}), ([6, 8], {'strides': [2, 2]}), ([5, 6], {'strides': [2, 2], 'auto_pad': 'SAME_UPPER'})]},
   inert={'kernel_shape': ([[2, 3]], 'what the weights say')}, oracle='runtime')
OP('DeformConv', [r(1, 2, 4, 4), r(2, 2, 2, 2), None, r(2)], {
    'dilations': [([2, 2], {2: r(1, 8, 2, 2) * F(0.3)})], 'group': [(2, {1: r(2, 1, 2, 2)})],
    'offset_group': [(2, {2: r(1, 16, 3, 3) * F(0.3)})], 'pads': [([1, 0, 1, 0], {2: r(1, 8, 5, 3) * F(0.3)})], 'strides': [([2, 1], {2: r(1, 8, 2, 3) * F(0.3)})]},
   inert={'kernel_shape': ([[2, 2]], 'what the weights say')}, fed=lambda attribute: {2: r(1, 8, 3, 3) * F(0.3)}, oracle='reference')
POOL = {**WINDOWS, 'auto_pad': SAME, 'kernel_shape': [[3, 2], [1, 3]], 'ceil_mode': [(1, {'strides': [2, 2]}), (1, {'strides': [2, 2], 'pads': [1, 1, 0, 0]})]}
POOLED = {'kernel_shape': [2, 2]}
OP('MaxPool', [r(1, 2, 5, 6)], {**POOL, 'storage_order': [1]}, base=POOLED, outputs=lambda v: 1 if v < 8 else 2, oracle='runtime', fed=lambda attribute: {0: rng.permutation(60).reshape(1, 2, 5, 6).astype(F)})
OP('AveragePool', [r(1, 2, 5, 6)], {**POOL, 'count_include_pad': [(1, {'pads': [1, 1, 1, 1]}), (1, {'pads': [1, 0, 0, 1], 'ceil_mode': 1, 'strides': [2, 2]})]}, base=POOLED, oracle='runtime', ask={1: 7})
OP('LpPool', [r(1, 2, 5, 6)], {**POOL, 'p': [1, 3]}, base=POOLED, oracle='runtime')
OP('GlobalLpPool', [r(1, 2, 3, 3)], {'p': [1, 3]})
def normalised(x, attributes, op):
    """With the statistics that are given."""
    of_channels = [v.reshape(-1, 1, 1) for v in x[1:]]
    return (x[0] - of_channels[2]) / np.sqrt(of_channels[3] + F(1e-5)) * of_channels[0] + of_channels[1]


OP('BatchNormalization', [r(2, 3, 2, 2), r(3), r(3), r(3), np.abs(r(3))], {
    'epsilon': [0.5], 'training_mode': [1], 'momentum': lambda v: [(0.5, {'training_mode': 1, 'outputs': 3})] if v >= 14 else [],
    'spatial': [(0, {1: r(3, 2, 2), 2: r(3, 2, 2), 3: r(3, 2, 2), 4: np.abs(r(3, 2, 2))})]},
   base=lambda v: {'is_test': 1} if v < 7 else {}, inert={'is_test': ([1], 'one result is inference'), 'consumed_inputs': ([[0, 0, 0, 1, 1]], consumed[1])},
   ask={1: 9, 6: 9}, oracle=lambda v: 'reference' if v >= 14 else 'runtime',
   known={'consumed_inputs': normalised, 'is_test': normalised})
OP('LRN', [r(1, 5, 2, 2)], {'alpha': [0.5], 'beta': [(0.3, {'alpha': 0.5})], 'bias': [2.0], 'size': [(5, {'alpha': 0.5}), (1, {'alpha': 0.5})]}, base={'size': 3}, oracle='runtime')

# -- Sequences ---------------------------------------------------------------------------------------------------------


def first_of(node):
    return [node, h.make_node('Constant', [], ['at'], value_int=1), h.make_node('SequenceAt', ['y0', 'at'], ['z']),
            h.make_node('SequenceLength', ['y0'], ['n'])], ['z', 'n']


def of_two(node):
    del node.input[:]
    node.input.append('s')
    return [h.make_node('SequenceConstruct', ['x0', 'x1'], ['s']), node], ['y0']


def mapped(node):
    del node.input[:]
    node.input.append('s')
    return [h.make_node('SequenceConstruct', ['x0', 'x1'], ['s']), node, h.make_node('ConcatFromSequence', ['y0'], ['z'], axis=0)], ['z']


def of_each(op):
    return h.make_graph([h.make_node(op, ['a'], ['b'])], 'b', [info('a', F([0, 0]))], [info('b', F([0, 0]))])


OP('SequenceEmpty', [], {'dtype': [T.INT64]}, around=lambda node: ([node, h.make_node('SequenceLength', ['y0'], ['n'])], ['n']))
OPS['', 'SequenceEmpty'].inert['dtype'] = ([T.INT64], 'an empty list has none')
OPS['', 'SequenceEmpty'].values.clear()
OP('SplitToSequence', [r(2, 3)], {'axis': [1, -1], 'keepdims': [0]}, around=first_of)
OP('ConcatFromSequence', [r(2, 2), r(2, 2)], {'axis': [1, -1], 'new_axis': [1, (1, {'axis': 2})]}, base={'axis': 0}, around=of_two)
OP('SequenceMap', [r(2), r(2)], {'body': [of_each('Neg')]}, base={'body': of_each('Exp')}, around=mapped, oracle='reference')
OP('Optional', [r(2)], {}, inert={'type': ([h.make_tensor_type_proto(T.FLOAT, [2])], 'what the input says')}, known={'type': lambda x, a, op: x[0]},
   around=lambda node: ([node, h.make_node('OptionalGetElement', ['y0'], ['z'])], ['z']))

# -- Movements ---------------------------------------------------------------------------------------------------------

OP('Slice', [r(4, 5)], {'starts': [[2, 1]], 'ends': [[3, 3], [-1, 4]], 'axes': [([1, 0], {}), ([1], {'starts': [1], 'ends': [4]})]},
   base={'starts': [1, 0], 'ends': [4, 5]})
OP('Split', lambda v: [r(4, 6)] if v < 13 else [r(4, 6), Const(I([2, 2]))], {
    'axis': lambda v: [(1, {'split': [2, 4]} if v < 13 else {1: Const(I([2, 4]))})], 'split': [([1, 3], {})]}, inert={'num_outputs': ([(2, {1: None, 0: r(5, 2)})], 'as many as there are')},
   base=lambda v: {'num_outputs': None} if v >= 13 else {}, outputs=2)
OP('Pad', lambda v: [r(3, 4)] if v < 11 else [r(3, 4), Const(I([1, 0, 2, 1]))], {
    'mode': lambda v: ['reflect', 'edge'] if v < 19 else ['reflect', 'edge', 'wrap'], 'value': [1.5], 'pads': [[1, 0, 2, 1]]},
   base=lambda v: {'pads': [1, 1, 1, 1]} if v < 11 else {})
OP('CenterCropPad', [r(4, 5), Const(I([3, 7]))], {'axes': [([1, 0], {}), ([1], {1: Const(I([3]))}), ([-1], {1: Const(I([7]))})]})
OP('GatherElements', [r(3, 3), I([[2, 0, 1], [1, 1, 0], [0, 2, 2]])], {'axis': [1, -1]})
OP('GatherND', [r(2, 2, 3), I([[1], [0]])], {'batch_dims': [1]})
OP('Scatter', [r(3, 3), I([[2, 0, 1]]), r(1, 3)], {'axis': [1, -1]})
OP('ScatterElements', [r(3, 3), I([[2, 0, 1], [2, 1, 0]]), r(2, 3)], {
    'axis': [1, -1], 'reduction': lambda v: [(x, {1: I([[2, 0, 1], [2, 0, 0]])}) for x in ['add', 'mul', *(['max', 'min'] if v >= 18 else [])]]})
OP('ScatterND', [r(3, 3), I([[2], [0]]), r(2, 3)], {
    'reduction': lambda v: [(x, {1: I([[2], [2]]), 2: F([[3, -3, 0], [-4, 4, 1]])}) for x in ['add', 'mul', *(['max', 'min'] if v >= 18 else [])]]}, oracle='reference')
OP('TensorScatter', [r(2, 4, 3, 3), r(2, 4, 2, 3), I([1, 2])], {'axis': [(1, {1: r(2, 2, 3, 3)}), (-3, {1: r(2, 2, 3, 3)})], 'mode': ['circular']},
   fed=lambda attribute: {2: I([1, 2])} if attribute == 'mode' else {2: I([1, 0])}, oracle='runtime')
OP('ReverseSequence', [r(3, 3), I([1, 3, 2])], {'batch_axis': [(0, {'time_axis': 1})], 'time_axis': [(1, {'batch_axis': 0})]})
OP('Compress', [r(2, 3), np.array([False, True, False])], {'axis': lambda v: [0, 1] if v < 11 else [0, 1, -1]})
OP('Range', [I(1), I(9), I(3)], {'stash_type': [(1, {})]}, inert={'stash_type': ([1], 'the default')})
OPS['', 'Range'].values.clear()
OP('OneHot', [I([1, 2, 0]), Const(I(3)), F([0.5, 2])], {'axis': [0, -2]})
OP('EyeLike', [r(3, 4)], {'dtype': [T.INT32], 'k': [1, -1]})
OP('Trilu', [r(3, 3)], {'upper': [0]})
OP('DepthToSpace', [r(1, 36, 2, 2)], {'blocksize': [3], 'mode': ['CRD']}, base={'blocksize': 2})
OP('SpaceToDepth', [r(1, 2, 6, 6)], {'blocksize': [3]}, base={'blocksize': 2})
OP('Einsum', [r(2, 3), r(3, 2)], {'equation': ['ij,jk->ki', 'ij,ji->i']}, base={'equation': 'ij,jk->ik'})

# -- Normalisations, losses, random numbers ----------------------------------------------------------------------------

OP('LayerNormalization', [r(2, 3, 4), r(4), r(4)], {'axis': [(1, {1: r(3, 4), 2: r(3, 4)}), (-2, {1: r(3, 4), 2: r(3, 4)})], 'epsilon': [0.5]},
   inert={'stash_type': ([1], 'the default')}, outputs=1)
OP('RMSNormalization', [r(2, 3, 4), r(4)], {'axis': [(1, {1: r(3, 4)}), (-2, {1: r(3, 4)})], 'epsilon': [0.5]}, inert={'stash_type': ([1], 'the default')})
OP('GroupNormalization', [r(2, 4, 3), r(4), r(4)], {'epsilon': [0.5], 'num_groups': [4, 1]}, base={'num_groups': 2}, inert={'stash_type': ([1], 'the default')})
OP('InstanceNormalization', [r(2, 3, 4), r(3), r(3)], {'epsilon': [0.5]})
OP('LpNormalization', [r(2, 3)], {'axis': [0], 'p': [1]}, oracle='runtime')
OP('MeanVarianceNormalization', [r(2, 3, 2, 2)], {'axes': [[1], [0, 2]]}, oracle='reference')
LOSS = {'ignore_index': [0, (-1, {1: I([1, -1, 0])})], 'reduction': ['none', 'sum']}
OP('NegativeLogLikelihoodLoss', [r(3, 3), I([1, 2, 0])], LOSS, oracle='runtime')
OP('SoftmaxCrossEntropyLoss', [r(3, 3), I([1, 2, 0])], LOSS, oracle='runtime')

# -- Quantised ---------------------------------------------------------------------------------------------------------

scales = {0: r(2, 3) * 9, 1: F([0.5, 0.25]), 2: np.uint8([3, 5])}
blocks = {0: r(2, 4) * 9, 1: np.abs(r(2, 2)) + F(0.1), 2: np.uint8([[1, 2], [3, 4]])}
code = lambda kind, *values: h.make_tensor('z', kind, [len(values)] if len(values) > 1 else [], values)
OP('QuantizeLinear', [r(3, 3) * 9, F([0.5, 0.25, 1.0]), np.uint8([3, 5, 0])], {
    'axis': [0, -2], 'saturate': [(0, {0: F([1, 1e6, -1e6]), 1: F(0.5), 2: Const(code(T.FLOAT8E4M3FN, 0.0))})],
    'output_dtype': [(T.INT8, {2: None}), (T.INT16, {2: None})], 'block_size': [(2, {**blocks, 'axis': 1})]},
   inert={'precision': ([(T.FLOAT, {})], 'that of the scale')}, oracle='reference')
OP('DequantizeLinear', [byte(3, 3), F([0.5, 0.25, 1.0]), np.uint8([3, 5, 0])], {
    'axis': [0, -2], 'block_size': [(2, {**blocks, 0: byte(2, 4), 'axis': 1})], 'output_dtype': [T.FLOAT16]},
   known={'output_dtype': lambda x, a, op: ((x[0].astype(F) - x[2]) * x[1]).astype(np.float16)})

# -- Attention and recurrence ------------------------------------------------------------------------------------------

heads = {0: r(2, 3, 8), 1: r(2, 4, 8), 2: r(2, 4, 8)}
OP('Attention', [r(2, 2, 3, 4), r(2, 2, 4, 4), r(2, 2, 4, 4), r(3, 4)], {
    'is_causal': [1], 'scale': [0.3, 2.0], 'softcap': [0.5], 'qk_matmul_output_mode': [1, 2, 3], 'kv_num_heads': [(4, {**heads, 'q_num_heads': 4})],
    'q_num_heads': [(4, {**heads, 'kv_num_heads': 4})], 'left_window_size': [1], 'right_window_size': [0]},
   base={'softcap': None}, outputs=4, fed=lambda attribute: {'softcap': 0.7} if attribute == 'qk_matmul_output_mode' else {},
   inert={'softmax_precision': ([T.DOUBLE], 'but for the last bits')}, oracle=lambda v: 'runtime' if v == 23 else 'reference', ask={24: 23})
OP('RotaryEmbedding', [r(1, 2, 3, 4), r(3, 2), r(3, 2), None], {
    'interleaved': [1], 'num_heads': [(2, {0: r(1, 3, 8)})], 'rotary_embedding_dim': [(2, {1: r(1, 3, 1), 2: r(1, 3, 1)})]},
   fed=lambda attribute: {1: r(1, 3, 2), 2: r(1, 3, 2)}, oracle='reference')
OP('LinearAttention', [r(1, 3, 8), r(1, 3, 8), r(1, 3, 8), None, -np.abs(r(1, 3, 8)), np.abs(r(1, 3, 2))], {
    'scale': [0.3], 'update_rule': [('linear', {4: None, 5: None}), ('gated', {5: None}), ('delta', {4: None})], 'q_num_heads': [(4, {0: r(1, 3, 16)})],
    'kv_num_heads': [(1, {1: r(1, 3, 4), 2: r(1, 3, 4), 4: -np.abs(r(1, 3, 4)), 5: np.abs(r(1, 3, 1))})]},
   base={'q_num_heads': 2, 'kv_num_heads': 2}, outputs=2, inert={'chunk_size': ([2], 'how it is computed')}, oracle='reference')
OP('CausalConvWithState', [r(1, 2, 5), r(2, 1, 3), r(2)], {'activation': ['silu', 'swish']}, outputs=2, oracle='reference')


def recurrent(gates):
    return lambda v: [r(4, 2, 3), r(1, 3 * gates, 3), r(1, 3 * gates, 3), r(1, 6 * gates)]


def both_ways(gates):
    return {1: r(2, 3 * gates, 3), 2: r(2, 3 * gates, 3), 3: r(2, 6 * gates)}


def batch_first(x, attributes, op):
    """With layout 1: what layout 0 gives, its axes in another order."""
    names = ['x', 'w', 'r', 'b']
    outputs = ['y', 'h', 'c'][:3 if op == 'LSTM' else 2]
    values = Model([h.make_node(op, names, outputs, hidden_size=3)], outputs, inputs=dict(zip(names, [x[0].swapaxes(0, 1), *x[1:]]))).runtime()
    return [values[0].transpose(2, 0, 1, 3), *[v.swapaxes(0, 1) for v in values[1:]]]


RECURRENT = {'hidden_size': [3], 'clip': [0.4], 'layout': [(1, {0: r(2, 4, 3)})]}
for name, gates, parts in (('RNN', 1, ['Sigmoid']), ('GRU', 3, ['Tanh', 'Relu']), ('LSTM', 4, ['Tanh', 'Relu', 'Sigmoid'])):
    more = {'GRU': {'linear_before_reset': [1]}, 'LSTM': {'input_forget': [1]}}.get(name, {})
    leaky = {'activations': ['LeakyRelu'] + parts[1:]}
    OP(name, recurrent(gates), {
        **RECURRENT, **more, 'activations': [parts, ['Softsign'] + parts[1:], ['Elu'] + parts[1:]], 'activation_alpha': [([0.3], leaky)],
        'activation_beta': [([0.3], {'activations': ['HardSigmoid'] + parts[1:], 'activation_alpha': [0.5]})],
        'direction': ['reverse', ('bidirectional', both_ways(gates))]},
       base={'hidden_size': 3}, outputs=3 if name == 'LSTM' else 2, oracle='runtime', known={'layout': batch_first})

# -- Images ------------------------------------------------------------------------------------------------------------

picture = r(1, 1, 4, 4)
OP('Upsample', lambda v: [picture] if v < 9 else [picture, Const(F([1, 1, 2, 3]))], {'mode': ['linear'], 'scales': [[1, 1, 1.5, 2]]},
   base=lambda v: {'scales': [1, 1, 2, 3]} if v < 9 else {}, oracle='runtime')
SIZES = {2: None, 3: Const(I([1, 1, 7, 9]))}
OP('Resize', lambda v: [picture, Const(F([1, 1, 2, 1.5]))] if v == 10 else [picture, None, Const(F([1, 1, 1.7, 2.3]))], {
    'mode': lambda v: ['linear'] if v == 10 else ['linear', 'cubic'],
    'coordinate_transformation_mode': lambda v: [(x, {'mode': m}) for m in ('linear', 'nearest') for x in
                                                 ('asymmetric', 'align_corners', *(['half_pixel_symmetric'] if v > 18 and m == 'linear' else []))]
    + [('pytorch_half_pixel', {'mode': 'linear', 2: Const(F([1, 1, 0.25, 2.3]))}), ('tf_crop_and_resize', {'mode': 'linear', 1: Const(F([0, 0, 0.2, 0.1, 1, 1, 0.8, 0.9]))})],
    'cubic_coeff_a': [(-0.5, {'mode': 'cubic'})], 'exclude_outside': [(1, {'mode': 'cubic'})],
    'extrapolation_value': [(3.0, {'mode': 'linear', 'coordinate_transformation_mode': 'tf_crop_and_resize', 1: Const(F([0, 0, -0.3, 0.1, 1, 1, 1.4, 0.9]))})],
    'nearest_mode': [(x, {'coordinate_transformation_mode': 'asymmetric', 2: Const(F([1, 1, 2.0, 1.25]))}) for x in ('round_prefer_ceil', 'floor', 'ceil')],
    'antialias': [(1, {'mode': 'linear', 2: Const(F([1, 1, 0.6, 0.4]))}), (1, {'mode': 'cubic', 2: Const(F([1, 1, 0.6, 0.4]))})],
    'axes': [([2, 3], {2: None, 3: Const(I([7, 9]))}), ([3, 2], {2: Const(F([2.0, 1.5]))})],
    'keep_aspect_ratio_policy': [('not_larger', SIZES), ('not_smaller', SIZES)]},
   oracle=lambda v: 'runtime' if v == 10 else 'reference', known={})
OP('GridSample', [r(1, 1, 4, 4), r(1, 3, 3, 2) * F(0.7)], {
    'align_corners': [1], 'padding_mode': ['border', 'reflection'],
    'mode': lambda v: ['nearest', 'bicubic'] if v < 20 else ['nearest', 'cubic']}, oracle='runtime')
OP('AffineGrid', [r(1, 2, 3), Const(I([1, 1, 3, 4]))], {'align_corners': [1]})
OP('RoiAlign', [r(1, 1, 8, 8), F([[0.5, 1, 6, 7.5], [1, 2, 3, 4]]), I([0, 0])], {
    'mode': ['max'], 'output_height': [2], 'output_width': [3], 'sampling_ratio': [1, 3], 'spatial_scale': [0.5],
    'coordinate_transformation_mode': ['output_half_pixel']}, oracle='runtime')
OP('Col2Im', [r(1, 4, 9), Const(I([4, 4])), Const(I([2, 2]))], {
    'dilations': [([2, 2], {0: r(1, 4, 4)})], 'pads': [([1, 0, 1, 0], {0: r(1, 4, 15)})], 'strides': [([2, 2], {0: r(1, 4, 4)})]}, oracle='reference')
OP('MaxUnpool', [F([[[[1, 2], [3, 4]]]]), I([[[[0, 2], [4, 8]]]])], {
    'pads': [([1, 0, 0, 1], {})], 'strides': [[2, 2]], 'kernel_shape': [[3, 3]]}, base={'kernel_shape': [2, 2], 'strides': [2, 2]}, oracle='runtime')
OP('ImageDecoder', [np.frombuffer(b'P6 2 1 255 ' + bytes([10, 20, 30, 200, 100, 0]), np.uint8)], {'pixel_format': ['BGR', 'Grayscale']},
   known={'pixel_format': lambda x, a, op: np.uint8([[[30, 20, 10], [0, 100, 200]]]) if a['pixel_format'] == 'BGR' else np.uint8([[[18], [118]]])})

# -- Signals, words ----------------------------------------------------------------------------------------------------

OP('DFT', [r(1, 6, 1)], {'axis': [(2, {0: r(1, 6, 4, 1)})], 'inverse': [(1, {0: r(1, 6, 2)})], 'onesided': [1]}, oracle='reference')
OP('STFT', [r(1, 16, 1), Const(I(4)), None, Const(I(8))], {'onesided': [0]}, oracle='reference')
OP('HannWindow HammingWindow BlackmanWindow', [Const(I(8))], {'periodic': [0], 'output_datatype': [T.DOUBLE]}, oracle='reference')
OP('MelWeightMatrix', [Const(I(4)), Const(I(16)), Const(I(8000)), Const(F(0)), Const(F(4000))], {'output_datatype': [T.DOUBLE]}, oracle='reference')
OP('StringSplit', [np.array(['a b  c', 'd-e', 'f'])], {'delimiter': ['-', ' '], 'maxsplit': [(1, {'delimiter': ' '}), (1, {0: np.array(['a b c', 'd', 'e f'])})]}, outputs=2, oracle='reference')
words = np.array(['Monday', 'tuesday', 'Friday'])
OP('StringNormalizer', [words], {'case_change_action': ['LOWER', 'UPPER'], 'is_case_sensitive': [(1, {'stopwords': ['monday']})],
                                 'stopwords': [['Monday'], (['tuesday', 'Friday'], {'is_case_sensitive': 1})]},
   known={'is_case_sensitive': lambda x, a, op: x[0]}, inert={'locale': ([('en_US', {'case_change_action': 'LOWER'})], 'bytes of ASCII')}, oracle='reference')
matches = lambda x, a, op: np.array([re.fullmatch(a['pattern'], word) is not None for word in x[0]])
OP('RegexFullMatch', [words], {'pattern': ['[A-Z].*day', 't(ue|hu)s.*', '.*']}, base={'pattern': 'Friday'}, known={'pattern': matches})
GRAMS = {'max_gram_length': 2, 'max_skip_count': 0, 'min_gram_length': 1, 'mode': 'TF', 'ngram_counts': [0, 2], 'ngram_indexes': [0, 1, 2, 3],
         'pool_int64s': [2, 3, 5, 4, 2, 3]}
OP('TfIdfVectorizer', [I([2, 3, 5, 4, 2, 3, 2])], {
    'max_gram_length': [1], 'min_gram_length': [2], 'max_skip_count': [(1, {0: I([5, 9, 4, 2, 3])})], 'mode': [('IDF', {'weights': [2.0, 3.0, 4.0, 5.0]}), ('TFIDF', {'weights': [2.0, 3.0, 4.0, 5.0]})],
    'ngram_counts': [([0, 4], {'ngram_indexes': [0, 1, 2, 3, 4]})], 'ngram_indexes': [[3, 1, 0, 2]], 'pool_int64s': [[3, 2, 2, 3, 4, 2]],
    'weights': [([2.0, 3.0, 4.0, 5.0], {'mode': 'IDF'})], 'pool_strings': [(['a', 'b', 'c', 'a', 'b', 'c'], {'pool_int64s': None, 0: np.array(['a', 'b', 'c', 'a'])})]},
   base=GRAMS, oracle='runtime')

# -- ai.onnx.ml ----------------------------------------------------------------------------------------------------------

ML = 'ai.onnx.ml'
people, numbers = np.array(['a', 'b', 'z']), I([1, 2, 9])
tensor_of = lambda *values: tensor(np.array(values))
KEYS = {'keys_strings': ['a', 'b'], 'values_int64s': [5, 6]}
none = {'keys_strings': None, 'values_int64s': None}
OP('LabelEncoder', [people], {
    'default_int64': [7], 'default_float': [(7.5, {'values_int64s': None, 'values_floats': [0.5, 1.5]})],
    'default_string': [('none', {'values_int64s': None, 'values_strings': ['x', 'y'], **{'keys_strings': None, 'keys_int64s': [1, 2], 0: numbers}})],
    'values_int64s': [[8, 9]], 'values_strings': [(['x', 'y'], {**none, 'keys_int64s': [1, 2], 0: numbers})],
    'values_floats': [([0.5, 1.5], {'values_int64s': None})], 'keys_int64s': [([1, 2], {**none, 'values_strings': ['x', 'y'], 0: numbers})],
    'keys_floats': [([1.0, 2.0], {**none, 'values_strings': ['x', 'y'], 0: F([1, 2, 9])})], 'keys_strings': [['b', 'z']],
    'keys_tensor': [(tensor(F([1, 2])), {**none, 'values_tensor': tensor(I([3, 4])), 'default_tensor': tensor(I([7])), 0: F([1, 2, 9])})],
    'values_tensor': [(tensor(I([3, 4])), {**none, 'keys_tensor': tensor(F([1, 2])), 'default_tensor': tensor(I([7])), 0: F([1, 2, 9])})],
    'default_tensor': [(tensor(I([7])), {**none, 'keys_tensor': tensor(F([1, 2])), 'values_tensor': tensor(I([3, 4])), 0: F([1, 2, 9])})]},
   base=KEYS, domain=ML, oracle='runtime')
OP('Binarizer', [r(2, 3)], {'threshold': [0.7]}, domain=ML, oracle='runtime')
TRANSFORMS = ['SOFTMAX', 'LOGISTIC', 'SOFTMAX_ZERO']
OP('LinearRegressor', [r(3, 2)], {'coefficients': [[1.0, 2.0, 3.0, 4.0]], 'intercepts': [[0.5, 1.5]], 'targets': [2], 
                                  'post_transform': ['SOFTMAX', 'LOGISTIC']},
   base=lambda v: {'coefficients': [0.5, -0.5, 2.0, 1.0], 'targets': 2}, domain=ML, oracle='runtime')
OP('LinearClassifier', [r(3, 2)], {
    'coefficients': [[1.0, -2.0, 3.0, 4.0]], 'intercepts': [[5.5, 1.5]], 'classlabels_ints': [[5, 7]],
    'classlabels_strings': [(['x', 'y'], {'classlabels_ints': None})], 'post_transform': ['SOFTMAX', 'LOGISTIC']},
   base={'coefficients': [0.5, -0.5, 2.0, 1.0], 'classlabels_ints': [0, 1], 'intercepts': [0.0, 0.0]}, outputs=2, inert={'multi_class': ([1], 'what the labels say')}, domain=ML, oracle='runtime')
SVM = {'kernel_params': [0.3, 0.0, 3.0], 'support_vectors': [0.5, 1.0, -1.0, 0.25], 'coefficients': [0.7, -0.4], 'rho': [0.1], 'n_supports': 2}
OP('SVMRegressor', [r(3, 2)], {
    'kernel_type': ['POLY', 'SIGMOID', 'RBF'], 'kernel_params': [([0.9, 0.5, 2.0], {'kernel_type': 'POLY'})], 'support_vectors': [[0.5, -1.0, -1.0, 0.5]], 'coefficients': [[0.3, 0.4]],
    'rho': [[0.9]], 'one_class': [1], 'n_supports': [(1, {'support_vectors': [0.5, 1.0], 'coefficients': [0.7]})], }, inert={'post_transform': (['NONE'], 'the default')}, base=SVM, domain=ML, oracle='runtime')
CLASSES = {**SVM, 'n_supports': None, 'vectors_per_class': [1, 1], 'classlabels_ints': [0, 1]}
OP('SVMClassifier', [r(3, 2)], {
    'kernel_type': ['POLY', 'SIGMOID', 'RBF'], 'kernel_params': [([0.9, 0.5, 2.0], {'kernel_type': 'POLY'})], 'support_vectors': [[0.5, -1.0, -1.0, 0.5]], 'coefficients': [[0.3, 0.4]],
    'rho': [[0.9]], 'prob_a': [([-1.5], {'prob_b': [0.2]})], 'prob_b': [([0.7], {'prob_a': [-1.5]})], 'classlabels_ints': [[5, 7]],
    'classlabels_strings': [(['x', 'y'], {'classlabels_ints': None})], 'vectors_per_class': [([2, 1], {'support_vectors': [0.5, 1.0, -1.0, 0.25, 0.1, 0.2], 'coefficients': [0.7, -0.4, 0.2]})],
    'post_transform': ['LOGISTIC']}, base=CLASSES, outputs=2, domain=ML, oracle='runtime')
OP('Scaler', [r(2, 3)], {'offset': [[0.5], ([0.5, 1.0, 1.5], {'scale': [1.0, 1.0, 1.0]})], 'scale': [[2.0], ([2.0, 3.0, 4.0], {'offset': [0.0, 0.0, 0.0]})]}, base={'offset': [0.0], 'scale': [1.0]}, domain=ML, oracle='runtime')
OP('Normalizer', [r(2, 3)], {'norm': ['L1', 'L2']}, base={'norm': 'MAX'}, domain=ML, oracle='runtime')
OP('Imputer', [F([[1, np.nan, 3], [2, 5, np.nan]])], {
    'imputed_value_floats': [[7.0], [7.0, 8.0, 9.0]], 'replaced_value_float': [2.0], 'imputed_value_int64s': [([7], {'imputed_value_floats': None, 'replaced_value_float': None, 'replaced_value_int64': 2, 0: I([[1, 2, 3]])})],
    'replaced_value_int64': [(3, {'imputed_value_floats': None, 'replaced_value_float': None, 'imputed_value_int64s': [7], 0: I([[1, 2, 3]])})]},
   base={'imputed_value_floats': [0.5], 'replaced_value_float': float('nan')}, domain=ML, oracle='runtime')
OP('OneHotEncoder', [I([1, 2, 9])], {'cats_int64s': [[2, 9]], 'cats_strings': [(['a', 'b'], {'cats_int64s': None, 0: people})], 'zeros': [(0, {0: I([1, 2, 1])})]},
   base={'cats_int64s': [1, 2]}, domain=ML, oracle='runtime')
OPS[ML, 'OneHotEncoder'].values.pop('zeros')
OPS[ML, 'OneHotEncoder'].inert['zeros'] = ([(0, {0: I([1, 2, 1])})], 'where each is one of the categories')
OP('FeatureVectorizer', [r(2, 2), r(2, 3)], {'inputdimensions': [[2, 3]]}, domain=ML, oracle='runtime')
OP('CategoryMapper', [people], {'cats_int64s': [[5, 6]], 'cats_strings': [['b', 'z']], 'default_int64': [7], 'default_string': [('none', {0: numbers})]},
   base={'cats_int64s': [1, 2], 'cats_strings': ['a', 'b']}, domain=ML, oracle='runtime')

# -- Random numbers: what has one answer ---------------------------------------------------------------------------------

another = ([5.0], 'another generator')


def number(a, name):
    """A value of which all are: of numbers between a bound and itself, of a deviation of 0."""
    return lambda x, a, op: np.full(a.get('shape', x[0].shape if x else None), a[name], h.tensor_dtype_to_np_dtype(a['dtype']) if 'dtype' in a else F)


ONE, MEAN = number({}, 'low'), number({}, 'mean')
OP('RandomUniform', [], {'low': [(1.0, {'high': None})], 'high': [2.0], 'dtype': [T.DOUBLE, T.FLOAT16], 'shape': [[3], [2, 2]]},
   base={'shape': [2, 3], 'low': 2.0, 'high': 2.0}, inert={'seed': another}, known={key: ONE for key in ('low', 'high', 'dtype', 'shape', 'seed')})
OP('RandomUniformLike', [r(2, 3)], {'low': [(1.0, {'high': None})], 'high': [2.0], 'dtype': [T.DOUBLE, T.FLOAT16]},
   base={'low': 2.0, 'high': 2.0}, inert={'seed': another}, known={key: ONE for key in ('low', 'high', 'dtype', 'seed')})
OP('RandomNormal', [], {'mean': [3.0], 'scale': [0.0], 'dtype': [T.DOUBLE, T.FLOAT16], 'shape': [[3], [2, 2]]},
   base={'shape': [2, 3], 'mean': 2.5, 'scale': 0.0}, inert={'seed': another}, known={key: MEAN for key in ('mean', 'scale', 'dtype', 'shape', 'seed')})
OP('RandomNormalLike', [r(2, 3)], {'mean': [3.0], 'scale': [0.0], 'dtype': [T.DOUBLE, T.FLOAT16]},
   base={'mean': 2.5, 'scale': 0.0}, inert={'seed': another}, known={key: MEAN for key in ('mean', 'scale', 'dtype', 'seed')})
certain = lambda x, a, op: x[0].astype(h.tensor_dtype_to_np_dtype(a.get('dtype', T.FLOAT)))
OP('Bernoulli', [F([[0, 1], [1, 0]])], {'dtype': [T.INT64, T.BOOL, T.DOUBLE]}, inert={'seed': another}, known={key: certain for key in ('dtype', 'seed')})
likely = lambda x, a, op: np.repeat(x[0].argmax(1)[:, None], a.get('sample_size', 1), 1).astype(h.tensor_dtype_to_np_dtype(a.get('dtype', T.INT32)))
OP('Multinomial', [F([[-1e4, 0, -1e4], [0, -1e4, -1e4]])], {'dtype': [T.INT64], 'sample_size': [3]}, inert={'seed': another},
   known={key: likely for key in ('dtype', 'sample_size', 'seed')})

# -- Training --------------------------------------------------------------------------------------------------------------

TRAINING = 'ai.onnx.preview.training'
OP('Adagrad', [F(0.1), I(3), r(3), r(3), np.abs(r(3))], {'decay_factor': [0.5], 'epsilon': [0.5], 'norm_coefficient': [0.3]},
   outputs=2, domain=TRAINING, oracle='reference')
STATE = [F(0.1), I(3), r(3), r(3), r(3), np.abs(r(3))]


def single(x, attributes, op):
    """The reference evaluator computes in f64, since the number of the step is an integer."""
    found = [Model([h.make_node(op, list('rtxgvh'), list('abc'), domain=TRAINING, **words)], list('abc'), inputs=dict(zip('rtxgvh', x))).reference()
             for words in (attributes, {})]
    assert not same(*found)
    return [value.astype(F) for value in found[0]]


ADAM = {'alpha': [0.5], 'beta': [0.7], 'epsilon': [0.5], 'norm_coefficient': [0.3], 'norm_coefficient_post': [0.2]}
OP('Adam', STATE, ADAM, outputs=3, domain=TRAINING, known={key: single for key in ADAM})
OP('Momentum', [F(0.1), I(3), r(3), r(3), r(3)], {'alpha': [0.5], 'beta': [0.7], 'mode': ['nesterov'], 'norm_coefficient': [0.3]},
   base={'alpha': 0.9, 'beta': 0.1, 'mode': 'standard', 'norm_coefficient': 0.1}, outputs=2, domain=TRAINING, oracle='reference')
# Of p = x0 * x1 and q = x0 * p, with respect to what the inputs stand for.
a, b, other = F([1, 2]), F([3, 5]), F([7, 4])
OP('Gradient', [a, b], {'y': ['p'], 'xs': [['x1', 'x0']], 'zs': [(['x1'], {'xs': ['x0'], 'outputs': 1}), (['x1'], {'xs': ['x0'], 2: other, 'outputs': 1})]},
   base={'xs': ['x0', 'x1'], 'y': 'q'}, outputs=2, domain=TRAINING, around=lambda node: (
       [h.make_node('Mul', ['x0', 'x1'], ['p']), h.make_node('Mul', ['x0', 'p'], ['q']), in_place_of(node)], list(node.output)),
   known={'y': lambda x, a, op: [x[1], x[0]], 'xs': lambda x, a, op: [x[1] ** 2, 2 * x[0] * x[1]], 'zs': lambda x, a, op: [2 * x[0] * x[-1]]})


def in_place_of(node):
    """The value of x1 is its last input."""
    if len(node.input) == 3:
        del node.input[1]
    return node


halved = graph([h.make_node('Mul', ['s', 'half'], ['t'])], [info('s', np.zeros((1, 2, 3, 3), F))], [info('t', np.zeros((1, 2, 3, 3), F))], {'half': F(0.5)}, name='m')
OP('FlexAttention', [r(1, 2, 3, 4), r(1, 2, 3, 4), r(1, 2, 3, 4)], {'scale': [0.3], 'score_mod': [halved], 'prob_mod': [halved]},
   inert={'softmax_precision': ([T.DOUBLE], 'but for the last bits')}, domain='ai.onnx.preview', oracle='reference')

# -- Trees -----------------------------------------------------------------------------------------------------------------

# x0 <= 0 ? node 2 : x1 <= 0.5 ? node 3 : node 4, and x1 <= -0.5 ? node 1 : node 2.
NODES = {'nodes_treeids': [0, 0, 0, 0, 0, 1, 1, 1], 'nodes_nodeids': [0, 1, 2, 3, 4, 0, 1, 2], 'nodes_featureids': [0, 1, 0, 0, 0, 1, 0, 0],
         'nodes_modes': ['BRANCH_LEQ', 'BRANCH_LEQ', 'LEAF', 'LEAF', 'LEAF', 'BRANCH_LEQ', 'LEAF', 'LEAF'], 'nodes_values': [0.0, 0.5, 0.0, 0.0, 0.0, -0.5, 0.0, 0.0],
         'nodes_truenodeids': [2, 3, 0, 0, 0, 1, 0, 0], 'nodes_falsenodeids': [1, 4, 0, 0, 0, 2, 0, 0]}
POINTS = F([[-1, 0], [-1, 0.75], [1, 0.25], [1, 1], [0, -0.5], [1, -1], [0.25, 0.5]])
LOST = F([[np.nan, 0], [1, np.nan], [-1, np.nan], [np.nan, np.nan]])
DOUBLES = {0: POINTS.astype('f8'), 'nodes_values': None, 'nodes_values_as_tensor': tensor(np.float64(NODES['nodes_values']))}


def all_modes(mode):
    return [mode if m != 'LEAF' else m for m in NODES['nodes_modes']]


def of_trees(kind, base, **more):
    """The attributes of both older ops: `kind` is what those of its leaves begin with."""
    of = lambda name: f'{kind}_{name}'
    doubles = {**DOUBLES, of('weights'): None, of('weights_as_tensor'): tensor(np.float64(base[of('weights')]))}
    doubled = {key: value for key, value in doubles.items() if not isinstance(value, onnx.TensorProto)}
    tensors = {key: value for key, value in doubles.items() if isinstance(value, onnx.TensorProto)}
    return {
        'nodes_treeids': [([0, 0, 0, 0, 0, 7, 7, 7], {of('treeids'): [7 * i for i in base[of('treeids')]]})], 'nodes_nodeids': [[0, 1, 2, 4, 3, 0, 2, 1]],
        'nodes_featureids': [[1, 0, 0, 0, 0, 0, 0, 0]], 'nodes_modes': [all_modes(f'BRANCH_{m}') for m in ('LT', 'GTE', 'GT', 'EQ', 'NEQ')],
        'nodes_values': [[0.3, 0.1, 0.0, 0.0, 0.0, 0.3, 0.0, 0.0]], 'nodes_truenodeids': [([1, 4, 0, 0, 0, 2, 0, 0], {'nodes_falsenodeids': [2, 3, 0, 0, 0, 1, 0, 0]})],
        'nodes_falsenodeids': [([2, 3, 0, 0, 0, 1, 0, 0], {'nodes_truenodeids': [1, 4, 0, 0, 0, 2, 0, 0]})],
        'nodes_missing_value_tracks_true': [([1, 0, 0, 0, 0, 1, 0, 0], {0: LOST}), ([0, 1, 0, 0, 0, 0, 0, 0], {0: LOST})],
        of('ids'): [base[of('ids')][::-1]], of('nodeids'): [[4, 2, 3, 2, 1, 3]], of('treeids'): [([1, 1, 0, 0, 0, 0], {of('nodeids'): [1, 2, 2, 3, 4, 4]})],
        of('weights'): [[9.0, 8.0, 7.0, 6.0, 5.0, 4.0]],
        **{key: [(value, {**doubled, **{other: v for other, v in tensors.items() if other != key}})] for key, value in tensors.items()}, **more}


HITS = {'nodes_hitrates': ([[1.0] * 8], 'how often'), 'nodes_hitrates_as_tensor': ([tensor(F([1.0] * 8))], 'how often')}
TARGETS = {**NODES, 'n_targets': 2, 'target_treeids': [0, 0, 0, 1, 1, 0], 'target_nodeids': [2, 3, 4, 1, 2, 4], 'target_ids': [0, 0, 0, 1, 1, 1],
           'target_weights': [1.0, 2.0, 3.0, 4.0, 5.0, 0.5]}
DOUBLE_TARGETS = {**DOUBLES, 'target_weights': None, 'target_weights_as_tensor': tensor(np.float64(TARGETS['target_weights']))}
OP('TreeEnsembleRegressor', [POINTS], of_trees(
    'target', TARGETS, n_targets=[(2, {'target_ids': [0] * 6})], aggregate_function=['AVERAGE', 'MIN', 'MAX'], base_values=[[0.5, -2.0]],
    post_transform=['SOFTMAX', 'LOGISTIC', 'SOFTMAX_ZERO'], base_values_as_tensor=[(tensor(np.float64([0.5, -2.0])), DOUBLE_TARGETS)]),
   base=TARGETS, inert=HITS, domain=ML, oracle='runtime', ask={1: 3, 5: 3})
CLASS = {**NODES, 'classlabels_int64s': [5, 6, 7], 'class_treeids': [0, 0, 0, 1, 1, 0], 'class_nodeids': [2, 3, 4, 1, 2, 4], 'class_ids': [0, 1, 2, 1, 0, 1],
         'class_weights': [1.0, 2.0, 3.0, 4.0, 5.0, 0.5]}
DOUBLE_CLASS = {**DOUBLES, 'class_weights': None, 'class_weights_as_tensor': tensor(np.float64(CLASS['class_weights']))}
OP('TreeEnsembleClassifier', [POINTS], of_trees(
    'class', CLASS, classlabels_int64s=[[7, 6, 5]], classlabels_strings=[(['x', 'y', 'z'], {'classlabels_int64s': None})], base_values=[[0.5, -2.0, 9.0]],
    post_transform=['SOFTMAX', 'LOGISTIC', 'SOFTMAX_ZERO'], base_values_as_tensor=[(tensor(np.float64([0.5, -2.0, 9.0])), DOUBLE_CLASS)]),
   base=CLASS, outputs=2, inert=HITS, domain=ML, oracle='runtime', ask={1: 3, 5: 3})
FOREST = {'tree_roots': [0, 2], 'nodes_splits': tensor(F([0, 0.5, -0.5])), 'nodes_featureids': [0, 1, 1], 'nodes_modes': tensor(np.uint8([0, 0, 0])),
          'nodes_truenodeids': [0, 1, 3], 'nodes_trueleafs': [1, 1, 1], 'nodes_falsenodeids': [1, 2, 4], 'nodes_falseleafs': [0, 1, 1],
          'leaf_targetids': [0, 0, 0, 1, 1], 'leaf_weights': tensor(F([1, 2, 3, 4, 5])), 'n_targets': 2}


def transformed(x, attributes, op):
    """The reference evaluator leaves sums as they are."""
    rows = Model([h.make_node(op, ['x'], ['y'], domain=ML, **FOREST)], ['y'], inputs={'x': x[0]}, ml=5).reference()[0]
    if attributes['post_transform'] == 2:
        return 1 / (1 + np.exp(-rows))
    e = np.exp(rows) * (attributes['post_transform'] == 1 or rows != 0)
    return e / e.sum(1, keepdims=True)


OP('TreeEnsemble', [POINTS], {
    'tree_roots': [[0], [2, 1]], 'nodes_splits': [tensor(F([0.3, 0.1, 0.3]))], 'nodes_featureids': [[1, 0, 0]], 'nodes_modes': [tensor(np.uint8([m] * 3)) for m in range(1, 6)],
    'nodes_truenodeids': [[3, 0, 1]], 'nodes_trueleafs': [([0, 1, 1], {'nodes_truenodeids': [1, 1, 3], 'nodes_falsenodeids': [0, 2, 4], 'nodes_falseleafs': [1, 1, 1]})],
    'nodes_falsenodeids': [[1, 3, 0]], 'nodes_falseleafs': [[1, 1, 1]], 'leaf_targetids': [[1, 0, 1, 0, 1]], 'leaf_weights': [tensor(F([9, 8, 7, 6, 5]))],
    'n_targets': [(2, {'leaf_targetids': [0] * 5})], 'aggregate_function': [0, *((m, {'leaf_targetids': [0] * 5, 'n_targets': 1}) for m in (2, 3))], 'post_transform': [1, 2, 3],
    'nodes_missing_value_tracks_true': [([1, 0, 1], {0: LOST}), ([0, 1, 0], {0: LOST})],
    'membership_values': [(tensor(F([0.25, 1, np.nan])), {'nodes_modes': tensor(np.uint8([0, 6, 0]))})]},
   base=FOREST, inert={'nodes_hitrates': ([tensor(F([1, 1, 1]))], 'how often')}, domain=ML, oracle='reference', known={'post_transform': transformed})
