"""Texts, steps, variables and what goes wrong."""
import base64
import gc
import json
import os
import shutil
import subprocess
import sys
import warnings

import leat
import numpy as np
from cases import ROOT, SANITIZED, Skipped, case, model, raises

LINE = '''
graph line(scale: float = 2)
var w: f32[3] = [1, 2, 3]
## The line's value
## at x.
entry predict(x: f32[N, 3], k: f32[] = 1) -> (y: f32[N]) { y = net(x) * k }

fn net(x: f32[N, 3]) -> f32[N] { return x @ w * scale }
entry train(lr: f32[] = 1) training -> (loss: f32[], w0: f32[]) {
  minimize(sum(w), sgd, lr=lr)
  loss, w0 = sum(w), w[0]
}
entry both(a: f32[2], b: f32[2]) -> (s: f32[2], d: f32[2]) {
  s = a + b
  d = a - b
}
entry no_results(x: i32[]) { print("x is", x) }
'''
x = np.arange(6, dtype='f4').reshape(2, 3)


def same(result, expected, dtype='float32'):
    assert isinstance(result, np.ndarray) and result.dtype == dtype, (result, result.dtype)
    np.testing.assert_array_equal(result, np.asarray(expected, dtype))


@case
def entries_are_methods():
    m = model(LINE)
    assert m.entries == ('predict', 'train', 'both', 'no_results')
    assert {'predict', 'save'} <= set(dir(m))
    same(m.predict(x), [16, 52])
    same(m.predict(x, 2), [32, 104])
    same(m.predict(k=np.float32(2), x=x), [32, 104])
    same(m['predict'](x[:1]), [16])
    assert m.predict.__doc__.startswith('## The line\'s value\n## at x.\nentry predict(')
    assert repr(m.predict) == '<leat.Step predict(x: f32[N, 3], k: f32[] = …) -> (y: f32[N])>'
    assert m.predict.inputs[1] == ('k', 'f32', 0, 'f32[]', True)
    assert m.predict is m.predict
    raises(AttributeError, 'there is no entry `predct`; did you mean `predict`?', lambda: m.predct)


@case
def several_results():
    m = model(LINE)
    r = m.both(x[0, :2], b=x[1, :2])
    same(r.s, [3, 5])
    same(r['d'], [-3, -3])
    s, d = r
    same(s, [3, 5])
    assert r.keys() == ('s', 'd') and len(r) == 2 and repr(r).startswith('Results(s=array(')
    raises(AttributeError, 'there is no result `z`; there are s, d', lambda: r.z)


@case
def mistakes_in_calls():
    m = model(LINE)
    raises(TypeError, 'predict needs `x`, which is f32[N, 3]', m.predict)
    raises(TypeError, 'predict takes 2 arrays, not 3', m.predict, x, 1, 2)
    raises(TypeError, 'predict takes no `z`; it takes (x: f32[N, 3]', m.predict, x, z=1)
    raises(TypeError, 'predict is given `x` twice', m.predict, x, x=x)
    error = raises(leat.Error, 'expected f32[2, 3], found f64 of rank 2', m.predict, x.astype('f8'))
    assert (error.status, error.file, error.line, error.column) == ('invalid input', 'test.leat', 6, 15)
    raises(leat.Error, 'found f32 of rank 1', m.predict, x[0])
    same(m.predict(x), [16, 52])  # and goes on


@case
def what_is_printed():
    said = []
    m = model(LINE, print=said.append)
    assert m.no_results(7) is None
    assert said == ['x is 7'], said
    failures = []
    sys.unraisablehook, before = failures.append, sys.unraisablehook
    try:
        model(LINE, print=lambda line: 1 / 0).no_results(7)
    finally:
        sys.unraisablehook = before
    assert [failure.exc_type for failure in failures] == [ZeroDivisionError]


@case
def training():
    m = model(LINE)
    seen = []
    loss, w0 = m.train.repeat(5, every=2, report=lambda step, r: seen.append((step, float(r.w0))), lr=0.5)
    assert seen == [(2, 0), (4, -1), (5, -1.5)], seen
    same(m.train(steps=3).w0, -4.5)
    assert int(m.variables['global_step']) == 8
    raises(ValueError, 'once at least', m.train, steps=0)
    raises(TypeError, '', m.train, steps='3')
    odd = model('entry f(steps: f32[], self: f32[], as_: f32[] = 1) -> (y: f32[]) { y = steps + self + as_ }')
    same(odd.f(steps=2, self=3), 6)  # feeds of these names


