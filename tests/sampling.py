"""What share of its cases a suite runs: the seed says which, $LEAT_EVERY asks for all. And what each of them takes, and at
most."""
import contextlib
import functools
import os
import random
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
    """A decorator of what checks a case: its first argument says which, by its name if it has one."""
    @functools.wraps(check)
    def checks(case, *more, **named):
        with time_of(' '.join(str(getattr(case, 'name', getattr(case, '__name__', case))).split())[:60]):
            return check(case, *more, **named)
    return checks
