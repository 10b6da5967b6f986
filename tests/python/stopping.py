"""Threads, the GIL and ^C."""
import os
import signal
import threading
import time

import leat
import numpy as np
from cases import case, model, raises

ENDLESS = '''
entry f(x: f32[]) -> (y: f32[]) { y = x + 1 }
entry endless(n: i32[]) -> (y: i32[]) {
  y, _ = while (y = 0, k = n) k > 0 { next y + k % 3, k + 1 - 1 }
}
'''


def interrupt_soon(seconds=0.3):
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.daemon = True
    timer.start()
    return timer


def interrupted(function, *arguments):
    """How long it takes ^C to end it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = interrupt_soon()
    begin = time.monotonic()
    raises(KeyboardInterrupt, '', function, *arguments)
    timer.join()
    assert time.monotonic() - begin < 20
    return True


@case
def interrupts_end_a_step():
    for target in ('cpu', 'ref'):
        m = model(ENDLESS, target=target)
        assert m.f(1) == 2
        for _ in range(2):
            assert interrupted(m.endless, 1)
            assert m.f(1) == 2  # and goes on


@case
def a_deadline_undoes_a_step():
    """Whatever ran of it: kernels, loops of tasks, strings, on several devices, in the first step and behind others."""
    text = '''
var v: f32[2] = [1, 2]
var s: str[] = "as it was"
entry train(n: i32[]) training -> (y: i32[]) {
  v := v * 2
  s := "spoiled"
  global_step := global_step + 0
  y, w = while (y = 0, w = v[0]) y < n {
    SAYS
    next y + 1 - n / n, w + 1 }
}
entry fine() -> (w: f32[2]) { w = v + 0 }
'''.replace('n / n', 'n // n')
    for options in {}, {'target': 'ref'}, {'target': 'c'}, {'devices': 2}, {'threads': 4}:
        for says in '', 'if y == 1000000 { print("turn") }':
            m = model(text.replace('SAYS', says), deadline=0.2, **options)
            for kept in [1, 2], [3, 4]:
                begin = time.monotonic()
                error = raises(leat.DeadlineExceeded, 'the step has not ended within 0.2 s', m.train, 1)
                assert time.monotonic() - begin < 20
                assert error.status == 'deadline exceeded' and isinstance(error, (leat.Error, TimeoutError))
                assert m.fine().tolist() == m.variables['v'].tolist() == kept, (options, m.fine(), kept)
                assert str(m.variables['s']) == 'as it was' and m.variables['global_step'] == 0
                m.variables['v'] = [3, 4]
            assert m.train(0) == 0
            assert m.variables['v'].tolist() == [6, 8] and m.variables['global_step'] == 1


@case
def a_deadline_is_of_each_step():
    m = model(ENDLESS, deadline=0.3)
    begin = time.monotonic()
    while time.monotonic() - begin < 1:
        m.f(1)
    raises(leat.DeadlineExceeded, 'in `endless/', m.endless, 1)
    assert interrupted(model(ENDLESS, deadline=60).endless, 1)
    raises(leat.Error, 'a deadline of -1 seconds', model, ENDLESS, deadline=-1)


@case
def a_deadline_is_of_one_call():
    for own in None, 60:
        m = model(ENDLESS, deadline=own)
        for _ in range(2):
            raises(leat.DeadlineExceeded, 'the step has not ended within 0.2 s', m.endless, 1, deadline=0.2)
            assert interrupted(m.endless, 1)  # which has the session's own again
            assert m.f(1, steps=3, deadline=60) == m.f(1)
        raises(leat.Error, 'a deadline of -1 seconds', m.f, 1, deadline=-1)
        raises(TypeError, 'must be real number', m.f, 1, deadline='soon')
    m = model(ENDLESS, deadline=0.2)
    assert interrupted(lambda: m.endless(1, deadline=0))
    raises(leat.DeadlineExceeded, 'within 0.2 s', m.endless, 1)
    assert model('entry f(deadline: i32[]) -> (y) { y = deadline + 1 }').f(deadline=2) == 3


@case
def interrupts_end_a_compilation():
    text = 'entry f(x: f32[3]) -> (y: f32[3]) {\n h[0] = x\n' \
           ' for i in 0..20000 { h[i + 1] = sin(h[i]) + tanh(h[i] * 2) }\n y = h[20000]\n}'
    m = leat.Session(threads=1, cache='off')

    def build():
        m.extend(text)
        m.step('f')
    assert interrupted(build)
    assert m.extend('entry g(x: f32[]) -> (y: f32[]) { y = x + 1 }').g(1) == 2


@case
def handlers_of_others_are_called():
    m, came = model(ENDLESS), []
    m.f(1)
    before = signal.signal(signal.SIGINT, lambda *_: came.append(1))
    try:
        time.sleep(0.01)
        timer = interrupt_soon()
        error = raises(leat.Error, 'interrupted', m.endless, 1)
        timer.join()
        assert error.status == 'aborted' and came == [1]
        assert m.f(1) == 2
    finally:
        signal.signal(signal.SIGINT, before)
    assert interrupted(m.endless, 1)
    assert came == [1]


@case
def interrupts_without_a_step():
    m = model(ENDLESS)
    m.f(1)
    assert interrupted(time.sleep, 20)
    assert m.f(1) == 2


@case
def interrupts_end_waiting():
    """Of a session that another thread is in, which goes on until somebody stops it."""
    m, out = model(ENDLESS), []
    assert m.f(1) == 2 and not m.stop()
    worker = threading.Thread(target=lambda: out.append(raises(leat.Error, 'interrupted', m.endless, 1)), daemon=True)
    worker.start()
    time.sleep(0.1)
    assert interrupted(lambda: m.f(1))
    assert worker.is_alive() and m.stop()
    worker.join(20)
    assert out[0].status == 'aborted'
    assert m.f(1) == 2


@case
def others_work_meanwhile():
    m = model(ENDLESS)
    m.f(1)
    worker = threading.Thread(target=lambda: raises(leat.Error, 'interrupted', m.endless, 1), daemon=True)
    worker.start()
    begin, turns = time.monotonic(), 0
    while time.monotonic() - begin < 0.3:
        turns += 1
        time.sleep(0.001)
    assert turns > 10 and worker.is_alive(), turns
    other = model(ENDLESS)
    assert other.f(2) == 3
    m.stop()
    worker.join(20)
    assert not worker.is_alive()


@case
def threads_share_a_session():
    m = model('var n: i64[] = 0\nentry f(x: f32[1000]) -> (y: f32[1000], k: i64[]) {\n n += 1\n k = n\n y = x + 1 }')
    m.f(np.zeros(1000, 'f4'))
    wrong = []

    def work(value):
        x = np.full(1000, value, 'f4')
        for _ in range(200):
            y = m.f(x).y
            if not (y == value + 1).all():
                wrong.append(value)
    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and int(m.variables['n']) == 801


@case
def steps_end_in_any_thread():
    m, kept = model(ENDLESS), []

    def work():
        for _ in range(20):
            kept.append(m.compile('f'))
            if len(kept) > 3:
                del kept[:2]
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert kept[0](1) == 2


@case
def printing_waits_for_nobody():
    """What a step prints comes from its threads, which need the GIL while the caller has given it up."""
    said = []
    m = model('entry f(x: i32[]) -> (y: i32[]) {\n print("x", x)\n y = x + 1 }', print=said.append)
    threads = [threading.Thread(target=lambda: [m.f(i) for i in range(20)]) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(said) == 60
