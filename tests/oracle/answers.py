"""The files of answers, one for each of those that are asked, and how they are remade."""
import io
import os
import sys
import zipfile

import numpy

import cases
import control_cases
import derivative_cases
import inputs
import library_cases
import tensorflow_cases
from case import CASES

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = {peer: os.path.join(HERE, name) for peer, name in (
    ('jax', 'answers.npz'), ('tensorflow', 'tensorflow_answers.npz'))}


def read():
    """All answers, by what they are filed under."""
    return {name: array for file in FILES.values() for name, array in numpy.load(file).items()}


def write(file, answers):
    with zipfile.ZipFile(file, 'w', zipfile.ZIP_DEFLATED) as out:
        for name, array in answers.items():
            data = io.BytesIO()
            numpy.save(data, array)
            out.writestr(zipfile.ZipInfo(f'{name}.npy', (1980, 1, 1, 0, 0, 0)), data.getvalue(), zipfile.ZIP_DEFLATED)


def known_to(file, versions):
    known = {} if '--all' in sys.argv or not os.path.exists(file) else dict(numpy.load(file))
    return known if list(known.get('versions', [])) == versions else {}


def remake(peer, versions, answer):
    """Asks what has no answer yet, all with --all or of other versions. answer(case) gives (part, array) of each."""
    names = [case.name for case in CASES]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        sys.exit(f'two cases are called: {sorted(twice)}')
    file, own = FILES[peer], [case for case in CASES if case.peer == peer]
    known = known_to(file, versions)
    answers, asked, problems = {'versions': numpy.array(versions)}, 0, []
    for case in own:
        key = inputs.key(case)
        found = {part: known[part] for part in inputs.parts(case) if part in known}
        if len(found) < len(inputs.parts(case)):
            try:
                found = {f'{key}.{part}': array for part, array in answer(case)}
            except Exception as problem:
                problems.append(f'{case.name}: {case.jax}: {problem}')
            asked += 1
        answers.update(found)
    write(file, answers)
    print(f'{len(own)} cases, {asked} asked, {os.path.getsize(file):,} bytes')
    sys.exit('\n'.join(problems) or None)
