"""Whole networks beside their peers, in one interleaved run: training steps, inference; and what building them takes.

A ratio counts where a peer gives the same, in the version of peers.txt, in at least seven rounds, while others had less
than a twentieth of the processors; else its row says why not. Times of one thread are the processor's, which what others
do changes less; those of several are the wall's. All is float32, and what is fed lies in memory.
"""
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

import kernels
import tracing
import turns

ROOT = os.path.dirname(turns.HERE)
TURN_MS = 250  # about how long a turn is
LEAST_ROUNDS, MOST_FOREIGN = 7, 0.05
TRAINING = 'mnist_mlp mnist_cnn cifar_cnn inception_v1 lstm_lm transformer_lm word2vec'.split()
INFERENCE = '''mlp squeezenet inception_v1 inception_v2 resnet50 densenet121 shufflenet bvlc_alexnet zfnet512 vgg19
    bert_base'''.split()


def leat_python(script, *args):
    """A program of Python that has Leat's package."""
    return ['env', f'PYTHONPATH={turns.BUILD}/python', '/usr/bin/python3', os.path.join(turns.HERE, script), *args]


def near(mine, its, tolerances):
    """Whether all results are: texts of numbers, each within a share of its text's largest; the last tolerance is for all
    that follow."""
    if len(mine) != len(its):
        return False
    for i, texts in enumerate(zip(mine, its)):
        a, b = ([float(number) for number in text.split()] for text in texts)
        most = tolerances[min(i, len(tolerances) - 1)] * max(map(abs, a))
        if len(a) != len(b) or not max(abs(x - y) for x, y in zip(a, b)) <= most:
            return False
    return True


def compare(systems, threads, tolerances, executable=None, flops=0, cpu='host'):
    """The result of Leat and its peers. systems: {name: Program}, Leat first; executable: what `leat build` made of the
    same, whose bits tests/bits compares; flops: the work of a Run, 0: nobody knows."""
    first = {name: system.measure(1) for name, system in systems.items()}
    equal = {name: near(first['leat']['results'], its['results'], tolerances) for name, its in first.items()}
    clock = 'processor_ms' if threads == 1 else 'ms'
    taking_part = {**systems, 'executable': executable} if executable else systems
    ms = [its[clock] for its in first.values()]
    runs = [max(1, min(2000, round(TURN_MS / each))) for each in [*ms, ms[0]]][:len(taking_part)]
    limit = turns.Program(turns.program('peak', cpu), 1)
    *turn, peak = turns.in_rounds([*taking_part.values(), limit], [*runs, kernels.LIMIT_RUNS], clock=clock)
    turn = dict(zip(taking_part, turn))
    foreign, rounds = turn['leat'].foreign, len(turn['leat'].times)
    figures = {name: {'ms': turn[name].ms, 'min_ms': min(turn[name].times), 'memory_mb': system.memory}
               for name, system in taking_part.items()}
    result = {'threads': threads, 'clock': clock, 'leat_ms': figures['leat']['ms'], 'min_ms': figures['leat']['min_ms'],
              'memory_mb': figures['leat']['memory_mb'], 'foreign': round(foreign, 3), 'systems': figures}
    if flops:
        result |= {'gf': round(flops / 1e9, 4), 'gf_s': round(flops / 1e6 / turn['leat'].ms, 1),
                   'of_peak': round(flops / kernels.PEAK_FLOPS * peak.ms / turn['leat'].ms / threads, 3)}
    counted = {name: figures[name] for name in systems if name != 'leat' and equal[name]}
    notes = [f'{name} differs' for name in systems if not equal[name]]
    if foreign >= MOST_FOREIGN or rounds < LEAST_ROUNDS:
        notes.append('noisy')
    if counted:
        best = min(counted, key=lambda name: counted[name]['ms'])
        least = min(its['min_ms'] for its in counted.values())
        result |= {'peer': best, 'peer_ms': counted[best]['ms'], 'best_ratio': round(least / result['min_ms'], 3),
                   'peer_memory_mb': min(its['memory_mb'] for its in counted.values())}
    return {**result, 'note': ', '.join(notes)}


def chosen(names, pattern):
    """Those that match; when all is quick, one."""
    found = [name for name in names if re.search(pattern, name)]
    return found[:1] if turns.QUICK else found


def counts(threads):
    """How many threads to measure with: as said, or one and all."""
    return [threads] if threads else sorted({1, len(os.sched_getaffinity(0))})


def training(pattern, threads, cpu):
    script = os.path.join('training', 'step.py')
    with tempfile.TemporaryDirectory(prefix='leat-bench-') as folder:
        for name in chosen(TRAINING, pattern):
            begun = subprocess.run(leat_python(script, 'begin', name, folder), check=True, stdout=subprocess.PIPE, text=True)
            for count in counts(threads):
                words = name, folder, str(count)
                systems = {'leat': turns.Program(leat_python(script, 'leat', *words, cpu), count)}
                if turns.PEERS:
                    for peer, among in (('jax', 'peers'), ('tensorflow', 'tensorflow'), ('xla', 'tensorflow')):
                        systems[peer] = turns.Program(turns.peer(script, peer, *words, among=among), count)
                yield {'case': name, **compare(systems, count, [1e-4, 2e-3], flops=int(begun.stdout), cpu=cpu)}


