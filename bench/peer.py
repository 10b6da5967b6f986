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


def serve(step):
    """step(i) runs once and returns what to report, when its result is there. The first two calls are not timed."""
    step(0)
    step(1)
    for line in sys.stdin:
        times = []
        for i in range(int(line)):
            begin = time.perf_counter()
            result = step(i)
            times.append(time.perf_counter() - begin)
        print(json.dumps({'ms': 1e3 * statistics.median(times), **result}), flush=True)
