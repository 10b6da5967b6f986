"""Writes an archive of tests: what `remake` and `remake_cases` share. Needs the package onnx, which the tests do not."""
import hashlib
import io
import json
import os
import tarfile

import numpy
import onnx
from onnx import numpy_helper

LARGE = 100000  # bytes: a test with an array of more is not for the repository
SMALL = ('float8', 'float4', 'int4', 'uint4', 'int2', 'uint2')


class Corpus:
    def __init__(self):
        self.tests, self.files = {}, {}

    def file(self, folder, content, suffix):
        name = f'{folder}/{hashlib.sha256(content).hexdigest()[:12]}{suffix}'
        self.files[name] = content
        return name

    def array(self, array):
        if isinstance(array, onnx.TensorProto):
            array = numpy_helper.to_array(array)
        array = numpy.asarray(array)
        if array.dtype == object or array.dtype.kind in 'SU':
            array = numpy.asarray([x.decode() if isinstance(x, bytes) else x for x in array.ravel()],
                                  dtype='U').reshape(array.shape)
        elif array.dtype.name == 'bfloat16':
            array = array.view('V2')
        elif array.dtype.name.startswith(SMALL):
            array = array.view('V1')
        out = io.BytesIO()
        numpy.save(out, numpy.ascontiguousarray(array).reshape(array.shape))
        return self.file('arrays', out.getvalue(), '.npy')

    def value(self, info, value):
        """[name, element type, files] of an input or output."""
        kind = info.type
        while kind.WhichOneof('value') in ('optional_type', 'sequence_type'):
            kind = getattr(kind, kind.WhichOneof('value')).elem_type
        files = value
        if isinstance(value, (list, tuple)):
            files = [self.array(one) for one in value]
        elif value is not None and not isinstance(value, dict):
            files = self.array(value)
        return [info.name, onnx.TensorProto.DataType.Name(kind.tensor_type.elem_type), files]

    def add(self, name, kind, model, inputs, outputs, rtol=1e-3, atol=1e-7, **more):
        initialised = {x.name for x in model.graph.initializer}
        infos = [x for x in model.graph.input if x.name not in initialised or len(inputs) == len(model.graph.input)]
        self.tests[name] = {'kind': kind, 'rtol': rtol, 'atol': atol,
                            'inputs': [self.value(*pair) for pair in zip(infos, inputs)],
                            'outputs': [self.value(*pair) for pair in zip(model.graph.output, outputs)],
                            **more, 'model': self.file('models', model.SerializeToString(deterministic=True), '.onnx')}

    def of(self, test):
        """The names of the files of a test."""
        found = [test['model']]
        for _, _, files in test['inputs'] + test['outputs']:
            found += files if isinstance(files, list) else [files] if isinstance(files, str) else []
        return found

    def write(self, path, large):
        """The tests that are large, or those that are not."""
        tests = {name: test for name, test in self.tests.items()
                 if large == any(len(self.files[x]) > LARGE for x in self.of(test) if x.startswith('arrays'))}
        files = {x: self.files[x] for test in tests.values() for x in self.of(test)}
        with tarfile.open(path, 'w:xz', preset=9 | 0x80000000) as archive:
            listed = json.dumps(tests, separators=(',', ':'), sort_keys=True).encode()
            # Models beside models, arrays beside arrays of their size: what is alike is near.
            order = sorted(files.items(), key=lambda item: (item[0].split('/')[0], len(item[1]), item[0]))
            for name, content in [('tests.json', listed), *order]:
                info = tarfile.TarInfo(name)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
        print(f'{os.path.basename(path)}: {len(tests)} tests, {len(files)} files, {os.path.getsize(path)} bytes')
