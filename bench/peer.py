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


def sample(values):
    """As bench/fetch.c shows a result: up to 64 of its numbers."""
    return ' '.join(f'{value:.9g}' for value in values.reshape(-1)[::(values.size + 63) // 64].tolist())


def serve(step, report=dict):
    """step(i) runs once and returns what to report, when its result is there; so does report(), once a line and not timed.
    The first two calls are not timed."""
    step(0)
    step(1)
    for line in sys.stdin:
        times = []
        for i in range(int(line)):
            begin = time.perf_counter()
            result = step(i)
            times.append(time.perf_counter() - begin)
        print(json.dumps({'ms': 1e3 * statistics.median(times), **result, **report()}), flush=True)