@case
def variables_by_name():
    m = model(LINE)
    assert list(m.variables) == ['w', 'global_step'] and 'w' in m.variables and len(m.variables) == 2
    same(m.variables['w'], [1, 2, 3])
    m.variables['w'] = [0, 0, 1]
    same(m.predict(x), [4, 10])
    m.variables['w'] += 1
    same(m.variables['w'], [1, 1, 2])
    raises(KeyError, 'did you mean `w`?', lambda: m.variables['ww'])
    raises(leat.Error, 'variable `w` is f32[3], the value is f32[2]', m.variables.__setitem__, 'w', x[0, :2])
    raises(TypeError, 'a graph only grows', m.variables.__delitem__, 'w')


@case
def checkpoints():
    m = model(LINE)
    m.train(steps=2)
    m.save('ck.safetensors', overwrite=False)
    m.save('ck.safetensors', overwrite=True)
    m.train()
    raises(FileExistsError, 'ck.safetensors', m.save, 'ck.safetensors', overwrite=False)
    other = model(LINE)
    other.restore('ck.safetensors')
    same(other.variables['w'], [-1, 0, 1])
    raises(leat.Error, 'none.safetensors', other.restore, 'none.safetensors')
    part = model(LINE + 'var more: f32[] = 7')
    raises(leat.Error, 'more', part.restore, 'ck.safetensors')
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        part.restore('ck.safetensors', partial=True)
    assert [w.category for w in caught] == [leat.Warning] and 'has no `more`' in str(caught[0].message)
    assert caught[0].filename == __file__, caught[0].filename
    with open('line.leat', 'w') as out:
        out.write(LINE)
    np.save('x.npy', x)
    said = subprocess.run(['leat', 'run', 'line.leat', '--entry', 'predict', '--restore', 'ck.safetensors', '--feed',
                           'x=@x.npy'], capture_output=True, text=True, check=True).stdout
    assert said == 'y: f32[2] = [4.0 4.0]\n', said


@case
def other_edges():
    m = model(LINE)
    same(m.run('y', {'x': x}, within='predict'), [16, 52])
    same(m.run(['predict/y', 'w'], {'predict/x': x, 'predict/k': 1.0})[1], [1, 2, 3])
    step = m.compile('both', 'predict', fetches=['w'])
    assert [port.name for port in step.inputs] == ['both/a', 'both/b', 'predict/x', 'predict/k']
    r = step(x[0, :2], x[1, :2], x)
    same(r['predict/y'], [16, 52])
    same(r.w, [1, 2, 3])
    raises(leat.Error, 'there is no value `q`', m.run, 'q')
    raises(leat.Error, 'there is no entry `predikt`; did you mean `predict`?', m.run, 'y', {'x': x}, within='predikt')
    raises(leat.Error, 'there is no entry `predikt`; did you mean `predict`?', m.compile, fetches=['y'], within='predikt')


@case
def settings_and_options():
    same(model(LINE, settings={'scale': 1}).predict(x), [8, 26])
    raises(leat.Error, 'scale', model, LINE, settings={'scale': 'two'})
    raises(TypeError, 'there is no option `treads`; did you mean `threads`?', leat.Session, treads=1)
    raises(TypeError, '', leat.Session, threads='many')
    assert not hasattr(leat.Session.__new__(leat.Session), '_core')
    raises(leat.Error, 'unknown target `none`', leat.Session, target='none')
    same(model(LINE, target='ref').predict(x), [16, 52])
    logged = []
    m = model(LINE, log=logged.append, dump_after='infer')
    m.predict(x)
    assert '# after infer' in ''.join(logged)
    traced = model(LINE, trace=True)
    traced.predict(x)
    assert json.loads(traced.trace())
    assert 'entry predict(' in traced.dump()
    raises(ValueError, '`stop_after` ended', model(LINE, stop_after='check').compile, 'predict')


@case
def texts_with_mistakes():
    m = model(LINE)
    wrong = 'entry g(x: f32[]) -> (y) {\n  y = relo(x)\n}'
    error = raises(leat.Error, '  y = relo(x)\n      ^~~~', m.extend, wrong, 'é.leat')
    assert (error.file, error.line, error.column) == ('é.leat', 2, 7)
    assert error.message == 'unknown name `relo`; did you mean `relu`?'
    assert [p.severity for p in error.problems] == ['error'] and error.python is None
    wrong = 'fn h(x: f32[]) { return relo(x) }\nentry g(x: f32[]) -> (y) {\n y = h(x)\n}'
    error = raises(leat.Error, '', m.extend, wrong, 'g')
    assert [(p.severity, p.line) for p in error.problems] == [('error', 1), ('note', 3)]
    raises(leat.Error, 'none.leat', leat.load, 'none.leat')
    raises(TypeError, 'expected a str', m.extend, 3)
    raises(ValueError, 'null', m.extend, 'x = 1\0')
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        m.extend('entry u(x: f32[], q: f32[]) -> (y: f32[]) { y = x }', 'u.leat')
    assert 'nothing in `u` uses the parameter `q`' in str(caught[0].message)


