"""The rows of an importer's table, ops.def: each calls functions that there are, and some model of the tests has its op."""
import glob
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STRING = r'"((?:[^"\\]|\\.)*)"'
PATTERNS = {  # (op, what it writes)
    'graphdef': re.compile(rf'^(?:OP|EFFECT)\((\w+),\s*{STRING}', re.M),
    'onnx': re.compile(rf'^OP\("[^"]*", (\w+),\s*\d+, {STRING}', re.M)}
CALL = re.compile(r'\b([a-z]\w*)\(|=([a-z]\w*)|^([a-z]\w*)$')
WORDS = {'and', 'or', 'not', 'true', 'false', 'none'}


def read(path):
    with open(f'{ROOT}/{path}', encoding='utf-8') as file:
        return file.read()


def supported(importer):
    """(op, what its row writes) of each row that writes something."""
    for op, write in PATTERNS[importer].findall(read(f'frontend/importer/{importer}/ops.def')):
        if not write.startswith('?'):
            yield op, write


def functions():
    found = set(re.findall(r'^OP\((\w+),', read('ir/ops.def'), re.M))
    found |= set(re.findall(r'^BUILTIN\((\w+),', read('frontend/values/builtins.def'), re.M))
    for path in glob.glob(f'{ROOT}/stdlib/**/*.leat', recursive=True):
        found |= set(re.findall(r'^fn (\w+)\(', read(os.path.relpath(path, ROOT)), re.M))
    return found


def called(pattern):
    if pattern.startswith('!'):
        return set()
    plain = re.sub(r'\\"[^"]*\\"', '""', pattern)
    return {name for each in plain.split('|') for match in CALL.findall(each) for name in match if name} - WORDS


def check(importer, cases, elsewhere=()):
    """A line for each row that calls what there is not, or that no model has. cases: the ops that models have; elsewhere:
    those that are not asked for."""
    there = functions()
    for op, write in supported(importer):
        for name in sorted(called(write) - there):
            yield f'{importer}: the row of {op} calls `{name}`, which there is not'
        if op not in cases and op not in elsewhere:
            yield f'{importer}: no case has {op}, which has a row'


def ops_in(model, tag, ops):
    """Those of the ops that a model in protobuf's wire format has, in its nodes' field of that tag."""
    return {op for op in ops if tag + bytes([len(op)]) + op.encode() in model}
