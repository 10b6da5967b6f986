"""The ops and functions of Leat by name: `from leat import op`, then `op.relu(x)`, `op.softmax(x, axis=0)`.

With values of a `leat.Graph` they are statements of its text, with arrays they compute at once. What is a word of
Python's has a `_` behind it: `op.and_`, `op.not_`. `dir(op)` lists them, `help(op.softmax)` shows one; docs/ops.md and
docs/library.md say all.
"""
from . import _core
from ._values import Function

__all__: list = []


def __getattr__(name: str) -> Function:
    if name.startswith('__'):
        raise AttributeError(name)
    plain = name.rstrip('_')
    doc = _core.describe(plain)
    if doc is None:
        from .graph import eager
        raise AttributeError(eager()._unknown('op or function', plain, __dir__()))
    return Function(plain, doc=doc)


def __dir__() -> list:
    from .graph import eager
    return sorted(eager()._core.names(0, None))
