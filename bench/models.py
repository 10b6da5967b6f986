"""Networks in ONNX, and who runs them: Leat, ONNX Runtime, OpenVINO, and IREE, which compiles them as Leat does.

    models.py make NAME FOLDER             FOLDER/NAME.onnx with weights that are drawn, and its inputs NAME.0.npy …
    models.py draw NAME FOLDER             the small network NAME of tests/models, and its inputs; needs NumPy alone
    models.py iree PATH                    PATH.vmfb, what IREE makes of it
    models.py start PATH THREADS           prints the milliseconds of ONNX Runtime's session and its first run
    models.py trace PATH CPU               where Leat's time goes, for tracing.py
    models.py step SYSTEM PATH THREADS [CPU]
                                           times runs, as peer.py says; SYSTEM: leat, onnxruntime or openvino
"""
import glob
import json
import math
import os
import shutil
import subprocess
import sys
import time

import numpy

from peer import sample, serve

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../tests/models')
sys.path.insert(0, MODELS)

# Channels last, and convolutions as products of unfolded images: what made squeezenet fastest of what IREE has.
IREE = ('--iree-hal-target-device=local', '--iree-hal-local-target-device-backends=llvm-cpu',
        '--iree-llvmcpu-target-cpu=host', '--iree-opt-level=O3', '--iree-opt-data-tiling',
        '--iree-global-opt-use-im2col-for-convs', '--iree-preprocessing-pass-pipeline='
        'builtin.module(util.func(iree-preprocessing-convert-conv-to-channels-last))')


def draw(name, folder):
    for end in 'onnx', 'json':
        shutil.copy(os.path.join(MODELS, 'data', f'{name}.{end}'), folder)
    finish(os.path.join(folder, name))


def finish(path):
    import drawn
    drawn.weights(path)
    for i, array in enumerate(drawn.feeds(path).values()):
        numpy.save(f'{path}.{i}.npy', array)


def mlp():
    """784-512-512-10: (model, learned), as networks.py has them."""
    from onnx import TensorProto, helper
    widths, nodes, learned, x = (784, 512, 512, 10), [], {}, 'x'
    for i, (inner, outer) in enumerate(zip(widths, widths[1:])):
        most = (6 / inner) ** .5
        learned |= {f'w{i}': ((inner, outer), -most, most), f'b{i}': ((outer,), -.1, .1)}
        nodes.append(helper.make_node('Gemm', [x, f'w{i}', f'b{i}'], [f'sum{i}']))
        x = f'hidden{i}' if i < 2 else f'sum{i}'
        if i < 2:
            nodes.append(helper.make_node('Relu', [f'sum{i}'], [x]))
    ends = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, width])] for name, width in (('x', 784), (x, 10))]
    return helper.make_model(helper.make_graph(nodes, 'mlp', *ends), opset_imports=[helper.make_opsetid('', 14)],
                             ir_version=7), learned


def bert_base():
    """One sentence of 128 tokens."""
    import networks
    model, learned = networks.bert(layers=12, width=768, heads=12, inner=3072, vocabulary=30522, places=512)
    for value in *model.graph.input, *model.graph.output:
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param:
                dim.dim_value = {'batch': 1, 'sequence': 128}[dim.dim_param]
    return model, learned


def make(name, folder):
    import networks
    import onnx
    path = os.path.join(folder, name)
    networks.write(path, *(OURS[name]() if name in OURS else networks.light(name)))
    finish(path)
    if name in FED:
        for i, array in enumerate(FED[name](numpy.random.RandomState(2))):
            numpy.save(f'{path}.{i}.npy', array)
    model = onnx.load(f'{path}.onnx')
    onnx.save(model, f'{path}.onnx')  # with the weights in it
    os.remove(f'{path}.weights')
    with open(f'{path}.json', 'w', encoding='utf-8') as out:
        json.dump({'feeds': [port.name for port in model.graph.input], 'flops': FLOPS.get(name) or flops(model)}, out)


