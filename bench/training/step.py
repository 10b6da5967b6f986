"""Training steps of a text here, by Leat or another system, from the same variables on the same batch.

    step.py begin NAME FOLDER                          FOLDER/NAME.npz: what Leat's variables begin with; prints a step's work
    step.py compile FILE CACHE CPU                     prints how many ms Leat takes to its compiled step, and the MB held
    step.py trace NAME CPU                             where Leat's time goes, for tracing.py
    step.py SYSTEM NAME FOLDER THREADS [CPU]           times steps, as ../peer.py says; leat, jax, tensorflow or xla

Leat's package is found by PYTHONPATH. What is reported besides are the losses of the first and the fifth step.
"""
import json
import os
import sys
import time

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import networks
import peer
import tracing
import work

HERE = os.path.dirname(os.path.abspath(__file__))


def load(name, **options):
    import leat
    return leat.load(os.path.join(HERE, f'{name}.leat'), cache='off', **options)


def begin(name, folder):
    model = load(name)
    parameters = {path: model.variables[path] for path in model.variables if '/adam/' not in path and path != 'global_step'}
    np.savez(os.path.join(folder, f'{name}.npz'), **parameters)
    print(work.flops(name, {path: array.shape for path, array in parameters.items()}))


def compile_file(path, cache, cpu):
    import leat
    before = time.perf_counter()
    model = leat.load(path, cache=cache, cpu=cpu)
    model.compile(model.entries[0])
    print(json.dumps({'ms': 1e3 * (time.perf_counter() - before), 'memory_mb': peer.memory()}))


def leat(name, _, batch, threads, cpu='host'):
    model = load(name, threads=threads, cpu=cpu)
    return lambda: float(model.train(**batch))


def jax(name, parameters, batch, threads):
    peer.start(threads)
    import jax_ops
    return jax_ops.training(name, parameters, batch)


def tensorflow(name, parameters, batch, threads, xla=False):
    peer.start_tensorflow(threads)
    import tensorflow_ops
    return tensorflow_ops.training(name, parameters, batch, xla)


def xla(*args):
    return tensorflow(*args, xla=True)


SYSTEMS = {'leat': leat, 'jax': jax, 'tensorflow': tensorflow, 'xla': xla}


def main():
    what, name, *rest = sys.argv[1:]
    if what == 'compile':
        compile_file(name, *rest)
        return
    if what == 'trace':
        model, batch = load(name, threads=1, cpu=rest[0], trace=True), networks.batch(name)
        tracing.report(model, lambda: model.train(**batch))
        return
    folder, *rest = rest
    if what == 'begin':
        begin(name, folder)
        return
    threads, *cpu = rest
    parameters = dict(np.load(os.path.join(folder, f'{name}.npz'))) if what != 'leat' else None
    run = SYSTEMS[what](name, parameters, networks.batch(name), int(threads), *cpu)
    losses = [run() for _ in range(5)]
    peer.serve(lambda _: run() is None or {}, lambda: {'results': [f'{losses[0]:.9g}', f'{losses[4]:.9g}']})


if __name__ == '__main__':
    main()
