"""Small models and what they give: by ONNX's reference evaluator and by ONNX Runtime. Needs the packages onnx and
onnxruntime, which the tests do not: the answers are kept (`remake_cases`)."""
import warnings

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

warnings.filterwarnings('ignore')
onnxruntime.set_default_logger_severity(4)
RUNTIME_OPSETS = {'': 24, 'ai.onnx.ml': 4}  # the newest that ONNX Runtime takes for certain


def dtype_of(value):
    if isinstance(value, onnx.TensorProto):
        return value.data_type
    value = np.asarray(value)
    return T.STRING if value.dtype.kind in 'USO' else h.np_dtype_to_tensor_dtype(value.dtype)


def tensor(value, name=''):
    if isinstance(value, onnx.TensorProto):
        made = onnx.TensorProto()
        made.CopyFrom(value)
        made.name = name
        return made
    value = np.asarray(value)
    return numpy_helper.from_array(value.astype(object) if value.dtype.kind == 'U' else value, name)


def info(name, value, shape=None):
    """What a value is said to be; `shape` where it is not its own: names for what is known only while running."""
    if value is None:
        return h.make_empty_tensor_value_info(name)
    if isinstance(value, list):
        return h.make_tensor_sequence_value_info(name, dtype_of(value[0]), None)
    own = list(value.dims) if isinstance(value, onnx.TensorProto) else list(np.asarray(value).shape)
    return h.make_tensor_value_info(name, dtype_of(value), own if shape is None else shape)


def graph(nodes, inputs, outputs, initializers=(), name='g'):
    """Of infos, or names whose types nobody says."""
    say = lambda x: h.make_empty_tensor_value_info(x) if isinstance(x, str) else x
    return h.make_graph(nodes, name, [say(x) for x in inputs], [say(x) for x in outputs],
                        [tensor(v, n) for n, v in dict(initializers).items()])


class Model:
    """One with what it is fed: arrays by name, of the `shapes` that the model says they have."""

    def __init__(self, nodes, outputs, inputs=None, initializers=None, opset=21, ml=3, domains=None, functions=(),
                 shapes=None, sparse=()):
        self.inputs, self.outputs, self.opset, self.ml = inputs or {}, outputs, opset, ml
        shapes, used = shapes or {}, {node.domain for node in nodes} - {'', 'ai.onnx.ml'}
        sets = [h.make_opsetid('', opset)]
        if any(node.domain == 'ai.onnx.ml' for node in nodes):
            sets.append(h.make_opsetid('ai.onnx.ml', ml))
        sets += [h.make_opsetid(domain, (domains or {}).get(domain, 1)) for domain in sorted(used)]
        body = graph(nodes, [info(name, value, shapes.get(name)) for name, value in self.inputs.items()], outputs,
                     initializers or {})
        body.sparse_initializer.extend(sparse)
        self.proto = h.make_model(body, opset_imports=sets, functions=functions, producer_name='cases',
                                  ir_version=10 if opset < 23 else 12)

    def reference(self):
        fed = {name: numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)
               for name, value in self.inputs.items()}
        return ReferenceEvaluator(self.proto).run(None, fed)

    def runtime(self):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(self.typed().SerializeToString(), options, ['CPUExecutionProvider'])
        return session.run(None, {name: np.asarray(value) for name, value in self.inputs.items()})

    def typed(self, values=None):
        """The model, whose results have the types of the values."""
        made = onnx.ModelProto()
        made.CopyFrom(self.proto)
        if values is None:
            made = onnx.shape_inference.infer_shapes(made)
            return made
        for i, (name, value) in enumerate(zip(self.outputs, values)):
            rank = None if isinstance(value, list) else [None] * np.asarray(value).ndim
            made.graph.output[i].CopyFrom(info(name, value, rank))
        return made

    def answer(self, which):
        """What `reference` or `runtime` gives, or the exception."""
        try:
            return getattr(self, which)()
        except Exception as error:  # whatever it is, it has no answer
            return error

    def answers(self):
        return {which: self.answer(which) for which in ('reference', 'runtime')}


def same(a, b, rtol=1e-3, atol=1e-5):
    """Whether two lists of values are."""
    if len(a) != len(b):
        return False
    for x, y in zip(a, b):
        if isinstance(x, list) or isinstance(y, list):
            if not isinstance(x, list) or not isinstance(y, list) or not same(x, y, rtol, atol):
                return False
            continue
        x, y = np.asarray(x), np.asarray(y)
        if x.shape != y.shape or x.dtype.kind not in 'USO' and x.dtype != y.dtype:
            return False
        if (x.dtype.kind in 'USO') != (y.dtype.kind in 'USO'):
            return False
        if x.dtype.kind in 'USO':
            if [str(v) for v in x.ravel()] != [str(v) for v in y.ravel()]:
                return False
        elif x.dtype.kind == 'V' or 'float' not in x.dtype.name and x.dtype.kind != 'c':
            if (x != y).any():
                return False
        elif not np.allclose(x.astype('c16'), y.astype('c16'), rtol, atol, equal_nan=True):
            return False
    return True
