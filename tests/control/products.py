"""Products in loops that one product in front of the loop may make, or one behind it: of whole numbers, so that sums are exact."""
import numpy

from case import Stops, case
from gradients import slopes

DICE = numpy.random.default_rng(12)


def whole(*shape):
    return DICE.integers(-4, 5, shape).astype('f4')


W = whole(32, 5)


def turned(products):
    """h = p - h for one product after the other, from 0 on."""
    h = 0 * W[:2, :]
    for product in products:
        h = product - h
    return h


def rows_as(text):
    """A loop over T rows of x that does this with row t."""
    return f'''
entry main(x: f32[T, 2, 32], w: f32[32, 5]) -> (h: f32[2, 5]) {{
  _, h = while (t: i64[] = 0, h = zeros(f32[2, 5])) t < T {{ next t + 1, {text} - h }}
}}'''


LENGTHS = [{'x': whole(n, 2, 32), 'w': W} for n in (7, 1, 0, 2, 30)]


@case(rows_as('x[t] @ w'), *LENGTHS)
def products_of_rows_in_order(x, w):
    return turned(x @ w)


@case(rows_as('x[T - 1 - t] @ w'), *LENGTHS)
def products_of_rows_backwards(x, w):
    return turned((x @ w)[::-1])


@case(rows_as('x[(t + 3) % T] @ w'), *LENGTHS)
def products_of_rows_from_another_on(x, w):
    return turned(x[(t + 3) % len(x)] @ w for t in range(len(x)))


@case(rows_as('(x[t] @ w + x[T - 1 - t] @ (w * 2) + x[t] @ w)'), *LENGTHS)
def products_of_rows_read_twice(x, w):
    return turned(2 * x @ w + 2 * x[::-1] @ w)


@case(rows_as('x[t + 1] @ w'), {'x': whole(4, 2, 32), 'w': W})
def a_product_of_a_row_that_is_not_there(x, w):
    raise Stops('node `main/while_loop/gather` (program.leat:2:73): index out of range: index 4 is out of range for an axis of 4')


@case('''
entry main(x: f32[T, 2, 32], w: f32[32, 5], n: i64[]) -> (h: f32[2, 5]) {
  _, h = while (t: i64[] = 0, h = zeros(f32[2, 5])) t < n { next t + 1, x[t] @ w - h }
}''', *({**LENGTHS[0], 'n': n} for n in (0, 1, 4, 7)))
def products_of_less_than_all_rows(x, w, n):
    return turned(x[:n] @ w)


@case('''
entry main(x: f32[2, T, 32], w: f32[5, 32]) -> (h: f32[2, 5]) {
  _, h = while (t: i64[] = 0, h = zeros(f32[2, 5])) t < T { next t + 1, x[:, t] @ transpose(w) - h }
}''', *({'x': whole(2, n, 32), 'w': W.T} for n in (5, 1)))
def products_of_columns(x, w):
    return turned(numpy.moveaxis(x, 1, 0) @ w.T)


@case('''
entry main(x: f32[T, 32], w: f32[32, 5]) -> (h: f32[5]) {
  _, h = while (t = cast(T, i64), h = zeros(f32[5])) t > 0 { next t - 1, x[t - 1] @ w - h }
}''', *({'x': whole(n, 32), 'w': W} for n in (6, 1)))
def products_of_vectors(x, w):
    return turned(numpy.repeat(x[::-1, None], 2, axis=1) @ w)[0]


@case('''
entry main(x: f32[S, T, 2, 32], w: f32[32, 5]) -> (h: f32[2, 5]) {
  _, h = while (s: i64[] = 0, h = zeros(f32[2, 5])) s < S {
    part = x[s]
    _, after = while (t: i64[] = 0, h = h) t < T { next t + 1, part[t] @ w - h }
    next s + 1, after
  }
}''', *({'x': whole(s, t, 2, 32), 'w': W} for s, t in ((3, 4), (1, 5), (4, 1))))
def products_in_a_loop_in_a_loop(x, w):
    return turned(x.reshape(-1, 2, 32) @ w)


