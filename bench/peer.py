"""What the JAX programs share: like the C programs they print one line of JSON for each line they read."""
import json
import os
import statistics
import sys
import time


def start(threads):
    """JAX, confined to `threads` threads (0: its default) before it is first loaded."""
    os.environ['JAX_PLATFORMS'] = 'cpu'
    if threads == 1:
        os.environ['XLA_FLAGS'] = '--xla_cpu_multi_thread_eigen=false'
    import jax
    return jax


def start_tensorflow(threads):
    """The same of TensorFlow."""
    os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
    if threads == 1:
        os.environ['XLA_FLAGS'] = '--xla_cpu_multi_thread_eigen=false'
    said = os.dup(2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # it greets, whatever it is told
    try:
        import tensorflow
    finally:
        os.dup2(said, 2)
    tensorflow.config.threading.set_intra_op_parallelism_threads(threads)
    tensorflow.config.threading.set_inter_op_parallelism_threads(threads)
    return tensorflow


def sample(values):
    """As bench/fetch.c shows a result: up to 64 of its numbers."""
    return ' '.join(f'{value:.9g}' for value in values.reshape(-1)[::(values.size + 63) // 64].tolist())


def memory():
    """The most that this process has held, in MB."""
    with open('/proc/self/status', encoding='utf-8') as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith('VmHWM')) // 1024


def serve(step, report=dict):
    """step(i) runs once and returns what to report, when its result is there; so does report(), once a line and not timed.
    The first two calls are not timed."""
    step(0)
    step(1)
    for line in sys.stdin:
        times, processor = [], []
        for i in range(int(line)):
            begin, before = time.perf_counter(), time.process_time()
            result = step(i)
            processor.append(time.process_time() - before)
            times.append(time.perf_counter() - begin)
        print(json.dumps({'ms': 1e3 * statistics.median(times), 'processor_ms': 1e3 * statistics.median(processor),
                          'memory_mb': memory(), **result, **report()}), flush=True)