@case
def failing_steps():
    m = model('entry f(x: f32[N], i: i32[]) -> (y: f32[]) {\n  y = x[i]\n}')
    error = raises(leat.Error, 'index 9 is out of range', m.f, x[0], 9)
    assert (error.file, error.line, error.column, error.status) == ('test.leat', 2, 7, 'index out of range')
    same(m.f(x[0], 2), 2)


@case
def functions_with_arrays():
    m = model('''
fn two(x: T[...D], n: int) { return x + n, x * n }
fn layer(x: f32[N, I], units: int) {
  var w: f32[I, units] = 1
  return x @ w
}
entry g(x: f32[N, 3]) -> (y: f32[N, 2]) { y = layer(x, units=2) as net }
''')
    a, b = m.fn.two(x, 3)
    same(a, x + 3)
    same(b, x * 3)
    a, b = m.fn.two(x.astype('f8'), n=2)
    same(b, x * 2, 'float64')
    same(m.fn.layer(x, 2, as_='net'), [[3, 3], [12, 12]])
    m.variables['net/w'] = np.zeros((3, 2), 'f4')
    same(m.fn.layer(x, 2, as_='net'), [[0, 0], [0, 0]])
    same(m.g(x), [[0, 0], [0, 0]])
    same(m.fn.softmax(np.zeros(2, 'f4')), [0.5, 0.5])
    assert 'fn two(x: T[...D], n: int)' in m.fn.two.__doc__
    raises(leat.Error, 'holds state, so this call needs a name', m.fn.layer, x, 2)


@case
def model_files():
    with open(f'{ROOT}/tests/golden/import/mlp.test') as file:
        words = file.read().partition('--- in model.b64\n')[2].partition('--- run')[0]
    with open('mlp.onnx', 'wb') as file:
        file.write(base64.b64decode(words))
    try:
        m = leat.load('mlp.onnx', cache='off')
    except leat.Error as error:
        if 'the module leat-onnx.so is neither' in str(error):
            raise Skipped(error)
        raise
    y, z = m.main(x=[[1, 2, 3]])
    same(y, np.full((1, 2, 3), 72))
    same(z, [1, 2, -1], 'int64')
    same(m.fn.model(x)[0], m.main(x).y)  # its dim is declared: `dim batch`
    same(m.fn.model(x=x[:1])[0], m.main(x).y[:1])


@case
def kernels_outlive_builds():
    leat_program = os.path.join(os.environ.get('LEAT_BUILD', f'{ROOT}/build'), 'leat')
    if SANITIZED or not os.path.exists(leat_program):
        raise Skipped('another program with the same modules is needed')
    with open('build.leat', 'w') as file:
        file.write('entry f(x: f32[64]) -> (y: f32[64]) { y = tanh(x) * 3 }\n')
    entries = lambda: len(os.listdir('kernels'))
    np.save('x.npy', np.ones(64, 'f4'))
    subprocess.run([leat_program, 'run', 'build.leat', '--feed', 'x=@x.npy', '--cache', 'kernels', '--threads', '1'],
                   capture_output=True, check=True)
    assert entries() == 2  # the step, and its kernel
    leat.load('build.leat', cache='kernels', threads=1).f(np.ones(64, 'f4'))
    assert entries() == 3  # this library is another build: the step is its own, the kernel is not


@case
def the_program():
    if SANITIZED:
        raise Skipped('the module is not for an interpreter of its own')
    said = subprocess.run([sys.executable, '-m', 'leat', '--version'], capture_output=True, text=True, check=True,
                          env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)}).stdout
    assert said == f'leat {leat.__version__}\n', said


RESIDENT = """
import leat
import numpy
leat.loads('entry f(x: f32[64, 64]) -> (y) { y = tanh(x @ x) }', cache='off').f(numpy.zeros((64, 64), 'f4'))
of_llvm, is_llvm = 0, False
for line in open('/proc/self/smaps'):
    words = line.split()
    if not words[0].endswith(':'):
        is_llvm = 'libLLVM' in line
    elif words[0] == 'Rss:' and is_llvm:
        of_llvm += int(words[1])
print(of_llvm)
"""