def model(name, folder):
    """NAME.onnx in the folder and its inputs, NAME.0.npy …: the path without its ending."""
    make = ['/usr/bin/python3', os.path.join(turns.HERE, 'models.py'), 'draw'] if turns.QUICK else turns.peer('models.py', 'make')
    subprocess.run([*make, name, folder], check=True)
    return os.path.join(folder, name)


def said_of(path):
    """Of a model: its 'feeds', and its 'flops', where it was made for this."""
    with open(f'{path}.json', encoding='utf-8') as said:
        return json.load(said)


def build(source, out, cpu):
    """Runs `leat build`; milliseconds."""
    before = time.perf_counter()
    command = [os.path.join(turns.BUILD, 'leat'), 'build', source, '--cpu', cpu, '-o', out]
    subprocess.run(command, check=True)
    return 1e3 * (time.perf_counter() - before)


class Executable:
    """What `leat build` made, as a Program: each turn is a process, which reads its weights anew. Wall time."""

    def __init__(self, path, threads):
        fed = (word for i, name in enumerate(said_of(path)['feeds']) for word in ('--feed', f'{name}=@{path}.{i}.npy'))
        self.command, self.threads, self.memory = [path, '--threads', str(threads), *fed], threads, 0

    def time(self, runs, _='ms'):
        process = turns.begin([*self.command, '--bench', str(runs)], self.threads)
        said = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f'{process.args} ended with status {process.returncode}')
        self.memory = max(self.memory, used.ru_maxrss // 1024)
        return float(re.search(r'median ([0-9.]+) ms', said).group(1))

    def busy(self):
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    def close(self):
        pass


def inference(pattern, threads, cpu):
    """Of ONNX files, one example: a session's step, and an executable."""
    with tempfile.TemporaryDirectory(prefix='leat-bench-') as folder:
        for name in chosen(['squeezenet'] if turns.QUICK else INFERENCE, pattern):
            path = model(name, folder)
            build(f'{path}.onnx', path, cpu)
            for count in counts(threads):
                systems = {'leat': turns.Program(leat_python('models.py', 'step', 'leat', path, str(count), cpu), count)}
                for peer in ('onnxruntime', 'openvino') if turns.PEERS else ():
                    systems[peer] = turns.Program(turns.peer('models.py', 'step', peer, path, str(count)), count)
                yield {'case': name, **compare(systems, count, [1e-3], Executable(path, count), said_of(path).get('flops', 0), cpu)}


def cases(pattern):
    """The networks that match, as (name, whether it trains); when all is quick, one."""
    names = [f'{name} training' for name in TRAINING] + [f'{name} inference' for name in INFERENCE]
    return [(case.split()[0], case.endswith('training')) for case in chosen(names, pattern)]


def profile(pattern, cpu):
    """Where the time of a step goes, by kernel, with one thread."""
    with tempfile.TemporaryDirectory(prefix='leat-bench-') as folder:
        for name, trains in cases(pattern):
            command = leat_python(os.path.join('training', 'step.py'), 'trace', name, cpu) if trains else \
                leat_python('models.py', 'trace', model(name, folder), cpu)
            said = turns.begin(command, 1).communicate()[0]
            for kernel, launches, ms, share in tracing.shares(said):
                yield {'case': f'{name} {"training" if trains else "inference"}', 'threads': 1, 'kernel': kernel,
                       'launches': launches, 'leat_ms': ms, 'part': share}


def compiled(source, cache, cpu):
    """What a session takes from a file to its compiled step."""
    said = turns.begin(leat_python(os.path.join('training', 'step.py'), 'compile', source, cache, cpu), 0).communicate()[0]
    return json.loads(said)


def builds(pattern, cpu):
    """What compiling the networks takes, with an empty and with a full cache; what `leat build` takes, and makes."""
    with tempfile.TemporaryDirectory(prefix='leat-bench-') as folder:
        for name, trains in cases(pattern):
            case = f'{name} {"training" if trains else "inference"}'
            source = os.path.join(turns.HERE, 'training', f'{name}.leat') if trains else f'{model(name, folder)}.onnx'
            out, cache = os.path.join(folder, 'built'), os.path.join(folder, 'cache', case)
            cold, warm = (compiled(source, cache, cpu) for _ in range(2))
            yield {'case': case, 'threads': os.cpu_count(), 'leat_ms': cold['ms'], 'warm_ms': warm['ms'],
                   'memory_mb': cold['memory_mb'], 'build_ms': build(source, out, cpu),
                   'binary_mb': round(os.path.getsize(out) / 1e6, 2)}
