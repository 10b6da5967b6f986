"""A suite that drives the programs of the build from outside: its cases, and what they are written with."""
import contextlib
import os
import random
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import traceback

import limit
from sampling import EVERY, SANITIZED, SEED, chosen, time_of

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.abspath(os.environ.get('LEAT_BUILD', os.path.join(ROOT, 'build')))
LEAT = os.path.join(BUILD, 'leat')
WORK = tempfile.mkdtemp(prefix='leat-cases-')
CASES = []


class Failure(Exception):
    pass


class Skipped(Exception):
    pass


def expect(condition, words):
    if not condition:
        raise Failure(words)


def case(function):
    CASES.append(function)
    return function


def execute(*command, folder='', **environment):
    """(exit status, stdout, stderr) in WORK or a folder of it; an environment variable that is None is not set."""
    environment = {**os.environ, 'XDG_CACHE_HOME': os.path.join(WORK, 'cache'), **environment}
    if SANITIZED:
        environment['ASAN_OPTIONS'] = 'detect_leaks=0:' + os.environ.get('ASAN_OPTIONS', '')  # the compilers' own
    environment = {name: value for name, value in environment.items() if value is not None}
    done = limit.run(command, 120, cwd=os.path.join(WORK, folder), env=environment, stdin=subprocess.DEVNULL,
                     stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stdout, done.stderr


def succeed(*command, **more):
    status, out, err = execute(*command, **more)
    expect(status == 0, f'{shlex.join(command)}\nexit status {status}\n{out}{err}')
    return out


def fail(words, *command, **more):
    """The command fails, and says these words."""
    status, out, err = execute(*command, **more)
    expect(status in (1, 2) and words in err, f'{shlex.join(command)}\nexit status {status}\n{out}{err}\ninstead of: {words}')


def write(name, words):
    with open(os.path.join(WORK, name), 'w' if isinstance(words, str) else 'wb') as out:
        out.write(words)
    return name


def content(name):
    with open(os.path.join(WORK, name), 'rb') as file:
        return file.read()


def npy(dtype, shape, data, order='False'):
    """The bytes of a file of NumPy's with this array."""
    head = f"{{'descr': '{dtype}', 'fortran_order': {order}, 'shape': ({''.join(f'{n},' for n in shape)}), }}\n".encode()
    return b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head + data


def has_its_turn(check, share, slow):
    """Whether the case runs this time: a share of them do, with a slow build another, as the seed draws it."""
    return EVERY or random.Random(f'{SEED} {check.__name__}').random() < (slow if SANITIZED else share)


def main(suite, share=1.0, slow=0.4, beside=lambda check: contextlib.nullcontext()):
    """Runs the cases that are chosen, or all that have their turn, and ends the program. Each runs inside of what `beside`
    gives."""
    passed = failed = skipped = 0
    try:
        run_now = chosen(CASES, lambda cases: [check for check in cases if has_its_turn(check, share, slow)])
        skipped = 0 if sys.argv[1:] else len(CASES) - len(run_now)
        for check in run_now:
            try:
                with time_of(check.__name__), beside(check):
                    check()
                passed += 1
            except Skipped as why:
                print(f'{check.__name__}: skipped: {why}')
                skipped += 1
            except Failure as problem:
                print(f'{check.__name__}: {problem}')
                failed += 1
            except Exception:  # the test's own fault
                print(f'{check.__name__}: {traceback.format_exc()}')
                failed += 1
    finally:
        shutil.rmtree(WORK, ignore_errors=True)
    print(f'{suite}: {passed} passed, {failed} failed, {skipped} skipped')
    sys.exit(bool(failed))