@case
def what_compiles_rests():
    if SANITIZED:
        raise Skipped('the module is not for an interpreter of its own')
    said = subprocess.run([sys.executable, '-c', RESIDENT], capture_output=True, text=True,
                          env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)})
    assert said.returncode == 0 and int(said.stdout) < 16 << 10, (said.stdout, said.stderr)  # of 50 MB when it compiles


CLUSTER = """
import leat
s = leat.Session(cluster='ps=1,worker=1', threads=1, cache='off')
if s.is_client:
    s.extend('var t: f32[] = 0 on "/job:ps/task:0"\\nentry add(x: f32[]) -> (y: f32[]) { t += x\\n y = t }')
    print(s.add(2, steps=10), s.variables['t'])
else:
    s.serve()
s.close()
"""


@case
def several_processes():
    module = os.path.exists(f'{os.environ.get("LEAT_BUILD", ROOT + "/build")}/leat-mpi.so')
    if SANITIZED or not shutil.which('mpiexec') or not module or 'build' not in leat.__file__:
        raise Skipped('there is no MPI, or it is not for this build')
    done = subprocess.run(['mpiexec', '-n', '2', sys.executable, '-c', CLUSTER], capture_output=True, text=True,
                          env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)}, timeout=60)
    assert done.stdout == '20.0 20.0\n', done


@case
def sessions_end():
    with model(LINE) as m:
        step, kept = m.predict, m.predict(np.ones((4096, 3), 'f4'))
    assert kept[0] == 12 and kept.sum() == 12 * 4096  # its memory stays
    raises(ValueError, 'the session is closed', step, x)
    raises(ValueError, 'the session is closed', m.extend, '')
    m.close()
    m, steps = model(LINE), []
    for _ in range(100):
        steps.append(m.compile('both'))
    del steps, m
    gc.collect()
    assert kept.sum() == 12 * 4096


PACKED = '''
var w: f32[512, 600] = uniform(-1, 1)
entry eval(x: f32[B, 512]) -> (y: f32[B, 600]) { y = x @ w }
entry fresh(x: f32[B, 512]) -> (y: f32[B, 600]) {
  y = x @ w
  w := w + 0.0
}
entry train(x: f32[B, 512]) training -> (loss: f32[]) {
  loss = mean((x @ w) ** 2)
  minimize(loss, sgd, lr=0.01)
}
entry double() { w := w * 2.0 }
entry loaded(x: f32[B, 512]) -> (y: f32[B, 600]) { y = x @ load("packed.npz", "w") }
'''


@case
def packed_weights_follow_their_variable():
    """What `eval` keeps of w, in each of its variants, is that of every assignment; `fresh` keeps nothing."""
    np.savez('packed.npz', w=np.zeros((512, 600), 'f4'))
    m, random = model(PACKED), np.random.default_rng(1)
    xs = [random.standard_normal((rows, 512), 'f4') for rows in (64, 100, 64, 128)]

    def check(m):
        for a in xs:
            same(m.eval(a), m.fresh(a))
        for a in xs:
            np.testing.assert_allclose(m.eval(a), a @ m.variables['w'], rtol=0, atol=1e-3)

    with warnings.catch_warnings():
        warnings.simplefilter('ignore')  # that nothing was restored
        check(m)
        m.variables['w'] = random.standard_normal((512, 600), 'f4')
        check(m)
        m.save('packed.safetensors')
        m.double()
        check(m)
        m.train(xs[0], steps=2)
        check(m)
        m.restore('packed.safetensors')
        check(m)
        timed = model(PACKED, deadline=100)
        timed.restore('packed.safetensors')
        same(timed.eval(xs[0]), m.eval(xs[0]))
        timed.double()
        check(timed)


@case
def packed_files_are_those_of_their_step():
    a = np.ones((64, 512), 'f4')
    np.savez('packed.npz', w=np.full((512, 600), 1, 'f4'))
    m = model(PACKED)
    for rows in 64, 100, 64:  # the second variant packs it again, or shares what the first has
        same(m.loaded(np.ones((rows, 512), 'f4')), np.full((rows, 600), 512))
    os.unlink('packed.npz')
    same(m.loaded(a), np.full((64, 600), 512))
    np.savez('packed.npz', w=np.full((512, 600), 2, 'f4'))
    same(m.loaded(a), np.full((64, 600), 512))
    same(m.loaded(np.ones((80, 512), 'f4')), np.full((80, 600), 1024))
    same(model(PACKED).loaded(a), np.full((64, 600), 1024))
