"""Leat: a compiler of dataflow graphs. A whole training step is one readable text, compiled to native code.

    import leat

    model = leat.load('digits.leat')         # a text, or a model file of another system
    model.train(steps=2000)                  # its entries are methods: arrays in, arrays out, nothing is copied
    classes = model.predict(images)
    model.save('ck.safetensors')

    g = leat.Graph()                         # the same, written by Python: help(leat.Graph)

    from leat import op                      # every op and function: op.softmax(x), of values and of arrays

`leat.load`, `leat.loads` and `leat.Graph` give a `leat.Session`; `leat.Error` says what is wrong, and where in the
text. `leat.f32`, `leat.i64` … are the dtypes. docs/python.md is the page of this package, docs/language.md that of the
texts.
"""
from . import op
from ._arrays import Tensor
from ._core import version as __version__
from ._errors import DeadlineExceeded, Error, OutOfMemory, Problem, Warning
from ._session import Functions, Port, Results, Session, Step, Variables, load, loads
from ._text import Text, dtypes as _dtypes
from ._values import Function, Value
from .graph import Graph

globals().update(_dtypes)

__all__ = ['DeadlineExceeded', 'Error', 'Function', 'Functions', 'Graph', 'OutOfMemory', 'Port', 'Problem', 'Results',
           'Session', 'Step', 'Tensor', 'Text', 'Value', 'Variables', 'Warning', 'load', 'loads', 'op', *_dtypes]
