"""The options of a session: one table, of which signatures, help and what editors know are made."""
from __future__ import annotations

import builtins
import difflib
import inspect
import os
from typing import Annotated, Any, Callable, Mapping, Optional, Sequence, TypedDict, Union, get_type_hints

DEFAULTS = {'print': builtins.print}  # of the others None: what Leat has


class Options(TypedDict, total=False):
    settings: Annotated[Optional[Mapping[str, Any]], '{name: value} of the parameters of `graph NAME(…)`']
    path: Annotated[Union[str, Sequence[Union[str, os.PathLike]], None],
                    "folders, a list or a text with `:`, where `use` looks after the text's own"]
    print: Annotated[Optional[Callable[[str], Any]], 'is called with each line of `print` in the text; None: nobody']
    log: Annotated[Optional[Callable[[str], Any]], 'is called with dumps and timings; None: nobody']
    target: Annotated[Optional[str], '"cpu" (default), "c" (the C compiler) or "ref" (op by op: what each op means)']
    threads: Annotated[Optional[int], 'to compute with; 0, the default: as many as cores']
    cpu: Annotated[Optional[str], 'instruction set: "host" (default), "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"']
    devices: Annotated[Optional[int], 'virtual CPU devices; 1 is the default']
    cluster: Annotated[Optional[str], 'tasks of each job, "ps=1,worker=2", of the processes that mpiexec started']
    blis: Annotated[Optional[bool], 'BLIS carries plain dense matmuls']
    denormals: Annotated[Optional[str], 'subnormal numbers where something is computed of them: "zero" (default), "keep"']
    numerics: Annotated[Optional[str], 'whether sums may be made in another order, or by another method: "fast" (default), "strict"']
    symbolic: Annotated[Optional[bool], 'do not specialise to the values of dims']
    cache: Annotated[Optional[str], 'the folder where compiled code is kept; "off": nowhere']
    memory_limit: Annotated[Optional[int], "most memory for a step's values, in MiB, by device"]
    deadline: Annotated[Optional[float], 'seconds that a step may take, then it raises `leat.DeadlineExceeded` and is '
                        'undone; in a cluster seconds without progress, 60 is the default']
    overwrite: Annotated[Optional[bool], '`save` may replace whatever the file holds']
    trace: Annotated[Optional[bool], 'keep what runs when: `session.trace()`']
    dump_after: Annotated[Optional[str], 'log the graph after these stages, "cse,fuse", or "all"']
    stop_after: Annotated[Optional[str], 'go no further than this stage']
    time_passes: Annotated[Optional[bool], 'log what each stage takes']


def _parameter(name: str, of: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=DEFAULTS.get(name), annotation=of)


def help_text() -> str:
    """A line for each option."""
    table = get_type_hints(Options, include_extras=True)
    return '\n'.join(f'      {name:<13}{of.__metadata__[0]}' for name, of in table.items())


def with_options(function: Callable) -> Callable:
    """Its signature has each option instead of `**options`."""
    own = inspect.signature(function)
    kept = [p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD]
    options = [_parameter(name, of) for name, of in get_type_hints(Options).items()]
    function.__signature__ = own.replace(parameters=kept + options)  # type: ignore[attr-defined]
    return function


def checked(options: Mapping[str, Any]) -> Mapping[str, Any]:
    for name in options:
        if name not in Options.__annotations__:
            near = difflib.get_close_matches(name, Options.__annotations__, 1)
            hint = f'; did you mean `{near[0]}`?' if near else ': help(leat.Session) lists them'
            raise TypeError(f'there is no option `{name}`{hint}')
    return options
