"""What Leat gives for a model, beside what it must be."""
import os
import shutil
import subprocess
import time

import numpy

import drawn
import sentence

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
DATA = f'{HERE}/data'
LEAT = os.path.abspath(os.environ.get('LEAT_BUILD', f'{ROOT}/build')) + '/leat'
NEAR, NEARER = 1e-4, 1e-5


class Report:
    """Counts what is near, and prints how near; what is not is a failure."""

    def __init__(self):
        self.count = {'passed': 0, 'failed': 0, 'skipped': 0}

    def __call__(self, name, far, most, begin):
        near = far <= most
        self.count['passed' if near else 'failed'] += 1
        seconds = time.monotonic() - begin
        print(f'{"ok" if near else "not ok"} {name}: {far:.1e} away, {most:.0e} allowed ({seconds:.1f} s)', flush=True)

    def finish(self, name):
        print(f'{name}: ' + ', '.join(f'{number} {what}' for what, number in self.count.items()))
        return self.count['failed'] != 0


report = Report()


def call(folder, *words):
    done = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        print(f'{" ".join(words)}: exit status {done.returncode}: {done.stdout}')
    return done.returncode == 0


def results(folder, command, feeds, names):
    """What the command gives, by name; None where it fails."""
    words = []
    for i, (name, value) in enumerate(feeds.items()):
        numpy.save(f'{folder}/in{i}.npy', value)
        words += ['--feed', f'{name}=@in{i}.npy']
    for i, name in enumerate(names):
        words += ['-o', f'{name}=@out{i}.npy']
    done = call(folder, *command, *words)
    return {name: numpy.load(f'{folder}/out{i}.npy') for i, name in enumerate(names)} if done else None


def network(folder, name, answers, built):
    """The model NAME.onnx of the folder, which drawn.py knows: its results are the `answers`, by name."""
    begin = time.monotonic()
    done = not built or call(folder, LEAT, 'build', f'{name}.onnx', '-o', 'built')
    command = ['./built'] if built else [LEAT, 'run', f'{name}.onnx']
    got = results(folder, command, drawn.feeds(f'{folder}/{name}'), answers) if done else None
    far = max(drawn.difference(got[key], want) for key, want in answers.items()) if got else numpy.inf
    report(f'{name}, {"an executable" if built else "leat run"}', far, NEAR, begin)


def sentences(folder, weights, layers, ids, mask):
    """sentence.leat as an executable, of the folder's sentence.safetensors, which holds `weights`."""
    begin = time.monotonic()
    shutil.copy(f'{HERE}/sentence.leat', folder)
    done = call(folder, LEAT, 'build', 'sentence.leat', '-o', 'sentence', '--set', f'layers={layers}')
    got = results(folder, ['./sentence'], {'ids': ids, 'mask': mask}, ['embedding']) if done else None
    want = sentence.embed(weights, layers, ids, mask)
    far = sentence.distance(got['embedding'], want) if got else numpy.inf
    report('sentence, an executable, by the cosine', far, NEARER, begin)
    far = drawn.difference(got['embedding'], want.astype('f4')) if got else numpy.inf
    report('sentence, an executable, by its numbers', far, NEARER, begin)