@case('''
entry main(x: f32[T, 32], y: f32[32, T], w: f32[5, 32], v: f32[5, 5]) -> (h: f32[5], g: f32[5], k: f32[5]) {
  _, h = while (t: i64[] = 0, h = zeros(f32[5])) t < T { next t + 1, w @ x[t] - h }
  _, g = while (t = cast(T, i64), h = zeros(f32[5])) t > 0 { next t - 1, w @ y[:, t - 1] - h }
  _, k = while (t: i64[] = 0, h = ones(f32[5])) t < T { next t + 1, v @ h / 8 + transpose(v) @ h / 8 }
}''', *({'x': whole(n, 32), 'y': whole(32, n), 'w': W.T, 'v': whole(5, 5)} for n in (5, 1, 0)))
def products_of_columns_from_the_left(x, y, w, v):
    h, g, k = numpy.zeros(5), numpy.zeros(5), numpy.ones(5)
    for t in range(len(x)):
        h, g = w @ x[t] - h, w @ y[:, -1 - t] - g
        k = v @ k / 8 + v.T @ k / 8
    return h, g, k


@case('''
entry main(x: f32[T, 3, 32], y: f32[T, 32, 3], w: f32[32, 5], v: f32[5, 32]) -> (left: f32[3, 5], right: f32[5, 3]) {
  _, left, right = while (t: i64[] = 0, left = zeros(f32[3, 5]), right = zeros(f32[5, 3])) t < T {
    plain = x[t] @ w + 2 * matmul(x[t], v, transpose_b=true)
    turned = matmul(y[t], w, transpose_a=true) + 2 * matmul(y[t], v, transpose_a=true, transpose_b=true)
    plain_right = v @ y[t] + 2 * matmul(w, y[t], transpose_a=true)
    turned_right = matmul(v, x[t], transpose_b=true) + 2 * matmul(w, x[t], transpose_a=true, transpose_b=true)
    next t + 1, plain - 3 * turned - left, plain_right - 3 * turned_right - right
  }
}''', *({'x': whole(n, 3, 32), 'y': whole(n, 32, 3), 'w': whole(32, 5), 'v': whole(5, 32)} for n in (4, 1)))
def products_of_all_forms(x, y, w, v):
    left, right = numpy.zeros((3, 5)), numpy.zeros((5, 3))
    for a, b in zip(x, y):
        left = a @ w + 2 * (a @ v.T) - 3 * (b.T @ w + 2 * (b.T @ v.T)) - left
        right = v @ b + 2 * (w.T @ b) - 3 * (v @ a.T + 2 * (w.T @ a.T)) - right
    return left, right


@case('''
entry main(x: f32[T, 2, 32], y: i8[2, T, 32], w: f32[64, 60], v: f32[60, 60], b: f32[2, 32]) -> (h: f32[2, 60], g: f32[60]) {
  _, h, g = while (t: i64[] = 0, h = zeros(f32[2, 60]), g = zeros(f32[60])) t < T {
    row = maximum(x[t], 1) * cast(y[:, t], f32) - b
    long = reshape(transpose(row), [64])
    next t + 1, abs(reshape(row, [1, 64]) @ w) @ v - h, long @ (reshape(w, [64, 60]) * 2) - g
  }
}''', *({'x': whole(n, 2, 32), 'y': whole(2, n, 32), 'w': whole(64, 60), 'v': whole(60, 60), 'b': whole(2, 32)} for n in (3, 1)))
def products_of_what_is_made_of_rows(x, y, w, v, b):
    h, g = numpy.zeros((2, 60)), numpy.zeros(60)
    for t in range(len(x)):
        row = numpy.maximum(x[t], 1) * y[:, t] - b
        h, g = abs(row.reshape(1, 64) @ w) @ v - h, row.T.reshape(64) @ w * 2 - g
    return h, g


@case('''
entry main(x: f32[T, 2, 32], w: f32[32, 60]) -> (h: f32[2, 60]) {
  _, h = while (t: i64[] = 0, h = zeros(f32[2, 60])) t < T { next t + 1, (2 * x[t + 1]) @ w - h }
}''', {'x': whole(4, 2, 32), 'w': whole(32, 60)})
def a_product_of_what_is_made_of_a_row_that_is_not_there(x, w):
    raise Stops('node `main/while_loop/gather` (program.leat:2:79): index out of range: index 4 is out of range for an axis of 4')


