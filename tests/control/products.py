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
entry main(x: f32[T, 3, 40], w: f32[40, 9], yes: bool[]) -> (same: bool[]) {
  u = sin(x)
  v = cos(w)
  _, h = while (t: i64[] = 0, h = zeros(f32[3, 9])) t < T { next t + 1, tanh(u[t] @ v + h) }
  _, g = while (t: i64[] = 0, h = zeros(f32[3, 9])) t < T and yes { next t + 1, tanh(u[t] @ v + h) }
  same = all(h == g)
}''', *({'x': whole(n, 3, 40), 'w': whole(40, 9), 'yes': True} for n in (1, 6, 40)))
def products_have_the_same_bits(x, w, yes):
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


@case(net('x[t]', 'T / 2'), *weights(5, 1), tolerance=100)
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
