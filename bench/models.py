"""Networks in ONNX, and the peers that run them: ONNX Runtime, and IREE, which compiles them as Leat does.

    models.py make NAME FOLDER             FOLDER/NAME.onnx with weights that are drawn, its input NAME.npy, and NAME.vmfb
    models.py draw NAME FOLDER             the small network NAME of tests/models, and its input; needs NumPy alone
    models.py start PATH THREADS           prints the milliseconds of ONNX Runtime's session and its first run
    models.py step PEER PATH THREADS       times runs, as peer.py says; PEER: onnxruntime or iree
"""
import os
import re
import shutil
import subprocess
import sys
import time

import numpy

from peer import serve

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
    image, = drawn.feeds(path).values()
    numpy.save(f'{path}.npy', image)


def make(name, folder):
    import networks
    import onnx
    path = os.path.join(folder, name)
    networks.write(path, *networks.light(name))
    finish(path)
    onnx.save(onnx.load(f'{path}.onnx'), f'{path}.onnx')  # with the weights in it
    tools = os.path.dirname(sys.executable)
    subprocess.run([f'{tools}/iree-import-onnx', f'{path}.onnx', '-o', f'{path}.mlir', '--opset-version', '17'], check=True)
    subprocess.run([f'{tools}/iree-compile', f'{path}.mlir', '-o', f'{path}.vmfb', *IREE], check=True,
                   stderr=subprocess.DEVNULL)


def onnx_session(path, threads):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(f'{path}.onnx', options, providers=['CPUExecutionProvider'])
    feed = session.get_inputs()[0].name
    return lambda image: session.run(None, {feed: image})


def iree_module(path, threads):
    import iree.runtime as runtime
    if threads > 1:
        runtime.flags.parse_flags(f'--task_topology_max_group_count={threads}')
    config = runtime.Config('local-sync' if threads == 1 else 'local-task')
    module = runtime.load_vm_module(runtime.VmModule.mmap(config.vm_instance, f'{path}.vmfb'), config)
    with open(f'{path}.mlir', encoding='utf-8') as text:
        run = module[re.search(r'@(\w+)\(', text.read(4096)).group(1)]
    return lambda image: run(image)[0].to_host()


def start(path, threads):
    image = numpy.load(f'{path}.npy')
    import onnxruntime  # not counted
    onnxruntime.set_default_logger_severity(3)
    begin = time.perf_counter()
    onnx_session(path, int(threads))(image)
    print(1e3 * (time.perf_counter() - begin))


def step(name, path, threads):
    image = numpy.load(f'{path}.npy')
    run = {'onnxruntime': onnx_session, 'iree': iree_module}[name](path, int(threads))

    def once(_):
        run(image)
        return {}
    serve(once)


if __name__ == '__main__':
    {'make': make, 'draw': draw, 'start': start, 'step': step}[sys.argv[1]](*sys.argv[2:])
