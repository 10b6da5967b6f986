#!/usr/bin/env python3
"""Writes digits.onnx, a model file as other systems write them, of a net that Leat has trained: make_onnx.py VARIABLES,
a checkpoint with net/hidden/w [64, 32], net/hidden/b, net/output/w [32, 10] and net/output/b. Needs the packages onnx and
safetensors."""
import sys

from onnx import TensorProto, helper, numpy_helper, save
from safetensors.numpy import load_file

weights = load_file(sys.argv[1])
node, value = helper.make_node, helper.make_tensor_value_info
graph = helper.make_graph(
    [node('Gemm', ['image', 'hidden.w', 'hidden.b'], ['hidden']), node('Relu', ['hidden'], ['hidden/relu']),
     node('Gemm', ['hidden/relu', 'output.w', 'output.b'], ['logits']), node('Softmax', ['logits'], ['probabilities']),
     node('ArgMax', ['logits'], ['class'], axis=1, keepdims=0)],
    'digits',
    [value('image', TensorProto.FLOAT, ['batch', 64])],
    [value('class', TensorProto.INT64, ['batch']), value('probabilities', TensorProto.FLOAT, ['batch', 10])],
    [numpy_helper.from_array(weights[f'net/{layer}/{what}'], f'{layer}.{what}') for layer in ('hidden', 'output')
     for what in 'wb'])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], producer_name='make_onnx')
model.ir_version = 8
save(model, 'digits.onnx')
