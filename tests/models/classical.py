"""Classical models as scikit-learn, XGBoost and LightGBM export them, and ops of ai.onnx.ml with each of their options,
beside what ONNX Runtime gives. data/classical.tar.xz holds them: NAME/model, NAME/feed/INPUT and NAME/answer/OUTPUT."""
import io
import tarfile
import tempfile
import time

import numpy

import drawn
from compare import DATA, LEAT, NEAR, call, report, results

BUILT = 'forest_strings', 'boost_multiclass', 'columns', 'svc_strings', 'xgboost_binary'  # as executables, too
ROUGH = 3e-3  # what ONNX Runtime calls the inverse of erf


def read():
    """{name: [model, feeds, answers]}"""
    models = {}
    with tarfile.open(f'{DATA}/classical.tar.xz') as held:
        for member in held:
            name, kind, *port = member.name.split('/')
            content = held.extractfile(member).read()
            parts = models.setdefault(name, [None, {}, {}])
            if kind == 'model':
                parts[0] = content
            else:
                parts[1 + (kind == 'answer')][port[0]] = numpy.load(io.BytesIO(content))
    return models


def distance(got, want):
    """Of strings and integers none, or all of it."""
    if want.dtype.kind == 'f':
        return drawn.difference(got, want)
    return 0.0 if numpy.array_equal(got.astype(want.dtype), want) else numpy.inf


def classical(name, model, feeds, answers, built):
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        with open(f'{folder}/model.onnx', 'wb') as out:
            out.write(model)
        done = not built or call(folder, LEAT, 'build', 'model.onnx', '-o', 'built')
        command = ['./built'] if built else [LEAT, 'run', 'model.onnx']
        got = results(folder, command, feeds, list(answers)) if done else None
    far = max(distance(got[key], want) for key, want in answers.items()) if got else numpy.inf
    report(f'{name}, {"an executable" if built else "leat run"}', far, ROUGH if 'PROBIT' in name else NEAR, begin)


def check(built):
    chosen = BUILT if built else ()
    for name, parts in read().items():
        if not built or name in chosen:
            classical(name, *parts, built)
