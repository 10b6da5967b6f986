"""The cases that TensorFlow 1 answers: loops and branches of Switch, Merge, Enter, Exit and NextIteration, in a Session.

A case is a Python function of what TensorFlow is and of the inputs; its text is what the answer is filed under. Above
it stands what Leat says: statements, and the expression that is compared. FLOAT is the dtype.
"""
import inspect

from case import FLOATS, case

MATRIX, ROW, COUNT = ('FLOAT', (3, 4), 'any'), ('FLOAT', (4,), 'unit'), ('i32', (), 'index')


def against(leat, setup, grad='xw', define='', **given):
    def add(function):
        source = inspect.getsource(function)
        for dtype in FLOATS:
            named = [text.replace('FLOAT', dtype).replace('f_', f'{function.__name__}_{dtype}_')
                     for text in (leat, setup, define)]
            inputs = {name: (kind.replace('FLOAT', dtype), *rest) for name, (kind, *rest) in given.items()}
            case(f'tensorflow {function.__name__} {dtype}', named[0], source[source.index('def '):], grad, 8, named[1],
                 named[2], peer='tensorflow', **inputs)
        return function
    return add


@against('h', '_, h = while (t = 0, h = x) t < n + 3 { next t + 1, tanh(h * w) + x / 2 }', x=MATRIX, w=ROW, n=COUNT)
def counted(tf, x, w, n):
    return tf.while_loop(lambda t, h: t < n + 3, lambda t, h: (t + 1, tf.tanh(h * w) + x / 2), (0, x))[1]


@against('h', '_, h = while (t = 0, h = x) t < n { next t + 1, h * w }', x=MATRIX, w=ROW, n=('i32', (), 'small'))
def never(tf, x, w, n):
    return tf.while_loop(lambda t, h: t < n, lambda t, h: (t + 1, h * w), (0, x))[1]


@against('h', '''_, h = while (t = 0, h = x) t < 3 {
  _, g = while (k = 0, g = h) k < t + n { next k + 1, sin(g) * w + h / 3 }
  next t + 1, g - h / 2
}''', x=MATRIX, w=ROW, n=COUNT)
def nested(tf, x, w, n):
    def turn(t, h):
        inner = lambda k, g: (k + 1, tf.sin(g) * w + h / 3)
        return t + 1, tf.while_loop(lambda k, g: k < t + n, inner, (0, h))[1] - h / 2
    return tf.while_loop(lambda t, h: t < 3, turn, (0, x))[1]


@against('h', '''_, h = while (t = 0, h = x) t < n + 4 {
  g = if sum(h) > 0.0 { yield tanh(h) - w } else { yield h * w + 1 }
  next t + 1, g
}''', x=MATRIX, w=ROW, n=COUNT)
def chosen_each_turn(tf, x, w, n):
    def turn(t, h):
        return t + 1, tf.cond(tf.reduce_sum(h) > 0, lambda: tf.tanh(h) - w, lambda: h * w + 1)
    return tf.while_loop(lambda t, h: t < n + 4, turn, (0, x))[1]


for name, sign in ('taken', '>'), ('not_taken', '<'):
    source = f'''def loop_{name}(tf, x, w, n):
    loop = lambda: tf.while_loop(lambda t, h: t < n + 2, lambda t, h: (t + 1, h - w * h * h / 9), (0, x))[1]
    return tf.cond(tf.reduce_sum(x * x) {sign} 0, loop, lambda: x * w)
'''
    for dtype in FLOATS:
        case(f'tensorflow loop_{name} {dtype}', 'h', source, 'xw', 8, f'''h = if sum(x * x) {sign} 0.0 {{
  _, g = while (t = 0, g = x) t < n + 2 {{ next t + 1, g - w * g * g / 9 }}
  yield g
}} else {{
  yield x * w
}}''', peer='tensorflow', n=COUNT, **{one: (dtype, *rest) for one, (_, *rest) in (('x', MATRIX), ('w', ROW))})


@against('h', '''_, h = while (t = 0, h = x[:, 0] @ w * 0) t < max(n) {
  z = tanh(x[:, t] @ w + h @ u)
  next t + 1, where((t < n)[:, None], z, h)
}''', 'xwu', x=('FLOAT', (3, 5, 2), 'unit'), w=('FLOAT', (2, 4), 'unit'), u=('FLOAT', (4, 4), 'unit'),
         n=('i32', (3,), 'index'))
def recurrent_with_lengths(tf, x, w, u, n):
    rows = tf.TensorArray(x.dtype, 5).unstack(tf.transpose(x, (1, 0, 2)))
    def turn(t, h):
        z = tf.tanh(rows.read(t) @ w + h @ u)
        return t + 1, tf.where(tf.tile((t < n)[:, None], (1, 4)), z, h)
    return tf.while_loop(lambda t, h: t < tf.reduce_max(n), turn, (0, x[:, 0] @ w * 0))[1]


@against('ys + h', '''h, ys = scan(f_, w, x)''', define='''fn f_(h: T[M], row: T[M]) {
  after = tanh(h + row)
  return after, after * h
}''', x=MATRIX, w=ROW)
def stacked(tf, x, w):
    rows = tf.TensorArray(x.dtype, 3).unstack(x)
    def turn(t, h, ys):
        after = tf.tanh(h + rows.read(t))
        return t + 1, after, ys.write(t, after * h)
    _, h, ys = tf.while_loop(lambda t, h, ys: t < 3, turn, (0, w, tf.TensorArray(x.dtype, 3)))
    return ys.stack() + h


@against('ys', '''_, _, ys = while (t = 0, h = w, ys = x * 0) t < 3 {
  g = sin(h) + x[t]
  next t + 1, g, scatter_set(ys, reshape(t, [1]), g[None], axis=0)
}''', x=MATRIX, w=ROW)
def written(tf, x, w):
    def turn(t, h, ys):
        g = tf.sin(h) + x[t]
        return t + 1, g, ys.write(t, g)
    return tf.while_loop(lambda t, h, ys: t < 3, turn, (0, w, tf.TensorArray(x.dtype, 3)))[2].stack()


@against('y', 'y = while (y = x + 1) max(abs(y * y - x)) > 0.001 { next (y + x / y) / 2 }', 'x',
         x=('FLOAT', (5,), 'positive'))
def newton(tf, x):
    return tf.while_loop(lambda y: tf.reduce_max(tf.abs(y * y - x)) > 0.001, lambda y: ((y + x / y) / 2,), (x + 1,))


@against('h + cast(k, FLOAT)', 'h, k = while (h = x, k = 0) sum(h * h) > 0.05 { next h * tanh(w) * 0.9, k + 1 }',
         x=MATRIX, w=ROW)
def counts_of_data(tf, x, w):
    turn = lambda h, k: (h * tf.tanh(w) * 0.9, k + 1)
    h, k = tf.while_loop(lambda h, k: tf.reduce_sum(h * h) > 0.05, turn, (x, 0))
    return h + tf.cast(k, x.dtype)


@against('h', '_, h = while (t = 0, h = x) t < n { next t + 1, h * w[t] + x[:, t][:, None] }', x=MATRIX, w=ROW, n=COUNT)
def rows_by_turn(tf, x, w, n):
    turn = lambda t, h: (t + 1, h * tf.gather(w, t) + tf.gather(x, t, axis=1)[:, None])
    return tf.while_loop(lambda t, h: t < n, turn, (0, x))[1]
