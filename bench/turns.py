"""Programs that take turns: each round one of them runs alone for a moment, pinned to processors, and reports its time.

They print one line of JSON for each line that they are given: for so many Runs, the median milliseconds of one.
"""
import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(os.environ.get('LEAT_BUILD', os.path.join(os.path.dirname(HERE), 'build')))
ROUNDS = 9
QUICK = '--quick' in sys.argv[1:]
PEERS = '--peers' in sys.argv[1:] and not QUICK


def processors(threads):
    """Those that so many threads are pinned to; 0: all that this process may use."""
    return set(sorted(os.sched_getaffinity(0))[-threads:])


def begin(command, threads, **streams):
    """The process, pinned. It inherits that, as to fork for it would take milliseconds."""
    before = os.sched_getaffinity(0)
    environment = {**os.environ, 'OPENBLAS_NUM_THREADS': '1'} if threads == 1 else None
    os.sched_setaffinity(0, processors(threads))
    try:
        return subprocess.Popen(command, text=True, env=environment, stdout=subprocess.PIPE, **streams)
    finally:
        os.sched_setaffinity(0, before)


class Program:
    """A program that times so many Runs for each line it is given."""

    def __init__(self, command, threads):
        self.process, self.threads = begin(command, threads, stdin=subprocess.PIPE), threads
        self.memory = 0  # the most MB, as it has said last

    def measure(self, runs):
        self.process.stdin.write(f'{runs}\n')
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f'{self.process.args} ended with status {self.process.wait()}')
        result = json.loads(line)
        self.memory = result.get('memory_mb', 0)
        return result

    def time(self, runs, clock='ms'):
        return self.measure(runs)[clock]

    def busy(self):
        """Seconds of processors that it has used."""
        return time.clock_gettime(~self.process.pid << 3 | 2)  # its CPU clock, see clock_getcpuclockid

    def close(self):
        self.process.stdin.close()
        if self.process.wait() != 0:
            sys.exit(f'{self.process.args} ended with status {self.process.returncode}')


def program(name, *args):
    return [os.path.join(BUILD, 'bench', name), *args]


def environment(name='peers'):
    """The folder of a peers' environment of peers.txt, made on first need."""
    subprocess.run([os.path.join(HERE, 'setup'), name], check=True, stdout=sys.stderr)
    folder = os.environ.get('LEAT_PEERS', os.path.join(HERE, '.venv'))
    return folder if name == 'peers' else os.path.join(folder, name)


def peer(name, *args, among='peers'):
    return [os.path.join(environment(among), 'bin', 'python'), os.path.join(HERE, name), *args]


def busy(cpus):
    """Seconds that these processors have worked, for whomever, or were another machine's."""
    ticks = 0
    with open('/proc/stat', encoding='utf-8') as lines:
        for line in lines:
            name, *spent = line.split()
            if name[3:].isdigit() and int(name[3:]) in cpus:
                user, nice, system, _, _, interrupts, soft, steal = map(int, spent[:8])
                ticks += user + nice + system + interrupts + soft + steal
    return ticks / os.sysconf('SC_CLK_TCK')


@dataclass
class Turns:
    """Milliseconds of a Run in each round, and the share of the processors that others had."""
    times: list
    foreign: float

    @property
    def ms(self):
        return statistics.median(self.times)


def in_rounds(programs, runs, rounds=ROUNDS, clock='ms'):
    """The Turns of each program; runs: how many Runs of each a round has, one number for each; clock: which of the times
    that they report. Closes them."""
    if QUICK:
        runs, rounds = [1] * len(programs), 1
    for program, count in zip(programs, runs):
        program.time(count)  # warm
    cpus = set().union(*(processors(program.threads) for program in programs))

    def spent():
        return busy(cpus) - time.process_time() - sum(program.busy() for program in programs), time.perf_counter()
    others, begin_at = spent()
    times = [[program.time(count, clock) for program, count in zip(programs, runs)] for _ in range(rounds)]
    others, seconds = (after - before for before, after in zip((others, begin_at), spent()))
    foreign = min(1, max(0, others / seconds / len(cpus)))  # ticks are coarse
    for program in programs:
        program.close()
    return [Turns(list(mine), foreign) for mine in zip(*times)]


def take_turns(programs, runs, rounds=ROUNDS):
    """The median time of each program's Run, in milliseconds."""
    return [mine.ms for mine in in_rounds(programs, [runs] * len(programs), rounds)]
