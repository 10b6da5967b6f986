"""What ends commands and cases whose time is over, with all that they have started."""
import contextlib
import faulthandler
import os
import signal
import subprocess
import threading

SECONDS = int(os.environ.get('LEAT_CASE_SECONDS', '450'))  # of a case, beside others
MORE = 30  # for what is no command, before the whole suite ends


def children(task):
    try:
        with open(f'/proc/{task}/children', encoding='ascii') as file:
            return [int(word) for word in file.read().split()]
    except OSError:  # it has ended
        return []


def descendants(pid):
    """What the process has started, and what these have."""
    try:
        tasks = os.listdir(f'/proc/{pid}/task')
    except OSError:
        return []
    below = [child for task in tasks for child in children(f'{pid}/task/{task}')]
    return below + [one for child in below for one in descendants(child)]


def kill(pids):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def run(command, timeout, **options):
    """As subprocess.run, of which only the command itself would end, and not what a shell runs."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, **options) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            kill([*descendants(process.pid), process.pid])
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def watch(name, thread, over):
    """What a case starts is ended from then on, until it is over; `dev` knows by the words that it failed."""
    if over.wait(SECONDS):
        return
    print(f'{name}: no end after {SECONDS} s', flush=True)
    for _ in range(MORE):
        started = children(f'{os.getpid()}/task/{thread}')
        kill([one for child in started for one in (*descendants(child), child)])
        if over.wait(1):
            return
    faulthandler.dump_traceback()
    kill(descendants(os.getpid()))
    os._exit(124)


@contextlib.contextmanager
def limit(name):
    """A case, which runs in this thread."""
    over = threading.Event()
    threading.Thread(target=watch, args=(name, threading.get_native_id(), over), daemon=True).start()
    try:
        yield
    finally:
        over.set()
