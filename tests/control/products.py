"""Products in loops that one product in front of the loop may make, or one behind it: of whole numbers, so that sums are exact."""
import numpy

from case import Stops, case

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
