"""What goes wrong, as exceptions that know the place in the text."""
from __future__ import annotations

import os
import sys
import warnings
from typing import Callable, NamedTuple, Optional, Tuple

from . import _core


def origin_of(file: Optional[str], line: int):
    """The line of Python that made a line of a Graph's text: leat.graph knows."""
    return None


HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep  # of this package


class Problem(NamedTuple):
    """An error, a warning or a note. `file` is None where it is of no place in a text; lines count from 1."""
    severity: str
    file: Optional[str]
    line: int
    column: int
    message: str


class Warning(UserWarning):  # noqa: A001 - leat.Warning
    """What Leat says of a text or a step that works all the same."""


class Error(Exception):
    """What a text, a compilation or a step failed with.

    `str(error)` is what `leat` would print: each error with its file, line and column, the line and a caret.

    status    the kind: "invalid input", "not found", "not supported", "index out of range", "aborted", …
    problems  a `Problem` for each error, warning and note, in order
    file, line, column, message
              of the first error; `file` is None, and the numbers are 0, where it is of no place in a text
    python    (file name, line number) of the Python line that made this line of a Graph, else None
    hint      what to do in Python, or ""
    """

    def __init__(self, text: str, status: str = 'invalid input', problems: Tuple[Problem, ...] = ()) -> None:
        super().__init__(text)
        self.status = status
        self.problems = problems
        first = next((problem for problem in problems if problem.severity == 'error'), None)
        self.file, self.line, self.column, self.message = first[1:] if first else (None, 0, 0, text)
        self.python: Optional[Tuple[str, int]] = origin_of(self.file, self.line)
        self.hint = ''

    def __str__(self) -> str:
        more = [str(part) for part in (self.python, self.hint) if part]
        return '\n'.join([super().__str__(), *more])


class OutOfMemory(Error, MemoryError):
    """There was no memory for a text, a compilation or a step."""


class DeadlineExceeded(Error, TimeoutError):
    """A step took longer than the session's `deadline`. Its variables are as before it, and the session goes on."""


KINDS = {'out of memory': OutOfMemory, 'deadline exceeded': DeadlineExceeded}


def make(status: str, message: str, problems: list) -> Error:
    """For _core: the exception to raise."""
    text = (message or f'error: {status}').rstrip('\n').removeprefix('error: ')
    return KINDS.get(status, Error)(text, status, tuple(Problem(*problem) for problem in problems))


def level_outside() -> int:
    """What `warnings.warn` calls the line that called the package, in the function that asks."""
    level, frame = 0, sys._getframe(0)
    while frame.f_back and frame.f_code.co_filename.startswith(HERE):
        level, frame = level + 1, frame.f_back
    return level


def warn(message: str) -> None:
    """For _core: a warning of the line that called the package."""
    text = message.rstrip('\n').removeprefix('warning: ')
    warnings.warn(text + why_no_llvm(text), Warning, level_outside())


def why_no_llvm(text: str, folder: str = HERE) -> str:
    """Of a wheel that was made without LLVM: why, as python/wheel wrote it down."""
    path = os.path.join(folder, 'no_llvm.txt')
    if 'leat-llvm.so' not in text or not os.path.exists(path):
        return ''
    with open(path, encoding='utf-8') as file:
        return f'; this wheel was made without it: {file.read().strip()}'


def configure(convert: Callable, wrap: Callable) -> None:
    _core.configure(error=make, warn=warn, convert=convert, wrap=wrap)