def flops(model):
    """The work of its convolutions and products."""
    import onnx
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    shapes = {value.name: [dim.dim_value for dim in value.type.tensor_type.shape.dim]
              for value in (*inferred.value_info, *inferred.input, *inferred.output)}
    shapes |= {tensor.name: list(tensor.dims) for tensor in inferred.initializer}
    count = 0
    for node in inferred.node:
        if node.op_type in ('Conv', 'Gemm', 'MatMul'):
            transposed = any(attribute.name == 'transA' and attribute.i for attribute in node.attribute)
            inner = math.prod(shapes[node.input[1]][1:]) if node.op_type == 'Conv' else \
                shapes[node.input[0]][0 if transposed else -1]
            count += 2 * math.prod(shapes[node.output[0]]) * inner
    return count


OURS = {'mlp': mlp, 'bert_base': bert_base}
FED = {'mlp': lambda draw: [draw.normal(size=[1, 784]).astype('f4')],
       'bert_base': lambda draw: [draw.randint(0, 30522, [1, 128]), numpy.ones([1, 128], 'i8'), numpy.zeros([1, 128], 'i8')]}


FLOPS = {'bert_base': 2 * (12 * (128 * (4 * 768**2 + 2 * 768 * 3072) + 2 * 128**2 * 768) + 768**2)}  # its shapes are computed


def iree(path):
    tools = os.path.dirname(sys.executable)
    subprocess.run([f'{tools}/iree-import-onnx', f'{path}.onnx', '-o', f'{path}.mlir', '--opset-version', '17'], check=True)
    subprocess.run([f'{tools}/iree-compile', f'{path}.mlir', '-o', f'{path}.vmfb', *IREE], check=True,
                   stderr=subprocess.DEVNULL)


def fed(path):
    """The inputs, in the model's order."""
    return [numpy.load(f'{path}.{i}.npy') for i in range(len(glob.glob(f'{glob.escape(path)}.*.npy')))]


def leat_session(path, threads, cpu='host'):
    import leat
    step = leat_step(leat.load(f'{path}.onnx', threads=threads, cpu=cpu, cache='off'))

    def run(*arrays):
        results = step(*arrays)
        return results if isinstance(results, tuple) else (results,)
    return run


def leat_step(model):
    return model.step(model.entries[0])


def trace(path, cpu):
    import leat
    import tracing
    inputs, model = fed(path), leat.load(f'{path}.onnx', threads=1, cpu=cpu, trace=True)
    step = leat_step(model)
    tracing.report(model, lambda: step(*inputs))


def onnx_session(path, threads):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(f'{path}.onnx', options, providers=['CPUExecutionProvider'])
    names = [port.name for port in session.get_inputs()]
    return lambda *arrays: session.run(None, dict(zip(names, arrays)))


def openvino_request(path, threads):
    import openvino
    core = openvino.Core()
    options = {'INFERENCE_NUM_THREADS': threads, 'INFERENCE_PRECISION_HINT': 'f32', 'PERFORMANCE_HINT': 'LATENCY'}
    request = core.compile_model(f'{path}.onnx', 'CPU', options).create_infer_request()

    def run(*arrays):
        results = request.infer(dict(enumerate(arrays)), share_inputs=True, share_outputs=True)
        return list(results.values())
    return run


def start(path, threads):
    inputs = fed(path)
    import onnxruntime  # not counted
    onnxruntime.set_default_logger_severity(3)
    begin = time.perf_counter()
    onnx_session(path, int(threads))(*inputs)
    print(1e3 * (time.perf_counter() - begin))


def step(name, path, threads, *cpu):
    inputs, last = fed(path), [None]
    run = {'leat': leat_session, 'onnxruntime': onnx_session, 'openvino': openvino_request}[name](path, int(threads), *cpu)

    def once(_):
        last[0] = run(*inputs)
        return {}
    serve(once, lambda: {'results': [sample(numpy.asarray(result)) for result in last[0]]})


if __name__ == '__main__':
    {'make': make, 'draw': draw, 'iree': iree, 'start': start, 'step': step, 'trace': trace}[sys.argv[1]](*sys.argv[2:])
