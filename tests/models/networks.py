"""Networks in ONNX, whose weights are drawn (drawn.py). Needs the packages onnx and onnxruntime."""
import json
import math
import os

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import drawn

LIGHT = f'{os.path.dirname(onnx.__file__)}/backend/test/data/light'
NAMES = ('bvlc_alexnet', 'densenet121', 'inception_v1', 'inception_v2', 'resnet50', 'shufflenet', 'squeezenet', 'vgg19',
         'zfnet512')


def write(path, model, learned):
    """`path`.onnx and `path`.json; `learned`: {name: (shape, lowest, highest)}, what is in `path`.weights."""
    at, tensors = 0, []
    for name, (shape, low, high) in learned.items():
        size = 4 * math.prod(shape)
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape, data_location=TensorProto.EXTERNAL)
        for key, value in ('location', f'{os.path.basename(path)}.weights'), ('offset', at), ('length', size):
            tensor.external_data.add(key=key, value=str(value))
        model.graph.initializer.append(tensor)
        tensors.append([size // 4, low, high])
        at += size
    with open(f'{path}.json', 'w', encoding='utf-8') as out:
        feeds = json.dumps([x.name for x in model.graph.input])
        rows = ',\n'.join(map(json.dumps, tensors))
        out.write(f'{{"feeds": {feeds},\n"weights": [\n{rows}]}}\n')
    with open(f'{path}.onnx', 'wb') as out:
        out.write(model.SerializeToString())


def answers(path):
    """What ONNX Runtime gives, by output; `path`.weights is drawn for it."""
    drawn.weights(path)
    onnxruntime.set_default_logger_severity(3)
    session = onnxruntime.InferenceSession(f'{path}.onnx', providers=['CPUExecutionProvider'])
    names = [x.name for x in session.get_outputs()]
    return dict(zip(names, session.run(names, drawn.feeds(path))))


def light(name):
    """A light model of the backend tests, which makes weights that are all alike: (model, learned). What its softmax is
    of is a result, too."""
    model = onnx.load(f'{LIGHT}/light_{name}.onnx')
    graph = model.graph
    shapes = {x.name: numpy_helper.to_array(x).tolist() for x in graph.initializer}
    uses = {x: (node, i) for node in graph.node for i, x in enumerate(node.input)}
    made = [node for node in graph.node if node.op_type == 'ConstantOfShape']
    learned = {node.output[0]: (shapes[node.input[0]], *bounds(shapes[node.input[0]], *used(uses, node.output[0])))
               for node in made}
    kept = [node for node in graph.node if node.op_type != 'ConstantOfShape']
    held = [x for x in graph.initializer if x.name not in {node.input[0] for node in made}]
    inputs = [x for x in graph.input if x.name not in shapes]
    for field, items in (graph.node, kept), (graph.initializer, held), (graph.input, inputs):
        del field[:]
        field.extend(items)
    for node in kept:
        if node.op_type == 'Softmax':
            graph.output.add().CopyFrom(helper.make_tensor_value_info(node.input[0], TensorProto.FLOAT, None))
    model.ir_version = 4  # initializers need not be inputs
    return model, learned


def used(uses, name):
    """The op that takes a weight, and where."""
    node, at = uses[name]
    return used(uses, node.output[0]) if node.op_type == 'Unsqueeze' else (node.op_type, at)


def bounds(shape, op, at):
    """What keeps a signal about as large as it is: K. He's for weights; scales and variances are positive."""
    if len(shape) > 1:
        most = math.sqrt(6 / math.prod(shape[1:]))
        return -most, most
    return (0.5, 1.5) if (op, at) == ('BatchNormalization', 4) else (0.2, 0.6) \
        if (op, at) == ('BatchNormalization', 1) or op == 'Mul' else (-0.1, 0.1)


class Bert:
    """BERT as PyTorch writes it: what is fused elsewhere stands there op by op, shapes are computed."""

    def __init__(self, layers, width, heads, inner, vocabulary, places):
        self.nodes, self.learned, self.held, self.count = [], {}, [], 0
        self.width, self.heads = width, heads
        self.held.append(numpy_helper.from_array(numpy.arange(places)[None], 'places'))
        mask = self.node('Unsqueeze', 'attention_mask', self.ints(1, 2))
        mask = self.node('Sub', self.number(1), self.node('Cast', mask, to=TensorProto.FLOAT))
        mask = self.node('Mul', mask, self.number(-3.4028235e38))
        x = self.embeddings(vocabulary, places)
        for i in range(layers):
            x = self.layer(x, mask, inner, f'encoder.layer.{i}')
        self.nodes.append(helper.make_node('Identity', [x], ['last_hidden_state']))
        first = self.node('Gather', x, self.number(0, 'i8'), axis=1)
        weights = self.weight('pooler.weight', width, width), self.weight('pooler.bias', width)
        first = self.node('Gemm', first, *weights, transB=1)
        self.nodes.append(helper.make_node('Tanh', [first], ['pooler_output']))

    def node(self, op, *inputs, **attributes):
        self.count += 1
        name = f'/{op}_{self.count}'
        self.nodes.append(helper.make_node(op, inputs, [f'{name}_output_0'], name=name, **attributes))
        return f'{name}_output_0'

    def constant(self, array):
        return self.node('Constant', value=numpy_helper.from_array(array))

    def number(self, value, dtype='f4'):
        return self.constant(numpy.array(value, dtype))

    def ints(self, *values):
        return self.constant(numpy.array(values, 'i8'))

    def weight(self, name, *shape):
        if name.endswith('Norm.weight'):
            self.learned[name] = shape, 0.5, 1.5
        else:
            most = math.sqrt(3 / self.width) if len(shape) > 1 and 'embeddings' not in name else 0.1
            self.learned[name] = shape, -most, most
        return name

    def linear(self, x, inner, outer, name):
        product = self.node('MatMul', x, self.weight(f'{name}.weight', inner, outer))
        return self.node('Add', self.weight(f'{name}.bias', outer), product)

    def normalized(self, x, name):
        centred = self.node('Sub', x, self.node('ReduceMean', x, axes=[-1]))
        variance = self.node('ReduceMean', self.node('Pow', centred, self.number(2)), axes=[-1])
        deviation = self.node('Sqrt', self.node('Add', variance, self.number(1e-12)))
        scale = self.weight(f'{name}.LayerNorm.weight', self.width)
        scaled = self.node('Mul', self.node('Div', centred, deviation), scale)
        return self.node('Add', scaled, self.weight(f'{name}.LayerNorm.bias', self.width))

    def size(self, x, axis):
        """An extent of x, as a list of one."""
        extent = self.node('Gather', self.node('Shape', x), self.number(axis, 'i8'), axis=0)
        return self.node('Unsqueeze', extent, self.ints(0))

    def embeddings(self, vocabulary, places):
        rows = self.node('Slice', 'places', self.ints(0), self.size('input_ids', 1), self.ints(1))
        words, kinds, at = (self.node('Gather', self.weight(f'embeddings.{name}', count, self.width), index)
                            for name, count, index in (('word', vocabulary, 'input_ids'), ('type', 2, 'token_type_ids'),
                                                       ('position', places, rows)))
        return self.normalized(self.node('Add', self.node('Add', words, kinds), at), 'embeddings')

    def split(self, x, *order):
        shape = self.node('Concat', self.size(x, 0), self.size(x, 1), self.ints(self.heads),
                          self.ints(self.width // self.heads), axis=0)
        return self.node('Transpose', self.node('Reshape', x, shape), perm=order)

    def attention(self, x, mask, name):
        query, key, value = (self.linear(x, self.width, self.width, f'{name}.{which}')
                             for which in ('query', 'key', 'value'))
        scores = self.node('MatMul', self.split(query, 0, 2, 1, 3), self.split(key, 0, 2, 3, 1))
        scores = self.node('Div', scores, self.number(math.sqrt(self.width // self.heads)))
        shares = self.node('Softmax', self.node('Add', scores, mask), axis=-1)
        seen = self.node('Transpose', self.node('MatMul', shares, self.split(value, 0, 2, 1, 3)), perm=[0, 2, 1, 3])
        shape = self.node('Concat', self.size(seen, 0), self.size(seen, 1), self.ints(self.width), axis=0)
        return self.linear(self.node('Reshape', seen, shape), self.width, self.width, f'{name}.output')

    def layer(self, x, mask, inner, name):
        x = self.normalized(self.node('Add', self.attention(x, mask, f'{name}.attention'), x), f'{name}.attention')
        h = self.linear(x, self.width, inner, f'{name}.intermediate')
        error = self.node('Erf', self.node('Div', h, self.number(math.sqrt(2))))
        h = self.node('Mul', self.node('Mul', h, self.node('Add', error, self.number(1))), self.number(0.5))
        return self.normalized(self.node('Add', self.linear(h, inner, self.width, f'{name}.output'), x), name)


def bert(**sizes):
    """(model, learned)"""
    made, value = Bert(**sizes), helper.make_tensor_value_info
    names, shape = ('input_ids', 'attention_mask', 'token_type_ids'), ['batch', 'sequence']
    outputs = [value('last_hidden_state', TensorProto.FLOAT, [*shape, made.width]),
               value('pooler_output', TensorProto.FLOAT, ['batch', made.width])]
    inputs = [value(name, TensorProto.INT64, shape) for name in names]
    graph = helper.make_graph(made.nodes, 'bert', inputs, outputs, made.held)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 14)], producer_name='networks.py')
    model.ir_version = 7
    return model, made.learned