@case('''
entry main(x: f32[T, 3, 40], y: f32[T, 40], w: f32[40, 60], m: f32[60, 60], yes: bool[]) -> (same: bool[]) {
  u, z, v = sin(x), sin(y), cos(w)
  _, h, g = while (t: i64[] = 0, h = zeros(f32[3, 60]), g = zeros(f32[60])) t < T {
    next t + 1, tanh(tanh(exp(u[t]) @ v) @ m + h), tanh(transpose(v) @ z[t] + m @ g / 9)
  }
  _, k, l = while (t: i64[] = 0, h = zeros(f32[3, 60]), g = zeros(f32[60])) t < T and yes {
    next t + 1, tanh(tanh(exp(u[t]) @ v) @ m + h), tanh(transpose(v) @ z[t] + matmul(g, m, transpose_b=true) / 9)
  }
  same = all(h == k) and all(g == l)
}''', *({'x': whole(n, 3, 40), 'y': whole(n, 40), 'w': whole(40, 60), 'm': DICE.normal(size=(60, 60)), 'yes': True} for n in (1, 6, 40)))
def products_have_the_same_bits(x, y, w, m, yes):
    return True


# -- Their gradients: what each turn adds to a weight's is one product behind the loop ------------------------------------

def net(read, turns='T'):
    return f'''
entry main(x: f64[T, 2, 6], w: f64[6, 4], u: f64[4, 4], b: f64[4]) -> (dw: f64[6, 4], du: f64[4, 4], db: f64[4], dx: f64[T, 2, 6]) {{
  _, h = while (t: i64[] = 0, h = zeros(f64[2, 4])) t < {turns} {{ next t + 1, tanh({read} @ w + h @ u + b) }}
  g = grad(sum(h * h), [w, u, b, x])
  dw = g[0]
  du = g[1]
  db = g[2]
  dx = g[3]
}}'''


def net_loss(rows, w, u, b):
    h = numpy.zeros((2, 4))
    for row in rows:
        h = numpy.tanh(row @ w + h @ u + b)
    return (h * h).sum()


def net_slopes(x, w, u, b, rows):
    return tuple(slopes(lambda w, u, b, x: net_loss([x[row] for row in rows], w, u, b), w, u, b, x))


def weights(*lengths):
    return [{'x': DICE.normal(size=(n, 2, 6)), 'w': DICE.normal(size=(6, 4)), 'u': DICE.normal(size=(4, 4)) / 2,
             'b': DICE.normal(size=4)} for n in lengths]


@case(net('x[t]'), *weights(5, 1, 0), tolerance=100)
def weights_of_rows_in_order(x, w, u, b):
    return net_slopes(x, w, u, b, range(len(x)))


@case(net('x[T - 1 - t]'), *weights(4), tolerance=100)
def weights_of_rows_backwards(x, w, u, b):
    return net_slopes(x, w, u, b, range(len(x))[::-1])


@case(net('x[(t + 1) % T]'), *weights(3), tolerance=100)
def weights_of_rows_from_another_on(x, w, u, b):
    return net_slopes(x, w, u, b, [*range(1, len(x)), 0])


@case(net('(x[t] + x[T - 1 - t])'), *weights(4), tolerance=100)
def weights_of_rows_read_twice(x, w, u, b):
    return tuple(slopes(lambda w, u, b, x: net_loss((x + x[::-1]), w, u, b), w, u, b, x))


