"""Figures that must not get worse: shares of the peak, ratios to the best peer; times differ between machines.

floors.txt has a line each: workload, CPU level, threads, figure, case. `bench/run --check` measures those cases again; one
may fall by a tenth, as figures at best vary less than that between runs. What falls further is measured twice more before
it is believed. `bench/run --floors` raises lines, and adds those that it finds no line of; a line is lowered by hand.
"""
import os

FLOORS = os.environ.get('LEAT_FLOORS', os.path.join(os.path.dirname(os.path.abspath(__file__)), 'floors.txt'))
TOLERANCE = 0.1
HEAD = '''# Figures that must not get worse, see floors.py. Kernels: least share of the peak, at best; networks: ratio to the best
# peer, at best.
'''


def figure(result):
    """What is compared, or None."""
    return result.get('best_share', result.get('best_ratio'))


def key(result, cpu):
    return result['workload'], cpu, result['threads'], result['case']


def read(path=FLOORS):
    floors = {}
    with open(path, encoding='utf-8') as lines:
        for line in lines:
            if not line.startswith('#'):
                workload, cpu, threads, least, case = line.rstrip('\n').split(maxsplit=4)
                floors[workload, cpu, int(threads), case] = float(least)
    return floors


def write(floors, path=FLOORS):
    with open(path, 'w', encoding='utf-8') as out:
        out.write(HEAD)
        for (workload, cpu, threads, case), least in sorted(floors.items()):
            out.write(f'{workload:10} {cpu:10} {threads} {least:8.4f}  {case}\n')


def groups(keys):
    """The cases, by workload, CPU level and threads."""
    cases = {}
    for *group, case in keys:
        cases.setdefault(tuple(group), []).append(case)
    return cases


def fell(floors, found):
    """Of the figures found, by key: the keys of those that are too low."""
    return [name for name, its in found.items() if name in floors and its < (1 - TOLERANCE) * floors[name]]


def raised(floors, found):
    return {**floors, **{name: max(its, floors.get(name, 0)) for name, its in found.items()}}
