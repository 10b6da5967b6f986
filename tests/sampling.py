#!/usr/bin/env python3
"""Which of its cases a suite runs: those that its command line asks for, or else a share. The seed says which, $LEAT_EVERY
asks for all. And what each of them takes, and at most.

    tests/SUITE/run --list             prints the names of all cases
    tests/SUITE/run --case NAME…       runs the cases of these names
    tests/SUITE/run FILTER…            runs those whose names have one of the words in them
"""
import contextlib
import functools
import os
import random
import sys
import time

from limit import limit

SANITIZED = 'LEAT_SANITIZED' in os.environ
EVERY = 'LEAT_EVERY' in os.environ
TIMES = os.environ.get('LEAT_TEST_TIMES')  # a file, of which `./dev test` shows the slowest
SEED = int(os.environ.get('LEAT_TEST_SEED', '1'), 0)


def sampled(cases, usual, slow, is_slow=SANITIZED):
    """One case of `usual`, with a slow build one of `slow`, in their order."""
    cases = list(cases)
    share = 1 if EVERY else slow if is_slow else usual
    return [cases[i] for i in sorted(random.Random(SEED).sample(range(len(cases)), -(-len(cases) // share)))]


def name_of(case):
    """Of a case that has a name, is one, or begins with one."""
    case = case[0] if isinstance(case, tuple) else case
    return ' '.join(str(getattr(case, 'name', getattr(case, '__name__', case))).split())


def chosen(cases, sample=list, words=None):
    """Those that the words ask for, of the command line if none are given; without words a sample. `--list` ends the program."""
    cases, words = list(cases), sys.argv[1:] if words is None else words
    if words == ['--list']:
        print(*map(name_of, cases), sep='\n')
        sys.exit()
    if words[:1] == ['--case']:
        found = [case for case in cases if name_of(case) in words[1:]]
        missing = set(words[1:]) - set(map(name_of, found))
        return found if words[1:] and not missing else sys.exit(f'no case is called {", ".join(missing)}: --list names them')
    return [case for case in cases if any(word in name_of(case) for word in words)] if words else sample(cases)


@contextlib.contextmanager
def time_of(name):
    """Adds what the case takes to $LEAT_TEST_TIMES, and ends it when its time is over (limit.py)."""
    begin = time.monotonic()
    try:
        with limit(name):
            yield
    finally:
        if TIMES:
            with open(TIMES, 'a', encoding='utf-8') as out:
                out.write(f'{time.monotonic() - begin:.2f} {name}\n')


def timed(check):
    """A decorator of what checks a case, its first argument."""
    @functools.wraps(check)
    def checks(case, *more, **named):
        with time_of(name_of(case)[:60]):
            return check(case, *more, **named)
    return checks


if __name__ == '__main__':  # for suites in sh: sampling.py NAMES [WORD…] prints those that are chosen
    print(*chosen(sys.argv[1].split(), words=sys.argv[2:]), sep='\n')
