"""Compares the cases that `remake_ops` made with what TensorFlow gives: each is a graph of one node, by `leat run`. What is
not supported is refused, as `ops/refused` lists it, with a part of what is said."""
import base64
import json
import lzma
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

import numpy as np

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from sampling import SANITIZED, SEED, timed

HERE = os.path.dirname(os.path.abspath(__file__))
REFUSED = f'{HERE}/ops/refused'
DTYPES = set('float16 bfloat16 float32 float64 complex64 complex128 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool string'.split())
SECONDS = 120
Case = namedtuple('Case', 'name about target')
WITHIN = {'float16': 4e-3, 'bfloat16': 5e-2, 'float32': 1e-6, 'float64': 1e-10, 'complex64': 1e-5, 'complex128': 1e-10}


def load_cases():
    for name in sorted(os.listdir(f'{HERE}/ops')):
        if name.endswith('.xz'):
            with lzma.open(f'{HERE}/ops/{name}', 'rt') as file:
                yield from map(json.loads, file)


def execute(*words):
    """What has run; of what does not end, the stderr says so."""
    try:
        return subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, errors='replace')
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, 'none', '', f'no end after {SECONDS} s')


def array_of(packed):
    if 'texts' in packed:
        texts = [base64.b64decode(t) for t in packed['texts']]
        return np.array(texts, dtype='S').reshape(packed['shape'])
    data = base64.b64decode(packed['data'])
    return np.frombuffer(data, packed['dtype']).reshape(packed['shape'])


def bytes_of(texts):
    return np.char.encode(texts, 'utf-8') if texts.dtype.kind == 'U' else texts.astype('S')


def difference(found, expected, within):
    """None where they agree, element by element."""
    if expected.dtype.kind in 'SU':
        found, expected = bytes_of(found), bytes_of(expected)
    elif found.dtype != expected.dtype:
        return f'{found.dtype} instead of {expected.dtype}'
    if found.shape != expected.shape:
        return f'{list(found.shape)} instead of {list(expected.shape)}'
    if expected.dtype.kind not in 'fc':
        return None if np.array_equal(found, expected) else f'{found.tolist()!r} instead of {expected.tolist()!r}'
    with np.errstate(all='ignore'):
        scale = 1 + np.abs(expected)
        near = (found == expected) | (np.isnan(found) & np.isnan(expected)) | (np.abs(found - expected) <= within * scale)
    wrong = np.flatnonzero(~near)
    if not len(wrong):
        return None
    return f'{found.ravel()[wrong][:4]} instead of {expected.ravel()[wrong][:4]}'


def within_of(case, expected):
    label = case['name'].split('/')[1].split('=')[-1]
    half = label if label in ('float16', 'bfloat16') else expected.dtype.name
    least = WITHIN.get(half, 0)
    return max(least, case.get('within', 0)) if half != 'float64' else least


@timed
def check(named, leat):
    """What is wrong: (words of a refusal, None), (None, difference), or (None, None)."""
    _, case, target = named
    with tempfile.TemporaryDirectory() as scratch:
        model = f'{scratch}/graph.pb'
        with open(model, 'wb') as file:
            file.write(base64.b64decode(case['graph']))
        words = [leat, 'run', f'--target={target}', model]
        for name, packed in case['feeds'].items():
            np.save(f'{scratch}/{name}.npy', array_of(packed))
            words += ['--feed', f'{name}=@{scratch}/{name}.npy']
        for name in case.get('fetches', {}):
            words += ['-o', f'{name}=@{scratch}/{name}.npy']
        done = execute(*words)
        if done.returncode not in (0, 1):
            return None, f'exit status {done.returncode}: {done.stderr[:300]}'
        if 'fetches' not in case:
            return None, None if done.returncode else f'no error, but {done.stdout.strip()[:200]}'
        if done.returncode:
            return done.stderr, None
        for name, packed in case['fetches'].items():
            expected = array_of(packed)
            wrong = difference(np.load(f'{scratch}/{name}.npy'), expected, within_of(case, expected))
            if wrong:
                return None, f'{name}: {wrong}'
    return None, None


def ops_with_answers(ops):
    """Those of the ops of which a case is answered."""
    refused = read_refused()
    names = {c['name'].split('/')[0] for c in load_cases() if 'fetches' in c and c['name'] not in refused}
    return names & ops


def read_refused():
    refused = {}
    if os.path.exists(REFUSED):
        with open(REFUSED, encoding='utf-8') as file:
            for line in file:
                name, _, words = line.rstrip('\n').partition(': ')
                refused[name] = words
    return refused


def first_words(stderr):
    stderr = re.sub(r'/\S*/(?=graph\.pb)', '', stderr)
    lines = [line for line in stderr.splitlines() if 'error: ' in line] or stderr.splitlines()[:1] or ['nothing']
    words = lines[0].partition('error: ')[2] or lines[0]
    return re.sub(r'^`\w+(\(.*?\))?`: ', '', words)[:160]


def shows_an_attribute(case):
    """Whether it is of an op's attributes or its special inputs, and not one of a dtype or of inputs that are known."""
    _, label, mode = case['name'].rsplit('/', 2) if case['name'].count('/') == 2 else (0, 'other', 'fed')
    return mode == 'fed' and label.split('=')[-1] not in DTYPES


def cases():
    """Each as it is compiled, and on ref, which compiles nothing."""
    of = list(load_cases())
    return [Case(f'ops/{one["name"]}{" on ref" if target == "ref" else ""}', one, target) for target in ('cpu', 'ref') for one in of]


def sample(every, count):
    """All, if count is None, else so many as they are compiled, and those of attributes on ref."""
    compiled = [case for case in every if case.target == 'cpu']
    if count is None:
        return compiled
    attributes = [case for case in every if case.target == 'ref' and not SANITIZED and shows_an_attribute(case.about)]
    return random.Random(SEED).sample(compiled, min(count, len(compiled))) + attributes


def run(leat, work, update):
    """What is wrong with each case that fails."""
    refused, failed, found = read_refused(), [], {}
    with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
        results = list(threads.map(lambda case: check(case, leat), work))
    for case, (words, wrong) in zip(work, results):
        name = case.about['name']
        if words is not None:
            found[name] = first_words(words)
            known = refused.get(name)
            if known is None or known not in words:
                wrong = f'refused: {first_words(words)}'
        elif wrong is None and name in refused:
            wrong = 'it is not refused any more: run with --update'
        if wrong:
            failed.append(f'{case.name}: {wrong}')
    if update:
        names = {case.about['name'] for case in work}
        kept = {n: w for n, w in refused.items() if n not in names}
        with open(REFUSED, 'w', encoding='utf-8') as out:
            out.write(''.join(f'{n}: {w}\n' for n, w in sorted({**kept, **found}.items())))
    return failed