@case(net('x[t]', 'T // 2'), *weights(5, 1), tolerance=100)
def weights_of_less_than_all_rows(x, w, u, b):
    return net_slopes(x, w, u, b, range(len(x) // 2))


@case(net('x[t]', 'T and sum(h) < 1'), *weights(6), tolerance=100)
def weights_of_a_loop_that_may_end_early(x, w, u, b):
    rows, h = 0, numpy.zeros((2, 4))
    while rows < len(x) and h.sum() < 1:
        h = numpy.tanh(x[rows] @ w + h @ u + b)
        rows += 1
    return net_slopes(x, w, u, b, range(rows))


@case('''
entry main(x: f64[5, 6], w: f64[4, 6], u: f64[4, 4]) -> (dw: f64[4, 6], du: f64[4, 4], hessian: f64[4, 6]) {
  _, h = while (t = 5, h = zeros(f64[4])) t > 0 { next t - 1, tanh(w @ x[t - 1] + u @ h) }
  g = grad(sum(h * h), [w, u])
  dw = g[0]
  du = g[1]
  hessian = grad(sum(dw * dw), [w])[0]
}''', {'x': DICE.normal(size=(5, 6)), 'w': DICE.normal(size=(4, 6)) / 2, 'u': DICE.normal(size=(4, 4)) / 2}, tolerance=1e10)
def weights_of_vectors_and_their_slopes(x, w, u):
    def loss(w, u):
        h = numpy.zeros(4)
        for row in x[::-1]:
            h = numpy.tanh(w @ row + u @ h)
        return (h * h).sum()
    def steep(w):
        return (slopes(loss, w, u)[0]**2).sum()
    step, rise = 1e-5, numpy.zeros(w.shape)
    for place in numpy.ndindex(w.shape):
        by = numpy.zeros(w.shape)
        by[place] = step
        rise[place] = (steep(w + by) - steep(w - by)) / (2 * step)
    return (*slopes(loss, w, u), rise)


@case('''
entry main(x: f64[T, 2, 6], w: f64[6, 6], b: f64[6]) -> (dw: f64[6, 6], db: f64[6]) {
  _, h = while (t: i64[] = 0, h = zeros(f64[2, 6])) t < T {
    next t + 1, tanh(x[t] @ w - sin(x[t]) @ w + tanh(h @ transpose(w) + b) @ w + b)
  }
  dw, db = grad(sum(h * h), [w, b])
}''', *({'x': DICE.normal(size=(n, 2, 6)), 'w': DICE.normal(size=(6, 6)) / 2, 'b': DICE.normal(size=6)} for n in (4, 1)), tolerance=100)
def weights_used_more_than_once(x, w, b):
    def loss(w, b):
        h = numpy.zeros((2, 6))
        for row in x:
            h = numpy.tanh(row @ w - numpy.sin(row) @ w + numpy.tanh(h @ w.T + b) @ w + b)
        return (h * h).sum()
    return tuple(slopes(loss, w, b))


@case('''
entry main(x: f64[6, T, 3], y: f64[T, 6], w: f64[4, 6], b: f64[4]) -> (dw: f64[4, 6], dv: f64[4, 6], db: f64[4], dc: f64[4]) {
  _, h, k = while (t = cast(T, i64), h = zeros(f64[4, 3]), k = zeros(f64[4])) t > 0 {
    next t - 1, tanh(w @ x[:, t - 1] + h + reshape(b, [4, 1])), tanh(w @ (y[t - 1] * 2) + k * b)
  }
  dw, db = grad(sum(h * h), [w, b])
  dv, dc = grad(sum(k * k), [w, b])
}''', *({'x': DICE.normal(size=(6, n, 3)), 'y': DICE.normal(size=(n, 6)), 'w': DICE.normal(size=(4, 6)) / 2, 'b': DICE.normal(size=4)}
         for n in (4, 1)), tolerance=100)
def weights_from_the_left(x, y, w, b):
    def matrices(w, b):
        h = numpy.zeros((4, 3))
        for t in range(len(y))[::-1]:
            h = numpy.tanh(w @ x[:, t] + h + b[:, None])
        return (h * h).sum()
    def vectors(w, b):
        k = numpy.zeros(4)
        for row in y[::-1]:
            k = numpy.tanh(w @ (row * 2) + k * b)
        return (k * k).sum()
    dw, db = slopes(matrices, w, b)
    dv, dc = slopes(vectors, w, b)
    return dw, dv, db, dc


@case('''
entry main(x: f64[S, T, 2, 6], w: f64[6, 4]) -> (dw: f64[6, 4]) {
  _, h = while (s: i64[] = 0, h = zeros(f64[2, 4])) s < S {
    part = x[s]
    _, after = while (t: i64[] = 0, h = h) t < T { next t + 1, tanh(part[t] @ w + h) }
    next s + 1, after
  }
  dw = grad(sum(h * h), [w])[0]
}''', *({'x': DICE.normal(size=(s, t, 2, 6)), 'w': DICE.normal(size=(6, 4))} for s, t in ((2, 3), (1, 1))), tolerance=100)
def weights_in_a_loop_in_a_loop(x, w):
    def loss(w):
        h = numpy.zeros((2, 4))
        for row in x.reshape(-1, 2, 6):
            h = numpy.tanh(row @ w + h)
        return (h * h).sum()
    return slopes(loss, w)[0]
